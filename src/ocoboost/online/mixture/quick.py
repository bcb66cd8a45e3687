"""Exponential weights that switch: four of them, at a moderate and a high rate, with a small and a large share.

Their rates fall as those of ``slow`` do, but are several times higher, and their shares stay: an expert that has been
right for a few dozen rows takes over. None of them has to be right by itself, ``tournament`` chooses among them.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture.slow import epoch_length

PACES = ((4.0, 0.01), (4.0, 0.1), (64.0, 0.01), (64.0, 0.1))  # factor of the rate, share
MOST_RATE = 8.0

_FACTORS: FloatArray = np.array([factor for factor, _ in PACES])
_SHARES: FloatArray = np.array([share for _, share in PACES])


@kernel(error_model="numpy")
def switch(experts: FloatArray, awake: IntArray, label: int, row_weight: float, row: int, weights: FloatArray) -> None:
    """Move the weights, of shape (paces, experts), by the experts' losses on a row; those asleep keep theirs."""
    n_paces, n_experts = weights.shape
    rate = math.sqrt(8.0 * math.log(n_experts) / epoch_length(row))
    for pace in range(n_paces):
        own_rate = min(_FACTORS[pace] * rate, MOST_RATE) * row_weight
        before, after = 0.0, 0.0
        for expert in range(n_experts):
            if awake[expert]:
                before += weights[pace, expert]
                weights[pace, expert] *= math.exp(-own_rate * (1.0 - experts[expert, label]))
                after += weights[pace, expert]
        kept = before / after if after > 0.0 else 1.0
        for expert in range(n_experts):
            if awake[expert]:
                weights[pace, expert] *= kept
            even = _SHARES[pace] / n_experts
            weights[pace, expert] = (1.0 - _SHARES[pace]) * weights[pace, expert] + even
