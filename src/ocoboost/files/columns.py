"""Which columns there are, what they hold, and how cells become rows.

A column holds numbers if nearly all of its cells in the first chunk are numbers, else text; one whose cells are all
missing is decided later. That is settled once: from then on a cell that does not fit is an error with a line number,
never a column that quietly changes its meaning.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import NumberRows, Row, sorted_names
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
NEARLY_ALL = 0.9
MOST_CATEGORIES = 1000


class BadRecord(NamedTuple):
    """A record that cannot be used."""

    line: int
    why: str

    def error(self, name: str) -> DataFileError:
        """For whoever wants to stop here."""
        return DataFileError(f"{name}, line {self.line:,}: {self.why}.")


class Chunk(NamedTuple):
    """Rows that were read together."""

    start: int  # where to begin in order to read it again
    end: int
    first_line: int
    rows: Sequence[Row]
    labels: list[Label]  # empty if there is no target
    lines: Sequence[int]  # of each row
    bad: Sequence[BadRecord] = ()  # what is not among the rows


@dataclass
class Columns:
    """The columns of a file, and what has become of them."""

    target: str | None
    dropped: frozenset[str] = frozenset()
    as_text: frozenset[str] = frozenset()
    kinds: dict[str, str | None] = field(default_factory=dict)  # None: nothing but missing cells so far
    categories: dict[str, set[str]] = field(default_factory=dict)
    only: dict[str, Any] | None = None  # the columns of a model that is not to learn, and what it calls them

    def begin(self, name: str, header: Iterable[str]) -> None:
        """Check the names of a file against what was asked for."""
        header = list(header)
        repeated = sorted({column for column in header if header.count(column) > 1})
        if repeated:
            raise DataFileError(f"{name}: has several columns named {repeated[0]!r}; rename all but one.")
        asked = [] if self.target is None else [(self.target, "--target")]
        asked += [(column, "--drop") for column in self.dropped] + [(column, "--text") for column in self.as_text]
        for column, option in sorted(asked):
            if column not in header:
                raise DataFileError(f"{name}: has no column {column!r} ({option}); {_suggestion(column, header)}")
        for column in header:
            if self.is_feature(column):
                self.kinds.setdefault(column, TEXT if column in self.as_text else None)
        if not any(self.is_feature(column) for column in header):
            if self.only is not None:
                raise DataFileError(f"{name}: has none of the model's columns ({', '.join(map(repr, self.only))}).")
            raise DataFileError(f"{name}: has no columns besides the target; there is nothing to learn from.")

    def is_feature(self, column: str) -> bool:
        if self.only is not None:
            return column in self.only
        return column != self.target and column not in self.dropped

    def decide(self, column: str, cells: Iterable[str]) -> None:
        """Settle what a column holds, by its cells."""
        present = [cell for cell in cells if cell not in MISSING]
        if present:
            n_numbers = sum(as_number(cell) is not None for cell in present)
            self.kinds[column] = NUMBER if n_numbers > NEARLY_ALL * len(present) else TEXT

    def note_categories(self, name: str, column: str, values: Iterable[str]) -> None:
        """Remember the texts of a column; raises if there is no end of them."""
        known = self.categories.setdefault(column, set())
        known.update(values)
        if len(known) > MOST_CATEGORIES:
            raise DataFileError(
                f"{name}: column {column!r} holds more than {MOST_CATEGORIES:,} different texts, as names and numbers "
                f"of things do; leave it out with --drop {column!r}."
            )

    def number(self, column: str, cell: str) -> float:
        """A cell of a column of numbers, NaN if it is missing; raises ``ValueError`` with the reason otherwise."""
        if cell in MISSING:
            return math.nan
        value = as_number(cell)
        if value is None:
            raise ValueError(
                f"column {column!r} is {cell!r}, but the column holds numbers; correct it, or read the whole column as "
                f"text with --text {column!r}"
            )
        if math.isinf(value):
            raise ValueError(f"column {column!r} is {cell!r}, which is not a finite number; leave the cell empty")
        return value

    def named(self, column: str) -> Any:
        """What the model calls a column."""
        return column if self.only is None else self.only[column]

    def rows_of_numbers(self, columns: Sequence[str], values: FloatArray) -> NumberRows:
        """Rows of a matrix."""
        return NumberRows.read([self.named(column) for column in columns], values)

    def row(self, cells: dict[str, Any]) -> Row:
        """One row; missing cells are None already."""
        named = {self.named(column): value for column, value in cells.items()}
        return {name: named[name] for name in sorted_names(named)}


def as_number(cell: str) -> float | None:
    """The number that a cell spells, or None; as PyArrow reads it, so not all that Python takes."""
    if not cell.isascii() or "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _suggestion(column: str, header: Sequence[str]) -> str:
    by_lower = {name.strip().lower(): name for name in header}
    close = difflib.get_close_matches(column.strip().lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]!r}?"
    shown = ", ".join(map(repr, header[:10]))
    return f"there are {shown}{', ...' if len(header) > 10 else ''}."


def matrix_of(columns: Sequence[Any], n_rows: int) -> FloatArray:
    """Columns side by side."""
    matrix = np.empty((n_rows, len(columns)))
    for position, values in enumerate(columns):
        matrix[:, position] = values
    return matrix
