"""The cells of the boosters of Raman & Tewari: a row's player decides what a learner is taught, and sees its vote."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco._player_kernels import step_row
from ocoboost.randomness import RELABEL, uniform
from ocoboost.regimes import gradient_row, teach_row

_inlined = kernel(error_model="numpy", inline="always")


class Loop(NamedTuple):
    """The choices of a cascade, as numbers."""

    regime: int
    gamma: float
    is_random: bool
    sees_labels: bool  # the players see label votes
    player: int
    on_interval: bool
    step_size: float
    gradient_range: float
    n_learners: int
    seed: np.uint64

    def make_room(self) -> tuple[()]:
        """Players need none."""
        return ()


class Games(NamedTuple):
    """A block of rows and the state of their games; axis 0 is the row, but of what is seen."""

    labels: IntArray
    weights: FloatArray
    plays: FloatArray
    memory: FloatArray
    label_votes: FloatArray  # pooled
    distribution_votes: FloatArray  # pooled
    seen_labels: IntArray  # see ``Seen``
    seen_distributions: FloatArray
    first_seen: int = 0  # where the first row is among them

    def part(self, rows: slice) -> Games:
        """Some of the rows."""
        return self._replace(
            labels=self.labels[rows],
            weights=self.weights[rows],
            plays=self.plays[rows],
            memory=self.memory[rows],
            label_votes=self.label_votes[rows],
            distribution_votes=self.distribution_votes[rows],
            first_seen=self.first_seen + rows.start,
        )


class Seen(NamedTuple):
    """What the players saw of every learner, if anyone wants to know; axis 0 is the learner, and empty otherwise.

    Learners take a block one after another, so this is the order in which votes come: in another one, recording
    distributions took 8 % of a run (Segment, 100 Hoeffding trees).
    """

    labels: IntArray  # (learners, rows)
    distributions: FloatArray  # (learners, rows, classes)

    @classmethod
    def room(cls, n_rows: int, n_learners: int, n_classes: int, kind: str) -> Seen:
        """Room for the votes of the kind that the players see; no learners, no room."""
        n_labels = n_learners if kind == "label" else 0
        return cls(np.empty((n_labels, n_rows), dtype=np.int32), np.empty((n_learners - n_labels, n_rows, n_classes)))


class Poll(NamedTuple):
    """Votes are pooled, and that is all."""

    n_learners: int


class PooledVotes(NamedTuple):
    """The learners' votes on each row, summed in learner order; both have shape (rows, classes)."""

    labels: FloatArray  # one-hot votes: integers
    distributions: FloatArray

    @classmethod
    def none(cls, n_rows: int, n_classes: int) -> PooledVotes:
        return cls(np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes)))

    def of(self, kind: str) -> FloatArray:
        return self.labels if kind == "label" else self.distributions


@_inlined
def teach_by_play(loop: Loop, games: Games, room: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    draw = uniform(loop.seed, RELABEL, number, learner) if loop.is_random else 0.0
    teach_row(loop.regime, games.plays[row], games.labels[row], games.weights[row], loop.is_random, draw, out)


@_inlined
def play_on(
    loop: Loop,
    games: Games,
    room: Any,
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
    if loop.sees_labels:
        for j in range(n_classes):
            vote[j] = 0.0
        vote[best] = 1.0
    gradient_row(loop.regime, vote[:n_classes], games.labels[row], loop.gamma, spare[: play.size])
    step_row(
        loop.player,
        loop.on_interval,
        play,
        games.memory[row],
        spare[: play.size],
        loop.step_size,
        loop.gradient_range,
        loop.n_learners,
        learner,
    )


@_inlined
def pool(
    loop: Poll,
    games: PooledVotes,
    room: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    pool_row(games.labels, games.distributions, row, n_classes, vote)


@_inlined
def pool_row(
    label_votes: FloatArray, distribution_votes: FloatArray, row: int, n_classes: int, vote: FloatArray
) -> int:
    """Add a vote to both pools; returns the label voted for."""
    best = 0
    for j in range(n_classes):
        distribution_votes[row, j] += vote[j]
        if vote[j] > vote[best]:
            best = j
    label_votes[row, best] += 1.0
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
    """Keep a vote if there is room for it."""
    if seen_labels.shape[0] > 0:
        seen_labels[learner, row] = best
    elif seen_distributions.shape[0] > 0:
        for j in range(n_classes):
            seen_distributions[learner, row, j] = vote[j]
