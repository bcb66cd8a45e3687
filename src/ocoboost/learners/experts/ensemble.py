"""Exponential weights over a class of hypotheses, as N weak learners with a regret bound.

A learner votes with the share of weight that the members of its class give to each label (expected votes), or with a
label drawn from it (random votes, what the paper's learners do). Taught a row of label weights, it credits every member
with the weight of the label that the member said. Weights may be any numbers, so a learner can be taught gains as well:
1 for the label and -1 for its rival teaches the paper's pairwise gain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.contract import Prepared
from ocoboost.compiling import kernel
from ocoboost.data.rows import Row, require_numbers
from ocoboost.data.schema import Block, Schema
from ocoboost.learners.experts import state
from ocoboost.learners.experts.hypotheses import EnumeratedClass, HypothesisClass, naming_row
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stump_kernels import make_scratch, vote_by_stumps
from ocoboost.learners.experts.stumps import StumpClass, find_cells, grid_edges
from ocoboost.learners.unsaved import Unsaved
from ocoboost.randomness import VOTE, draw_label, uniform

# What the members say to a block is kept while all learners look at it, up to this many labels (80 MB).
MOST_KEPT_LABELS = 10_000_000


class ExpertEnsemble(Unsaved, ABC):
    """What all learners over classes share (see ``contract.WeakEnsemble``); most classes hold Python objects."""

    takes_weights = True
    max_classes: int | None = None
    n_bytes: int | None = None  # unknown

    def __init__(self, name: str, n_learners: int, rate: LearningRate, seed: int, *, is_random: bool) -> None:
        self.name = name
        self.rate = rate
        self.seed = np.uint64(seed)
        self.is_random = is_random
        self.n_rows: IntArray = np.zeros(n_learners, dtype=np.int64)  # learned
        self.energy: FloatArray = np.zeros(n_learners)  # see LearningRate.at

    @property
    @abstractmethod
    def hypothesis_class(self) -> HypothesisClass:
        """The class at present; it may grow with the labels and the features seen."""

    def regret_bound(self, n_rows: int) -> float:
        """How much more the best member can gain in ``n_rows`` rows, gains in [-1, 1] (see ``rates``)."""
        return self.rate.regret_bound(self.hypothesis_class.log_size, n_rows)

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:  # some classes take any row
        """Raise for rows that the members cannot read."""

    @abstractmethod
    def prepare(self, block: Block, *, learning: bool) -> Prepared: ...

    @abstractmethod
    def _shares(self, learner: int, row: Any, out: FloatArray) -> None:
        """The weight of the members that say each label, not necessarily normalised."""

    @abstractmethod
    def _credit(self, learner: int, row: Any, label_weights: FloatArray) -> None:
        """Let every member gain what its label weighs."""

    def _grow(self, n_classes: int) -> None:  # most classes know their labels
        """Make the arrays hold more classes."""

    def vote(self, learner: int, rows: Prepared, out: FloatArray) -> None:
        self._grow(out.shape[1])
        for number, row in enumerate(rows):
            self._vote_row(learner, row, out[number])

    def vote_and_learn(self, learner: int, rows: Prepared, label_weights: FloatArray, out: FloatArray) -> None:
        self._grow(out.shape[1])
        for number, row in enumerate(rows):
            self._vote_row(learner, row, out[number])
            taught = label_weights[number]
            self._credit(learner, row, taught)
            self.n_rows[learner] += 1
            self.energy[learner] += squared_range(taught)

    def _vote_row(self, learner: int, row: Any, out: FloatArray) -> None:
        self._shares(learner, row, out)
        draw = uniform(self.seed, VOTE, self.n_rows[learner], learner) if self.is_random else -1.0
        finish_vote(draw, out)


@kernel
def finish_vote(draw: float, out: FloatArray) -> None:
    """Scale shares to sum to one (all alike if there are none); draw a label from them unless ``draw`` is negative."""
    total = out.sum()
    for label in range(out.size):
        out[label] = out[label] / total if total > 0.0 else 1.0 / out.size
    if draw >= 0.0:
        drawn = draw_label(out, draw)
        out[:] = 0.0
        out[drawn] = 1.0


@kernel
def squared_range(gains: FloatArray) -> float:
    """How far apart a row's gains are, squared; a label not seen yet would gain 0."""
    highest = lowest = 0.0
    for gain in gains:
        highest, lowest = max(highest, gain), min(lowest, gain)
    return (highest - lowest) ** 2


