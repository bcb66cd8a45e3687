"""Whether probabilities are what they say: the share of correct predictions, by the probability they were made with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray

N_BINS = 15
_UNIT = 2**30  # probabilities are added up as whole numbers: the same sum however rows are cut into blocks


class Bin(NamedTuple):
    """Predictions made with similar probabilities."""

    n_rows: int
    confidence: float  # the mean probability of the predicted label
    accuracy: float  # the share of correct predictions


class Calibration:
    """Counts of predictions in bins of equal width."""

    def __init__(self) -> None:
        self.counts: IntArray = np.zeros((3, N_BINS), dtype=np.int64)  # rows, correct ones, sums of probabilities

    def add(self, confidences: FloatArray, right: NDArray[np.bool_]) -> None:
        """Count predictions, by the probability of the predicted label."""
        bins = np.clip((confidences * N_BINS).astype(np.int64), 0, N_BINS - 1)
        whole = np.rint(confidences * _UNIT).astype(np.int64)
        for row, values in enumerate((np.ones_like(whole), right.astype(np.int64), whole)):
            np.add.at(self.counts[row], bins, values)

    @property
    def bins(self) -> list[Bin]:
        """The bins that have rows, least confident first."""
        return [
            Bin(int(n_rows), total / _UNIT / n_rows, n_right / n_rows)
            for n_rows, n_right, total in self.counts.T.tolist()
            if n_rows
        ]

    @property
    def error(self) -> float | None:
        """The expected calibration error: the mean difference of confidence and accuracy over bins, by their rows."""
        n_rows = int(self.counts[0].sum())
        gaps = [one.n_rows * abs(one.confidence - one.accuracy) for one in self.bins]
        return sum(gaps) / n_rows if n_rows else None

    @classmethod
    def from_notes(cls, counts: Any) -> Calibration:
        """Take back ``counts``; raises ``ValueError`` if nothing can have left them."""
        calibration = cls()
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.shape != (3, N_BINS):
            raise ValueError("invalid calibration")
        if np.any(counts < 0) or np.any(counts[1] > counts[0]) or np.any(counts[2] > counts[0] * _UNIT):
            raise ValueError("invalid calibration")
        calibration.counts = counts
        return calibration


def wilson_interval(share: FloatArray, n_rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Where the chance is, with 95 % confidence, if it came true in this share of independent rows (Wilson, 1927).

    >>> [limit.round(3).tolist() for limit in wilson_interval(np.array([0.0, 0.5]), np.array([4, 100]))]
    [[0.0, 0.404], [0.49, 0.596]]
    """
    z = 1.96
    centre = (share + z * z / (2 * n_rows)) / (1 + z * z / n_rows)
    half = z * np.sqrt(share * (1.0 - share) / n_rows + z * z / (4.0 * n_rows**2)) / (1 + z * z / n_rows)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
