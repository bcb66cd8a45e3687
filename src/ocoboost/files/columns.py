"""Which columns a file has, what they hold, and how cells become rows.

A column holds numbers if more than nine in ten of its cells in the first chunk are numbers, and text otherwise; if all
of them are missing, a later chunk decides. That happens once: afterwards a cell that does not fit is an error with a
line number, and a column never silently changes its type.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.data.labels import Label
from ocoboost.data.rows import CheckedRows, NumberRows, Row, sorted_names
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError, HazardWarning
from ocoboost.spelling import quoted

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None"})
PANDAS_INDEX = ("", "Unnamed: 0", "__index_level_0__")  # as it is called in files
CODES = frozenset(sign * (10.0**digits - 1) for digits in range(3, 8) for sign in (-1, 1))  # 999, -9999, ...
FAR = 10.0  # times as large as any other number of a column
NEARLY_ALL = 0.9
FEWEST_TO_DOUBT = 10  # a handful of labels may well all be different
SKIPPING = "--on-error skip leaves such rows out"


class BadRecord(NamedTuple):
    """A record that cannot be used."""

    line: int
    why: str
    is_last: bool = False  # nobody knows what comes after it: the reader raises rather than go on

    def error(self, name: str, way_on: str = "", *, can_skip: bool = True) -> DataFileError:
        """The error to raise if the run is to stop here, with the ways to go on."""
        ways = [way_on, SKIPPING if can_skip and not self.is_last else ""]
        return DataFileError(f"{name}, line {self.line:,}: {'; '.join(filter(None, [self.why, *ways]))}.")


class Chunk(NamedTuple):
    """Rows that were read together."""

    start: int  # the offset from which to read it again
    end: int
    first_line: int
    rows: Sequence[Row]
    labels: list[Label]  # empty if there is no target
    lines: Sequence[int]  # of each row
    bad: Sequence[BadRecord] = ()  # records that are not among the rows
    keys: Sequence[Hashable] = ()  # what identifies each row; empty if no column does
    tail: bytes = b""  # its last bytes, by which a later run knows its end; none where offsets count rows

    def place(self, n_rows: int) -> float:
        """About where in the file its first rows end, counted as its own ends are."""
        return self.start + (self.end - self.start) * n_rows / max(1, len(self.rows))


@dataclass
class Columns:
    """The columns of a file, and what is known about them so far."""

    target: str | None
    dropped: frozenset[str] = frozenset()
    as_text: frozenset[str] = frozenset()
    kinds: dict[str, str | None] = field(default_factory=dict)  # None: only missing cells so far
    only: dict[str, Any] | None = None  # to predict: the model's columns, by their names in files
    identifier: str | None = None  # of the rows: read, and not learned from
    has_decimal_commas: bool = False  # as files delimited by semicolons may have
    name: str = ""  # of the file, once it is open
    hint: str = ""  # what to try if a column that is asked for is not in the file

    def begin(self, name: str, header: Iterable[str]) -> None:
        """Check the column names of a file against the options."""
        self.name, header = name, list(header)
        counts = Counter(header)
        repeated = sorted(column for column, count in counts.items() if count > 1)
        if repeated:
            raise DataFileError(f"{name}: duplicate column {quoted(repeated[0])}; rename all but one.")
        asked = [] if self.target is None else [(self.target, "--target")]
        asked += [] if self.identifier is None else [(self.identifier, "--id")]
        asked += [(column, "--drop") for column in self.dropped] + [(column, "--text") for column in self.as_text]
        if self.identifier is not None and self.identifier == self.target:
            raise DataFileError(
                f"{name}: --target and --id both name {quoted(self.identifier)}; leave one of them out."
            )
        for column, option in sorted(asked):
            if column not in counts:
                raise self.no_column(name, column, option, header)
        for column in header:
            if self.is_feature(column):
                self.kinds.setdefault(column, TEXT if column in self.as_text else None)
        if not any(self.is_feature(column) for column in header):
            if self.only is not None:
                known, hint = listed(list(self.only)), self.hint and f"; {self.hint}"
                raise DataFileError(f"{name}: none of the model's columns found; they are {known}{hint}.")
            besides = "the target" if self.identifier is None else "the target and --id"
            raise DataFileError(f"{name}: no columns besides {besides}; there is nothing to learn from.")
        self._warn_of_index(name, header)

    def no_column(self, name: str, column: str, option: str, header: Sequence[str]) -> DataFileError:
        """The error for an option that names a column which is not there."""
        return DataFileError(f"{name}: no column {quoted(column)} ({option}); {_suggestion(column, header, self.hint)}")

    def _warn_of_index(self, name: str, header: list[str]) -> None:
        """Say so if a column looks like the row numbers that pandas writes, unless a model knows its columns."""
        for place, column in enumerate(header):
            is_index = column in PANDAS_INDEX and (place == 0 or column != "")
            if is_index and self.only is None and self.is_feature(column):
                warnings.warn(
                    f"{name}: column {place + 1}, {quoted(column)}, looks like the row index that pandas writes, which "
                    f"says nothing about rows to come; leave it out with --drop {quoted(column)}.",
                    HazardWarning,
                    stacklevel=2,
                )

    def is_feature(self, column: str) -> bool:
        """Whether a column is used as a feature."""
        if self.only is not None:
            return column in self.only
        return column not in (self.target, self.identifier) and column not in self.dropped

    def decide(self, column: str, cells: Iterable[str]) -> None:
        """Decide from its cells what a column holds."""
        present = [cell for cell in cells if cell not in MISSING]
        if present:
            numbers = [number for cell in present if (number := self.as_number(cell)) is not None]
            self.kinds[column] = NUMBER if len(numbers) > NEARLY_ALL * len(present) else TEXT
            if self.kinds[column] == NUMBER and self.only is None:
                self._warn_of_codes(column, numbers)

    def _warn_of_codes(self, column: str, numbers: list[float]) -> None:
        """Say so if a column seems to spell missing cells as a number: trees would split between it and the others."""
        codes = CODES.intersection(numbers)
        largest = max((abs(number) for number in numbers if number not in codes), default=math.inf)
        for code in sorted(code for code in codes if abs(code) > FAR * largest and numbers.count(code) > 1):
            warnings.warn(
                f"{self.name}: column {quoted(column)} holds {code:.0f} in {numbers.count(code):,} of the first "
                f"{len(numbers):,} rows that have a number, and no other number nearly as large; if it stands for a "
                "missing value, leave those cells empty, because it is learned as a number.",
                HazardWarning,
                stacklevel=2,
            )

    def as_number(self, cell: str) -> float | None:
        """The number that a cell of this file spells, or None; ``0,5`` is one if the file may have decimal commas."""
        if self.has_decimal_commas and cell.count(",") == 1 and "." not in cell:
            cell = cell.replace(",", ".")
        return as_number(cell)

    def number(self, column: str, cell: str) -> float:
        """A cell of a numeric column, NaN if missing; raises ``ValueError`` with the reason if it is not a number."""
        if cell in MISSING:
            return math.nan
        value = self.as_number(cell)
        if value is None:
            fix = "" if self.only is not None else f", or read the whole column as text with --text {quoted(column)}"
            raise ValueError(f"{quoted(cell)} in numeric column {quoted(column)} is not a number; correct it{fix}")
        if math.isinf(value):
            raise ValueError(f"{quoted(cell)} in column {quoted(column)} is not a finite number; leave the cell empty")
        return value

    def rows(self, values: Mapping[str, Sequence[Any]], n_rows: int) -> NumberRows | CheckedRows:
        """Columns as rows: a matrix unless one of them holds text. Missing cells are NaN or None."""
        columns = {column if self.only is None else self.only[column]: column for column in values}
        names = sorted_names(columns)
        if all(self.kinds[column] != TEXT for column in values):
            matrix = np.empty((n_rows, len(names)))
            for position, name in enumerate(names):
                matrix[:, position] = values[columns[name]]
            return NumberRows.read(names, matrix)
        cells = [_as_list(values[columns[name]]) for name in names]
        return CheckedRows([dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)])

    def row(self, cells: Mapping[str, Any]) -> Row:
        """One row; missing cells are None already."""
        named = {column if self.only is None else self.only[column]: value for column, value in cells.items()}
        return {name: named[name] for name in sorted_names(named)}


def check_labels(name: str, target: str, n_labels: int, n_rows: int) -> None:
    """Raise if the target cannot be a label: nearly every row would be a class of its own."""
    if n_labels >= FEWEST_TO_DOUBT and n_labels > n_rows / 2:
        raise DataFileError(
            f"{name}: column {quoted(target)} has {n_labels:,} distinct labels in its first {n_rows:,} rows, too many "
            "for a classification target; choose another --target."
        )


def as_number(cell: str) -> float | None:
    """The number that a cell spells, or None; neither underscores nor digits beyond ASCII, which Python takes.

    >>> as_number("1e3"), as_number("1_000")
    (1000.0, None)
    """
    if not cell.isascii() or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _as_list(values: Any) -> list[Any]:
    """Python scalars, None where a number is missing."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return [None if value != value else value for value in values]  # noqa: PLR0124, NaN


def _suggestion(column: str, header: Sequence[str], hint: str) -> str:
    by_lower = {name.strip().lower(): name for name in header}
    close = difflib.get_close_matches(column.strip().lower(), by_lower, n=1, cutoff=0.6)
    if close and not hint:
        return f"did you mean {quoted(by_lower[close[0]])}?"
    return f"the columns are {listed(header)}{hint and f'; {hint}'}."


def listed(columns: Sequence[str]) -> str:
    """The first ten columns, for a message."""
    return ", ".join(map(quoted, columns[:10])) + (", ..." if len(columns) > 10 else "")
