"""Agnostic, realizable and pairwise: what the players play, what they lose, and what their plays teach.

A regime is all that distinguishes Algorithms 1 and 2 (agnostic) from Algorithms 4 and 5 (realizable) and from the
pairwise booster, which is not in the paper (docs/theory.md): a domain, a loss, and how a play becomes label weights.
Random relabelling teaches a draw from these weights, with the same mean. Starts, lessons and moves are defined only
here; the online cells, the batch boosters and the account's replay all use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco import losses, moves
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.players import LABEL_START_MIXING, Game, Player
from ocoboost.randomness import draw_label

AGNOSTIC = 0  # a play is a distribution over labels: teach it, or a label drawn from it
REALIZABLE = 1  # a play is a probability: teach the true label with that weight, or with that probability
PAIRWISE = 2  # a play weighs the rivals of the true label, on which it means "skip": teach what beats those rivals
# Below this the prediction is the plurality for any number of learners, and squares would overflow.
SMALLEST_GAMMA = 1e-100


class Playing(NamedTuple):
    """The choices of the players, as numbers."""

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
    memory_size: int  # numbers that a row's player remembers
    starts: FloatArray  # (classes, dimension) where a game starts, by the row's label


class PlainPlaying(NamedTuple):
    """What is left of them where players descend gradients and teach what they play, as all of the default do."""

    gamma: float
    sees_labels: bool
    step_size: float
    n_learners: int
    player: int
    on_interval: bool  # which tells the two regimes apart
    starts: FloatArray  # (classes, dimension)


def plain(playing: Playing) -> PlainPlaying | None:
    """The same choices for kernels that know no other players and regimes, if they are that plain."""
    if playing.regime == PAIRWISE or playing.player != moves.GRADIENT or playing.is_random:
        return None
    return PlainPlaying(*(getattr(playing, name) for name in PlainPlaying._fields))


@dataclass(frozen=True)
class Regime:
    """One of the ways to reduce boosting to online convex optimization: two of the paper's, and ours."""

    code: int

    def game(self, *, gamma: float, n_classes: int, n_learners: int) -> Game:
        """The game that every row plays."""
        if self.code == REALIZABLE:
            bound = losses.realizable_gradient_bound(gamma=gamma)
            return Game(UnitInterval(), n_learners, bound, bound)
        return Game(
            Simplex(n_classes),
            n_learners,
            losses.agnostic_gradient_bound(gamma=gamma, n_classes=n_classes),
            losses.agnostic_gradient_range(gamma=gamma, n_classes=n_classes),
        )

    def starts(self, n_classes: int, *, start: str, is_entropic: bool, centre: FloatArray) -> FloatArray:
        """Where games start, for each label: ``centre``, or the label itself (softened for entropic players)."""
        centres = np.tile(centre, (n_classes, 1))  # Alg. 1.8, Alg. 2.2, Alg. 4.8: the first play (next: oco/moves.py)
        if start == "uniform":
            return centres
        vertices = np.ones((n_classes, 1)) if self.code == REALIZABLE else np.eye(n_classes)
        if self.code == PAIRWISE and n_classes > 1:  # nothing is skipped, and all rivals are alike
            vertices = (1.0 - vertices) / (n_classes - 1)
        return (1.0 - LABEL_START_MIXING) * vertices + LABEL_START_MIXING * centres if is_entropic else vertices

    def playing(
        self,
        player: Player,
        *,
        gamma: float,
        n_classes: int,
        n_learners: int,
        start: str,
        step_size: float | str | None = None,
        centre: FloatArray | None = None,
        is_random: bool = False,
        sees_labels: bool = True,
        seed: int = 0,
    ) -> Playing:
        """All choices as numbers. ``step_size`` None is the paper's gamma / sqrt(N) or, where it gives none, "optimal":
        the one that minimises the regret bound. ``centre`` None is the middle of the domain."""
        game = self.game(gamma=gamma, n_classes=n_classes, n_learners=n_learners)
        centre = game.domain.centre() if centre is None else centre
        starts = self.starts(n_classes, start=start, is_entropic=player.is_entropic, centre=centre)
        if step_size is None:
            step_size = player.default_step(game, starts[0], gamma)  # the game is symmetric in the labels
        elif isinstance(step_size, str):
            step_size = player.optimal_step(game, starts[0])
        return Playing(
            regime=self.code,
            gamma=gamma,
            is_random=is_random,
            sees_labels=sees_labels,
            player=player.code,
            on_interval=game.domain.is_interval,
            step_size=float(step_size),
            gradient_range=game.gradient_range,
            n_learners=n_learners,
            seed=np.uint64(seed),
            memory_size=player.memory_size(game.domain),
            starts=starts,
        )


