"""``ocoboost predict``: predictions of a saved model for the rows of a file."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ocoboost.cli.mistakes import one_line
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError, Threads


def predict(
    model: Annotated[str, typer.Argument(help="Model file, written by `ocoboost run --save` or `ocoboost.save`.")],
    file: File,
    output: Annotated[str | None, typer.Option(help="Output file.", show_default="standard output")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines instead of CSV.")] = False,
    jobs: Threads = 1,
    on_error: BadRows = OnError.STOP,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
) -> None:
    """Write the predicted label and probabilities for each row of a file; nothing is learned."""
    from ocoboost.errors import DataFileError
    from ocoboost.files.columns import BadRecord
    from ocoboost.run.predictions import Predictor, write_csv, write_json_lines
    from ocoboost.saving.model import read_model

    def on_bad(bad: BadRecord) -> None:
        if on_error == OnError.STOP:
            raise bad.error(source.name)
        typer.echo(f"skipped {source.name}, line {bad.line:,}: {bad.why}", err=True)

    with one_line():
        predictor = Predictor(model, *read_model(model, jobs))
        source = predictor.open(file, file_format, delimiter)
        for what, names in (
            ("missing columns, treated as missing values", predictor.absent),
            ("columns unknown to the model, ignored", predictor.unknown),
        ):
            if names:
                shown = ", ".join(map(repr, sorted(names)[:5])) + (", ..." if len(names) > 5 else "")
                typer.echo(f"ocoboost: {source.name}: {what}: {shown}", err=True)
        write = write_json_lines if as_json else write_csv
        try:
            with nullcontext(sys.stdout) if output is None else Path(output).open("w", newline="") as out:
                write(out, predictor.model.classes_, predictor.predict(source, on_bad))
        except BrokenPipeError:  # the reader has closed the pipe, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except OSError as error:
            raise DataFileError(f"{output or 'standard output'}: cannot be written ({error.strerror}).") from error
