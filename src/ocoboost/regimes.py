"""Agnostic and realizable: what the players play, what they lose, and what their plays teach.

A regime is all that tells Algorithms 1 and 2 from Algorithms 4 and 5. It joins a domain, a loss, and the reading of
a play as label weights. Random relabelling teaches a draw instead of the weights themselves, with the same mean.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.oco import losses
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.players import LABEL_START_MIXING, Game
from ocoboost.randomness import draw_label


class Regime(Protocol):
    """One of the two ways in which the paper reduces boosting to online convex optimization."""

    def game(self, *, gamma: float, n_classes: int, n_learners: int) -> Game:
        """The game that every row plays."""

    def label_starts(self, labels: IntArray, n_classes: int) -> FloatArray:
        """The point of the domain that teaches the true label and nothing else, for each row."""

    def gradients(self, votes: FloatArray, labels: IntArray, gamma: float, out: FloatArray) -> None:
        """What each row's player is shown after a vote."""

    def teach(self, plays: FloatArray, labels: IntArray, weights: FloatArray, out: FloatArray) -> None:
        """Label weights (rows, classes) that carry the plays."""

    def teach_drawn(
        self, plays: FloatArray, labels: IntArray, weights: FloatArray, draws: FloatArray, out: FloatArray
    ) -> None:
        """The same for one label drawn from each play."""


class Agnostic:
    """A play is a distribution over labels; the learner is taught that distribution, or a label drawn from it."""

    def game(self, *, gamma: float, n_classes: int, n_learners: int) -> Game:
        return Game(
            Simplex(n_classes),
            n_learners,
            losses.agnostic_gradient_bound(gamma=gamma, n_classes=n_classes),
            losses.agnostic_gradient_range(gamma=gamma, n_classes=n_classes),
        )

    def label_starts(self, labels: IntArray, n_classes: int) -> FloatArray:
        return np.eye(n_classes)[labels]

    def gradients(self, votes: FloatArray, labels: IntArray, gamma: float, out: FloatArray) -> None:
        losses.agnostic_gradients(votes, labels, gamma, out)

    def teach(self, plays: FloatArray, labels: IntArray, weights: FloatArray, out: FloatArray) -> None:
        np.multiply(plays, weights[:, None], out=out)

    def teach_drawn(
        self, plays: FloatArray, labels: IntArray, weights: FloatArray, draws: FloatArray, out: FloatArray
    ) -> None:
        _teach_drawn_labels(plays, weights, draws, out)


class Realizable:
    """A play is a probability; the learner is taught the true label with that weight, or with that probability."""

    def game(self, *, gamma: float, n_classes: int, n_learners: int) -> Game:
        bound = losses.realizable_gradient_bound(gamma=gamma)
        return Game(UnitInterval(), n_learners, bound, bound)

    def label_starts(self, labels: IntArray, n_classes: int) -> FloatArray:
        return np.ones((len(labels), 1))

    def gradients(self, votes: FloatArray, labels: IntArray, gamma: float, out: FloatArray) -> None:
        losses.realizable_gradients(votes, labels, gamma, out)

    def teach(self, plays: FloatArray, labels: IntArray, weights: FloatArray, out: FloatArray) -> None:
        out[:] = 0.0
        out[np.arange(len(labels)), labels] = plays[:, 0] * weights

    def teach_drawn(
        self, plays: FloatArray, labels: IntArray, weights: FloatArray, draws: FloatArray, out: FloatArray
    ) -> None:
        out[:] = 0.0
        out[np.arange(len(labels)), labels] = np.where(draws < plays[:, 0], weights, 0.0)


def start_points(
    regime: Regime, game: Game, labels: IntArray, n_classes: int, *, start: str, is_entropic: bool
) -> FloatArray:
    """Where each row's game starts: the centre of the domain, or the true label (softened for entropic players)."""
    centre = game.domain.centre()
    if start == "uniform":
        return np.tile(centre, (len(labels), 1))
    points = regime.label_starts(labels, n_classes)
    return (1.0 - LABEL_START_MIXING) * points + LABEL_START_MIXING * centre if is_entropic else points


@njit(cache=True, nogil=True)
def _teach_drawn_labels(plays: FloatArray, weights: FloatArray, draws: FloatArray, out: FloatArray) -> None:
    for row in range(plays.shape[0]):
        for j in range(plays.shape[1]):
            out[row, j] = 0.0
        out[row, draw_label(plays[row], draws[row])] = weights[row]
