"""Columns and their categories, as the numbers that compiled learners work with.

The schema grows and never reorders. It plans before it grows: ``plan`` reads a whole block, raises if anything in it
cannot be used, and says at which rows something new appears; nothing changes until the additions are applied.

Its memory is bounded, however many texts come: a column of text gets codes for its first categories, then one code
that stands for all others, and label statistics beside it (see ``text``).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count
from ocoboost.data.categories import PlannedCategories
from ocoboost.data.rows import NumberRows, Row
from ocoboost.data.text import (
    MOST_CATEGORIES,
    MOST_CODES,
    MOST_GROUPS,
    MOST_PLACES,
    MOST_SHARES,
    TextCounts,
    category_of,
)
from ocoboost.errors import InvalidInputError

NUMBER = "numbers"
TEXT = "text"
OWN = -1  # in place of a group of labels: the column itself
_PLAIN = frozenset({float, int})
ENTRY_BYTES = 100  # of a dict's entry and what it refers to, about


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
    is_alone: bool = False  # a row that the caller came with by itself, and not one that was cut out of many

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def codes(self) -> FloatArray:
        """One row per row, one column per column of the schema (see ``Schema.encode``); not to be written to."""
        return self.schema.encode(self.rows)

    @classmethod
    def to_learn(
        cls, rows: Sequence[Row], schema: Schema, labels: IntArray, weights: FloatArray, *, is_alone: bool = False
    ) -> Block:
        """Rows that are learned now: their labels are counted in the statistics of texts."""
        block = cls(rows, schema, is_alone)
        if schema.statistics:
            block.__dict__["codes"] = schema.encode(rows, labels, weights)
        return block

    @classmethod
    def of_codes(cls, codes: FloatArray, schema: Schema) -> Block:
        """Rows that were encoded before; columns that the schema has got since are missing in them."""
        block = cls(range(len(codes)), schema)  # type: ignore[arg-type]
        block.__dict__["codes"] = codes
        return block


class Column(NamedTuple):
    """A column of the matrix: one of the caller's, or the share of a group of labels among rows with its text."""

    name: Hashable
    group: int = OWN


@dataclass
class Additions:
    """What one row brings that the schema does not hold yet."""

    kinds: dict[Hashable, str | None] = field(default_factory=dict)  # new columns, or columns whose kind shows now
    categories: list[tuple[Hashable, str]] = field(default_factory=list)
    others: list[Hashable] = field(default_factory=list)  # columns that get a code for all other texts

    def __bool__(self) -> bool:
        return bool(self.kinds or self.categories or self.others)


class Widths(NamedTuple):
    """What the size of a learner depends on."""

    n_numbers: int  # columns, label shares among them
    n_texts: int
    n_codes: int  # of all columns of text


