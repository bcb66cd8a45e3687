"""``ocoboost predict``: what a saved model says to the rows of a file."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ocoboost.cli.mistakes import one_line
from ocoboost.cli.run import Format, OnError, character


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
    from ocoboost.files.columns import BadRecord
    from ocoboost.run.predictions import Predictor, write_csv, write_json_lines
    from ocoboost.saving.model import read_model

    def on_bad(bad: BadRecord) -> None:
        if on_error == OnError.STOP:
            raise bad.error(source.name)
        typer.echo(f"skipped {source.name}, line {bad.line:,}: {bad.why}", err=True)

    with one_line():
        predictor = Predictor(model, *read_model(model, jobs))
        source = predictor.open(file, None if file_format is None else file_format.value, character(delimiter))
        for names, what in ((predictor.absent, "lacks"), (predictor.unknown, "also has")):
            if names:
                shown = ", ".join(map(repr, sorted(names)[:5])) + (", ..." if len(names) > 5 else "")
                effect = "counted as missing" if what == "lacks" else "which the model does not know"
                typer.echo(f"ocoboost: {source.name} {what} {shown}: {effect}", err=True)
        write = write_json_lines if as_json else write_csv
        try:
            with nullcontext(sys.stdout) if output is None else Path(output).open("w", newline="") as out:
                write(out, predictor.model.classes_, predictor.predict(source, on_bad))
        except BrokenPipeError:  # whoever read has seen enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except OSError as error:
            raise DataFileError(f"{output or 'standard output'}: cannot be written ({error.strerror}).") from error
