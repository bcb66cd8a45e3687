"""A booster in one file, as another package would define it: a plain majority of learners that are taught the labels.

Every learner is taught the row's label with the row's weight, whatever the others say, and the prediction is what most
of them vote for; ``predict_proba_one`` is the shares of their votes. River's protocol, blocks, threads, model files,
the scikit-learn wrapper and the command line's ``--model`` come from the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cells import Cells, Kernels
from ocoboost.compiling import kernel
from ocoboost.online.booster import OnlineBooster
from ocoboost.registry import register


class Choices(NamedTuple):
    """What the booster was told, as numbers; kernels are found by this type."""

    n_learners: int


class Votes(NamedTuple):
    """A block of rows and their votes; axis 0 is the row."""

    labels: IntArray
    weights: FloatArray
    counts: FloatArray  # (rows, classes)

    def tile(self, rows: slice) -> Votes:
        return Votes._make(array[rows] for array in self)


@kernel
def teach(choices: Choices, rows: Votes, scratch: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    for j in range(out.size):
        out[j] = 0.0
    out[rows.labels[row]] = rows.weights[row]


@kernel
def count(
    choices: Choices,
    rows: Votes,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    best = 0
    for j in range(1, n_classes):
        if vote[j] > vote[best]:
            best = j
    rows.counts[row, best] += 1.0


@dataclass
class Majority(Cells[Choices, Votes]):
    kernels = Kernels(Choices, teach, see=count, pool=count)

    n_learners: int

    def configure(self, n_classes: int) -> Choices:
        return Choices(self.n_learners)

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Votes:
        return Votes(labels, weights, np.zeros((len(labels), n_classes)))

    def answers(self, rows: Votes, n_classes: int, numbers: IntArray) -> Answers:
        shares = rows.counts / self.n_learners
        return Answers(shares, shares)


class MajorityBoostClassifier(OnlineBooster):
    """A plain majority of weak learners.

    Parameters
    ----------
    learner
        The weak learner; None stands for `HoeffdingTrees`. All are taught alike, so they had better differ by chance.
    n_learners
        The number of weak learners.
    classes
        All labels, if known.
    n_jobs
        Threads for native trees.
    seed
        Makes everything repeatable, to the bit.
    """

    def __init__(
        self,
        learner: Any = None,
        *,
        n_learners: int = 10,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.learner = learner
        self.n_learners = n_learners
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed

    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> Majority:
        return Majority(n_learners)


register(MajorityBoostClassifier, "majority")
