"""How the members of `BoostClassifier` are mixed: exponential weights on held-out rows, then one power for all.

Member m gets a weight in proportion to exp(-(a* - a_m) / (s / 2)), where a_m is its held-out accuracy, a* the best one,
and s the standard error of a*: members that are as good as the best one, as far as the rows can tell, share the vote.

What holds, for rows drawn independently and of equal weight: a chain's trees do not depend on its judging rows. (With
`n_iter_no_change` their number does. M then counts every number of stages of every member, and the held-out accuracy of
the mixture is slightly too high: the rows that judge it also chose where its games stop.) So, by Hoeffding's inequality
and a union bound over all M members and F folds of n / F rows each, with probability 1 - d every member's held-out
accuracy is within e = sqrt(F ln(2 M F / d) / (2 n)) of the mean accuracy of its chains on fresh rows (of the same
noise). Exponential weights lose at most (s / 2) ln M to a* on the held-out rows, so a member drawn by its weight is, in
expectation, at most 2 e + (s / 2) ln M below the best member. The mixture of their distributions, which predicts, is
wrong at most twice as often as a label drawn from it. Choices are made from sums of whole numbers, and equal scores get
equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ocoboost.arrays import FloatArray, IntArray

NEGLIGIBLE = 0.02  # relative to the largest weight: such members are left out
POWERS = tuple(float(power) for power in np.exp2(np.arange(-8, 13) / 4.0))
FLOOR = 1e-3  # the share of a distribution that is spread over all labels alike
_LOG_UNIT = 2**10


def mixing_weights(hits: IntArray, total: int, n_rows: int) -> FloatArray:
    """Exponential weights by held-out accuracy, of the shape of ``hits``; small ones are zero, and all sum to 1.

    >>> mixing_weights(np.array([[900, 890], [500, 900]]), 1000, 1000).round(2).tolist()
    [[0.47, 0.06], [0.0, 0.47]]
    """
    accuracy = hits / total
    best = accuracy.max()
    error = math.sqrt(best * (1.0 - best) / n_rows) + 0.5 / n_rows
    weights = np.exp((accuracy - best) / (0.5 * error))
    weights[weights < NEGLIGIBLE] = 0.0
    return weights / weights.sum()  # type: ignore[no-any-return]


def selection_bound(n_rows: int, n_members: int, n_folds: int, chance: float = 0.05) -> float:
    """By how much any member's held-out accuracy may be off, except with this chance.

    >>> round(selection_bound(10_000, 25, 5), 3)
    0.046
    """
    return math.sqrt(n_folds * math.log(2.0 * n_members * n_folds / chance) / (2.0 * n_rows))


def sharpened(mixture: FloatArray, power: float) -> FloatArray:
    """Distributions raised to a power, which keeps the order of the labels, with a floor."""
    floored = (1.0 - FLOOR) * mixture + FLOOR / mixture.shape[1]
    out: FloatArray = (floored / floored.max(axis=1, keepdims=True)) ** power
    out /= out.sum(axis=1, keepdims=True)
    return out


def log_losses(mixture: FloatArray, labels: IntArray, units: IntArray) -> list[int]:
    """The log loss of held-out rows at every power; units are the rows' weights.

    Losses are rounded to whole numbers before they are added, so the order of the rows does not matter.
    """
    out = []
    for power in POWERS:
        chances = sharpened(mixture, power)[np.arange(len(labels)), labels]
        out.append(int(np.round(-np.log(chances) * _LOG_UNIT).astype(np.int64) @ units))
    return out


def best_power(losses: Sequence[int]) -> float:
    """The power with the least loss; of equal ones the first."""
    return POWERS[losses.index(min(losses))]