class Schema:
    """Columns in order of appearance, whether they hold numbers or text, and the categories of text columns."""

    def __init__(self, n_places: int = MOST_PLACES) -> None:
        self.kinds: dict[Hashable, str | None] = {}  # None: present so far only as a missing value
        self.columns: list[Column] = []
        self.categories: dict[Hashable, dict[str, int]] = {}
        self.others: dict[Hashable, None] = {}  # an ordered set: columns with a code for all other texts
        self.statistics: dict[Hashable, TextCounts] = {}  # of these columns
        self.n_places = n_places  # of a table of statistics
        self.version = 0  # counts what was applied: who has seen this version has seen all
        self._plain_version = -1  # of the names below
        self._plain_names: tuple[Hashable, ...] = ()  # of all columns, if they hold nothing but numbers

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_plain_version": -1, "_plain_names": ()}  # follows from the rest, when it is asked for

    # -- what is known -------------------------------------------------------------------------------------------------

    def kind_of(self, column: Column) -> str | None:
        """Whether a column of the matrix holds numbers or codes of text."""
        return self.kinds[column.name] if column.group == OWN else NUMBER

    def n_codes(self, name: Hashable) -> int:
        """The number of codes of a text column."""
        return len(self.categories.get(name, ())) + (name in self.others)

    @property
    def most_codes(self) -> int:
        """Of any column."""
        return max(map(self.n_codes, self.categories), default=0)

    @property
    def n_bytes(self) -> int:
        """Memory of names, categories and statistics, about."""
        return self._n_bytes_of_words + sum(counts.n_bytes for counts in self.statistics.values())

    @property
    def _n_bytes_of_words(self) -> int:
        names = sum(map(_size, self.kinds)) + ENTRY_BYTES * len(self.columns)
        return names + sum(_size(text) for codes in self.categories.values() for text in codes)

    def widths(self, additions: Iterable[Additions], n_classes: int) -> tuple[Widths, int]:
        """What learners have to hold once these are added, and the memory of names and categories.

        ``n_classes`` counts the labels that are known then.
        """
        kinds, n_codes, n_others = dict(self.kinds), sum(map(self.n_codes, self.categories)), len(self.others)
        n_bytes = self._n_bytes_of_words
        for added in additions:
            kinds.update(added.kinds)
            n_codes += len(added.categories) + len(added.others)
            n_others += len(added.others)
            n_bytes += sum(_size(text) for _, text in added.categories)
        n_shares = min(MOST_SHARES, n_others * min(n_classes, MOST_GROUPS))
        n_texts = sum(kind == TEXT for kind in kinds.values())
        n_numbers = sum(kind == NUMBER for kind in kinds.values()) + n_shares
        n_bytes += sum(_size(name) + ENTRY_BYTES for name in kinds if name not in self.kinds)
        n_bytes += ENTRY_BYTES * (n_shares - (len(self.columns) - len(self.kinds)))
        return Widths(n_numbers, n_texts, n_codes), n_bytes

    # -- planning ------------------------------------------------------------------------------------------------------

    def plan(self, rows: Sequence[Row]) -> dict[int, Additions]:
        """Additions by the row that brings them; raises if a column mixes numbers and text."""
        if isinstance(rows, NumberRows):
            return self._plan_numbers(rows)
        plan: dict[int, Additions] = {}
        kinds: dict[Hashable, str | None] = {}
        planned = PlannedCategories(self)
        for number, row in enumerate(rows):
            added = Additions()
            for name, value in row.items():
                kind = None if value is None else TEXT if isinstance(value, str) else NUMBER
                known = kinds[name] if name in kinds else self.kinds.get(name)
                if known is not None and kind is not None and kind != known:
                    raise _mixed(value, name, number, known)
                if (name not in kinds and name not in self.kinds) or (known is None and kind is not None):
                    kinds[name] = added.kinds[name] = kind
                if isinstance(value, str):
                    planned.add(name, value, added)
            if added:
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
                plan.setdefault(0, Additions()).kinds[name] = None
            if len(present) and known is None:
                plan.setdefault(int(present[0]), Additions()).kinds[name] = NUMBER
        return plan

    # -- growing -------------------------------------------------------------------------------------------------------

    def apply(self, additions: Additions, n_classes: int) -> None:
        """Add what a row brings, when so many labels are known."""
        self.version += 1
        self.columns += [Column(name) for name in additions.kinds if name not in self.kinds]
        self.kinds.update(additions.kinds)
        for name, category in additions.categories:
            codes = self.categories.setdefault(name, {})
            codes[category] = len(codes)
        for name in additions.others:
            self.categories.setdefault(name, {})
            self.others[name] = None
        self.add_labels(n_classes)

    def add_labels(self, n_classes: int) -> None:
        """Statistics for new columns and labels, as far as there may be more; those of the first columns come first."""
        n_shares = sum(counts.n_groups for counts in self.statistics.values())
        for name in self.others:
            while n_shares < MOST_SHARES:
                counts = self.statistics.setdefault(name, TextCounts(self.n_places))
                if counts.n_groups >= min(n_classes, MOST_GROUPS):
                    break
                self.columns.append(Column(name, counts.n_groups))
                counts.add_group()
                n_shares += 1
                self.version += 1

    # -- single rows ---------------------------------------------------------------------------------------------------

    def plain_row(self, x: object) -> FloatArray | None:
        """A dict of finite numbers, one for every column, as a row of the matrix; None for anything else."""
        if self._plain_version != self.version:
            self._plain_version = self.version
            is_plain = len(self.columns) == len(self.kinds) and set(self.kinds.values()) == {NUMBER}
            self._plain_names = tuple(self.kinds) if is_plain else ()
        names = self._plain_names
        if type(x) is not dict or not names or len(x) != len(names):
            return None
        try:
            values = [x[name] for name in names]
            if not _PLAIN.issuperset(map(type, values)) or not isfinite(sum(values)):
                return None
            return np.array(values, dtype=np.float64)
        except (KeyError, OverflowError):
            return None

    # -- encoding ------------------------------------------------------------------------------------------------------

    def encode(
        self, rows: Sequence[Row], labels: IntArray | None = None, weights: FloatArray | None = None
    ) -> FloatArray:
        """A matrix with a column for each of ``columns``: numbers as they are, texts by code, NaN for the rest.

        A text that was never learned has the next code, as it will when it is learned. It is not a missing value, and
        votes before and while a row is learned agree.

        With labels, the rows are counted in the statistics of texts, each after its own were read.
        """
        if isinstance(rows, NumberRows) and len(self.columns) == len(rows.names) and list(self.kinds) == rows.names:
            return np.ascontiguousarray(rows.numbers)
        encoded = np.full((len(rows), len(self.columns)), np.nan)
        places = {column: place for place, column in enumerate(self.columns)}
        own = [(name, places[Column(name)], self.categories.get(name, {})) for name in self.kinds]
        for number, row in enumerate(rows):
            for name, place, codes in own:
                value = row.get(name)
                if isinstance(value, str):
                    encoded[number, place] = codes.get(category_of(value), len(codes))
                elif value is not None:
                    encoded[number, place] = value
        for name, counts in self.statistics.items():
            texts = [text if isinstance(text := row.get(name), str) else None for row in rows]
            shares = counts.shares(texts, labels, weights)
            for group in range(counts.n_groups):
                encoded[:, places[Column(name, group)]] = shares[:, group]
        return encoded

    # -- saving --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that is known of the columns, as words, numbers and arrays."""
        return {
            "kinds": self.kinds,
            "columns": [[column.name, column.group] for column in self.columns],
            "categories": {name: list(codes) for name, codes in self.categories.items()},
            "others": list(self.others),
            "statistics": {name: counts.state() for name, counts in self.statistics.items()},
            "version": self.version,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for what cannot have been learned."""
        self.version = checked_count(saved["version"], "version of the schema")
        for name, kind in saved["kinds"].items():
            if kind not in (None, NUMBER, TEXT):
                raise ValueError(f"invalid kind of a column: {kind!r}")
            self.kinds[name] = kind
        for name, categories in saved["categories"].items():
            codes = {category: code for code, category in enumerate(categories)}
            if self.kinds.get(name) != TEXT or not len(codes) == len(categories) <= MOST_CATEGORIES:
                raise ValueError(f"invalid categories of column {name!r}")
            if not all(isinstance(category, str) for category in categories):
                raise ValueError(f"categories of column {name!r} must be text")
            self.categories[name] = codes
        self.others = dict.fromkeys(saved["others"])
        if not self.others.keys() <= self.categories.keys() or sum(map(self.n_codes, self.categories)) > 2 * MOST_CODES:
            raise ValueError("invalid categories")
        if any(kind == TEXT and name not in self.categories for name, kind in self.kinds.items()):
            raise ValueError("a column of text without categories")
        self._restore_columns([Column(name, group) for name, group in saved["columns"]])
        for name, counts in self.statistics.items():
            counts.restore(saved["statistics"][name])

    def _restore_columns(self, columns: list[Column]) -> None:
        """Every column has its place, in the order of their names; groups of labels are numbered from 0."""
        self.columns = columns
        if [column.name for column in columns if column.group == OWN] != list(self.kinds):
            raise ValueError("invalid columns")
        for name, group in columns:
            if group == OWN:
                continue
            counts = self.statistics.setdefault(name, TextCounts(self.n_places))
            if name not in self.others or group != counts.n_groups or group >= MOST_GROUPS:
                raise ValueError("invalid columns of statistics")
            counts.add_group()
        if len(columns) - len(self.kinds) > MOST_SHARES:
            raise ValueError("too many columns of statistics")


def _size(value: Hashable) -> int:
    return sys.getsizeof(value) + ENTRY_BYTES
