"""Columns of numbers that are to be read as categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.encoding import TEXT, Piece


class NominalNumbers:
    """The category codes of columns of numbers, in order of appearance."""

    def __init__(self, names: frozenset[Any]) -> None:
        self.names = names
        self.codes: dict[Any, dict[float, int]] = {}

    def recode(self, piece: Piece, *, learning: bool) -> FloatArray:
        """The piece as a matrix, with codes in place of the numbers of these columns; unknown ones become missing."""
        if not self.names:
            return piece.codes
        block = piece.codes.copy()
        for column, (name, kind) in enumerate(piece.schema.kinds.items()):
            if name in self.names and kind != TEXT:
                codes = self.codes.setdefault(name, {})
                for row, value in enumerate(block[:, column]):
                    if not np.isnan(value):
                        if learning:
                            codes.setdefault(value, len(codes))
                        block[row, column] = codes.get(value, np.nan)
        return block
