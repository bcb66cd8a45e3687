"""The cells of OptBandit (Zhang, Jung & Tewari, 2019): OnlineMBBM, taught an estimate of the label.

If the label is r, vote l of learner i costs phi^r_{N-i}(s + e_l), the chance that the final vote is wrong then. The
costs of a row are these, weighted by the estimate of its label (``estimated.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cells import Kernels
from ocoboost.cascade.estimated import Heard, teach_cheapest, told
from ocoboost.cascade.mbbm import MBBM
from ocoboost.cascade.potential_tables import Potentials, Scratch, make_scratch
from ocoboost.cascade.potentials import potential
from ocoboost.cascade.weighting import Weighting, cell_kernel, largest
from ocoboost.randomness import TIES, uniform


class EstimatedMajority(NamedTuple):
    """The choices of OptBandit, as numbers."""

    n_learners: int
    seed: np.uint64
    potentials: Potentials
    scale: float  # of the weights


class EstimatedCounts(NamedTuple):
    """A block of rows and their votes; axis 0 is the row."""

    estimates: FloatArray  # (rows, classes) of the labels
    revealed: IntArray  # (rows,)
    votes: IntArray  # (rows, at least 2) of the learners so far

    def tile(self, rows: slice) -> EstimatedCounts:
        """The state of some of the rows, sharing memory."""
        return EstimatedCounts._make(array[rows] for array in self)


@cell_kernel
def expected_costs(
    choices: EstimatedMajority,
    estimates: FloatArray,
    counts: IntArray,
    scratch: Scratch,
    learner: int,
    out: FloatArray,
) -> None:
    """What a vote for each label costs; unbiased if the estimates are."""
    n = choices.n_learners - 1 - learner
    for vote in range(out.size):
        out[vote] = 0.0
        counts[vote] += 1
        for label in range(out.size):
            if estimates[label] != 0.0:
                out[vote] += estimates[label] * potential(choices.potentials, learner, n, counts, label, scratch)
        counts[vote] -= 1


@cell_kernel
def teach(
    choices: EstimatedMajority,
    rows: EstimatedCounts,
    scratch: Scratch,
    row: int,
    number: int,
    learner: int,
    out: FloatArray,
) -> None:
    expected_costs(choices, rows.estimates[row], rows.votes[row], scratch, learner, out)
    teach_cheapest(out, rows.revealed[row], choices.scale, uniform(choices.seed, TIES, number, learner))


@cell_kernel
def count(
    choices: EstimatedMajority,
    rows: EstimatedCounts,
    scratch: Scratch,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    rows.votes[row, largest(vote, n_classes, 0.0)] += 1


@dataclass
class OptBandit(Weighting[EstimatedMajority, EstimatedCounts]):
    """OnlineMBBM under bandit feedback, with its settings; only its learners learn."""

    kernels = Kernels(EstimatedMajority, teach, see=count, pool=count)

    gamma: float = 0.1
    potential: str = "exact"
    heard: Heard | None = field(init=False, default=None)  # of the row that is learned next; None: its label is known

    def configure(self, n_classes: int) -> EstimatedMajority:
        full = MBBM(**self.settings()).configure(n_classes)
        return EstimatedMajority(self.n_learners, full.seed, full.potentials, float(full.scales[0]))

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> EstimatedCounts:
        votes = np.zeros((len(labels), self.choices(n_classes).potentials.n_classes), dtype=np.int64)
        return EstimatedCounts(*told(labels, weights, n_classes, self.heard), votes)

    def scratch(self, n_classes: int) -> Scratch:
        """Memory for one thread to compute potentials in."""
        return make_scratch(max(n_classes, 2), self.n_learners)

    def answers(self, rows: EstimatedCounts, n_classes: int, numbers: IntArray) -> Answers:
        """The vote shares."""
        shares = rows.votes[:, :n_classes] / self.n_learners
        return Answers(shares, shares)
