"""Probabilities: Bayes' rule, with a share, over the pools and the quick mixtures at several temperatures.

Log loss is mixable, so weights in proportion to the likelihood of the labels so far lose no more than ln(n) in all
against the best of n experts. Passing a share a of all weight around after every row costs -ln(1 - a) a row, and buys
that the best expert may change: every change costs at most ln(n / a). See ``bounds.log_loss_bound``.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture import pools, quick

SHARE = 0.005
LEAST = 1e-4  # of every expert's answer is spread over all labels: no label has less than that / classes
QUICK_FLOOR = 0.02  # mixtures of near-modes are as good as certain: spread so much of their answers first

# Which blend an expert tempers, in the order of ``blend``, and its inverse temperature. The last expert is uniform.
N_BLENDS = 1 + len(quick.PACES) + len(pools.STEPS)
_TEMPERED = [
    *((1 + len(quick.PACES) + pool, power) for pool in range(len(pools.STEPS)) for power in (0.6, 1.0, 1.5)),
    *((1 + pace, power) for pace in range(len(quick.PACES)) for power in (0.5, 1.0)),
]
N_EXPERTS = len(_TEMPERED) + 1

_BLENDS = np.array([blend for blend, _ in _TEMPERED])
_POWERS: FloatArray = np.array([power for _, power in _TEMPERED])
_IS_QUICK = np.array([int(1 <= blend <= len(quick.PACES)) for blend, _ in _TEMPERED])


@kernel(error_model="numpy")
def temper(blends: FloatArray, out: FloatArray) -> None:
    """The experts' answers, of shape (experts, classes), from those of the blends."""
    n_classes = out.shape[1]
    uniform = out.shape[0] - 1
    for expert in range(uniform):
        answer = out[expert]
        floor = QUICK_FLOOR if _IS_QUICK[expert] else 1e-12
        for j in range(n_classes):
            answer[j] = math.log((1.0 - floor) * blends[_BLENDS[expert], j] + floor / n_classes)
        pools.normalise(answer, _POWERS[expert])
        for j in range(n_classes):
            answer[j] = (1.0 - LEAST) * answer[j] + LEAST / n_classes
    for j in range(n_classes):
        out[uniform, j] = 1.0 / n_classes


@kernel(error_model="numpy")
def update(tempered: FloatArray, label: int, row_weight: float, weights: FloatArray) -> None:
    """Bayes' rule, then the share."""
    total = 0.0
    for expert in range(weights.size):
        weights[expert] *= tempered[expert, label] ** row_weight
        total += weights[expert]
    for expert in range(weights.size):
        weights[expert] = (1.0 - SHARE) * weights[expert] / total + SHARE / weights.size
