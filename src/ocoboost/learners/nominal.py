"""Columns of numbers that are to be read as categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.schema import TEXT, Block, Schema
from ocoboost.learners.checked import require

NUMBERS = -1  # in place of a number of codes


class NominalNumbers:
    """The category codes of columns of numbers, in order of appearance."""

    def __init__(self, names: frozenset[Any]) -> None:
        self.names = names
        self.codes: dict[Any, dict[float, int]] = {}

    def recode(self, block: Block, *, learning: bool) -> FloatArray:
        """The block as a matrix, with codes in place of the numbers of these columns; unknown ones become missing."""
        if not self.names:
            return block.codes
        matrix = block.codes.copy()
        for column, (name, kind) in enumerate(block.schema.kinds.items()):
            if name in self.names and kind != TEXT:
                codes = self.codes.setdefault(name, {})
                for row, value in enumerate(matrix[:, column]):
                    if not np.isnan(value):
                        if learning:
                            codes.setdefault(value, len(codes))
                        matrix[row, column] = codes.get(value, np.nan)
        return matrix

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
            require(len(self.codes[name]) == len(values), "nominal")


def codes_of_columns(schema: Schema, nominal: NominalNumbers) -> list[int | None]:
    """How many codes each column has: NUMBERS if it is read as numbers, None if its kind did not show yet."""
    n_codes: list[int | None] = []
    for name, kind in schema.kinds.items():
        if kind == TEXT:
            n_codes.append(len(schema.categories.get(name, ())))
        elif name in nominal.names:
            n_codes.append(len(nominal.codes.get(name, ())))
        else:
            n_codes.append(None if kind is None else NUMBERS)
    return n_codes
