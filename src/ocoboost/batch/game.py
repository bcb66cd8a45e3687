"""The improper zero-sum game (Algorithm 3), of which both batch boosters are instances.

Player A controls the rows and minimises the payoff; every row has its own online optimizer. Player B controls the
hypotheses and maximises it: an approximate oracle answers A's plays, possibly improperly, that is from a larger set
than the one that defines the value of the game. The payoff is a sum over rows, linear in each row's play:

    g(P, q) = sum_i f_i(P[i], q),     f_i(p, q) = p . slope_i(q) + offset_i(q)

After T stages B's averaged strategy is, for every P, within m R(T) / T plus the oracle's error of the value of the game
(Proposition 6), where R is the regret of one row's optimizer. The two instances:

    agnostic (Algorithm 2)     f_i = (2 p - 1) . (q(x_i) - y_i)          p a distribution over labels
    realizable (Algorithm 5)   f_i = p (q(x_i) . (2 y_i - 1) - 1)        p a number in [0, 1]

In both, B answers with votes / gamma of a weak hypothesis fitted to A's plays: improper, because a convex combination
of hypotheses never sums to 1 / gamma. What the boosters return is the projection of B's averaged strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.oco.players import Game, Player

Strategy = TypeVar("Strategy")
Answer_contra = TypeVar("Answer_contra", contravariant=True)
Side = TypeVar("Side", bound="PlayerA[Any]")


class PlayerA(Protocol[Answer_contra]):
    """All rows' optimizers, wherever they are kept: in arrays, in threads' shards of them, or on a cluster."""

    def move(self, strategy: Answer_contra, stage: int, /) -> None:
        """Reveal every row's loss f_i(., strategy), and let its optimizer make its next play."""


def play(rows: Side, oracle: Callable[[Side, int], Strategy], n_stages: int, n_played: int = 0) -> Iterator[Strategy]:
    """Algorithm 3: yields B's strategies, whose mean is the averaged strategy; the first ones may be played already."""
    for stage in range(n_played, n_stages):  # Alg. 2.1, Alg. 3.1, Alg. 5.1: for t = 1, ..., T
        strategy = oracle(rows, stage)  # Alg. 3.2, Alg. 3.3: A plays P_t, and B answers with q_t = W(P_t)
        rows.move(strategy, stage)
        yield strategy


class Payoff(Protocol):
    """A payoff that is a sum over rows; strategies of B are arrays."""

    def slopes(self, strategy: FloatArray) -> FloatArray:
        """The gradient of each f_i in the play of row i; shape (rows, dimension)."""

    def offset(self, strategy: FloatArray) -> float:
        """The payoff when every play is zero."""


def payoff_value(payoff: Payoff, plays: FloatArray, strategy: FloatArray) -> float:
    """g(P, q)."""
    return float((plays * payoff.slopes(strategy)).sum()) + payoff.offset(strategy)  # Alg. 3.4: the payoff


def worst_value(payoff: Payoff, strategy: FloatArray, *, on_interval: bool) -> float:
    """The payoff of a strategy against A's best answer: linear functions are smallest at a vertex.

    >>> worst_value(AgnosticPayoff(np.array([0, 1]), 2), np.eye(2), on_interval=False)  # right on both rows
    0.0
    """
    slopes = payoff.slopes(strategy)
    smallest = np.minimum(slopes[:, 0], 0.0) if on_interval else slopes.min(axis=1)
    return float(smallest.sum()) + payoff.offset(strategy)


class RowPlayers:
    """Player A in its plain form: one optimizer per row, all in one array of plays."""

    def __init__(self, payoff: Payoff, player: Player, game: Game, starts: FloatArray, step_size: float) -> None:
        self.payoff = payoff
        self.player = player
        self.game = game
        self.plays = starts.copy()
        self.step_size = step_size
        self._memory = player.begin(game.domain, self.plays)

    def move(self, strategy: FloatArray, stage: int, /) -> None:
        slopes = np.ascontiguousarray(self.payoff.slopes(strategy))  # Alg. 3.5: define the loss
        self.player.step(self.game, self.plays, self._memory, slopes, self.step_size, stage)  # Alg. 3.6: A updates P


class AgnosticPayoff:
    """Algorithm 2's: a strategy holds every row's votes divided by gamma; shape (rows, classes)."""

    def __init__(self, labels: IntArray, n_classes: int) -> None:
        self.targets = np.eye(n_classes)[labels]

    def slopes(self, strategy: FloatArray) -> FloatArray:
        return 2.0 * (strategy - self.targets)

    def offset(self, strategy: FloatArray) -> float:
        return float((self.targets - strategy).sum())


class RealizablePayoff:
    """Algorithm 5's; strategies as for ``AgnosticPayoff``."""

    def __init__(self, labels: IntArray, n_classes: int) -> None:
        self.signs = 2.0 * np.eye(n_classes)[labels] - 1.0

    def slopes(self, strategy: FloatArray) -> FloatArray:
        gains: FloatArray = (strategy * self.signs).sum(axis=1, keepdims=True) - 1.0
        return gains

    def offset(self, strategy: FloatArray) -> float:
        return 0.0
