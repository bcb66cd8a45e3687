"""How large the prediction sets of a run were, and how often the right label was in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.stream.state import Answered

ROWS, COVERED, LABELS = range(3)


class SetSize(NamedTuple):
    """The prediction sets of one level."""

    level: float
    coverage: float  # the share of rows whose label was in its set
    mean_size: float  # labels in a set


class SetSizes:
    """Counts for every level; a row is counted when it is predicted, whenever its label arrives."""

    def __init__(self) -> None:
        self.counts: IntArray = np.zeros((0, 3), dtype=np.int64)  # (levels, rows, those covered, labels in sets)

    def add(self, answered: Answered, indices: IntArray) -> None:
        """Count rows, whose labels have these indices; -1, or one that was not known yet, is in no set."""
        n_levels, n_classes = answered.thresholds.shape[1], len(answered.classes)
        if len(self.counts) == 0:
            self.counts = np.zeros((n_levels, 3), dtype=np.int64)
        is_answered = np.array([label is not None for label in answered.labels], dtype=bool)
        known = np.flatnonzero((indices >= 0) & (indices < n_classes))
        for level in range(n_levels):
            # A label that its row brings has no probability yet; every other one has some.
            inside = answered.in_sets(level) & (answered.probabilities > 0.0) & is_answered[:, None]
            self.counts[level, ROWS] += np.count_nonzero(is_answered)
            self.counts[level, COVERED] += np.count_nonzero(inside[known, indices[known]])
            self.counts[level, LABELS] += np.count_nonzero(inside)

    def sizes(self, levels: Any) -> list[SetSize]:
        """What was counted, for the levels in their order."""
        return [
            SetSize(float(level), n_covered / n_rows, n_labels / n_rows)
            for level, (n_rows, n_covered, n_labels) in zip(levels, self.counts.tolist(), strict=False)
            if n_rows
        ]

    @classmethod
    def from_notes(cls, counts: Any) -> SetSizes:
        """Take back ``counts``; raises ``ValueError`` if nothing can have left them."""
        sizes = cls()
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.ndim != 2 or counts.shape[1] != 3:
            raise ValueError("invalid sizes of prediction sets")
        if np.any(counts < 0) or np.any(counts[:, COVERED] > counts[:, ROWS]):
            raise ValueError("invalid sizes of prediction sets")
        sizes.counts = counts
        return sizes
