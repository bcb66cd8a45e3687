"""Exponential weights that settle: how much the long-lived members' answers count.

Every member offers its distribution D and a sharpened one, nearly its mode; each is an expert that loses 1 - D[y] on a
row. Time is cut into epochs [1], [2, 3], [4, 7], ...; within one the learning rate and the fixed share stand still
(Herbster & Warmuth, 1998). Rates fall from epoch to epoch, so that on a stream without changes the weights settle.
"""

from __future__ import annotations

import math

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel

# Beside its own D, a member offers one for this gamma: nearly the mode of its votes. Otherwise members whose votes are
# spread thinly, as those of deep trees are, would lose to worse ones with concentrated votes.
SHARP_GAMMA = 0.03


@kernel
def epoch_length(row: int) -> int:
    """The length of the epoch that a row (from 0) belongs to."""
    length = 1
    while 2 * length <= row + 1:
        length *= 2
    return length


@kernel
def fixed_share(length: int) -> float:
    """How much of all weight is shared out evenly after a row."""
    return 1.0 / max(length, 2)


@kernel
def learning_rate(length: int, n_experts: int) -> float:
    """The rate that balances the two terms of an epoch's bound."""
    return math.sqrt(8.0 * math.log(n_experts / fixed_share(length)) / length)


@kernel
def settle(experts: FloatArray, label: int, row_weight: float, row: int, weights: FloatArray) -> None:
    """Move the weights by the losses of the first experts on a row; ``experts`` has shape (experts, classes)."""
    n_experts = weights.size
    length = epoch_length(row)
    rate, share = learning_rate(length, n_experts), fixed_share(length)
    total = 0.0
    for expert in range(n_experts):
        weights[expert] *= math.exp(-rate * row_weight * (1.0 - experts[expert, label]))
        total += weights[expert]
    for expert in range(n_experts):
        kept = weights[expert] / total if total > 0.0 else 1.0 / n_experts
        weights[expert] = (1.0 - share) * kept + share / n_experts
