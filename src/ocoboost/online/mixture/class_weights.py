"""Weights of rows by their labels, so that rare ones are learned as if they were not.

"balanced" gives a row with label y the weight n / (k n_y), where n rows are seen so far with k labels, n_y of them with
this one, the row itself among them: every label weighs the same in all. It depends on the labels before it only, so
blocks do not matter. A label that comes late would weigh as much as all rows before it: weights are at most ``MOST``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label, Labels

MOST = 100.0


class ClassWeights:
    """None of them, weights that were given by label (1 for all others), or, if that is empty, balanced ones."""

    def __init__(self, labels: Labels, given: Mapping[Label, float] | None) -> None:
        self._labels = labels  # which the state lets grow
        self.given = given
        self.counts: IntArray = np.zeros(0, dtype=np.int64)  # rows by label, if they are to be balanced

    def weigh(self, labels: IntArray, weights: FloatArray, n_classes: int) -> FloatArray:
        """The weights of rows, times those of their labels; the rows are counted."""
        if self.given is None:
            return weights
        if self.given:
            by_label: FloatArray = np.array([self.given.get(label, 1.0) for label in self._labels.known[:n_classes]])
            return np.asarray(weights * by_label[labels])
        self.counts = np.concatenate([self.counts, np.zeros(n_classes - len(self.counts), dtype=np.int64)])
        rows = np.arange(len(labels))
        counts = np.zeros((len(labels), n_classes), dtype=np.int64)
        counts[rows, labels] = weights > 0.0
        counts = self.counts + np.cumsum(counts, axis=0)
        if len(rows):
            self.counts = counts[-1].copy()
        n_own, n_known = np.maximum(counts[rows, labels], 1), np.maximum((counts > 0).sum(axis=1), 1)
        balanced: FloatArray = weights * np.minimum(counts.sum(axis=1) / (n_known * n_own), MOST)
        return balanced

    def settings(self) -> dict[str, Any]:
        return {"class_weight": None if self.given is None else list(self.given.items())}

    def restore(self, counts: Any, n_rows: int, n_classes: int) -> None:
        """Take back the counts."""
        is_array = isinstance(counts, np.ndarray) and counts.dtype == np.int64 and counts.ndim == 1
        is_balanced = self.given is not None and not self.given
        if not is_array or len(counts) != (n_classes if is_balanced and n_rows else 0):
            raise ValueError("invalid counts of labels")
        if np.any(counts < 0) or np.any(counts > n_rows) or int(counts.sum()) > n_rows:
            raise ValueError("invalid counts of labels")
        self.counts = counts
