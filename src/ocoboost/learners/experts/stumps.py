"""The class of k-way decision stumps on a grid (the paper's appendix on the dependence on k).

A member is a parameterisation: a feature, ``n_pieces - 1`` weakly ordered thresholds among the cell boundaries, and a
label for each of the ``n_pieces`` pieces, some of which may be empty. So functions that need few pieces are counted
several times; exponential weights over parameterisations favour them.

A missing value counts as below every threshold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.errors import InvalidParameterError
from ocoboost.learners.experts.hypotheses import Best, HypothesisClass
from ocoboost.learners.experts.stump_search import add_to_table, best_runs


@dataclass(frozen=True)
class Stump:
    """``labels[i]`` where the feature is above the first i thresholds and not above the next.

    >>> Stump(feature=0, thresholds=(0.5,), labels=(2, 1))(np.array([[0.5], [0.6], [np.nan]]))
    array([2, 1, 2])
    """

    feature: int
    thresholds: tuple[float, ...]
    labels: tuple[int, ...]

    def __call__(self, X: FloatArray) -> IntArray:
        values = np.asarray(X, dtype=np.float64)[:, self.feature]
        values = np.where(np.isnan(values), np.finfo(np.float64).min, values)
        pieces = (values[:, None] > np.array(self.thresholds)).sum(axis=1)
        said: IntArray = np.array(self.labels, dtype=np.int64)[pieces]
        return said


@dataclass(frozen=True)
class StumpClass(HypothesisClass):
    """All stumps over ``n_features`` columns, each cut into ``n_cells`` equal cells of [low, high].

    Values outside belong to the outer cells. ``n_pieces=None`` stands for one piece per class, as in the paper.

    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((500, 3))
    >>> labels = np.where(X[:, 1] <= 0.25, 2, np.where(X[:, 1] <= 0.5, 0, 1))
    >>> stumps = StumpClass(n_features=3, n_classes=3, n_cells=8)
    >>> value, best = stumps.best_in_class(X, np.eye(3)[labels])
    >>> value, best
    (500.0, Stump(feature=1, thresholds=(0.25, 0.5), labels=(2, 0, 1)))
    """

    n_features: int
    n_classes: int
    n_cells: int = 16
    n_pieces: int | None = None
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        for name in ("n_features", "n_classes", "n_cells"):
            if getattr(self, name) < 1:
                raise InvalidParameterError(f"StumpClass: {name} must be at least 1, got {getattr(self, name)}.")
        if not self.low < self.high:
            raise InvalidParameterError(f"StumpClass: low must be below high, got {self.low} and {self.high}.")

    @property
    def pieces(self) -> int:
        """The number of pieces in force."""
        return self.n_classes if self.n_pieces is None else self.n_pieces

    @property
    def log_size(self) -> float:
        cuts = math.comb(self.n_cells + self.pieces - 1, self.pieces - 1)
        return math.log(self.n_features) + math.log(cuts) + self.pieces * math.log(self.n_classes)

    @property
    def edges(self) -> FloatArray:
        """The boundaries between cells."""
        return grid_edges(self.n_cells, self.low, self.high)

    def members(self) -> Iterator[Stump]:
        """Every parameterisation; their number is ``exp(log_size)``."""
        boundaries = [-math.inf, *self.edges.tolist(), math.inf]
        for feature in range(self.n_features):
            for thresholds in itertools.combinations_with_replacement(boundaries, self.pieces - 1):
                for labels in itertools.product(range(self.n_classes), repeat=self.pieces):
                    yield Stump(feature, thresholds, labels)

    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        table = np.zeros((self.n_features, self.n_cells, self.n_classes))
        add_to_table(find_cells(np.asarray(X, dtype=np.float64), self.edges), self._checked(X, gains), table)
        best_value, best = -math.inf, Stump(0, (), (0,))
        said = np.empty(self.n_cells, dtype=np.int64)
        for feature in range(self.n_features):
            value = best_runs(table[feature], self.pieces, said)
            if value > best_value:
                best_value, best = value, self._as_stump(feature, said)
        return Best(float(best_value), best)

    def _as_stump(self, feature: int, cell_labels: IntArray) -> Stump:
        """Runs of labels as thresholds; pieces left over are empty, at the upper end."""
        changes = np.flatnonzero(np.diff(cell_labels))
        thresholds = [*self.edges[changes].tolist()] + [math.inf] * (self.pieces - 1 - len(changes))
        labels = [*cell_labels[changes].tolist()] + [int(cell_labels[-1])] * (self.pieces - len(changes))
        return Stump(feature, tuple(thresholds), tuple(labels))


def grid_edges(n_cells: int, low: float, high: float) -> FloatArray:
    """The boundaries between equal cells of [low, high]."""
    return low + (high - low) * np.arange(1, n_cells) / n_cells


def find_cells(X: FloatArray, edges: FloatArray) -> IntArray:
    """The cell of every value: the number of edges below it; missing values are in the first."""
    return np.where(np.isnan(X), 0, np.searchsorted(edges, X, side="left")).astype(np.int64)
