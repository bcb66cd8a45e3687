"""The losses that a booster reveals to its players.

Losses are linear in the play, so a loss is its gradient:

    agnostic    (Algorithms 1 and 2)    2 * (vote / gamma - one_hot(label))
    realizable  (Algorithms 4 and 5)    (2 * vote[label] - 1) / gamma - 1
    pairwise    (not in the paper)      2 * (one_hot(label) - vote / gamma)

On the simplex the agnostic gradient differs from the paper's by a constant vector, which changes
neither plays nor regret. The pairwise one is its opposite: where the agnostic player moves to labels that lack votes,
the pairwise player moves to those that have too many. Up to a constant vector, and doubled to be a loss in gains, it is
that of docs/theory.md: (vote[label] - vote[j]) / gamma - 1 for a rival j, and 0 for the label itself. A vote is a
distribution over labels; a label vote is its one-hot special case.
"""

from __future__ import annotations

import math

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel


@kernel
def agnostic_gradient(vote: FloatArray, label: int, gamma: float, out: FloatArray) -> None:
    """``vote``, ``out``: one number per class."""
    for j in range(out.size):
        out[j] = 2.0 * vote[j] / gamma  # Alg. 1.9, Alg. 2.6: reveal the loss
    out[label] -= 2.0


@kernel
def realizable_gradient(vote: FloatArray, label: int, gamma: float, out: FloatArray) -> None:
    """``vote``: one number per class; ``out``: one number."""
    out[0] = (2.0 * vote[label] - 1.0) / gamma - 1.0  # Alg. 4.9, Alg. 5.6: reveal the loss


@kernel
def pairwise_gradient(vote: FloatArray, label: int, gamma: float, out: FloatArray) -> None:
    """``vote``, ``out``: one number per class."""
    for j in range(out.size):
        out[j] = -2.0 * vote[j] / gamma
    out[label] += 2.0


def agnostic_gradient_bound(*, gamma: float, n_classes: int) -> float:
    """Largest Euclidean norm of an agnostic or pairwise gradient, measured along the simplex (its mean removed).

    It is reached by a vote for a wrong label. At k = 2 it is sqrt(2) * (1 + 1 / gamma).
    """
    if n_classes == 1:
        return 0.0
    return 2.0 / gamma * math.sqrt(1.0 + gamma**2 - (1.0 - gamma) ** 2 / n_classes)


def agnostic_gradient_range(*, gamma: float, n_classes: int) -> float:
    """Largest difference between two coordinates of an agnostic or pairwise gradient."""
    return 2.0 / gamma + 2.0 if n_classes > 1 else 0.0


def realizable_gradient_bound(*, gamma: float) -> float:
    """Largest absolute value of a realizable gradient; reached by a wrong vote."""
    return 1.0 / gamma + 1.0
