"""Rows of a file for models of other libraries.

River's trees take text as it is, and rows from which missing cells are left out (``present``). A model that takes
nothing but complete numbers gets them from an ``Encoder``:

    text             a column of zeros and ones for each of its values, if there are at most 16 in the first chunk;
                     else 16 columns, one of which is 1: the one of the text's CRC-32
    missing number   the mean of its column so far, 0 before the first number
    missing text     0 in all columns of that text, as is a value that was not in the first chunk

The first chunk of the file decides which columns there are.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable
from typing import Any

from ocoboost.data.rows import Row

MOST_CATEGORIES = 16  # that have a column each
N_HASHED = 16  # columns for more than that


def present(row: Row) -> dict[Hashable, Any]:
    """A row without its missing cells."""
    return {name: value for name, value in row.items() if value is not None}


class Encoder:
    """Rows as complete numbers, always with the same columns."""

    def __init__(self, first_rows: Iterable[Row]) -> None:
        self._means: dict[Hashable, tuple[int, float]] = {}  # how many numbers, and their mean
        texts: dict[Hashable, dict[str, None]] = {}
        for row in first_rows:
            for name, value in row.items():
                if isinstance(value, str):
                    texts.setdefault(name, {})[value] = None
                elif name not in self._means:
                    self._means[name] = (0, 0.0)
        self._one_hot = {name: list(values) for name, values in texts.items() if len(values) <= MOST_CATEGORIES}
        self._hashed = [name for name in texts if name not in self._one_hot]
        for name in texts:  # whose first cells may have been missing
            self._means.pop(name, None)

    def encode(self, row: Row) -> dict[str, float]:
        """The row as numbers; the means go on."""
        encoded: dict[str, float] = {}
        for name, (count, mean) in self._means.items():
            value = row.get(name)
            if isinstance(value, int | float):
                self._means[name] = count + 1, mean + (value - mean) / (count + 1)
                encoded[str(name)] = float(value)
            else:
                encoded[str(name)] = mean
        for name, values in self._one_hot.items():
            value = row.get(name)
            encoded |= {f"{name}={category}": float(value == category) for category in values}
        for name in self._hashed:
            value = row.get(name)
            place = zlib.crc32(value.encode()) % N_HASHED if isinstance(value, str) else -1
            encoded |= {f"{name} #{number}": float(number == place) for number in range(N_HASHED)}
        return encoded
