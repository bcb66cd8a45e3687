"""Columns and their categories, as the numbers that compiled learners work with.

The schema grows and never reorders. It plans before it grows: ``plan`` reads a whole block, raises if anything in it
cannot be used, and says at which rows something new appears; nothing changes until the additions are applied.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, checked_count
from ocoboost.data.rows import NumberRows, Row
from ocoboost.errors import InvalidInputError

NUMBER = "numbers"
TEXT = "text"


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

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def codes(self) -> FloatArray:
        """One column per known feature (see ``Schema.encode``); shared, so not to be written to."""
        return self.schema.encode(self.rows)


class Additions(NamedTuple):
    """What one row brings that the schema does not hold yet."""

    kinds: dict[Hashable, str | None]  # new columns, and columns whose kind shows for the first time
    categories: list[tuple[Hashable, str]]


class Schema:
    """Columns in order of appearance, whether they hold numbers or text, and the categories of text columns."""

    def __init__(self) -> None:
        self.kinds: dict[Hashable, str | None] = {}  # None: present so far only as a missing value
        self.categories: dict[Hashable, dict[str, int]] = {}
        self.version = 0  # counts what was applied: who has seen this version has seen all

    def plan(self, rows: Sequence[Row]) -> dict[int, Additions]:
        """Additions by the row that brings them; raises if a column mixes numbers and text."""
        if isinstance(rows, NumberRows):
            return self._plan_numbers(rows)
        plan: dict[int, Additions] = {}
        kinds: dict[Hashable, str | None] = {}
        categories: set[tuple[Hashable, str]] = set()
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
                    if value not in self.categories.get(name, ()) and category not in categories:
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

    def apply(self, additions: Additions) -> None:
        self.version += 1
        self.kinds.update(additions.kinds)
        for name, category in additions.categories:
            codes = self.categories.setdefault(name, {})
            codes[category] = len(codes)

    def encode(self, rows: Sequence[Row]) -> FloatArray:
        """A matrix with one column per known feature: numbers as they are, categories by code, NaN for the rest."""
        if isinstance(rows, NumberRows) and list(self.kinds) == rows.names:
            return np.ascontiguousarray(rows.numbers)
        encoded = np.full((len(rows), len(self.kinds)), np.nan)
        columns = [(name, self.categories.get(name, {})) for name in self.kinds]
        for number, row in enumerate(rows):
            for column, (name, codes) in enumerate(columns):
                value = row.get(name)
                if isinstance(value, str):
                    encoded[number, column] = codes.get(value, np.nan)
                elif value is not None:
                    encoded[number, column] = value
        return encoded

    # -- saving --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that is known of the columns, as words and numbers."""
        return {
            "kinds": self.kinds,
            "categories": {name: list(codes) for name, codes in self.categories.items()},
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
            if self.kinds.get(name) != TEXT or len(codes) < len(categories):
                raise ValueError(f"invalid categories of column {name!r}")
            if not all(isinstance(category, str) for category in categories):
                raise ValueError(f"categories of column {name!r} must be text")
            self.categories[name] = codes
        if any(kind == TEXT and name not in self.categories for name, kind in self.kinds.items()):
            raise ValueError("a column of text without categories")
