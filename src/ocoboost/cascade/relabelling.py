"""The cells of Algorithms 1, 2, 4 and 5: every row has its own player, which decides what each learner is taught.

    plays = start                                                       one game per row
    for each learner:
        teach the learner what the plays say, with the row's features   a distribution over labels, or a weight
        show the players its votes, and let them move                   the loss is linear: its gradient is enough
    D = project(sum of votes / (gamma * n_learners))

"Reset A" of Algorithms 1 and 4 and "m copies of A" of Algorithms 2 and 5 are the same statement: every row has its own
player, which sees the learners in order. What the players do is in ``regimes.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers, projected
from ocoboost.cascade.cells import Cells, Kernels, register_kernels
from ocoboost.cascade.regimes import PlainPlaying, Playing, Regime, begin_games, move_row, plain, teach_row
from ocoboost.compiling import kernel
from ocoboost.oco.losses import agnostic_gradient, realizable_gradient
from ocoboost.oco.moves import descend_on_interval, descend_row
from ocoboost.oco.players import PLAYERS, Game
from ocoboost.randomness import RELABEL, uniform

_inlined = kernel(error_model="numpy", forceinline=True)


class Games(NamedTuple):
    """A block of rows and the state of their games; axis 0 is the row, except in ``seen_*``."""

    labels: IntArray
    weights: FloatArray
    plays: FloatArray
    memory: FloatArray
    label_votes: FloatArray  # pooled
    distribution_votes: FloatArray  # pooled
    seen_labels: IntArray  # see ``Seen``
    seen_distributions: FloatArray
    first_seen: int = 0  # the place of the first row in these two

    def tile(self, rows: slice) -> Games:
        """The state of some of the rows, sharing memory."""
        return self._replace(
            labels=self.labels[rows],
            weights=self.weights[rows],
            plays=self.plays[rows],
            memory=self.memory[rows],
            label_votes=self.label_votes[rows],
            distribution_votes=self.distribution_votes[rows],
            first_seen=self.first_seen + rows.start,
        )

    def pooled(self, kind: str) -> FloatArray:
        """The label votes or the distributions, summed in learner order."""
        return self.label_votes if kind == "label" else self.distribution_votes


class Seen(NamedTuple):
    """The votes that the players saw, if they are recorded; axis 0 is the learner, and of length 0 if not.

    Learners take a block one after another, so votes arrive in this order. In another order, recording distributions
    took 8 % of a run (Segment, 100 Hoeffding trees).
    """

    labels: IntArray  # (learners, rows)
    distributions: FloatArray  # (learners, rows, classes)

    @classmethod
    def empty(cls, n_rows: int, n_learners: int, n_classes: int, kind: str) -> Seen:
        """Arrays for the kind of votes that the players see; with 0 learners nothing is recorded."""
        n_labels = n_learners if kind == "label" else 0
        return cls(np.empty((n_labels, n_rows), dtype=np.int32), np.empty((n_learners - n_labels, n_rows, n_classes)))


@_inlined
def teach(playing: Playing, games: Games, scratch: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    draw = uniform(playing.seed, RELABEL, number, learner) if playing.is_random else 0.0
    teach_row(playing.regime, games.plays[row], games.labels[row], games.weights[row], playing.is_random, draw, out)


@_inlined
def see(
    playing: Playing,
    games: Games,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    play = games.plays[row]
    best = pool_row(games.label_votes, games.distribution_votes, row, n_classes, vote)
    keep_row(games.seen_labels, games.seen_distributions, games.first_seen + row, learner, n_classes, best, vote)
    if playing.sees_labels:
        for j in range(n_classes):
            vote[j] = 0.0
        vote[best] = 1.0
    gradient = spare[: play.size]
    move_row(playing, play, games.memory[row], games.labels[row], vote[:n_classes], learner, gradient)


@_inlined
def teach_plainly(
    playing: PlainPlaying, games: Games, scratch: Any, row: int, number: int, learner: int, out: FloatArray
) -> None:
    """``teach``, without what plain choices leave out: those players need not be compiled."""
    for j in range(out.size):
        out[j] = 0.0
    if playing.on_interval:
        out[games.labels[row]] = games.plays[row, 0] * games.weights[row]
    else:
        for j in range(games.plays.shape[1]):
            out[j] = games.plays[row, j] * games.weights[row]


@_inlined
def see_plainly(
    playing: PlainPlaying,
    games: Games,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    """``see``, likewise."""
    play = games.plays[row]
    best = pool_row(games.label_votes, games.distribution_votes, row, n_classes, vote)
    keep_row(games.seen_labels, games.seen_distributions, games.first_seen + row, learner, n_classes, best, vote)
    if playing.sees_labels:
        for j in range(n_classes):
            vote[j] = 0.0
        vote[best] = 1.0
    gradient = spare[: play.size]
    if playing.on_interval:
        realizable_gradient(vote[:n_classes], games.labels[row], playing.gamma, gradient)
        descend_on_interval(play, gradient, playing.step_size)
    else:
        agnostic_gradient(vote[:n_classes], games.labels[row], playing.gamma, gradient)
        descend_row(play, gradient, playing.step_size)


@_inlined
def pool(
    playing: Playing,
    games: Games,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    pool_row(games.label_votes, games.distribution_votes, row, n_classes, vote)


@_inlined
def pool_row(
    label_votes: FloatArray, distribution_votes: FloatArray, row: int, n_classes: int, vote: FloatArray
) -> int:
    """Add a vote to both pools (ties go to the lowest index); returns the label voted for."""
    best = 0
    for j in range(n_classes):
        distribution_votes[row, j] += vote[j]
        if vote[j] > vote[best]:
            best = j
    label_votes[row, best] += 1.0  # Alg. 1.3, Alg. 4.3: h = sum of W_i(x)
    return best


@_inlined
def keep_row(
    seen_labels: IntArray,
    seen_distributions: FloatArray,
    row: int,
    learner: int,
    n_classes: int,
    best: int,
    vote: FloatArray,
) -> None:
    """Record a vote, if votes are recorded."""
    if seen_labels.shape[0] > 0:
        seen_labels[learner, row] = best
    elif seen_distributions.shape[0] > 0:
        for j in range(n_classes):
            seen_distributions[learner, row, j] = vote[j]


@dataclass
class Relabelling(Cells[Playing, Games]):
    """The boosters of Raman & Tewari; only their learners learn."""

    kernels = Kernels(Playing, teach, see, pool)

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

    def game(self, n_classes: int) -> Game:
        """The game that every row plays."""
        return self.regime.game(gamma=self.gamma, n_classes=n_classes, n_learners=self.n_learners)

    def configure(self, n_classes: int) -> Playing:
        return self.regime.playing(
            PLAYERS[self.player],
            gamma=self.gamma,
            n_classes=n_classes,
            n_learners=self.n_learners,
            start=self.start,
            step_size=self.step_size,
            is_random=self.relabel == "random",
            sees_labels=self.votes == "label",
            seed=self.seed,
        )

    def fused(self, n_classes: int) -> Playing | PlainPlaying:
        playing = self.choices(n_classes)
        return plain(playing) or playing

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int, seen: Seen | None = None) -> Games:
        """The games of a block before their first move; ``seen`` is where to record the votes that the players see."""
        plays, memory = begin_games(self.choices(n_classes), labels)
        return self._games(labels, weights, plays, memory, n_classes, seen)

    def begin_poll(self, n_rows: int, n_classes: int) -> Games:
        nothing = np.empty((n_rows, 0))
        return self._games(np.empty(0, dtype=np.int64), np.empty(0), nothing, nothing, n_classes, None)

    def _games(
        self,
        labels: IntArray,
        weights: FloatArray,
        plays: FloatArray,
        memory: FloatArray,
        n_classes: int,
        seen: Seen | None,
    ) -> Games:
        votes, distributions = np.zeros((len(plays), n_classes)), np.zeros((len(plays), n_classes))
        kept = Seen.empty(len(plays), 0, n_classes, self.votes) if seen is None else seen
        return Games(labels, weights, plays, memory, votes, distributions, *kept)

    def answers(self, rows: Games, n_classes: int, numbers: IntArray) -> Answers:
        """D and the vote shares that it is made of."""
        return self.answers_to(rows.pooled(self.pool))

    def answers_to(self, pooled: FloatArray) -> Answers:
        """The answers from pooled votes."""
        shares = pooled / self.n_learners
        return Answers(projected(shares, self.gamma), shares)

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"regime": self.regime.code}


register_kernels(Kernels(PlainPlaying, teach_plainly, see_plainly, pool))
