"""Ready-made classes of hypotheses to compare with; grids are taken from the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.learners.experts.hypotheses import Best
from ocoboost.learners.experts.stumps import Stump, StumpClass


class Searchable(Protocol):
    """A class whose best member can be found exactly."""

    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        """The member that gains most; ``gains`` has shape (rows, classes)."""


@dataclass(frozen=True)
class Constant:
    """Predicts the same label for every row."""

    label: int

    def __call__(self, X: Any) -> IntArray:
        return np.full(len(X), self.label, dtype=np.int64)


@dataclass(frozen=True)
class Constants:
    """One hypothesis per label, which always predicts that label.

    >>> Constants().best_in_class(np.zeros((2, 0)), np.array([[1.0, 0.0], [0.0, 3.0]]))
    Best(value=3.0, hypothesis=Constant(label=1))
    """

    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        totals = gains.sum(axis=0)
        return Best(float(totals.max()), Constant(int(totals.argmax())))


@dataclass(frozen=True)
class QuantileStumps:
    """All k-way stumps whose thresholds are quantiles of the rows given; constants are among them.

    Text counts as the number of its category, a missing value as below every threshold.

    >>> X = np.random.default_rng(1).lognormal(size=(400, 3))
    >>> labels = np.where(X[:, 2] <= np.quantile(X[:, 2], 0.25), 1, 0)
    >>> QuantileStumps(n_cells=8).best_in_class(X, np.eye(2)[labels]).value
    400.0
    """

    n_cells: int = 16

    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        rows = np.asarray(X, dtype=np.float64)
        if rows.shape[1] == 0:
            return Constants().best_in_class(X, gains)
        edges = self._edges(rows)
        on_grid = StumpClass(rows.shape[1], gains.shape[1], self.n_cells, low=0.0, high=float(self.n_cells))
        value, best = on_grid.best_in_class(_cells(rows, edges), gains)
        assert isinstance(best, Stump)
        column = np.array([-np.inf, *edges[:, best.feature], np.inf])
        places = [int(min(max(threshold, 0.0), self.n_cells)) for threshold in best.thresholds]
        return Best(value, Stump(best.feature, tuple(float(column[place]) for place in places), best.labels))

    def _edges(self, rows: FloatArray) -> FloatArray:
        """The boundaries between cells, of shape (cells - 1, features); NaN for a column without values."""
        ordered = np.sort(rows, axis=0)  # NaN last
        n_known = np.count_nonzero(~np.isnan(rows), axis=0)
        places = (np.arange(1, self.n_cells)[:, None] * n_known) // self.n_cells
        edges: FloatArray = ordered[np.maximum(places - 1, 0), np.arange(rows.shape[1])]
        return edges


def _cells(rows: FloatArray, edges: FloatArray) -> FloatArray:
    """The middle of each value's cell: the number of edges below it, plus a half."""
    cells = np.zeros_like(rows)
    for column in range(rows.shape[1]):
        cells[:, column] = np.searchsorted(edges[:, column], rows[:, column], side="left")
    return np.where(np.isnan(rows), np.nan, cells + 0.5)
