"""``ocoboost predict``: predictions of a saved model for the rows of a file."""

from __future__ import annotations

import io
import sys
from contextlib import nullcontext
from typing import Annotated, TextIO

import typer

from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError, Threads


def predict(
    model: Annotated[str, typer.Argument(help="Model file, written by `ocoboost run --save` or `ocoboost.save`.")],
    file: File,
    output: Annotated[str | None, typer.Option(help="Output file.", show_default="standard output")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines instead of CSV.")] = False,
    raw: Annotated[
        bool,
        typer.Option(help="Write labels to CSV unchanged, also where a spreadsheet would take them for formulas."),
    ] = False,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Column that identifies a row; passed through.", show_default=False)
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Also write prediction sets of this level, such as 0.9.", show_default=False),
    ] = None,
    jobs: Threads = 1,
    on_error: BadRows = OnError.STOP,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
) -> None:
    """Write the predicted label and probabilities for each row of a file; nothing is learned."""
    from ocoboost.errors import OutputFileError
    from ocoboost.files.columns import BadRecord
    from ocoboost.files.outputs import check_outputs, is_same_file, writing
    from ocoboost.run.predictions import Predictor, write_csv, write_json_lines
    from ocoboost.saving.model import read_model

    def on_bad(bad: BadRecord) -> None:
        if on_error == OnError.STOP or bad.is_last:
            raise bad.error(source.name)
        say(f"skipped {source.name}, line {bad.line:,}: {bad.why}")

    with one_line(has_drop=False):
        check_outputs({"--output": output}, {"the model": model, "the input": file}, pipes=True)
        if output is None and any(is_same_file(path, _descriptor(sys.stdout)) for path in (file, model)):
            raise OutputFileError("standard output is the input or the model; redirect it to another file.")
        predictor = Predictor(model, *read_model(model, jobs), identifier, coverage)
        source = predictor.open(file, file_format, delimiter)
        for what, names in (
            ("missing columns, treated as missing values", predictor.absent),
            ("columns unknown to the model, ignored", predictor.unknown),
        ):
            if names:
                shown = ", ".join(map(repr, sorted(names)[:5])) + (", ..." if len(names) > 5 else "")
                say(f"ocoboost: {source.name}: {what}: {shown}")
        predicted = predictor.predict(source, on_bad)
        with nullcontext(_standard_output()) if output is None else writing(output) as out:
            if as_json:
                write_json_lines(out, predictor.model.classes_, predicted)
            else:
                more = {"has_keys": identifier is not None, "has_sets": coverage is not None, "is_raw": raw}
                write_csv(out, predictor.model.classes_, predicted, **more)


def _standard_output() -> TextIO:
    """Standard output, which escapes what it cannot encode."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def _descriptor(stream: TextIO) -> int:
    """The descriptor of a stream, -1 if it has none."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1
