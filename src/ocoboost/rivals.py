"""The boosters of Jung, Goetz & Tewari (2017) as cascades: the same grid of cells, other cells.

OnlineMBBM is optimal if the learners' advantage gamma is known, Adaboost.OLM adapts to it. Both teach a learner the
true label with a weight that depends on the votes of the learners before it. By default the weights are scaled so that
they are 1 on average over the learners before anyone has voted: trees count weight against their grace period.

The code published with the papers deviates from the algorithms; every deviation can be switched on by itself:

    constants      a random constant per learner in [10, 200] times a fixed factor scales the weights, which are at
                   least 1e-10; the first learner of Adaboost.OLM has weight 5
    horizon        OnlineMBBM counts one vote more as still to come than there are
    monte-carlo    OnlineMBBM estimates potentials by 100 draws
    ties           ties between labels are broken at random
    min-cost       a learner votes for the label of least expected cost (Jung et al. only)

Before a second label is known, rows are taught as if there were one more that nobody votes for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ocoboost import potentials
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Answers
from ocoboost.cells import pool_rows, see_rows, teach_rows
from ocoboost.fused import announcing_compilation, learn_pipelined, poll_block
from ocoboost.logistic import Logistic, Scores
from ocoboost.majority import Counts, Majority
from ocoboost.randomness import CONSTANTS, TIES, draw_rows, uniform
from ocoboost.weak.contract import Block, WeakEnsemble
from ocoboost.weak.native import NativeEnsemble

SMALLEST_CONSTANT, LARGEST_CONSTANT = 10.0, 200.0
LEAST_WEIGHT = 1e-10
FIRST_WEIGHT = 5.0
# Above this gamma the identity multiplies rounding errors too much, and the weights are summed term by term.
LARGEST_GAMMA_FOR_IDENTITY = 0.9


@dataclass
class Rival(ABC):
    """What both have in common: how a block goes through the cells."""

    n_learners: int
    deviations: frozenset[str]
    is_random: bool  # learners take no weights
    seed: int
    n_jobs: int = 1
    n_rows: int = field(init=False, default=0)  # learned

    @abstractmethod
    def _loop(self, n_classes: int) -> Any:
        """The choices as numbers, with what belongs to the learners."""

    @abstractmethod
    def _games(self, loop: Any, labels: IntArray, weights: FloatArray, n_classes: int) -> Any:
        """What belongs to rows on which no learner has voted."""

    @abstractmethod
    def _answers(self, games: Any, n_classes: int, numbers: IntArray) -> Answers:
        """What all votes amount to; ``numbers`` are the rows' places in the stream."""

    def learn(
        self,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
    ) -> Answers:
        """Teach a block of prepared rows to all learners; returns what they said before each row was learned."""
        if not isinstance(ensemble, NativeEnsemble):
            return self.learn_by_parts(ensemble, block, labels, weights, n_classes, first_row)
        loop = self._loop(n_classes)
        games = self._games(loop, labels, weights, n_classes)
        ensemble.grow_classes(n_classes)
        with announcing_compilation():
            learn_pipelined(ensemble, loop, games, block, n_classes, first_row, self.n_jobs)
        return self._learned(games, n_classes, first_row)

    def learn_by_parts(
        self,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
    ) -> Answers:
        """The same learner by learner, over any ensemble."""
        loop = self._loop(n_classes)
        games = self._games(loop, labels, weights, n_classes)
        room, spare = loop.make_room(), np.empty(n_classes)
        label_weights, votes = np.empty((len(labels), n_classes)), np.empty((len(labels), n_classes))
        for learner in range(self.n_learners):
            teach_rows(loop, games, room, first_row, learner, label_weights)
            ensemble.vote_and_learn(learner, block, label_weights, votes)
            see_rows(loop, games, room, first_row, learner, votes, spare)
        return self._learned(games, n_classes, first_row)

    def _learned(self, games: Any, n_classes: int, first_row: int) -> Answers:
        self.n_rows = first_row + len(games.labels)
        return self._answers(games, n_classes, np.arange(first_row, self.n_rows))

    def poll(self, ensemble: WeakEnsemble, block: Block, n_classes: int) -> Answers:
        """What the learners say to a block of prepared rows; nothing is learned."""
        loop = self._loop(n_classes)
        games = self._games(loop, np.zeros(len(block), dtype=np.int64), np.zeros(len(block)), n_classes)
        room = loop.make_room()
        if isinstance(ensemble, NativeEnsemble):
            ensemble.grow_classes(n_classes)
            poll_block(ensemble.forest, ensemble.scratch(), loop, games, room, block, n_classes, self.n_rows)
        else:
            votes, spare = np.empty((len(block), n_classes)), np.empty(n_classes)
            for learner in range(self.n_learners):
                ensemble.vote(learner, block, votes)
                pool_rows(loop, games, room, self.n_rows, learner, votes, spare)
        return self._answers(games, n_classes, np.full(len(block), self.n_rows))

    def answer(self, answers: Answers) -> Answers:
        """What the votes amount to: known already, for their weights have moved on."""
        return answers

    def _priorities(self, numbers: IntArray, n_classes: int) -> FloatArray | None:
        """Which of several equal labels goes first, where that is drawn."""
        if "ties" not in self.deviations:
            return None
        draws = np.empty((len(numbers), n_classes))
        for row, number in enumerate(numbers):
            for label in range(n_classes):
                draws[row, label] = uniform(np.uint64(self.seed), TIES, int(number), 2 * self.n_learners + label)
        return draws

    def _constants(self) -> FloatArray:
        """The published code's constant of each learner."""
        draws = np.empty(self.n_learners)
        draw_rows(self.seed, CONSTANTS, 0, 0, draws)
        return SMALLEST_CONSTANT + (LARGEST_CONSTANT - SMALLEST_CONSTANT) * draws

    @property
    def _least(self) -> float:
        return LEAST_WEIGHT if "constants" in self.deviations else 0.0


