"""Prequential scores: every row is predicted before it is learned, and counted once.

All of them but the log loss come from the confusion matrix. A row that arrives before any label is known has no
prediction: it counts as wrong, and not at all for the log loss. Probabilities below ``LEAST`` are clipped for it, and
counted: those of a paper's booster, whose D has exact zeros, and those of labels that nobody knew yet.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.run.calibration import Calibration
from ocoboost.run.curves import MOST_POINTS, Baselines, Curve, whole
from ocoboost.run.set_sizes import SetSizes
from ocoboost.stream.ranks import Ranks

LEAST = 1e-15
MOST_LOOKS = 40  # at the importances
TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "kappa": "Cohen's kappa",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
}


class OfLabel(NamedTuple):
    """How well one label is predicted; None where nothing is known of it."""

    n_rows: int
    precision: float | None  # how often the label was right when it was predicted
    recall: float | None  # how often it was predicted when it was right
    f1: float | None


class Scores:
    """The confusion matrix, by indices of the model's labels; the last column counts rows without a prediction."""

    def __init__(self, delay: int = 0) -> None:
        self.counts: IntArray = np.zeros((0, 1), dtype=np.int64)
        self.n_rows = 0
        self.n_right = 0
        self.log_loss_sum = 0.0
        self.n_clipped = 0
        self.curve = Curve()
        self.baselines = Baselines(delay)
        self.ranks = Ranks()
        self.sets = SetSizes()
        self.calibration = Calibration()

    def add(
        self,
        labels: IntArray,
        predictions: IntArray,
        probabilities: FloatArray,
        n_classes: int,
        confidences: FloatArray | None = None,
    ) -> None:
        """Count rows: their labels, the predictions (-1: none), and the probabilities given to their labels.

        ``confidences`` are the probabilities given to the predictions, for the calibration.
        """
        self.grow(n_classes)
        n_columns = self.counts.shape[1]
        cells = labels * n_columns + predictions % n_columns  # -1 is the last column
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)
        right = labels == predictions
        probabilities = probabilities[predictions >= 0]
        losses = -np.log(np.maximum(probabilities, LEAST))
        # One by one and in order, so that the sum does not depend on how the rows are cut into blocks.
        self.log_loss_sum = float(np.add.accumulate(np.concatenate([[self.log_loss_sum], losses]))[-1])
        self.n_clipped += int(np.sum(probabilities < LEAST))
        self.curve.add(right)
        self.baselines.add(labels)
        if confidences is not None:
            self.calibration.add(confidences[predictions >= 0], right[predictions >= 0])
        self.n_rows += len(labels)
        self.n_right += int(right.sum())

    def grow(self, n_classes: int) -> None:
        """Let there be so many labels."""
        n_old = len(self.counts)
        if n_classes > n_old:
            grown = np.zeros((n_classes, n_classes + 1), dtype=np.int64)
            grown[:n_old, :n_old] = self.counts[:, :-1]
            grown[:n_old, -1] = self.counts[:, -1]
            self.counts = grown

    # -- read off the matrix -------------------------------------------------------------------------------------------

    @property
    def accuracy(self) -> float:
        """The fraction of rows predicted correctly."""
        return self.n_right / self.n_rows if self.n_rows else math.nan

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall over the labels."""
        n_label = self.counts.sum(axis=1)
        occurs = n_label > 0
        return float(np.mean(np.diagonal(self.counts)[occurs] / n_label[occurs])) if occurs.any() else math.nan

    @property
    def macro_f1(self) -> float:
        """The unweighted mean of F1 over the labels; F1 is 0 for a label that is never predicted correctly."""
        both = self.counts.sum(axis=1) + self.counts[:, :-1].sum(axis=0)
        occurs = both > 0
        return float(np.mean(2.0 * np.diagonal(self.counts)[occurs] / both[occurs])) if occurs.any() else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa: accuracy corrected for chance agreement."""
        if not self.n_rows:
            return math.nan
        chance = float(self.counts.sum(axis=1) @ self.counts[:, :-1].sum(axis=0)) / self.n_rows**2
        return (self.accuracy - chance) / (1.0 - chance) if chance < 1.0 else math.nan

    @property
    def log_loss(self) -> float:
        """The mean of -log of the probability given to the true label, over the rows that had a prediction."""
        n_predicted = self.n_rows - self.n_not_predicted
        return self.log_loss_sum / n_predicted if n_predicted else math.nan

    @property
    def n_not_predicted(self) -> int:
        """How many rows came before any label was known."""
        return int(self.counts[:, -1].sum())

    @property
    def by_label(self) -> list[OfLabel]:
        """Precision, recall and F1 of every label."""
        right = np.diagonal(self.counts).tolist()
        given, predicted = self.counts.sum(axis=1).tolist(), self.counts[:, :-1].sum(axis=0).tolist()
        return [
            OfLabel(n, share(hits, said), share(hits, n), share(2 * hits, n + said))
            for hits, n, said in zip(right, given, predicted, strict=True)
        ]

    def summary(self) -> dict[str, Any]:
        """All scores, by name; None for those that are undefined."""
        scores = {
            "rows": self.n_rows,
            "accuracy": self.accuracy,
            "accuracy_of_most_frequent_label": share(self.baselines.most_frequent.n_right, self.n_rows),
            "accuracy_of_last_label": share(self.baselines.last_label.n_right, self.n_rows),
            "balanced_accuracy": self.balanced_accuracy,
            "macro_f1": self.macro_f1,
            "kappa": self.kappa,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration.error,
            "log_loss_clipped_at": LEAST,
            "log_loss_clipped_rows": self.n_clipped,
            "rows_without_prediction": self.n_not_predicted,
        }
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value for name, value in scores.items()
        }

    # -- for checkpoints -----------------------------------------------------------------------------------------------

    def as_notes(self) -> dict[str, Any]:
        """Everything counted so far, for a checkpoint."""
        notes = {name: getattr(self, name) for name in ("counts", "n_rows", "n_right", "log_loss_sum", "n_clipped")}
        return {
            **notes,
            "curve": vars(self.curve),
            "baselines": self.baselines.as_notes(),
            "ranks": self.ranks.as_notes(),
            "sets": self.sets.counts,
            "calibration": self.calibration.counts,
        }

    @classmethod
    def from_notes(cls, notes: dict[str, Any], delay: int = 0) -> Scores:
        """The scores that gave these notes; raises ``ValueError`` if none could have."""
        scores = cls(delay)
        counts = notes["counts"]
        n_labels = len(counts)
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.shape != (n_labels, n_labels + 1):
            raise ValueError("invalid confusion matrix")
        scores.counts = counts
        scores.n_rows, scores.n_right, scores.n_clipped = (
            whole(notes[name]) for name in ("n_rows", "n_right", "n_clipped")
        )
        if np.any(counts < 0) or int(counts.sum()) != scores.n_rows or int(np.trace(counts)) != scores.n_right:
            raise ValueError("the confusion matrix does not add up")
        scores.log_loss_sum = float(notes["log_loss_sum"])
        scores.curve = Curve.from_notes(notes["curve"])
        scores.baselines = Baselines.from_notes(notes["baselines"], delay, n_labels)
        scores.ranks = Ranks.from_notes(notes["ranks"], scores.n_rows)
        scores.sets = SetSizes.from_notes(notes["sets"])
        scores.calibration = Calibration.from_notes(notes["calibration"])
        return scores


