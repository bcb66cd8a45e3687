"""What the two boosters of Jung, Goetz & Tewari (2017) share: a learner is taught the true label, with a weight.

OnlineMBBM is optimal if the learners' advantage gamma is known; Adaboost.OLM adapts to it. In both, the weight depends
on the votes of earlier learners. By default the weights are scaled to a mean of 1 over the learners before any vote,
because trees measure their grace period in weight.

The code published with the papers deviates from the algorithms; every deviation can be switched on by itself:

    constants      a random constant per learner in [10, 200] times a fixed factor scales the weights, which are at
                   least 1e-10; the first learner of Adaboost.OLM has weight 5
    horizon        OnlineMBBM expects one more vote than there are still to come
    monte-carlo    OnlineMBBM estimates potentials by 100 draws
    ties           ties between labels are broken at random
    min-cost       a learner votes for the label of least expected cost (Jung et al. only)

Before a second label is known, rows are taught as if there were one, for which no learner votes.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.cells import Cells, Choices, Rows
from ocoboost.compiling import kernel
from ocoboost.randomness import CONSTANTS, TIES, draw_rows, uniform

SMALLEST_CONSTANT, LARGEST_CONSTANT = 10.0, 200.0
LEAST_WEIGHT = 1e-10

# Inlined by LLVM, not by Numba: passing all these arrays to every cell took half of the time (Balance, 100 stumps).
cell_kernel = kernel(error_model="numpy", forceinline=True)


@dataclass
class Weighting(Cells[Choices, Rows], ABC):
    """The settings that both boosters share."""

    n_learners: int
    deviations: frozenset[str]
    is_random: bool  # learners take no weights
    seed: int

    def priorities(self, numbers: IntArray, n_classes: int) -> FloatArray | None:
        """Random priorities that break ties between labels; None if ties are not broken at random."""
        if "ties" not in self.deviations:
            return None
        draws = np.empty((len(numbers), n_classes))
        for row, number in enumerate(numbers):
            for label in range(n_classes):
                draws[row, label] = uniform(np.uint64(self.seed), TIES, int(number), 2 * self.n_learners + label)
        return draws

    def constants(self) -> FloatArray:
        """The published code's constant of each learner."""
        draws = np.empty(self.n_learners)
        draw_rows(self.seed, CONSTANTS, 0, 0, draws)
        return SMALLEST_CONSTANT + (LARGEST_CONSTANT - SMALLEST_CONSTANT) * draws

    def shared_choices(self) -> dict[str, Any]:
        """The fields that both kinds of choices share."""
        return {
            "n_learners": self.n_learners,
            "seed": np.uint64(self.seed),
            "least": LEAST_WEIGHT if "constants" in self.deviations else 0.0,
            "is_random": self.is_random,
            "by_cost": "min-cost" in self.deviations,
            "draws_ties": "ties" in self.deviations,
        }


@cell_kernel
def teach_label(label: int, weight: float, row_weight: float, is_random: bool, draw: float, out: FloatArray) -> None:
    """Teach the true label with its weight; with ``is_random``, with probability weight / 2 (most are below 2)."""
    for j in range(out.size):
        out[j] = 0.0
    out[label] = (row_weight if draw < 0.5 * weight else 0.0) if is_random else weight * row_weight


@cell_kernel
def rounded(cost: float) -> float:
    """A cost rounded so that costs which differ only by rounding errors tie."""
    return math.floor(cost * 2.0**40 + 0.5)


@cell_kernel
def largest(values: FloatArray, n_values: int, draw: float) -> int:
    """The index of the largest value; ``draw`` in [0, 1) breaks ties, 0 in favour of the first."""
    best = 0
    n_best = 1
    for j in range(1, n_values):
        if values[j] > values[best]:
            best = j
            n_best = 1
        elif values[j] == values[best]:
            n_best += 1
    n_skipped = int(draw * n_best)
    for j in range(best + 1, n_values):
        if n_skipped == 0:
            break
        if values[j] == values[best]:
            best = j
            n_skipped -= 1
    return best
