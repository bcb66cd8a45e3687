"""Features as small integers: binned once, then every tree of every stage counts and compares bins.

A feature's thresholds lie halfway between neighbouring values, at most ``max_bins - 1`` of them, with nearly equal
weight in the bins between them. A missing value has a bin of its own, after the others. With many rows, the
thresholds are found from a random subset; draws are keyed by the row number, so it is the same for any chunks.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.randomness import BIN_ROWS, draw_rows

Codes: TypeAlias = NDArray[np.uint8]

MOST_BINS = 255  # with the bin of missing values, all that a byte can hold
ENOUGH_ROWS = 50_000  # their quantiles are accurate to 0.2 %, a small fraction of a bin


class Binning(NamedTuple):
    """All features' thresholds, one feature after the other."""

    thresholds: FloatArray
    starts: IntArray  # (features + 1,): where each feature's thresholds begin

    @property
    def n_bins(self) -> IntArray:
        """The number of bins of each feature, which is also the code of its missing values."""
        return np.diff(self.starts) + 1

    @property
    def slots(self) -> IntArray:
        """(features + 1,): where each feature's bins begin in a histogram that holds all of them."""
        return self.starts + 2 * np.arange(len(self.starts))

    def codes(self, X: FloatArray) -> Codes:
        """The bin of every cell."""
        out = np.empty(X.shape, dtype=np.uint8)
        encode(np.ascontiguousarray(X), self.thresholds, self.starts, out)
        return out


def find_bins(X: FloatArray, weights: FloatArray, max_bins: int) -> Binning:
    """Thresholds for the columns of ``X``; rows of weight zero do not count.

    >>> find_bins(np.array([[1.0], [2.0], [2.0], [5.0]]), np.ones(4), max_bins=255).thresholds
    array([1.5, 3.5])
    """
    X, weights = X[weights > 0.0], weights[weights > 0.0]
    found = [_thresholds(column, weights, max_bins) for column in X.T]
    starts = np.cumsum([0, *map(len, found)])
    return Binning(np.concatenate([*found, np.empty(0)]), starts.astype(np.int64))


def rows_for_bins(seed: int, first_row: int, n_rows: int, n_rows_in_all: int) -> NDArray[np.bool_]:
    """Which of these rows are used to find the thresholds."""
    if n_rows_in_all <= ENOUGH_ROWS:
        return np.ones(n_rows, dtype=bool)
    draws = np.empty(n_rows)
    draw_rows(seed, BIN_ROWS, first_row, 0, draws)
    chosen: NDArray[np.bool_] = draws < ENOUGH_ROWS / n_rows_in_all
    return chosen


def _thresholds(column: FloatArray, weights: FloatArray, max_bins: int) -> FloatArray:
    known = ~np.isnan(column)
    values, places = np.unique(column[known], return_inverse=True)
    if len(values) > max_bins:
        below = np.cumsum(np.bincount(places, weights=weights[known]))
        targets = below[-1] * np.arange(1, max_bins) / max_bins
        last = np.unique(np.searchsorted(below, targets))  # the last value of each bin
        last = last[last < len(values) - 1]
    else:
        last = np.arange(max(len(values) - 1, 0))
    low, high = values[last], values[last + 1]
    middle = low / 2.0 + high / 2.0  # a sum could overflow
    return np.where(middle < high, middle, low)  # neighbouring floats have no number between them


@kernel
def encode(X: FloatArray, thresholds: FloatArray, starts: IntArray, out: Codes) -> None:
    """A code is the number of thresholds below a value."""
    for column in range(X.shape[1]):
        first = starts[column]
        last = starts[column + 1]
        for row in range(X.shape[0]):
            value = X[row, column]
            if np.isnan(value):
                out[row, column] = last - first + 1
            else:
                low = first
                high = last
                while low < high:
                    middle = (low + high) // 2
                    if thresholds[middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                out[row, column] = low - first