class StumpEnsemble(ExpertEnsemble):
    """N learners over all stumps on a grid.

    What matters of the past is what each label has gained in each cell of each feature. So the class may grow while it
    is learned: a new label has gained nothing, a new feature was missing so far, that is, in its first cell. Before
    there is any feature, the first one to come is there, and missing.
    """

    def __init__(
        self,
        n_learners: int,
        rate: LearningRate,
        seed: int,
        *,
        is_random: bool,
        n_cells: int,
        n_pieces: int | None,
        low: float,
        high: float,
    ) -> None:
        super().__init__("StumpExperts", n_learners, rate, seed, is_random=is_random)
        self.n_pieces = n_pieces
        self.low, self.high = low, high
        self.edges = grid_edges(n_cells, low, high)
        self.gains: FloatArray = np.zeros((n_learners, 1, n_cells, 1))  # (learners, features, cells, classes)
        self.totals: FloatArray = np.zeros((n_learners, 1))  # what each label has gained in all
        self.reshaped()

    @property
    def hypothesis_class(self) -> StumpClass:
        _, n_features, n_cells, n_classes = self.gains.shape
        return StumpClass(n_features, n_classes, n_cells, self.n_pieces, self.low, self.high)

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        require_numbers(rows, self.name)

    def prepare(self, block: Block, *, learning: bool) -> IntArray:
        """The cells of every row, after growing the learners to hold its columns."""
        cells = find_cells(block.codes, self.edges)
        if cells.shape[1] == 0:
            return np.zeros((len(cells), 1), dtype=np.int64)
        n_new = cells.shape[1] - self.gains.shape[1]
        if n_new > 0:
            n_learners, _, n_cells, n_classes = self.gains.shape
            new = np.zeros((n_learners, n_new, n_cells, n_classes))
            new[:, :, 0] = self.totals[:, None]
            self.gains = np.concatenate([self.gains, new], axis=1)
            self.reshaped()
        return cells

    def _grow(self, n_classes: int) -> None:
        n_new = n_classes - self.totals.shape[1]
        if n_new > 0:
            self.gains = np.concatenate([self.gains, np.zeros((*self.gains.shape[:3], n_new))], axis=3)
            self.totals = np.concatenate([self.totals, np.zeros((len(self.totals), n_new))], axis=1)
            self.reshaped()

    def reshaped(self) -> None:
        """Keep what follows from the shape of the class, after it has changed."""
        stumps = self.hypothesis_class
        self.log_size = stumps.log_size
        self.scratch = make_scratch(stumps.pieces, stumps.n_classes)

    def settings(self) -> dict[str, Any]:
        return state.settings_of(self)

    def state(self) -> dict[str, Any]:
        return state.state_of(self)

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        state.restore(self, saved, schema, n_classes)

    def _shares(self, learner: int, row: IntArray, out: FloatArray) -> None:
        rate = self.rate.at(self.log_size, self.energy[learner])
        vote_by_stumps(self.gains[learner], row, rate, self.scratch, out)

    def _credit(self, learner: int, row: IntArray, label_weights: FloatArray) -> None:
        credit_stumps(self.gains[learner], self.totals[learner], row, label_weights)


@kernel
def credit_stumps(gains: FloatArray, totals: FloatArray, cells: IntArray, label_weights: FloatArray) -> None:
    """Add a row's label weights to its cells."""
    for label in range(label_weights.size):
        totals[label] += label_weights[label]
        for feature in range(cells.size):
            gains[feature, cells[feature], label] += label_weights[label]


class LabelBlock(Sequence[IntArray]):
    """What each member of a class says to each row of a block."""

    def __init__(self, hypothesis_class: EnumeratedClass, rows: Sequence[Any]) -> None:
        self.hypothesis_class = hypothesis_class
        self.rows = rows
        is_kept = len(rows) * hypothesis_class.size <= MOST_KEPT_LABELS
        self.kept = [hypothesis_class.labels(row) for row in rows] if is_kept else None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: Any) -> Any:
        return self.hypothesis_class.labels(self.rows[row]) if self.kept is None else self.kept[row]


class EnumeratedEnsemble(ExpertEnsemble):
    """N learners over a class whose members are looked at one by one.

    Labels that the class has and the stream has not shown yet get no votes.
    """

    def __init__(
        self,
        name: str,
        n_learners: int,
        rate: LearningRate,
        seed: int,
        *,
        is_random: bool,
        members: EnumeratedClass,
        read: Callable[[Row], Any],
    ) -> None:
        super().__init__(name, n_learners, rate, seed, is_random=is_random)
        self.members = members
        self.read = read  # from a row as it comes to a row as the class takes it; raises if it cannot
        self.max_classes = members.n_classes
        self.gains: FloatArray = np.zeros((n_learners, members.size))

    @property
    def hypothesis_class(self) -> EnumeratedClass:
        return self.members

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        for number, row in enumerate(rows):
            with naming_row(number):
                known = self.read(row)
                if self.members.may_raise:
                    self.members.labels(known)

    def prepare(self, block: Block, *, learning: bool) -> LabelBlock:
        return LabelBlock(self.members, [self.read(row) for row in block.rows])

    def _shares(self, learner: int, row: IntArray, out: FloatArray) -> None:
        vote_by_members(self.gains[learner], row, self.rate.at(self.members.log_size, self.energy[learner]), out)

    def _credit(self, learner: int, row: IntArray, label_weights: FloatArray) -> None:
        credit_members(self.gains[learner], row, label_weights)


@kernel
def vote_by_members(gains: FloatArray, labels: IntArray, rate: float, out: FloatArray) -> None:
    """The weight of the members that say each label, relative to the best member's."""
    out[:] = 0.0
    best = -np.inf
    for member in range(gains.size):
        if labels[member] < out.size and gains[member] > best:
            best = gains[member]
    for member in range(gains.size):
        if labels[member] < out.size:
            out[labels[member]] += np.exp(rate * (gains[member] - best))


@kernel
def credit_members(gains: FloatArray, labels: IntArray, label_weights: FloatArray) -> None:
    """Let every member gain what its label weighs."""
    for member in range(gains.size):
        if labels[member] < label_weights.size:
            gains[member] += label_weights[labels[member]]
