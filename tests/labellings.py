"""Labels of rows whose probabilities are known: as they say, or against them."""

from __future__ import annotations

from typing import Any

import numpy as np

LABELLINGS = ("calibrated", "flipped", "adversarial")


def labelled(kind: str, probabilities: Any, seed: int) -> Any:
    """One label a row."""
    draw = np.random.default_rng(seed)
    n_rows, n_classes = probabilities.shape
    labels = np.array([draw.choice(n_classes, p=row) for row in probabilities])
    if kind == "flipped":
        return np.where(draw.random(n_rows) < 0.3, draw.integers(n_classes, size=n_rows), labels)
    if kind == "adversarial":  # right for a while, then the least probable label
        return np.where(np.arange(n_rows) % 50 < 40, probabilities.argmax(axis=1), probabilities.argmin(axis=1))
    return labels


def check_excess(kind: str, labels: Any, before: Any, after: Any, bound: float) -> None:
    """The log loss of probabilities that were changed is within a bound of that before."""
    every = np.arange(len(labels))
    excess = np.log(before[every, labels]).sum() - np.log(after[every, labels]).sum()
    assert excess <= bound + 1e-9
    if kind == "calibrated" and len(labels) > 1:
        assert excess > -0.01 * len(labels)  # nothing is to be gained
