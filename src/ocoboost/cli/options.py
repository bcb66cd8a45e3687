"""Options that ``run`` and ``predict`` share: how to read a file of rows."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer


class Format(StrEnum):
    """File formats that can be read."""

    CSV = "csv"
    PARQUET = "parquet"
    ARFF = "arff"
    JSONL = "jsonl"


class OnError(StrEnum):
    """What to do with a row that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    character = "\t" if given in ("\\t", "tab") else given
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise typer.BadParameter(f"must be a single ASCII character or 'tab', got {given!r}")
    return character


File: TypeAlias = Annotated[
    str, typer.Argument(help="CSV, ARFF or JSON lines (optionally gzipped), or Parquet; - for standard input (CSV).")
]
FileFormat: TypeAlias = Annotated[
    Format | None, typer.Option("--format", help="File format.", show_default="by file extension")
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(help="CSV delimiter: one character, or 'tab'.", show_default="detected", callback=_delimiter),
]
BadRows: TypeAlias = Annotated[OnError, typer.Option(help="Stop at the first row that cannot be used, or skip it.")]
Threads: TypeAlias = Annotated[
    int, typer.Option(min=-1, help="Threads; -1 for all cores. The results do not depend on it.")
]


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line, rather than at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def no_target(file: str, file_format: str | None, delimiter: str | None) -> typer.BadParameter:
    """What to say if nobody has named the column with the labels: which there are."""
    from ocoboost.files.columns import Columns, listed
    from ocoboost.files.opening import STANDARD_INPUT
    from ocoboost.files.sources import Source

    what = "name the column with the labels"
    if file != STANDARD_INPUT:
        source = Source(file, Columns(None), file_format=file_format, delimiter=delimiter)
        header = source.header
        source.close()
        what += f"; the columns are {listed(header)}." if header else ""
    return typer.BadParameter(what, param_hint="--target")
