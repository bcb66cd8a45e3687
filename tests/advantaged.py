"""Weak learners whose advantage is known exactly, whatever they are taught: a hypothesis seen through noise.

A learner says h(x) with probability gamma and any label otherwise, so for every label y, every rival l and every lesson
E[W.y - 1/k] = gamma (h.y - 1/k) and E[W.(y - l)] = gamma h.(y - l). Against the class {h} it meets the guessing
condition, and Definition 1 with the rival fixed before the vote, at gamma and without any regret: R_W = 0. With two
labels that is Definition 1 itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Advantaged:
    """An ensemble of such learners; a block is the numbers of its rows."""

    name = "advantaged"
    takes_weights = True
    takes_gains = True
    max_classes = None
    n_bytes = 0

    def __init__(self, said: np.ndarray, gamma: float, n_classes: int, seed: int) -> None:
        self.said, self.gamma, self.n_classes = said, gamma, n_classes
        self.rng = np.random.default_rng(seed)
        self.votes: list[np.ndarray] = []  # by learner: a label for every row
        self.taught: list[np.ndarray] = []

    def prepare(self, block: Any, *, learning: bool) -> Any:
        return np.asarray(block)

    def vote_and_learn(self, learner: int, block: np.ndarray, label_weights: np.ndarray, out: np.ndarray) -> None:
        knows = self.rng.random(len(block)) < self.gamma
        votes = np.where(knows, self.said[block], self.rng.integers(self.n_classes, size=len(block)))
        out[:] = np.eye(self.n_classes)[votes]
        self.votes.append(votes)
        self.taught.append(label_weights.copy())


def noisy_labels(n_rows: int, n_classes: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the hypothesis says, and labels that differ from it in exactly the share ``noise`` of the rows."""
    rng = np.random.default_rng(seed)
    said = rng.integers(n_classes, size=n_rows)
    is_wrong = rng.permutation(n_rows) < round(noise * n_rows)
    return said, np.where(is_wrong, (said + rng.integers(1, n_classes, size=n_rows)) % n_classes, said)
