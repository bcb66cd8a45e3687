"""The one loop behind every booster: rows pass through the learners, and every row has its own player.

    plays = start                                                         one game per row
    for each learner:
        votes = learner.vote_and_learn(rows, taught(plays, labels))       row by row: vote, then learn
        plays = player.step(plays, gradients(votes, labels))              each row's own player
    D = project(sum of votes / (gamma * n_learners))

What learner i is taught on row r depends on the votes of learners 1..i-1 on row r, and its vote on row r on its own
past. The cells (row, learner) therefore form a grid that may be walked in any order that respects left and upper
neighbours: this module walks it learner by learner over a block of rows, and a block of one row is the paper's order.
Results are equal to the bit, because draws are keyed by (seed, purpose, row, learner) and sums run in learner order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.fused import announcing_compilation, learn_pipelined, poll_block
from ocoboost.games import Games, Loop, Poll, PooledVotes, Seen
from ocoboost.oco.players import PLAYERS, Game
from ocoboost.oco.projections import project_onto_simplex
from ocoboost.randomness import RELABEL, draw_rows
from ocoboost.regimes import Regime, gradients, teach
from ocoboost.weak.contract import Block, WeakEnsemble
from ocoboost.weak.native import NativeEnsemble


class Answers(NamedTuple):
    """What a booster says to each row; all have shape (rows, classes)."""

    distributions: FloatArray  # D
    shares: FloatArray  # each label's share of the pooled votes
    priorities: FloatArray | None = None  # who wins a tie, if not the label with most votes

    @classmethod
    def none(cls, n_rows: int) -> Answers:
        """Before the first label is known."""
        return cls(np.zeros((n_rows, 0)), np.zeros((n_rows, 0)))

    def after(self, n_rows: int) -> Answers:
        """Without the first rows."""
        priorities = None if self.priorities is None else self.priorities[n_rows:]
        return Answers(self.distributions[n_rows:], self.shares[n_rows:], priorities)

    @property
    def labels(self) -> IntArray:
        """The most probable label of each row; ties go to the most votes, then to the lowest index."""
        chosen = np.empty(len(self.shares), dtype=np.int64)
        modes(self.distributions, self.shares if self.priorities is None else self.priorities, chosen)
        return chosen


@dataclass(frozen=True)
class Cascade:
    """The loop with its choices made; it holds no learned state."""

    regime: Regime
    gamma: float
    n_learners: int
    relabel: str  # "fractional" or "random"
    votes: str  # what the players see: "label" or "distribution"
    pool: str  # what is summed for the prediction: "label" or "distribution"
    start: str  # "uniform" or "label"
    player: str
    step_size: float | str | None
    seed: int
    n_jobs: int = 1  # threads, for native ensembles; the results do not depend on it

    def game(self, n_classes: int) -> Game:
        return self.regime.game(gamma=self.gamma, n_classes=n_classes, n_learners=self.n_learners)

    def resolve_step(self, game: Game) -> float:
        """The step size in force: the user's, the paper's gamma / sqrt(N), or the one that minimises the bound."""
        player = PLAYERS[self.player]
        if self.step_size is not None and not isinstance(self.step_size, str):
            return float(self.step_size)
        first = np.zeros(1, dtype=np.int64)  # the game is symmetric in the labels
        start = self.regime.starts(game, first, start=self.start, is_entropic=player.is_entropic)[0]
        if self.step_size is None:
            return player.default_step(game, start, self.gamma)
        return player.optimal_step(game, start)

    def loop(self, n_classes: int) -> Loop:
        """The choices as numbers."""
        game = self.game(n_classes)
        return Loop(
            self.regime.code,
            self.gamma,
            self.relabel == "random",
            self.votes == "label",
            PLAYERS[self.player].code,
            game.domain.is_interval,
            self.resolve_step(game),
            game.gradient_range,
            self.n_learners,
            np.uint64(self.seed),
        )

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int, seen: Seen) -> Games:
        """The games of a block of rows before their first move."""
        player, game = PLAYERS[self.player], self.game(n_classes)
        plays = self.regime.starts(game, labels, start=self.start, is_entropic=player.is_entropic)
        memory = player.begin(game.domain, plays)
        return Games(labels, weights, plays, memory, *PooledVotes.none(len(labels), n_classes), *seen)

    def learn(
        self,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        seen: Seen | None = None,
    ) -> PooledVotes:
        """Teach a block of prepared rows to all learners; returns their votes from before each row was learned.

        ``seen`` is room for what the players see of every learner.
        """
        if seen is None:
            seen = Seen.room(len(labels), 0, n_classes, self.votes)
        if isinstance(ensemble, NativeEnsemble):
            return self._learn_fused(ensemble, block, labels, weights, n_classes, first_row, seen)
        return self.learn_by_parts(ensemble, block, labels, weights, n_classes, first_row, seen)

    def learn_by_parts(
        self,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        seen: Seen | None = None,
    ) -> PooledVotes:
        """The loop as it reads on paper, over any ensemble; native ones run the same cells in one kernel."""
        player = PLAYERS[self.player]
        game = self.game(n_classes)
        step_size = self.resolve_step(game)
        plays = self.regime.starts(game, labels, start=self.start, is_entropic=player.is_entropic)
        memory = player.begin(game.domain, plays)
        slopes = np.empty_like(plays)
        is_random = self.relabel == "random"
        draws = np.zeros(len(labels))
        label_weights = np.empty((len(labels), n_classes))
        votes = np.empty_like(label_weights)
        label_votes = np.empty_like(label_weights)
        pooled = PooledVotes.none(len(labels), n_classes)
        for learner in range(self.n_learners):
            if is_random:
                draw_rows(self.seed, RELABEL, first_row, learner, draws)
            teach(self.regime.code, plays, labels, weights, is_random, draws, label_weights)  # y_t^i ~ p_t^i, line 10
            ensemble.vote_and_learn(learner, block, label_weights, votes)
            pool_votes(votes, label_votes, pooled.labels, pooled.distributions)
            shown = label_votes if self.votes == "label" else votes
            if seen is not None and len(seen.labels) > 0:
                seen.labels[learner] = label_votes.argmax(axis=1)
            elif seen is not None and len(seen.distributions) > 0:
                seen.distributions[learner] = votes
            gradients(self.regime.code, shown, labels, self.gamma, slopes)  # l_t^i, line 9
            player.step(game, plays, memory, slopes, step_size, learner)  # p_t^{i+1}, line 8
        return pooled

    def _learn_fused(
        self,
        ensemble: NativeEnsemble,
        block: FloatArray,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        seen: Seen,
    ) -> PooledVotes:
        games = self.begin(labels, weights, n_classes, seen)
        loop = self.loop(n_classes)
        ensemble.grow_classes(n_classes)
        with announcing_compilation():
            learn_pipelined(ensemble, loop, games, block, n_classes, first_row, self.n_jobs)
        return PooledVotes(games.label_votes, games.distribution_votes)

    def poll(self, ensemble: WeakEnsemble, block: Block, n_classes: int) -> PooledVotes:
        """The learners' votes on a block of prepared rows; nothing is learned."""
        if isinstance(ensemble, NativeEnsemble):
            pooled = PooledVotes.none(len(block), n_classes)
            ensemble.grow_classes(n_classes)
            poll_block(ensemble.forest, ensemble.scratch(), Poll(self.n_learners), pooled, (), block, n_classes, 0)
            return pooled
        votes = np.empty((len(block), n_classes))
        label_votes = np.empty_like(votes)
        pooled = PooledVotes.none(len(block), n_classes)
        for learner in range(self.n_learners):
            ensemble.vote(learner, block, votes)
            pool_votes(votes, label_votes, pooled.labels, pooled.distributions)
        return pooled

    def answer(self, pooled: PooledVotes) -> Answers:
        """What the pooled votes amount to."""
        return answer(self.vote_shares(pooled), self.gamma)

    def vote_shares(self, pooled: PooledVotes) -> FloatArray:
        """Each label's share of the pooled votes."""
        return pooled.of(self.pool) / self.n_learners


