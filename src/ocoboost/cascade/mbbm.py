"""The cells of OnlineMBBM (Jung, Goetz & Tewari, 2017): online multiclass boosting by majority.

A learner is taught the true label, weighted by how much is lost if its vote is wrong:

    w_i = sum over l of phi_{N-i}(s + e_l) - phi_{N-i}(s + e_y)
        = k / (1 - gamma) * ( phi_{N-i+1}(s) - phi_{N-i}(s + e_y) )

where s counts the votes of earlier learners. The second form follows from the first by one step of the potential's
recursion, and needs two potentials instead of k. One of them is already known: phi_{N-i+1}(s) was computed in the cell
of learner i-1. So a cell computes phi_{N-i}(s + e_y) and, if the vote is wrong, phi_{N-i}(s + e_h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cells import Kernels
from ocoboost.cascade.potential_tables import METHODS, Potentials, Scratch, make_potentials, make_scratch
from ocoboost.cascade.potentials import importance, importances, potential
from ocoboost.cascade.weighting import Weighting, cell_kernel, largest, rounded, teach_label
from ocoboost.compiling import kernel
from ocoboost.randomness import RELABEL, TIES, uniform

# Above this gamma the identity amplifies rounding errors too much, so the weights are summed term by term.
LARGEST_GAMMA_FOR_IDENTITY = 0.9


class Majority(NamedTuple):
    """The choices of OnlineMBBM, as numbers."""

    n_learners: int
    seed: np.uint64
    potentials: Potentials
    first_potential: float  # before any vote
    amplification: float  # k / (1 - gamma); 0: weights are summed term by term instead
    n_extra: int  # added to the votes still to come; 1 in the published code
    scales: FloatArray  # (n_learners,) weights are multiplied by these
    least: float  # and are at least this
    is_random: bool  # learners take no weights: they are taught with a probability instead
    by_cost: bool  # a learner votes for the label of least expected cost, not for its most probable one
    draws_ties: bool


class Counts(NamedTuple):
    """A block of rows and their votes; axis 0 is the row."""

    labels: IntArray
    weights: FloatArray
    votes: IntArray  # (rows, at least 2) of the learners so far
    present: FloatArray  # the potential of these votes
    raised: FloatArray  # the potential if the next vote is right

    def tile(self, rows: slice) -> Counts:
        """The state of some of the rows, sharing memory."""
        return Counts._make(array[rows] for array in self)


@cell_kernel
def teach(
    choices: Majority, rows: Counts, scratch: Scratch, row: int, number: int, learner: int, out: FloatArray
) -> None:
    label = rows.labels[row]
    counts = rows.votes[row]
    n = choices.n_learners - 1 - learner + choices.n_extra
    if choices.amplification > 0.0:
        counts[label] += 1
        rows.raised[row] = potential(choices.potentials, learner, n, counts, label, scratch)
        counts[label] -= 1
        weight = choices.amplification * (rows.present[row] - rows.raised[row])
    else:
        weight = importance(choices.potentials, learner, n, counts, label, scratch)
    weight = max(choices.least, choices.scales[learner] * weight)
    draw = uniform(choices.seed, RELABEL, number, learner) if choices.is_random else 0.0
    teach_label(label, weight, rows.weights[row], choices.is_random, draw, out)


@cell_kernel
def see(
    choices: Majority,
    rows: Counts,
    scratch: Scratch,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    chosen = choose(choices, rows, scratch, row, number, learner, n_classes, vote, spare)
    rows.votes[row, chosen] += 1
    if choices.amplification > 0.0:
        if chosen == rows.labels[row]:
            rows.present[row] = rows.raised[row]
        else:
            n = choices.n_learners - 1 - learner + choices.n_extra
            rows.present[row] = potential(choices.potentials, learner, n, rows.votes[row], rows.labels[row], scratch)


@cell_kernel
def pool(
    choices: Majority,
    rows: Counts,
    scratch: Scratch,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    rows.votes[row, choose(choices, rows, scratch, row, number, learner, n_classes, vote, spare)] += 1


@kernel(error_model="numpy", inline="always")
def choose(
    choices: Majority,
    rows: Counts,
    scratch: Scratch,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> int:
    """The label that a learner votes for."""
    if choices.by_cost:
        chosen = cheapest(choices, rows.votes[row], scratch, number, learner, n_classes, vote, spare)
    else:
        chosen = largest(vote, n_classes, 0.0)
    return chosen


@cell_kernel
def cheapest(
    choices: Majority,
    counts: IntArray,
    scratch: Scratch,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> int:
    """The label of least expected cost, if the true label is distributed as the learner's vote."""
    n = choices.n_learners - 1 - learner + choices.n_extra
    for label in range(n_classes):
        spare[label] = 0.0
        counts[label] += 1
        for truth in range(n_classes):
            if vote[truth] > 0.0:
                spare[label] -= vote[truth] * potential(choices.potentials, learner, n, counts, truth, scratch)
        spare[label] = rounded(spare[label])
        counts[label] -= 1
    draw = uniform(choices.seed, TIES, number, learner) if choices.draws_ties else 0.0
    return largest(spare, n_classes, draw)


@dataclass
class MBBM(Weighting[Majority, Counts]):
    """OnlineMBBM; only its learners learn, and potentials are cached only to save time."""

    kernels = Kernels(Majority, teach, see, pool)

    gamma: float = 0.1
    potential: str = "exact"

    def configure(self, n_classes: int) -> Majority:
        n_labels = max(n_classes, 2)
        method = "monte-carlo" if "monte-carlo" in self.deviations else self.potential
        tables = make_potentials(
            METHODS[method], gamma=self.gamma, n_classes=n_labels, n_learners=self.n_learners, seed=self.seed
        )
        by_identity = method != "monte-carlo" and self.gamma <= LARGEST_GAMMA_FOR_IDENTITY
        n_extra = int("horizon" in self.deviations)
        none, scratch = np.zeros(n_labels, dtype=np.int64), make_scratch(n_labels, self.n_learners)
        if "constants" in self.deviations:
            scales = 0.1 * self.constants() / (n_labels - 1)
        else:
            weights = np.empty(self.n_learners)
            importances(tables, n_extra, none, scratch, weights)
            mean = float(np.mean(weights))
            scales = np.full(self.n_learners, 1.0 / mean if mean > 0.0 else 1.0)
        first = potential(tables, 0, self.n_learners + n_extra, none, 0, scratch)
        tables.values[0] = -1.0  # the first learner asks with one vote fewer to come
        return Majority(
            **self.shared_choices(),
            potentials=tables,
            first_potential=first,
            amplification=n_labels / (1.0 - self.gamma) if by_identity else 0.0,
            n_extra=n_extra,
            scales=scales,
        )

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Counts:
        choices, n_rows = self.choices(n_classes), len(labels)
        votes = np.zeros((n_rows, choices.potentials.n_classes), dtype=np.int64)
        return Counts(labels, weights, votes, np.full(n_rows, choices.first_potential), np.zeros(n_rows))

    def scratch(self, n_classes: int) -> Scratch:
        """Memory for one thread to compute potentials in."""
        return make_scratch(max(n_classes, 2), self.n_learners)

    def answers(self, rows: Counts, n_classes: int, numbers: IntArray) -> Answers:
        """The vote shares."""
        shares = rows.votes[:, :n_classes] / self.n_learners
        return Answers(shares, shares, self.priorities(numbers, n_classes))