def share(part: int, n: int) -> float | None:
    """A part of the whole; None if there is nothing."""
    return part / n if n else None


@dataclass
class MemberWeights:
    """The weights of a mixture's members through the stream, from its first row; points get rarer."""

    points: list[tuple[int, list[float]]] = field(default_factory=list)  # rows learned, and the weights then
    every: int = 1  # rows between points, at least

    def add(self, n_rows: int, weights: list[float]) -> None:
        """Note the weights when ``n_rows`` are learned."""
        if not self.points or n_rows - self.points[-1][0] >= self.every:
            self.points.append((n_rows, weights))
        if len(self.points) >= MOST_POINTS:
            self.points = self.points[::2]
            self.every = (self.points[-1][0] - self.points[0][0]) // (len(self.points) - 1)


@dataclass
class Importances:
    """The importances of features through the stream; points get rarer, since each takes a look at all trees."""

    points: list[tuple[int, dict[Hashable, float]]] = field(default_factory=list)  # rows learned, and the shares then
    every: int = 1

    def is_due(self, n_rows: int) -> bool:
        return not self.points or n_rows - self.points[-1][0] >= self.every

    def add(self, n_rows: int, shares: dict[Hashable, float]) -> None:
        """Note the shares when ``n_rows`` are learned."""
        self.points.append((n_rows, shares))
        if len(self.points) >= MOST_LOOKS:
            self.points = self.points[::2]
            self.every = max(1, (self.points[-1][0] - self.points[0][0]) // (len(self.points) - 1))