def answer(shares: FloatArray, gamma: float | FloatArray) -> Answers:
    """D from the vote shares: scaled by 1 / gamma and projected onto the simplex."""
    distributions = shares / gamma  # h_t / (γN), line 4
    project_onto_simplex(distributions, distributions)  # D_t = Π(·), line 4
    return Answers(distributions, shares)


@kernel
def pool_votes(
    votes: FloatArray, label_votes: FloatArray, label_counts: FloatArray, distribution_sums: FloatArray
) -> None:
    """Turn one learner's vote distributions into label votes (ties to the lowest index) and add both to the pools."""
    for row in range(votes.shape[0]):
        best = 0
        for j in range(votes.shape[1]):
            label_votes[row, j] = 0.0
            distribution_sums[row, j] += votes[row, j]
            if votes[row, j] > votes[row, best]:
                best = j
        label_votes[row, best] = 1.0
        label_counts[row, best] += 1.0


@kernel
def modes(distributions: FloatArray, vote_counts: FloatArray, out: IntArray) -> None:
    """The most probable label of each row; ties go to the most votes, then to the lowest index."""
    for row in range(distributions.shape[0]):
        best = 0
        for j in range(1, distributions.shape[1]):
            more_probable = distributions[row, j] > distributions[row, best]
            as_probable = distributions[row, j] == distributions[row, best]
            if more_probable or (as_probable and vote_counts[row, j] > vote_counts[row, best]):
                best = j
        out[row] = best
