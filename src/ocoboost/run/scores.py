"""Prequential scores: every row is predicted before it is learned, and counted once.

All of them but the log loss come from the confusion matrix. A row that arrives before any label is known has no
prediction: it counts as wrong, and not at all for the log loss. Probabilities below ``LEAST`` are clipped for it, and
counted: those of a paper's booster, whose D has exact zeros, and those of labels that nobody knew yet.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.run.calibration import Calibration
from ocoboost.run.set_sizes import SetSizes
from ocoboost.stream.ranks import Ranks

LEAST = 1e-15
MOST_POINTS = 256
MOST_LOOKS = 40  # at the importances
TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "kappa": "Cohen's kappa",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
}


class Scores:
    """The confusion matrix, by indices of the model's labels; the last column counts rows without a prediction."""

    def __init__(self) -> None:
        self.counts: IntArray = np.zeros((0, 1), dtype=np.int64)
        self.n_rows = 0
        self.n_right = 0
        self.log_loss_sum = 0.0
        self.n_clipped = 0
        self.curve = Curve()
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

    def summary(self) -> dict[str, Any]:
        """All scores, by name; None for those that are undefined."""
        scores = {
            "rows": self.n_rows,
            "accuracy": self.accuracy,
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
            "ranks": self.ranks.as_notes(),
            "sets": self.sets.counts,
            "calibration": self.calibration.counts,
        }

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> Scores:
        """The scores that gave these notes; raises ``ValueError`` if none could have."""
        scores = cls()
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
        curve = notes["curve"]
        window, n_open, right_open = (whole(curve[name]) for name in ("window", "n_open", "right_open"))
        right = [whole(n_right) for n_right in curve["right"]]
        if not right_open <= n_open < window or len(right) >= MOST_POINTS or max(right, default=0) > window:
            raise ValueError("invalid learning curve")
        scores.curve.window, scores.curve.n_open, scores.curve.right_open = window, n_open, right_open
        scores.curve.right = right
        scores.ranks = Ranks.from_notes(notes["ranks"], scores.n_rows)
        scores.sets = SetSizes.from_notes(notes["sets"])
        scores.calibration = Calibration.from_notes(notes["calibration"])
        return scores


def whole(number: Any) -> int:
    """A count from a file."""
    if type(number) is not int or not 0 <= number < 2**62:
        raise ValueError(f"{number!r} is not a count")
    return number


class Curve:
    """Correct predictions in equal windows through the stream; windows are merged in pairs if there are too many."""

    def __init__(self) -> None:
        self.window = 1
        self.right: list[int] = []  # of the full windows
        self.n_open = 0  # rows in the window that is not full
        self.right_open = 0

    def add(self, right: Any) -> None:
        """Count rows, by whether they were predicted correctly."""
        while len(right):
            n_taken = min(self.window - self.n_open, len(right))
            self.right_open += int(np.sum(right[:n_taken]))
            self.n_open += n_taken
            right = right[n_taken:]
            if self.n_open == self.window:
                self.right.append(self.right_open)
                self.n_open = self.right_open = 0
                if len(self.right) == MOST_POINTS:
                    self.right = [first + second for first, second in zip(*[iter(self.right)] * 2, strict=True)]
                    self.window *= 2

    def points(self) -> list[tuple[int, float]]:
        """The number of rows at the end of each window, and the accuracy within it."""
        return [((number + 1) * self.window, right / self.window) for number, right in enumerate(self.right)]


@dataclass
class MemberWeights:
    """The weights of a mixture's members through the stream; every other point is dropped if there are too many."""

    points: list[tuple[int, list[float]]] = field(default_factory=list)  # rows learned, and the weights then
    every: int = 1  # rows between points, at least

    def add(self, n_rows: int, weights: list[float]) -> None:
        """Note the weights when ``n_rows`` are learned."""
        if not self.points or n_rows - self.points[-1][0] >= self.every:
            self.points.append((n_rows, weights))
        if len(self.points) >= MOST_POINTS:
            self.points = self.points[1::2]
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
            self.points = self.points[1::2]
            self.every = max(1, (self.points[-1][0] - self.points[0][0]) // (len(self.points) - 1))
