"""How well probabilities rank the rows of each label: precision-recall area, and recall if few rows can be looked at.

The probabilities that rows had are counted in bins of their log odds, so memory does not grow with the stream; rows in
one bin count as ties. A label that nobody knew yet had probability 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray

N_BINS = 256
MOST_LOG_ODDS = 16.0
MOST_LABELS = 100  # that are ranked: the first ones
ALERT_RATE = 0.01  # share of the rows that can be looked at


class Ranks:
    """Rows by the probability that each label had, of all rows and of those that have the label."""

    def __init__(self) -> None:
        self.rows: IntArray = np.zeros((0, N_BINS), dtype=np.int64)
        self.own: IntArray = np.zeros((0, N_BINS), dtype=np.int64)
        self.n_rows = 0

    def add(self, labels: IntArray, probabilities: FloatArray, n_classes: int) -> None:
        """Count rows: their labels, and what was said to them, of shape (rows, labels that were known then)."""
        n_labels = min(n_classes, MOST_LABELS)
        if n_labels > len(self.rows):
            more = np.zeros((n_labels - len(self.rows), N_BINS), dtype=np.int64)
            self.own = np.vstack([self.own, more])
            more[:, 0] = self.n_rows
            self.rows = np.vstack([self.rows, more])
        said = probabilities[:, :n_labels]
        bins = np.zeros((len(labels), n_labels), dtype=np.int64)
        with np.errstate(divide="ignore"):
            places = (np.log(said) - np.log1p(-np.minimum(said, 1.0)) + MOST_LOG_ODDS) * (N_BINS / 2 / MOST_LOG_ODDS)
        bins[:, : said.shape[1]] = np.clip(places, 0, N_BINS - 1).astype(np.int64)
        for label in range(n_labels):
            self.rows[label] += np.bincount(bins[:, label], minlength=N_BINS)
            self.own[label] += np.bincount(bins[labels == label, label], minlength=N_BINS)
        self.n_rows += len(labels)

    def average_precision(self, label: int) -> float:
        """The area under the precision-recall curve, as scikit-learn's ``average_precision_score`` has it."""
        own, rows = np.cumsum(self.own[label, ::-1]), np.cumsum(self.rows[label, ::-1])
        if own[-1] == 0:
            return math.nan
        precision = own / np.maximum(rows, 1)
        return float(np.sum(np.diff(own, prepend=0) * precision) / own[-1])

    def recall(self, label: int, rate: float = ALERT_RATE) -> float:
        """The share of a label's rows among those to which it was most probable, which are ``rate`` of all rows.

        Of rows that tie at the edge, as many as there is room for, in proportion.
        """
        own, rows = np.cumsum(self.own[label, ::-1]), np.cumsum(self.rows[label, ::-1])
        if own[-1] == 0:
            return math.nan
        found = np.interp(rate * self.n_rows, np.concatenate([[0], rows]), np.concatenate([[0], own]))
        return float(found / own[-1])

    def summary(self) -> dict[str, Any]:
        """Both for every label, None for those without rows."""
        labels = range(len(self.rows))
        areas, recalls = map(self.average_precision, labels), map(self.recall, labels)
        return {
            "average_precision": [None if math.isnan(area) else area for area in areas],
            "recall_at_alert_rate": [None if math.isnan(recall) else recall for recall in recalls],
            "alert_rate": ALERT_RATE,
        }

    def as_notes(self) -> dict[str, Any]:
        """Everything counted so far, for a checkpoint."""
        return {"rows": self.rows, "own": self.own}

    @classmethod
    def from_notes(cls, notes: dict[str, Any], n_rows: int) -> Ranks:
        """What gave these notes after so many rows; raises ``ValueError`` if nothing could have."""
        ranks = cls()
        rows, own = notes["rows"], notes["own"]
        for counts in (rows, own):
            is_counts = isinstance(counts, np.ndarray) and counts.dtype == np.int64 and counts.ndim == 2
            if not is_counts or counts.shape != (len(rows), N_BINS) or len(rows) > MOST_LABELS or np.any(counts < 0):
                raise ValueError("invalid counts of probabilities")
        if np.any(own > rows) or np.any(rows.sum(axis=1) != n_rows):
            raise ValueError("the counts of probabilities do not add up")
        ranks.rows, ranks.own, ranks.n_rows = rows, own, n_rows
        return ranks
