"""Probabilities of the right shape: sharper or flatter, with a floor under every label.

Bayes' rule over blends (``bayes``) settles on one of them, and none has the shape that wrong labels give: one label
nearly certain, and the same small chance for each of the others. So its probabilities p are reshaped once more,

    (1 - f) p^a / sum(p^a) + f / classes    for several powers a and floors f,

and Bayes' rule with a share chooses among these. Half of the prior is on p as it is, so that reshaping costs little
where it does not help: see ``bounds.reshaping_bound``. What is voted on is p; only what is said is reshaped.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture import pools

# Chosen by log loss on the development tables of benchmarks/calibration.py.
POWERS = (0.6, 1.0, 1.5, 2.5, 4.0)
FLOORS = (0.0, 0.03, 0.1, 0.2, 0.4)
SHARE = 0.0005
UNCHANGED = 0.5  # of the prior

_POWERS: FloatArray = np.array(POWERS)
_FLOORS: FloatArray = np.array(FLOORS)


def first_shares() -> FloatArray:
    """The prior, of shape (powers, floors)."""
    prior: FloatArray = np.full((len(POWERS), len(FLOORS)), (1.0 - UNCHANGED) / (len(POWERS) * len(FLOORS)))
    prior[POWERS.index(1.0), FLOORS.index(0.0)] += UNCHANGED
    return prior


_PRIOR = first_shares()


@kernel(error_model="numpy")
def reshape(probabilities: FloatArray, shares: FloatArray, sharpened: FloatArray, out: FloatArray) -> None:
    """What is said, in ``out``; the powers, of shape (powers, classes), stay in ``sharpened``."""
    n_classes = out.size
    for j in range(n_classes):
        out[j] = 0.0
    for power in range(_POWERS.size):
        answer = sharpened[power]
        for j in range(n_classes):
            answer[j] = math.log(probabilities[j])
        pools.normalise(answer, _POWERS[power])
        for floor in range(_FLOORS.size):
            for j in range(n_classes):
                out[j] += shares[power, floor] * ((1.0 - _FLOORS[floor]) * answer[j] + _FLOORS[floor] / n_classes)
    total = 0.0  # 1 up to rounding, by which a probability must not exceed it
    for j in range(n_classes):
        total += out[j]
    for j in range(n_classes):
        out[j] /= total


@kernel(error_model="numpy")
def update(sharpened: FloatArray, label: int, row_weight: float, shares: FloatArray) -> None:
    """Bayes' rule, then the share."""
    n_classes, total = sharpened.shape[1], 0.0
    for power in range(_POWERS.size):
        for floor in range(_FLOORS.size):
            chance = (1.0 - _FLOORS[floor]) * sharpened[power, label] + _FLOORS[floor] / n_classes
            shares[power, floor] *= chance**row_weight
            total += shares[power, floor]
    for power in range(_POWERS.size):
        for floor in range(_FLOORS.size):
            shares[power, floor] = (1.0 - SHARE) * shares[power, floor] / total + SHARE * _PRIOR[power, floor]
