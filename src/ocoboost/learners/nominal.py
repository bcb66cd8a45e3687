"""Columns of numbers that are to be read as categories.

As with text, the first ``MOST_CATEGORIES`` numbers of a column have codes of their own, and all others share one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.schema import OWN, TEXT, Block, Schema
from ocoboost.data.text import MOST_CATEGORIES
from ocoboost.learners.checked import require

NUMBERS = -1  # in place of a number of codes


class NominalNumbers:
    """The category codes of columns of numbers, in order of appearance."""

    def __init__(self, names: frozenset[Any]) -> None:
        self.names = names
        self.codes: dict[Any, dict[float, int]] = {}

    def recode(self, block: Block, *, learning: bool) -> FloatArray:
        """The block as a matrix, with codes in place of the numbers of these columns; a new number has the next."""
        if not self.names:
            return block.codes
        matrix = block.codes.copy()
        for place, column in enumerate(block.schema.columns):
            if self.has(column.name) and column.group == OWN and block.schema.kinds[column.name] != TEXT:
                codes = self.codes.setdefault(column.name, {})
                for row, value in enumerate(matrix[:, place]):
                    if not np.isnan(value):
                        if learning and len(codes) <= MOST_CATEGORIES:  # the last stands for all others
                            codes.setdefault(value, len(codes))
                        matrix[row, place] = codes.get(value, min(len(codes), MOST_CATEGORIES))
        return matrix

    def has(self, name: Any) -> bool:
        """Whether a column's numbers are to be read as categories."""
        return name in self.names

    @property
    def n_codes(self) -> int:
        """That learners make place for, in every column, from its first row: no block is cut at a new number."""
        return MOST_CATEGORIES + 1 if self.names else 0

    def state(self) -> dict[Any, list[float]]:
        """The numbers of each column, by code."""
        return {name: [float(value) for value in codes] for name, codes in self.codes.items()}

    def restore(self, state: dict[Any, list[float]], schema: Schema) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for an invalid state."""
        require(isinstance(state, dict), "nominal")
        for name, values in state.items():
            require(name in self.names and schema.kinds.get(name, TEXT) != TEXT, "nominal")
            require(isinstance(values, list) and all(type(value) is float for value in values), "nominal")
            self.codes[name] = {value: code for code, value in enumerate(values)}
            require(len(self.codes[name]) == len(values) <= MOST_CATEGORIES + 1, "nominal")


def codes_of_columns(schema: Schema, nominal: NominalNumbers) -> list[int | None]:
    """How many codes each column has: NUMBERS if it is read as numbers, None if its kind did not show yet."""
    n_codes: list[int | None] = []
    for column in schema.columns:
        kind = schema.kind_of(column)
        if kind == TEXT:
            n_codes.append(schema.n_codes(column.name))
        elif kind is not None and column.group == OWN and nominal.has(column.name):
            n_codes.append(nominal.n_codes)
        else:
            n_codes.append(None if kind is None else NUMBERS)
    return n_codes
