"""Columns of numbers that are to be read as categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.schema import TEXT, Block, Schema
from ocoboost.learners.checked import require


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
        for name, values in state.items():
            require(name in self.names and name in schema.kinds and all(type(v) is float for v in values), "nominal")
            self.codes[name] = {value: code for code, value in enumerate(values)}
            require(len(self.codes[name]) == len(values), "nominal")