@dataclass
class MajorityCascade(Rival):
    """OnlineMBBM; it holds no learned state, only potentials that it remembers."""

    gamma: float = 0.1
    potential: str = "exact"
    _majority: Majority | None = field(init=False, default=None)

    def _loop(self, n_classes: int) -> Majority:
        n_labels = max(n_classes, 2)
        if self._majority is None or self._majority.potentials.n_classes != n_labels:
            self._majority = self._make_loop(n_labels)
        return self._majority

    def _make_loop(self, n_labels: int) -> Majority:
        method = "monte-carlo" if "monte-carlo" in self.deviations else self.potential
        tables = potentials.make_potentials(
            potentials.METHODS[method],
            gamma=self.gamma,
            n_classes=n_labels,
            n_learners=self.n_learners,
            seed=self.seed,
        )
        by_identity = method != "monte-carlo" and self.gamma <= LARGEST_GAMMA_FOR_IDENTITY
        n_extra = int("horizon" in self.deviations)
        none, room = np.zeros(n_labels, dtype=np.int64), potentials.make_room(n_labels, self.n_learners)
        if "constants" in self.deviations:
            scales = 0.1 * self._constants() / (n_labels - 1)
        else:
            weights = np.empty(self.n_learners)
            potentials.importances(tables, n_extra, none, room, weights)
            mean = float(np.mean(weights))
            scales = np.full(self.n_learners, 1.0 / mean if mean > 0.0 else 1.0)
        first = potentials.potential(tables, 0, self.n_learners + n_extra, none, 0, room)
        tables.values[0] = -1.0  # the first learner asks with one vote less to come
        return Majority(
            n_learners=self.n_learners,
            seed=np.uint64(self.seed),
            potentials=tables,
            first_potential=first,
            amplification=n_labels / (1.0 - self.gamma) if by_identity else 0.0,
            n_extra=n_extra,
            scales=scales,
            least=self._least,
            is_random=self.is_random,
            by_cost="min-cost" in self.deviations,
            draws_ties="ties" in self.deviations,
        )

    def _games(self, loop: Majority, labels: IntArray, weights: FloatArray, n_classes: int) -> Counts:
        n_rows = len(labels)
        votes = np.zeros((n_rows, loop.potentials.n_classes), dtype=np.int64)
        return Counts(labels, weights, votes, np.full(n_rows, loop.first_potential), np.zeros(n_rows))

    def _answers(self, games: Counts, n_classes: int, numbers: IntArray) -> Answers:
        """The vote shares."""
        shares = games.votes[:, :n_classes] / self.n_learners
        return Answers(shares, shares, self._priorities(numbers, n_classes))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_majority": None}  # tables and remembered potentials can be made again


@dataclass
class LogisticCascade(Rival):
    """Adaboost.OLM, with what it has learned about its learners."""

    alphas: FloatArray = field(init=False)
    mistakes: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.alphas = np.zeros(self.n_learners)
        self.mistakes = np.zeros(self.n_learners)

    def _loop(self, n_classes: int) -> Logistic:
        n_rivals = max(n_classes, 2) - 1
        offsets = np.zeros(self.n_learners)
        if "constants" in self.deviations:
            scales = self._constants() / n_rivals
            scales[0], offsets[0] = 0.0, FIRST_WEIGHT
        else:
            scales = np.full(self.n_learners, 2.0 / n_rivals)  # before any vote every weight is half the rivals
        return Logistic(
            n_learners=self.n_learners,
            seed=np.uint64(self.seed),
            alphas=self.alphas,
            mistakes=self.mistakes,
            scales=scales,
            offsets=offsets,
            least=self._least,
            is_random=self.is_random,
            by_cost="min-cost" in self.deviations,
            draws_ties="ties" in self.deviations,
        )

    def _games(self, loop: Logistic, labels: IntArray, weights: FloatArray, n_classes: int) -> Scores:
        n_rows = len(labels)
        votes, shares = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
        return Scores(labels, weights, np.zeros((n_rows, max(n_classes, 2))), votes, shares, np.zeros(n_rows))

    def _answers(self, games: Scores, n_classes: int, numbers: IntArray) -> Answers:
        """The shares of the experts' weight, and those of the learners' votes."""
        distributions = games.shares / games.shares.sum(axis=1, keepdims=True)
        return Answers(distributions, games.label_votes / self.n_learners, self._priorities(numbers, n_classes))
