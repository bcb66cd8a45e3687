"""ARFF: a header that says what the columns hold, and records that are one line each.

Both kinds of quotes quote, and a backslash within them escapes, as in Weka; spaces around cells do not count. Sparse
rows are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError
from ocoboost.files.columns import MISSING, BadRecord, Chunk, Columns, listed
from ocoboost.files.delimited import Delimited
from ocoboost.files.records import RawChunk
from ocoboost.spelling import quoted

_SPACE = " \t\r"
_QUOTED = r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+\""""
_CELL = re.compile(rf"[ \t]*+({_QUOTED}|(?!['\"])[^,]*)[ \t]*(,|$)")
_NAME = re.compile(rf"({_QUOTED}|(?!['\"])[^\s{{]+)\s*")
_VALUES = re.compile(rf"\{{((?:(?<=[{{,])\s*+(?:{_QUOTED})|[^}}])*+)\}}\s*+(?:%.*)?$")
_ESCAPED = re.compile(r"""\\(u[0-9a-fA-F]{4}|.)|''|\"\"""")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


class Attribute(NamedTuple):
    """A column as the header declares it."""

    name: str
    kind: str
    values: tuple[str, ...] | None = None  # None: any


class Arff(Delimited):
    """The records of an ARFF file, chunk by chunk."""

    def __init__(self, name: str, columns: Columns, attributes: list[Attribute]) -> None:
        self.values = {attribute.name: dict.fromkeys(attribute.values) for attribute in attributes if attribute.values}
        for attribute in attributes:
            if columns.is_feature(attribute.name) and columns.kinds.get(attribute.name) is None:
                columns.kinds[attribute.name] = TEXT if attribute.name in columns.as_text else attribute.kind
        super().__init__(name, columns, ",", [attribute.name for attribute in attributes])

    def read_with_arrow(self, raw: RawChunk) -> Chunk | None:
        """PyArrow knows neither comments nor two kinds of quotes."""
        return None

    def _records(self, raw: RawChunk, bad: list[BadRecord]) -> Iterator[tuple[int, list[str]]]:
        for line, whole in enumerate(raw.decode(self.name).split("\n"), raw.first_line):
            text = whole.strip(_SPACE)
            if not text or text.startswith("%"):
                continue
            if text.startswith("{"):
                raise DataFileError(
                    f"{self.name}, line {line:,}: {quoted(text)} is a sparse row, and sparse ARFF is not supported; "
                    "convert the file to rows of all cells (in Weka, by the filter SparseToNonSparse)."
                )
            try:
                cells = split(text)
            except ValueError as error:
                bad.append(BadRecord(line, str(error)))
                continue
            if self._has_right_length(line, cells, bad):
                yield line, cells

    def _value(self, column: str, cell: str) -> Any:
        if cell not in MISSING:
            self._check_declared(column, cell)
        return super()._value(column, cell)

    def _label(self, cell: str) -> str:
        if cell == "?":
            raise ValueError(f"no label: column {quoted(self.columns.target)} is missing")
        label = super()._label(cell)
        self._check_declared(str(self.columns.target), label)
        return label

    def _check_declared(self, column: str, cell: str) -> None:
        values = self.values.get(column)
        if values is not None and cell not in values:
            raise ValueError(
                f"{quoted(cell)} in column {quoted(column)} is none of the values that the header declares "
                f"({listed(list(values))}); correct it, or declare it"
            )


def split(text: str) -> list[str]:
    r"""The cells of a line; raises ``ValueError`` with the reason if a quote is not followed by the next cell.

    >>> split(r"1, 'a\'b, c' ,p,")
    ['1', "a'b, c", 'p', '']
    """
    if "'" not in text and '"' not in text:
        return [cell.strip(_SPACE) for cell in text.split(",")]
    cells: list[str] = []
    place, comma = 0, ","
    while comma:
        found = _CELL.match(text, place)
        if found is None:
            rest = text[place:].lstrip(_SPACE)
            wrong = "is followed by text other than a comma" if re.match(_QUOTED, rest) else "is not closed in its line"
            raise ValueError(f"the quote that opens cell {len(cells) + 1}, {quoted(rest)}, {wrong}; correct it")
        cell, comma = found.groups()
        cells.append(_unquoted(cell))
        place = found.end()
    return cells


def attribute(name: str, line: int, text: str) -> Attribute:
    """What a line that begins with @attribute declares."""
    found = _NAME.match(rest := text[len("@attribute") :].strip())
    if found is None:
        raise DataFileError(
            f"{name}, line {line}: the attribute {quoted(rest)} has no name, or the quote around it is not closed."
        )
    column, kind = _unquoted(found[1]), rest[found.end() :]
    if kind.lower().startswith(("numeric", "real", "integer")):
        return Attribute(column, NUMBER)
    if kind.lower().startswith("string"):
        return Attribute(column, TEXT)
    if not kind.startswith("{"):
        raise DataFileError(
            f"{name}, line {line}: attribute {quoted(column)} has the unsupported type {quoted(kind.lower())}; "
            "convert it to numeric, string or {...}."
        )
    values = _VALUES.match(kind)
    try:
        if values is None:
            raise ValueError(f"{quoted(kind)} does not end with a }}; end it in the same line")
        return Attribute(column, TEXT, tuple(split(values[1])) if values[1].strip() else None)
    except ValueError as error:
        raise DataFileError(f"{name}, line {line}: the values of attribute {quoted(column)}: {error}.") from None


def _unquoted(cell: str) -> str:
    """A cell as it is meant: without spaces around it, or without quotes."""
    if cell[:1] not in ("'", '"'):
        return cell.strip(_SPACE)
    inner = cell[1:-1]
    return _ESCAPED.sub(lambda found: _meant(found, cell[0]), inner) if "\\" in inner or cell[0] in inner else inner


def _meant(found: re.Match[str], quote: str) -> str:
    escaped = found[1]
    if escaped is None:  # a pair of quotes is one if they are those around the cell
        return quote if found[0][0] == quote else found[0]
    if len(escaped) == 1:
        return _CONTROLS.get(escaped, escaped)
    character = chr(int(escaped[1:], 16))
    return found[0] if "\ud800" <= character <= "\udfff" else character  # half of a pair is no text
