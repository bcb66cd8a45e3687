"""Agnostic and realizable: what the players play, what they lose, and what their plays teach.

A regime is all that tells Algorithms 1 and 2 from Algorithms 4 and 5. It joins a domain, a loss, and the reading of
a play as label weights. Random relabelling teaches a draw instead of the weights themselves, with the same mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco import losses
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.players import LABEL_START_MIXING, Game
from ocoboost.randomness import draw_label

AGNOSTIC = 0  # a play is a distribution over labels: teach it, or a label drawn from it
REALIZABLE = 1  # a play is a probability: teach the true label with that weight, or with that probability
# Below this the prediction is the plurality for any number of learners, and squares would overflow.
SMALLEST_GAMMA = 1e-100


@dataclass(frozen=True)
class Regime:
    """One of the two ways in which the paper reduces boosting to online convex optimization."""

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

    def starts(self, game: Game, labels: IntArray, *, start: str, is_entropic: bool) -> FloatArray:
        """Where each row's game starts: the centre of the domain, or the true label (softened for entropic players)."""
        centre = game.domain.centre()
        if start == "uniform":
            return np.tile(centre, (len(labels), 1))
        vertices = np.ones((len(labels), 1)) if self.code == REALIZABLE else np.eye(game.domain.dimension)[labels]
        return (1.0 - LABEL_START_MIXING) * vertices + LABEL_START_MIXING * centre if is_entropic else vertices


@kernel
def teach_row(
    regime: int, play: FloatArray, label: int, weight: float, is_random: bool, draw: float, out: FloatArray
) -> None:
    """The label weights that carry a play; with ``is_random``, one label (or none) chosen by ``draw``."""
    for j in range(out.size):
        out[j] = 0.0
    if regime == REALIZABLE:
        if is_random:
            out[label] = weight if draw < play[0] else 0.0
        else:
            out[label] = play[0] * weight
    elif is_random:
        out[draw_label(play, draw)] = weight
    else:
        for j in range(play.size):
            out[j] = play[j] * weight


@kernel
def teach(
    regime: int,
    plays: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    is_random: bool,
    draws: FloatArray,
    out: FloatArray,
) -> None:
    """``teach_row`` for every row."""
    for row in range(plays.shape[0]):
        teach_row(regime, plays[row], labels[row], weights[row], is_random, draws[row], out[row])


@kernel
def gradient_row(regime: int, vote: FloatArray, label: int, gamma: float, out: FloatArray) -> None:
    """What a row's player is shown after a vote."""
    if regime == REALIZABLE:
        losses.realizable_gradient(vote, label, gamma, out)
    else:
        losses.agnostic_gradient(vote, label, gamma, out)


@kernel
def gradients(regime: int, votes: FloatArray, labels: IntArray, gamma: float, out: FloatArray) -> None:
    """``gradient_row`` for every row."""
    for row in range(votes.shape[0]):
        gradient_row(regime, votes[row], labels[row], gamma, out[row])
