"""Several boosters on the same stream, mixed by exponential weights.

Every booster offers label distributions, and each distribution is an expert that loses 1 - D[y] on a row: the chance
that a label drawn from it is wrong. The mixture's distribution is the weighted mean of its experts', so its loss is
the weighted mean of their losses, and the classical regret bounds for exponential weights hold for it row by row,
whatever the stream does (Herbster & Warmuth, 1998; Cesa-Bianchi & Lugosi, 2006).

Time is cut into epochs [1], [2, 3], [4, 7], ...; within one the learning rate and the fixed share stand still. After
every row each expert gets back a share of 1 / (length of the epoch), so that no expert is ever out of the game.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel


@kernel
def epoch_length(row: int) -> int:
    """The length of the epoch that a row (from 0) belongs to."""
    length = 1
    while 2 * length <= row + 1:
        length *= 2
    return length


@kernel
def fixed_share(length: int) -> float:
    """How much of all weight is dealt out evenly after a row."""
    return 1.0 / max(length, 2)


@kernel
def learning_rate(length: int, n_experts: int) -> float:
    """The rate that balances the two terms of an epoch's bound."""
    return math.sqrt(8.0 * math.log(n_experts / fixed_share(length)) / length)


@kernel
def mix_rows(
    distributions: FloatArray,
    labels: IntArray,
    row_weights: FloatArray,
    first_row: int,
    weights: FloatArray,
    weights_before: FloatArray,
) -> None:
    """Row by row: note the experts' weights in ``weights_before``, then move ``weights`` by their losses.

    ``distributions`` has shape (experts, rows, classes), ``weights_before`` (rows, experts).
    """
    n_experts = weights.size
    for row in range(labels.size):
        length = epoch_length(first_row + row)
        rate, share = learning_rate(length, n_experts), fixed_share(length)
        total = 0.0
        for expert in range(n_experts):
            weights_before[row, expert] = weights[expert]
            loss = 1.0 - distributions[expert, row, labels[row]]
            weights[expert] *= math.exp(-rate * row_weights[row] * loss)
            total += weights[expert]
        for expert in range(n_experts):
            kept = weights[expert] / total if total > 0.0 else 1.0 / n_experts
            weights[expert] = (1.0 - share) * kept + share / n_experts


@kernel
def mix_answers(answers: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Add the experts' rows, of shape (experts, rows, classes), up in ``out``; ``weights`` is (rows, experts)."""
    for expert in range(answers.shape[0]):  # in a fixed order: the same bits for every cut of the stream
        for row in range(answers.shape[1]):
            for j in range(answers.shape[2]):
                out[row, j] += weights[row, expert] * answers[expert, row, j]


class Mixture:
    """The experts' weights and how they came about."""

    def __init__(self, n_experts: int) -> None:
        self.weights: FloatArray = np.full(n_experts, 1.0 / n_experts)
        self.n_rows = 0

    def learn(self, distributions: FloatArray, labels: IntArray, row_weights: FloatArray) -> FloatArray:
        """Move the weights, row by row; returns the weights from before each row, of shape (rows, experts)."""
        weights_before = np.empty((len(labels), self.weights.size))
        mix_rows(distributions, labels, row_weights, self.n_rows, self.weights, weights_before)
        self.n_rows += len(labels)
        return weights_before


def regret_bound(n_rows: int, n_experts: int) -> float:
    """The most by which the mixture's summed loss 1 - D[y] can exceed that of the best expert, rows of weight 1.

    Expected mistakes of the sampled prediction are exactly that loss. The mode makes at most twice as many mistakes
    as the loss: if it is wrong then D[y] <= 1/2.

    >>> round(regret_bound(1000, 12)), round(regret_bound(100_000, 12))
    (144, 1980)
    """
    bound = 0.0
    least = 1.0 / n_experts  # what an expert's weight is at least, when an epoch begins
    for length, n_epoch_rows in _epochs(n_rows):
        rate, share = learning_rate(length, n_experts), fixed_share(length)
        bound += (-math.log(least) - n_epoch_rows * math.log1p(-share)) / rate + rate * n_epoch_rows / 8.0
        least = share / n_experts
    return bound


def _epochs(n_rows: int) -> Iterator[tuple[int, int]]:
    """The lengths of the epochs, and how many of their rows have come."""
    length = 1
    while n_rows > 0:
        yield length, min(length, n_rows)
        n_rows -= length
        length *= 2
