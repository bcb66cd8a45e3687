"""The cells of Adaboost.OLM (Jung, Goetz & Tewari, 2017): boosting with the logistic loss, no advantage to know.

The learners before i have given the labels scores s, the sum of alpha_j over the votes; the loss is the sum over l != y
of log(1 + exp(s_l - s_y)). Learner i is taught the true label, weighted by the slope of the loss in s_y, and alpha_i
moves against the slope of the loss along its vote. The partial sums are experts: the i-th says which label has the
highest score after i votes. An expert's weight is exp(-its mistakes); only the mistakes are kept, and a row's weighted
shares are summed in learner order against the fewest mistakes so far, so that nothing underflows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.majority import largest, rounded, teach_label
from ocoboost.randomness import RELABEL, TIES, uniform

LARGEST_ALPHA = 2.0
MOST_MISTAKES = 1e300  # sums of huge row weights stay finite

# By LLVM, not by Numba: passing all these arrays to every cell took half of the time (Balance, 100 stumps).
_kernel = kernel(error_model="numpy", forceinline=True)


class Logistic(NamedTuple):
    """The choices of Adaboost.OLM, as numbers, and what it knows of its learners."""

    n_learners: int
    seed: np.uint64
    alphas: FloatArray  # (n_learners,)
    mistakes: FloatArray  # (n_learners,) of the experts, weighted by the rows
    scales: FloatArray  # (n_learners,) weights are multiplied by these
    offsets: FloatArray  # (n_learners,) and these are added: a constant weight has scale 0
    least: float  # and they are at least this
    is_random: bool  # learners take no weights: they are taught with a probability instead
    by_cost: bool  # a learner votes for the label of least expected cost, not for its most probable one
    draws_ties: bool

    def make_room(self) -> tuple[()]:
        """Logistic losses need none."""
        return ()


class Scores(NamedTuple):
    """A block of rows and their scores; axis 0 is the row."""

    labels: IntArray
    weights: FloatArray
    scores: FloatArray  # (rows, at least 2) sums of alpha over the votes so far
    label_votes: FloatArray  # (rows, classes) pooled
    shares: FloatArray  # (rows, classes) weights of the experts that say each label, over exp(-fewest)
    fewest: FloatArray  # (rows,) mistakes of the experts so far

    def part(self, rows: slice) -> Scores:
        """Some of the rows."""
        return Scores._make(array[rows] for array in self)


@_kernel
def logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z))  # scores are bounded by 2 N: far from overflow, and infinity would do no harm


@_kernel
def steepness(scores: FloatArray, label: int, shift: float) -> float:
    """Minus the slope of the loss in the true label's score, when that is raised by ``shift``."""
    total = 0.0
    for j in range(scores.size):
        if j != label:
            total += logistic(scores[j] - scores[label] - shift)
    return total


@_kernel
def slope(scores: FloatArray, label: int, vote: int, alpha: float) -> float:
    """The derivative of the loss in alpha, which is added to the score of ``vote``."""
    if vote == label:
        return -steepness(scores, label, alpha)
    return logistic(scores[vote] + alpha - scores[label])


@_kernel
def teach(loop: Logistic, games: Scores, room: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    label = games.labels[row]
    weight = loop.offsets[learner] + loop.scales[learner] * steepness(games.scores[row], label, 0.0)
    draw = uniform(loop.seed, RELABEL, number, learner) if loop.is_random else 0.0
    teach_label(label, max(loop.least, weight), games.weights[row], loop.is_random, draw, out)


@_kernel
def see(
    loop: Logistic,
    games: Scores,
    room: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    label, weight, scores = games.labels[row], games.weights[row], games.scores[row]
    alpha = loop.alphas[learner]
    chosen = choose(loop, scores, number, learner, n_classes, vote, spare)
    steep = slope(scores, label, chosen, alpha)
    expert = pool_label(loop, games, row, number, learner, n_classes, chosen)
    step_size = 2.0 * math.sqrt(2.0) / ((scores.size - 1) * math.sqrt(number + 1.0))
    moved = alpha - step_size * weight * steep
    loop.alphas[learner] = min(max(moved, -LARGEST_ALPHA), LARGEST_ALPHA)
    if expert != label:
        loop.mistakes[learner] = min(loop.mistakes[learner] + weight, MOST_MISTAKES)


@_kernel
def pool(
    loop: Logistic,
    games: Scores,
    room: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    chosen = choose(loop, games.scores[row], number, learner, n_classes, vote, spare)
    pool_label(loop, games, row, number, learner, n_classes, chosen)


@_kernel
def choose(
    loop: Logistic, scores: FloatArray, number: int, learner: int, n_classes: int, vote: FloatArray, spare: FloatArray
) -> int:
    """The label that a learner votes for."""
    if not loop.by_cost:
        return largest(vote, n_classes, 0.0)
    for label in range(n_classes):
        spare[label] = 0.0
        for truth in range(n_classes):
            if vote[truth] > 0.0:
                wrong = steepness(scores, truth, 0.0) if label == truth else -logistic(scores[label] - scores[truth])
                spare[label] += vote[truth] * wrong
        spare[label] = rounded(spare[label])
    draw = uniform(loop.seed, TIES, number, loop.n_learners + learner) if loop.draws_ties else 0.0
    return largest(spare, n_classes, draw)


@_kernel
def pool_label(loop: Logistic, games: Scores, row: int, number: int, learner: int, n_classes: int, chosen: int) -> int:
    """Add a learner's vote to the scores, and what its expert then says to the shares; returns the latter."""
    games.label_votes[row, chosen] += 1.0
    games.scores[row, chosen] += loop.alphas[learner]
    draw = uniform(loop.seed, TIES, number, learner) if loop.draws_ties else 0.0
    expert = largest(games.scores[row], n_classes, draw)
    mistakes = loop.mistakes[learner]
    if learner == 0:
        games.fewest[row] = mistakes
    elif mistakes < games.fewest[row]:
        shrinkage = math.exp(mistakes - games.fewest[row])
        for j in range(n_classes):
            games.shares[row, j] *= shrinkage
        games.fewest[row] = mistakes
    games.shares[row, expert] += math.exp(games.fewest[row] - mistakes)
    return expert
