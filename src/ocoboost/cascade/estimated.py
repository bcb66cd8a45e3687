"""Learning from an estimate of the label, where only "right" or "wrong" was seen of one that was played.

Zhang, Jung & Tewari (2019) estimate the 0-1 loss of every label. With P[l] the chance that label l was played, and a
pivot label that was fixed before the play (the booster's own answer),

    L[l] = [played = y] / P[y] * [l not in {y, pivot}]  +  [played = pivot != y] / P[pivot] * [l = pivot]

which needs only what was seen, and has mean [l != y] whatever P and the pivot are. So 1 - L stands for the one-hot
label wherever the booster is linear in it: a learner's costs are C'(1 - L), C[r, l] being the cost of vote l if the
label is r; and in Adaboost.OLM also the slope in alpha, and the mistakes of the experts. What a learner is taught is
the label of least cost, weighted by how much the other labels cost in excess: for a known label that is the lesson of
the full-information booster. It is not linear in the costs, so the lessons themselves are not unbiased.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.weighting import cell_kernel, largest, rounded

UNKNOWN = -1  # in place of a label that was not revealed


class Heard(NamedTuple):
    """What is known of a row's label after a play."""

    estimate: FloatArray  # (classes,) its mean is the one-hot label
    revealed: int  # the label, or ``UNKNOWN``


def heard(played: int, chance: float, pivot: int, is_right: bool, n_classes: int) -> Heard:
    """The estimate of the label; ``chance`` is P[played].

    >>> heard(played=0, chance=0.5, pivot=1, is_right=True, n_classes=3)
    Heard(estimate=array([ 1.,  1., -1.]), revealed=0)
    >>> heard(played=1, chance=0.5, pivot=1, is_right=False, n_classes=3)
    Heard(estimate=array([ 1., -1.,  1.]), revealed=-1)
    """
    losses = np.zeros(n_classes)
    if is_right:
        losses[:] = 1.0 / chance
        losses[[played, pivot]] = 0.0
    elif played == pivot:
        losses[pivot] = 1.0 / chance
    return Heard(1.0 - losses, played if is_right else UNKNOWN)


def told(labels: IntArray, weights: FloatArray, n_classes: int, last: Heard | None) -> tuple[FloatArray, IntArray]:
    """The estimates of a block's labels, weighted, and the labels; ``last`` is what was heard of its only row."""
    if last is not None:
        return last.estimate[None].copy(), np.array([last.revealed])
    estimates = np.zeros((len(labels), n_classes))
    estimates[np.arange(len(labels)), labels] = weights
    return estimates, labels


@cell_kernel
def teach_cheapest(costs: FloatArray, revealed: int, scale: float, draw: float) -> None:
    """Turn costs into the lesson in place: the cheapest label, weighted by what the others cost in excess.

    Among several, the one that was revealed; otherwise ``draw`` decides.
    """
    total = 0.0
    least = costs[0]
    for label in range(costs.size):
        total += costs[label]
        least = min(least, costs[label])
    for label in range(costs.size):
        costs[label] = -rounded(costs[label])
    best = largest(costs, costs.size, draw)
    if revealed >= 0 and costs[revealed] == costs[best]:
        best = revealed
    excess = total - costs.size * least
    for label in range(costs.size):
        costs[label] = 0.0
    costs[best] = max(0.0, scale * excess)
