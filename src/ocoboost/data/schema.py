"""Columns and their categories, as the numbers that compiled learners work with.

The schema grows and never reorders. It plans before it grows: ``plan`` reads a whole block, raises if anything in it
cannot be used, and says at which rows something new appears; nothing changes until the additions are applied.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.rows import NumberRows, Row
from ocoboost.data.text import MOST_CATEGORIES, TextCounts, place_of, share_column
from ocoboost.errors import InvalidInputError

NUMBER = "numbers"
TEXT = "text"
OTHER = MOST_CATEGORIES  # the code of texts that have none of their own


def _mixed(value: object, name: Hashable, row: int, known: str) -> InvalidInputError:
    return InvalidInputError(
        f"X: column {name!r} at row {row} is {value!r}, but the column held {known} before; "
        "convert the whole column to one of the two."
    )


@dataclass(frozen=True)
class Block:
    """Rows that are learned or voted on together: dicts for whoever asks for them, and once as a matrix of codes."""

    rows: Sequence[Row]
    schema: Schema
    labels: IntArray | None = None  # of rows that are learned: they are counted in the statistics of texts
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def codes(self) -> FloatArray:
        """One column per known feature (see ``Schema.encode``); shared, so not to be written to."""
        return self.schema.encode(self.rows, self.labels, self.weights)


class Additions(NamedTuple):
    """What one row brings that the schema does not hold yet."""

    kinds: dict[Hashable, str | None]  # new columns, and columns whose kind shows for the first time
    categories: list[tuple[Hashable, str]]


class Schema:
    """Columns in order of appearance, whether they hold numbers or text, and the categories of text columns."""

    def __init__(self) -> None:
        self.kinds: dict[Hashable, str | None] = {}  # None: present so far only as a missing value
        self.categories: dict[Hashable, dict[str, int]] = {}
        self.statistics: dict[Hashable, TextCounts] = {}  # of columns with many texts
        self.version = 0  # counts what was applied: who has seen this version has seen all

    @property
    def n_bytes(self) -> int:
        """Memory of categories and statistics, about."""
        texts = sum(len(text) + 100 for codes in self.categories.values() for text in codes)
        return texts + sum(counts.n_bytes for counts in self.statistics.values())

    def plan(self, rows: Sequence[Row]) -> dict[int, Additions]:
        """Additions by the row that brings them; raises if a column mixes numbers and text."""
        if isinstance(rows, NumberRows):
            return self._plan_numbers(rows)
        plan: dict[int, Additions] = {}
        kinds: dict[Hashable, str | None] = {}
        categories: set[tuple[Hashable, str]] = set()
        counts = {name: len(codes) for name, codes in self.categories.items()}
        for number, row in enumerate(rows):
            added = Additions({}, [])
            for name, value in row.items():
                kind = None if value is None else TEXT if isinstance(value, str) else NUMBER
                known = kinds[name] if name in kinds else self.kinds.get(name)
                if known is not None and kind is not None and kind != known:
                    raise _mixed(value, name, number, known)
                if (name not in kinds and name not in self.kinds) or (known is None and kind is not None):
                    kinds[name] = added.kinds[name] = kind
                if isinstance(value, str):
                    category = (name, value)
                    is_known = value in self.categories.get(name, ()) or category in categories
                    if not is_known and counts.get(name, 0) <= MOST_CATEGORIES:  # the last stands for all others
                        counts[name] = counts.get(name, 0) + 1
                        categories.add(category)
                        added.categories.append(category)
            if added.kinds or added.categories:
                plan[number] = added
        return plan

    def _plan_numbers(self, rows: NumberRows) -> dict[int, Additions]:
        """The same plan for a matrix, column by column."""
        plan: dict[int, Additions] = {}
        for column, name in enumerate(rows.names):
            known = self.kinds.get(name)
            if known == NUMBER or len(rows) == 0:
                continue
            values = rows.numbers[:, column]
            present = np.flatnonzero(~np.isnan(values))
            if known == TEXT and len(present):
                raise _mixed(float(values[present[0]]), name, int(present[0]), known)
            if name not in self.kinds:
                plan.setdefault(0, Additions({}, [])).kinds[name] = None
            if len(present) and known is None:
                plan.setdefault(int(present[0]), Additions({}, [])).kinds[name] = NUMBER
        return plan

    def apply(self, additions: Additions, n_classes: int) -> None:
        """Add what a row brings, when so many labels are known."""
        self.version += 1
        self.kinds.update(additions.kinds)
        for name, category in additions.categories:
            codes = self.categories.setdefault(name, {})
            codes[category] = len(codes)
            if len(codes) > MOST_CATEGORIES:
                self.statistics[name] = TextCounts(n_classes)
        self.add_labels(n_classes)

    def add_labels(self, n_classes: int) -> None:
        """Columns for statistics of new labels."""
        for name, counts in self.statistics.items():
            counts.grow(n_classes)
            new = [share_column(name, group) for group in range(counts.n_groups)]
            if new and new[-1] not in self.kinds:
                self.version += 1
                self.kinds.update(dict.fromkeys((column for column in new if column not in self.kinds), NUMBER))

    def encode(
        self, rows: Sequence[Row], labels: IntArray | None = None, weights: FloatArray | None = None
    ) -> FloatArray:
        """A matrix with one column per known feature: numbers as they are, categories by code, NaN for the rest.

        With labels, the rows are counted in the statistics of texts, each after its own were read.
        """
        if isinstance(rows, NumberRows) and list(self.kinds) == rows.names:
            return np.ascontiguousarray(rows.numbers)
        encoded = np.full((len(rows), len(self.kinds)), np.nan)
        columns = [(name, self.categories.get(name, {})) for name in self.kinds]
        for number, row in enumerate(rows):
            for column, (name, codes) in enumerate(columns):
                value = row.get(name)
                if isinstance(value, str):
                    encoded[number, column] = codes.get(value, OTHER if name in self.statistics else np.nan)
                elif value is not None:
                    encoded[number, column] = value
        for name, counts in self.statistics.items():
            texts = (row.get(name) for row in rows)
            places = np.array([place_of(text) if isinstance(text, str) else -1 for text in texts], dtype=np.int64)
            where = {column: place for place, column in enumerate(self.kinds)}
            shares = counts.shares(places, labels, weights)
            for group in range(counts.n_groups):
                encoded[:, where[share_column(name, group)]] = shares[:, group]
        return encoded
