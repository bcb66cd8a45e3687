"""How sure to be of the most probable label.

Where one label of three is rare and cannot be told from the others, members leave it its share on every row, also on
those that are plain: the most probable label is then right more often than said where it is said to be sure, and less
often where it is not. No power or floor (``reshaping``) mends both. So the probability p of the most probable label is
moved on the scale of log odds,

    log(q / (1 - q)) = a log(p / (1 - p)) + b    for several slopes a and shifts b,

the other labels divide 1 - q as before, and Bayes' rule with a share chooses among these. Half of the prior is on p as
it is: see ``bounds.sureness_bound``. No q is so low that another label would become the most probable one.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel

# Chosen by log loss and calibration error on the development tables of benchmarks/calibration.py.
SLOPES = (0.5, 1.0, 2.0, 3.0)
SHIFTS = (-2.5, -1.7, -1.0, -0.5, 0.0, 0.5)
SHARE = 0.0005
UNCHANGED = 0.5  # of the prior

_SLOPES: FloatArray = np.array(SLOPES)
_SHIFTS: FloatArray = np.array(SHIFTS)


def first_shares() -> FloatArray:
    """The prior, of shape (slopes, shifts)."""
    shape = (len(SLOPES), len(SHIFTS))
    prior: FloatArray = np.full(shape, (1.0 - UNCHANGED) / math.prod(shape))
    prior[SLOPES.index(1.0), SHIFTS.index(0.0)] += UNCHANGED
    return prior


_PRIOR = first_shares()


@kernel(error_model="numpy")
def reckon(probabilities: FloatArray, shares: FloatArray, doubts: FloatArray, likeliest: IntArray) -> None:
    """Move the probabilities.

    What every slope and shift leaves to the other labels stays in ``doubts``, and the most probable label in
    ``likeliest``; it is -1 if there is only one.
    """
    best = 0
    for j in range(1, probabilities.size):
        if probabilities[j] > probabilities[best]:
            best = j
    likeliest[0] = best if probabilities.size > 1 else -1
    if probabilities.size < 2:
        return
    rest, second = 0.0, 0.0  # not 1 - p, which may be rounded to 0
    for j in range(probabilities.size):
        if j != best:
            rest += probabilities[j]
            second = max(second, probabilities[j])
    log_odds = math.log(probabilities[best] / rest)
    most, doubt = rest / (rest + second), 0.0
    for slope in range(_SLOPES.size):
        for shift in range(_SHIFTS.size):
            left = 1.0 / (1.0 + math.exp(_SLOPES[slope] * log_odds + _SHIFTS[shift]))
            doubts[slope, shift] = min(left, most)
            doubt += shares[slope, shift] * doubts[slope, shift]
    for j in range(probabilities.size):
        probabilities[j] = 1.0 - doubt if j == best else probabilities[j] * (doubt / rest)


@kernel(error_model="numpy")
def update(doubts: FloatArray, likeliest: IntArray, label: int, row_weight: float, shares: FloatArray) -> None:
    """Bayes' rule, then the share. Labels that are not the most probable one have what is left in the same parts."""
    if likeliest[0] < 0:
        return
    total = 0.0
    for slope in range(_SLOPES.size):
        for shift in range(_SHIFTS.size):
            left = doubts[slope, shift]
            shares[slope, shift] *= (1.0 - left if label == likeliest[0] else left) ** row_weight
            total += shares[slope, shift]
    for slope in range(_SLOPES.size):
        for shift in range(_SHIFTS.size):
            kept = (1.0 - SHARE) * shares[slope, shift] / total
            shares[slope, shift] = kept + SHARE * _PRIOR[slope, shift]
