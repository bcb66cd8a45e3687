"""The cells of Adaboost.OLM (Jung, Goetz & Tewari, 2017): boosting with the logistic loss, for unknown advantages.

Before learner i, a label's score s_l is the sum of alpha_j over the learners j < i that voted for it; the loss is the
sum over l != y of log(1 + exp(s_l - s_y)). Learner i is taught the true label, weighted by the slope of the loss in
s_y, and alpha_i takes a gradient step on the loss after its vote. The partial sums are experts: the i-th predicts the
label with the highest score after i votes. An expert's weight is exp(-its mistakes); only the mistakes are stored, and
weights are summed in learner order, relative to the fewest mistakes so far, so that nothing underflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_like
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cells import Kernels
from ocoboost.cascade.weighting import Weighting, cell_kernel, largest, rounded, teach_label
from ocoboost.randomness import RELABEL, TIES, uniform

LARGEST_ALPHA = 2.0
FIRST_WEIGHT = 5.0  # of the first learner in the published code
MOST_MISTAKES = 1e300  # sums of huge row weights stay finite


class Logistic(NamedTuple):
    """The choices of Adaboost.OLM, as numbers, and what it has learned about its learners."""

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


class Scores(NamedTuple):
    """A block of rows and their scores; axis 0 is the row."""

    labels: IntArray
    weights: FloatArray
    scores: FloatArray  # (rows, at least 2) sums of alpha over the votes so far
    label_votes: FloatArray  # (rows, classes) pooled
    shares: FloatArray  # (rows, classes) weights of the experts that predict each label, divided by exp(-fewest)
    fewest: FloatArray  # (rows,) mistakes of the experts so far

    def tile(self, rows: slice) -> Scores:
        """The state of some of the rows, sharing memory."""
        return Scores._make(array[rows] for array in self)


@cell_kernel
def logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z))  # scores are bounded by 2 N: far from overflow, and infinity would do no harm


@cell_kernel
def steepness(scores: FloatArray, label: int, shift: float) -> float:
    """Minus the slope of the loss in the true label's score, after adding ``shift`` to that score."""
    total = 0.0
    for j in range(scores.size):
        if j != label:
            total += logistic(scores[j] - scores[label] - shift)
    return total


@cell_kernel
def slope(scores: FloatArray, label: int, vote: int, alpha: float) -> float:
    """The derivative of the loss in alpha, which is added to the score of ``vote``."""
    if vote == label:
        return -steepness(scores, label, alpha)
    return logistic(scores[vote] + alpha - scores[label])


@cell_kernel
def teach(choices: Logistic, rows: Scores, scratch: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    label = rows.labels[row]
    weight = choices.offsets[learner] + choices.scales[learner] * steepness(rows.scores[row], label, 0.0)
    draw = uniform(choices.seed, RELABEL, number, learner) if choices.is_random else 0.0
    teach_label(label, max(choices.least, weight), rows.weights[row], choices.is_random, draw, out)


@cell_kernel
def see(
    choices: Logistic,
    rows: Scores,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    label, weight, scores = rows.labels[row], rows.weights[row], rows.scores[row]
    alpha = choices.alphas[learner]
    chosen = choose(choices, scores, number, learner, n_classes, vote, spare)
    steep = slope(scores, label, chosen, alpha)
    expert = pool_label(choices, rows, row, number, learner, n_classes, chosen)
    step_size = 2.0 * math.sqrt(2.0) / ((scores.size - 1) * math.sqrt(number + 1.0))
    moved = alpha - step_size * weight * steep
    choices.alphas[learner] = min(max(moved, -LARGEST_ALPHA), LARGEST_ALPHA)
    if expert != label:
        choices.mistakes[learner] = min(choices.mistakes[learner] + weight, MOST_MISTAKES)


@cell_kernel
def pool(
    choices: Logistic,
    rows: Scores,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    chosen = choose(choices, rows.scores[row], number, learner, n_classes, vote, spare)
    pool_label(choices, rows, row, number, learner, n_classes, chosen)


@cell_kernel
def choose(
    choices: Logistic,
    scores: FloatArray,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> int:
    """The label that a learner votes for."""
    if not choices.by_cost:
        return largest(vote, n_classes, 0.0)
    for label in range(n_classes):
        spare[label] = 0.0
        for truth in range(n_classes):
            if vote[truth] > 0.0:
                wrong = steepness(scores, truth, 0.0) if label == truth else -logistic(scores[label] - scores[truth])
                spare[label] += vote[truth] * wrong
        spare[label] = rounded(spare[label])
    draw = uniform(choices.seed, TIES, number, choices.n_learners + learner) if choices.draws_ties else 0.0
    return largest(spare, n_classes, draw)


@cell_kernel
def pool_label(
    choices: Logistic, rows: Scores, row: int, number: int, learner: int, n_classes: int, chosen: int
) -> int:
    """Add a learner's vote to the scores, and its expert's label to the shares; returns that label."""
    rows.label_votes[row, chosen] += 1.0
    rows.scores[row, chosen] += choices.alphas[learner]
    draw = uniform(choices.seed, TIES, number, learner) if choices.draws_ties else 0.0
    expert = largest(rows.scores[row], n_classes, draw)
    mistakes = choices.mistakes[learner]
    if learner == 0:
        rows.fewest[row] = mistakes
    elif mistakes < rows.fewest[row]:
        shrinkage = math.exp(mistakes - rows.fewest[row])
        for j in range(n_classes):
            rows.shares[row, j] *= shrinkage
        rows.fewest[row] = mistakes
    rows.shares[row, expert] += math.exp(rows.fewest[row] - mistakes)
    return expert


@dataclass
class OLM(Weighting[Logistic, Scores]):
    """Adaboost.OLM, with what it has learned about its learners."""

    kernels = Kernels(Logistic, teach, see, pool)

    alphas: FloatArray = field(init=False)
    mistakes: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.alphas = np.zeros(self.n_learners)
        self.mistakes = np.zeros(self.n_learners)

    def configure(self, n_classes: int) -> Logistic:
        n_others = max(n_classes, 2) - 1
        offsets = np.zeros(self.n_learners)
        if "constants" in self.deviations:
            scales = self.constants() / n_others
            scales[0], offsets[0] = 0.0, FIRST_WEIGHT
        else:
            scales = np.full(self.n_learners, 2.0 / n_others)  # before any vote every weight is half the other labels
        return Logistic(
            **self.shared_choices(), alphas=self.alphas, mistakes=self.mistakes, scales=scales, offsets=offsets
        )

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Scores:
        n_rows = len(labels)
        votes, shares = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
        return Scores(labels, weights, np.zeros((n_rows, max(n_classes, 2))), votes, shares, np.zeros(n_rows))

    def answers(self, rows: Scores, n_classes: int, numbers: IntArray) -> Answers:
        """Each label's share of the experts' weight, and of the learners' votes."""
        distributions = rows.shares / rows.shares.sum(axis=1, keepdims=True)
        return Answers(distributions, rows.label_votes / self.n_learners, self.priorities(numbers, n_classes))

    def state(self) -> dict[str, Any]:
        return {"alphas": self.alphas, "mistakes": self.mistakes}

    def restore(self, state: dict[str, Any]) -> None:
        self.alphas[:] = checked_like(state["alphas"], self.alphas, "alphas")
        self.mistakes[:] = checked_like(state["mistakes"], self.mistakes, "mistakes")
