"""Prequential scores of one key, or of all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ocoboost.data.labels import Label
from ocoboost.stream.state import Answered

LEAST_PROBABILITY = 1e-15  # log losses are clipped there: a label may be new


class KeyScores(NamedTuple):
    """How well rows were predicted before they were learned."""

    n_rows: int = 0
    n_right: int = 0
    total_log_loss: float = 0.0

    @property
    def accuracy(self) -> float:
        return self.n_right / self.n_rows if self.n_rows else float("nan")

    @property
    def log_loss(self) -> float:
        """Per row; probabilities are clipped at 1e-15."""
        return self.total_log_loss / self.n_rows if self.n_rows else float("nan")

    def after(self, answered: Sequence[Answered], labels: Sequence[Label]) -> KeyScores:
        """With more rows; losses are added row by row, so that sums do not depend on how rows come together."""
        n_right, total = self.n_right, self.total_log_loss
        for block in answered:
            index = {label: place for place, label in enumerate(block.classes)}
            own = labels[block.first_row : block.first_row + len(block)]
            for row, (said, label) in enumerate(zip(block.labels, own, strict=True)):
                n_right += said == label and said is not None
                place = index.get(label)
                chance = 0.0 if place is None else float(block.probabilities[row, place])
                total -= math.log(max(chance, LEAST_PROBABILITY))
        return KeyScores(self.n_rows + len(labels), n_right, total)

    def summary(self) -> dict[str, Any]:
        return {"rows": self.n_rows, "accuracy": self.accuracy, "log_loss": self.log_loss}