def begin_games(playing: Playing, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """The plays and the memory of every row's player before its first move."""
    plays = playing.starts.take(labels, axis=0)  # Alg. 1.11, Alg. 4.11: every row's game begins anew
    memory = np.empty((len(labels), playing.memory_size))
    if playing.memory_size > 0:
        moves.begin(playing.player, playing.on_interval, plays, memory)
    return plays, memory


@kernel
def teach_row(
    regime: int, play: FloatArray, label: int, weight: float, is_random: bool, draw: float, out: FloatArray
) -> None:
    """The label weights that a play stands for; with ``is_random``, one label (or none) chosen by ``draw``."""
    for j in range(out.size):
        out[j] = 0.0
    if regime == REALIZABLE:  # Alg. 4.10: pass the true label with probability p, or with weight p
        if is_random:
            out[label] = weight if draw < play[0] else 0.0
        else:
            out[label] = play[0] * weight
    elif regime == PAIRWISE:
        teach_against_rivals(play, label, weight, is_random, draw, out)
    elif is_random:  # Alg. 1.10: a label drawn from p, or all labels with their weights
        out[draw_label(play, draw)] = weight
    else:
        for j in range(play.size):
            out[j] = play[j] * weight


@kernel
def teach_against_rivals(
    play: FloatArray, label: int, weight: float, is_random: bool, draw: float, out: FloatArray
) -> None:
    """Gains of play[j] for the label and -play[j] for its rival j, made label weights: shifted alike, over k.

    The label gets (2/k) of all that is not skipped, and every other label (1/k) of what is not against it. A shift
    changes no comparison between hypotheses; with weights, rows total 1 - play[label].
    """
    k = play.size
    kept = 1.0 - play[label]
    below = 0.0
    for j in range(k):
        share = (2.0 * kept if j == label else max(kept - play[j], 0.0)) / k
        if is_random:
            out[j] = weight if below <= draw < below + share else 0.0
            below += share
        else:
            out[j] = share * weight


@kernel
def gradient_row(regime: int, vote: FloatArray, label: int, gamma: float, out: FloatArray) -> None:
    """What a row's player is shown after a vote."""
    if regime == REALIZABLE:
        losses.realizable_gradient(vote, label, gamma, out)
    elif regime == PAIRWISE:
        losses.pairwise_gradient(vote, label, gamma, out)
    else:
        losses.agnostic_gradient(vote, label, gamma, out)


@kernel(error_model="numpy", forceinline=True)
def move_row(
    playing: Playing,
    play: FloatArray,
    memory: FloatArray,
    label: int,
    vote: FloatArray,
    learner: int,
    gradient: FloatArray,
) -> None:
    """Show a row's player the vote of a learner: it suffers the loss and moves to its next play, in place."""
    gradient_row(playing.regime, vote, label, playing.gamma, gradient)
    moves.step_row(
        playing.player,
        playing.on_interval,
        play,
        memory,
        gradient,
        playing.step_size,
        playing.gradient_range,
        playing.n_learners,
        learner,
    )
