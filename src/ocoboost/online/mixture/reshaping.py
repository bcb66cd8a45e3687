"""Probabilities of the right shape: sharper or flatter, with a floor under every label.

Bayes' rule over blends (``bayes``) settles on one of them, and none has the shape that wrong labels give: one label
nearly certain, and the same small chance for each of the others. Nor does it know what the tournament knows,
whose votes D name the right label more often. So its probabilities p are reshaped once more,

    (1 - f) ((1 - v) p^a / sum(p^a) + v D) + f / classes    for several powers a, floors f and shares v of the votes,

and Bayes' rule with a share chooses among these. Half of the prior is on p as it is, so that reshaping costs little
where it does not help: see ``bounds.reshaping_bound``. What is voted on is p; only what is said is reshaped.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture import pools

# Chosen by log loss on the development tables of benchmarks/calibration.py, and VOTES as docs/probabilities.md says.
POWERS = (0.6, 1.0, 1.5, 2.5, 4.0)
FLOORS = (0.0, 0.03, 0.1, 0.2, 0.4)
VOTES = (0.0, 0.1, 0.3)
SHARE = 0.0005
UNCHANGED = 0.5  # of the prior

_POWERS: FloatArray = np.array(POWERS)
_FLOORS: FloatArray = np.array(FLOORS)
_VOTES: FloatArray = np.array(VOTES)


def first_shares() -> FloatArray:
    """The prior, of shape (votes, powers, floors)."""
    shape = (len(VOTES), len(POWERS), len(FLOORS))
    prior: FloatArray = np.full(shape, (1.0 - UNCHANGED) / math.prod(shape))
    prior[VOTES.index(0.0), POWERS.index(1.0), FLOORS.index(0.0)] += UNCHANGED
    return prior


_PRIOR = first_shares()


@kernel(error_model="numpy")
def reshape(
    probabilities: FloatArray, votes: FloatArray, shares: FloatArray, sharpened: FloatArray, out: FloatArray
) -> None:
    """What is said, in ``out``; the powers, of shape (powers, classes), stay in ``sharpened``."""
    n_classes = out.size
    spread, voted = 0.0, 0.0  # how much of the answer is a floor, and how much are votes
    for vote in range(_VOTES.size):
        for power in range(_POWERS.size):
            for floor in range(_FLOORS.size):
                share = shares[vote, power, floor]
                spread += share * _FLOORS[floor]
                voted += share * (1.0 - _FLOORS[floor]) * _VOTES[vote]
    for j in range(n_classes):
        out[j] = spread / n_classes + voted * votes[j]
    for power in range(_POWERS.size):
        answer = sharpened[power]
        for j in range(n_classes):
            answer[j] = math.log(probabilities[j])
        pools.normalise(answer, _POWERS[power])
        kept = 0.0
        for vote in range(_VOTES.size):
            for floor in range(_FLOORS.size):
                kept += shares[vote, power, floor] * (1.0 - _FLOORS[floor]) * (1.0 - _VOTES[vote])
        for j in range(n_classes):
            out[j] += kept * answer[j]
    total = 0.0  # 1 up to rounding, by which a probability must not exceed it
    for j in range(n_classes):
        total += out[j]
    for j in range(n_classes):
        out[j] /= total


@kernel(error_model="numpy")
def update(sharpened: FloatArray, voted: float, label: int, row_weight: float, shares: FloatArray) -> None:
    """Bayes' rule, then the share; ``voted`` is the share of the votes that the label had."""
    n_classes, total = sharpened.shape[1], 0.0
    for vote in range(_VOTES.size):
        for power in range(_POWERS.size):
            held = (1.0 - _VOTES[vote]) * sharpened[power, label] + _VOTES[vote] * voted
            for floor in range(_FLOORS.size):
                chance = (1.0 - _FLOORS[floor]) * held + _FLOORS[floor] / n_classes
                shares[vote, power, floor] *= chance**row_weight
                total += shares[vote, power, floor]
    for vote in range(_VOTES.size):
        for power in range(_POWERS.size):
            for floor in range(_FLOORS.size):
                kept = (1.0 - SHARE) * shares[vote, power, floor] / total
                shares[vote, power, floor] = kept + SHARE * _PRIOR[vote, power, floor]
