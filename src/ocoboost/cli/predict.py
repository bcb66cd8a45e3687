"""``ocoboost predict``: what a saved model says to the rows of a file."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ocoboost.cli.run import Format, OnError, users_mistakes


def predict(
    model: Annotated[str, typer.Argument(help="A file that `run --save` or `ocoboost.save` wrote.")],
    file: Annotated[str, typer.Argument(help="CSV (also gzipped), Parquet, ARFF or JSON lines; - for standard input.")],
    output: Annotated[str | None, typer.Option(help="Where to write; standard output if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines instead of CSV.")] = False,
    jobs: Annotated[int, typer.Option(min=-1, help="Threads; -1 for all cores. Changes no number.")] = 1,
    on_error: Annotated[OnError, typer.Option(help="What to do with a row that cannot be used.")] = OnError.STOP,
    file_format: Annotated[Format | None, typer.Option("--format", help="If the ending does not tell.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Of CSV, if the first line does not tell.")] = None,
) -> None:
    """Write the label and the probabilities that a model gives to each row of a file; nothing is learned."""
    from ocoboost.errors import DataFileError
    from ocoboost.saving.model import read_model
    from ocoboost.stream.columns import BadRecord, stop_at_bad
    from ocoboost.stream.predictions import Predictor, write_csv, write_json_lines

    def skip(bad: BadRecord) -> None:
        typer.echo(f"skipped {file}, line {bad.line:,}: {bad.why}", err=True)

    with users_mistakes():
        predictor = Predictor(model, *read_model(model, jobs))
        source = predictor.open(file, stop_at_bad(file) if on_error == "stop" else skip, file_format, delimiter)
        for names, what in ((predictor.absent, "lacks"), (predictor.unknown, "also has")):
            if names:
                shown = ", ".join(map(repr, sorted(names)[:5])) + (", ..." if len(names) > 5 else "")
                effect = "counted as missing" if what == "lacks" else "which the model does not know"
                typer.echo(f"ocoboost: {source.name} {what} {shown}: {effect}", err=True)
        write = write_json_lines if as_json else write_csv
        try:
            with nullcontext(sys.stdout) if output is None else Path(output).open("w", newline="") as out:
                write(out, predictor.model.classes_, predictor.predict(source))
        except OSError as error:
            raise DataFileError(f"{output or 'standard output'}: cannot be written ({error.strerror}).") from error
