"""The cells of AdaBandit (Zhang, Jung & Tewari, 2019): Adaboost.OLM, taught an estimate of the label.

Costs, slopes and experts' mistakes are those of Adaboost.OLM for every label that the row might have, weighted by the
estimate of its label (``estimated.py``). Its step for alpha, 4 / sqrt(2 (k - 1)^2 t), is made for slopes of at most
k - 1; estimates have none such, so the sum of their squares takes the place of (k - 1)^2 t (the published code has
rate / (k^2 sqrt(t)) instead).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_like
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cells import Kernels
from ocoboost.cascade.estimated import Heard, teach_cheapest, told
from ocoboost.cascade.olm import (
    LARGEST_ALPHA,
    MOST_MISTAKES,
    OLM,
    Logistic,
    Scores,
    logistic,
    pool_label,
    slope,
    steepness,
)
from ocoboost.cascade.weighting import Weighting, cell_kernel, largest
from ocoboost.randomness import TIES, uniform

MOST_SQUARES = 1e300  # sums for huge row weights stay finite


class EstimatedLogistic(NamedTuple):
    """The choices of AdaBandit, as numbers, and what it has learned about its learners."""

    full: Logistic  # those of Adaboost.OLM
    n_learners: int
    squares: FloatArray  # (n_learners,) of the slopes so far, summed


class EstimatedScores(NamedTuple):
    """A block of rows; axis 0 is the row."""

    estimates: FloatArray  # (rows, classes) of the labels, weighted
    revealed: IntArray  # (rows,)
    full: Scores  # as in Adaboost.OLM

    def tile(self, rows: slice) -> EstimatedScores:
        """The state of some of the rows, sharing memory."""
        return EstimatedScores(self.estimates[rows], self.revealed[rows], self.full.tile(rows))


@cell_kernel
def expected_costs(estimates: FloatArray, scores: FloatArray, out: FloatArray) -> None:
    """What a vote for each label costs; unbiased if the estimates are."""
    for vote in range(out.size):
        out[vote] = 0.0
        for label in range(out.size):
            if vote == label:
                out[vote] -= estimates[label] * steepness(scores, label, 0.0)
            else:
                out[vote] += estimates[label] * logistic(scores[vote] - scores[label])


@cell_kernel
def expected_slope(estimates: FloatArray, scores: FloatArray, vote: int, alpha: float) -> float:
    """The derivative of the loss in alpha; unbiased if the estimates are."""
    total = 0.0
    for label in range(estimates.size):
        total += estimates[label] * slope(scores, label, vote, alpha)
    return total


@cell_kernel
def teach(
    choices: EstimatedLogistic,
    rows: EstimatedScores,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    out: FloatArray,
) -> None:
    expected_costs(rows.estimates[row], rows.full.scores[row], out)
    # Costs sum to 0 for every label, so what the others cost in excess is k times Adaboost.OLM's weight.
    scale = choices.full.scales[learner] / max(out.size, 2)
    teach_cheapest(out, rows.revealed[row], scale, uniform(choices.full.seed, TIES, number, learner))


@cell_kernel
def see(
    choices: EstimatedLogistic,
    rows: EstimatedScores,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    chosen = largest(vote, n_classes, 0.0)
    alpha = choices.full.alphas[learner]
    steep = expected_slope(rows.estimates[row], rows.full.scores[row], chosen, alpha)
    expert = pool_label(choices.full, rows.full, row, number, learner, n_classes, chosen)
    choices.squares[learner] = min(choices.squares[learner] + steep * steep, MOST_SQUARES)
    if steep != 0.0:
        moved = alpha - 2.0 * LARGEST_ALPHA * steep / math.sqrt(2.0 * choices.squares[learner])
        choices.full.alphas[learner] = min(max(moved, -LARGEST_ALPHA), LARGEST_ALPHA)
    lost = max(0.0, rows.full.weights[row] - rows.estimates[row, expert])
    choices.full.mistakes[learner] = min(choices.full.mistakes[learner] + lost, MOST_MISTAKES)


@cell_kernel
def pool(
    choices: EstimatedLogistic,
    rows: EstimatedScores,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    pool_label(choices.full, rows.full, row, number, learner, n_classes, largest(vote, n_classes, 0.0))


@dataclass
class AdaBandit(Weighting[EstimatedLogistic, EstimatedScores]):
    """Adaboost.OLM under bandit feedback, with what it has learned about its learners."""

    kernels = Kernels(EstimatedLogistic, teach, see, pool)

    heard: Heard | None = field(init=False, default=None)  # of the row that is learned next; None: its label is known
    full: OLM = field(init=False)
    squares: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.full = OLM(**self.settings())
        self.squares = np.zeros(self.n_learners)

    def configure(self, n_classes: int) -> EstimatedLogistic:
        return EstimatedLogistic(self.full.configure(n_classes), self.n_learners, self.squares)

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> EstimatedScores:
        weights = weights if self.heard is None else np.ones(len(labels))
        full = self.full.begin(labels, weights, n_classes)
        return EstimatedScores(*told(labels, weights, n_classes, self.heard), full)

    def answers(self, rows: EstimatedScores, n_classes: int, numbers: IntArray) -> Answers:
        """Each label's share of the experts' weight, and of the learners' votes."""
        return self.full.answers(rows.full, n_classes, numbers)

    def state(self) -> dict[str, Any]:
        return {**self.full.state(), "squares": self.squares}

    def restore(self, state: dict[str, Any]) -> None:
        squares = checked_like(state["squares"], self.squares, "squares")
        if np.any((squares < 0.0) | (squares > MOST_SQUARES)):
            raise ValueError("invalid squares: out of their range")
        self.full.restore({name: value for name, value in state.items() if name != "squares"})
        self.squares[:] = squares
