"""Five online convex optimizers, each with its regret bound from any start.

    gradient        projected online gradient descent (Zinkevich, 2003): the paper's
    lazy            dual averaging: the projection of start - step * (sum of gradients)
    exponentiated   exponential weights (Hedge)
    scale-free      gradient descent with step diameter / sqrt(2 * sum of squared norms): no scale, no horizon
    coin            parameter-free expert advice by coin betting (Orabona & Pal, 2016)

Regret is ``sum_i g_i . p_i - min_u sum_i g_i . u`` over the ``n_steps`` gradients of one game. The bounds below hold
for every sequence of gradients within the game's norm and range, even from adversaries that see the plays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.oco import moves as kernels
from ocoboost.oco.domains import Domain

# The share of the uniform distribution in entropic players' starts at the label: from a vertex they never move.
LABEL_START_MIXING = 0.1


@dataclass(frozen=True)
class Game:
    """What is known about a game before its first move."""

    domain: Domain
    n_steps: int
    gradient_bound: float  # largest Euclidean norm of a gradient, along the domain
    gradient_range: float  # largest difference between two coordinates; on the interval, largest |g|


class Player(ABC):
    """A family of moves. Instances are stateless; a row's state is its play and its memory."""

    name: ClassVar[str]
    code: ClassVar[int]
    is_entropic: ClassVar[bool] = False  # needs a start in the interior
    uses_paper_step: ClassVar[bool] = False  # gamma / sqrt(N) by default
    has_step_size: ClassVar[bool] = False

    def optimal_step(self, game: Game, start: FloatArray) -> float:
        """The step size that minimises this player's regret bound (0 for players that have none)."""
        return 0.0

    def default_step(self, game: Game, start: FloatArray, gamma: float) -> float:
        """The paper's gamma / sqrt(N) for players that use it, else the step that minimises the bound."""
        return gamma / math.sqrt(game.n_steps) if self.uses_paper_step else self.optimal_step(game, start)

    @abstractmethod
    def regret_bound(self, game: Game, start: FloatArray, step_size: float) -> float:
        """The most regret this player can have in ``game`` from ``start``; players without a step ignore it."""

    def memory_size(self, domain: Domain) -> int:
        """How many numbers a row's memory holds."""
        return 0

    def begin(self, domain: Domain, plays: FloatArray) -> FloatArray:
        """Memory for games that start at the rows of ``plays``."""
        memory = np.empty((len(plays), self.memory_size(domain)))
        kernels.begin(self.code, domain.is_interval, plays, memory)
        return memory

    def step(
        self, game: Game, plays: FloatArray, memory: FloatArray, gradients: FloatArray, step_size: float, n_played: int
    ) -> None:
        """Make one move in every row's game, in place."""
        kernels.step(
            self.code,
            game.domain.is_interval,
            plays,
            memory,
            gradients,
            step_size,
            game.gradient_range,
            game.n_steps,
            n_played,
        )


class GradientDescent(Player):
    """Projected online gradient descent: ``p <- project(p - step_size * g)``."""

    name = "gradient"
    code = kernels.GRADIENT
    uses_paper_step = True
    has_step_size = True

    def optimal_step(self, game: Game, start: FloatArray) -> float:
        radius = game.domain.radius(start)
        return radius / (game.gradient_bound * math.sqrt(game.n_steps)) if game.gradient_bound > 0.0 else 0.0

    def regret_bound(self, game: Game, start: FloatArray, step_size: float) -> float:
        if game.gradient_bound == 0.0:
            return 0.0
        distance = game.domain.radius(start) ** 2 / (2.0 * step_size)
        return distance + 0.5 * step_size * game.n_steps * game.gradient_bound**2


class LazyGradientDescent(GradientDescent):
    """Dual averaging. After i learners with votes counted in c: ``project(start - 2 step (c / gamma - i e_y))``."""

    name = "lazy"
    code = kernels.LAZY

    def memory_size(self, domain: Domain) -> int:
        return domain.dimension


class ExponentiatedGradient(Player):
    """Exponential weights: ``p[j] ~ start[j] * exp(-step_size * sum of g[j])``."""

    name = "exponentiated"
    code = kernels.EXPONENTIATED
    is_entropic = True
    has_step_size = True

    def memory_size(self, domain: Domain) -> int:
        return 6 if domain.is_interval else domain.dimension

    def optimal_step(self, game: Game, start: FloatArray) -> float:
        if game.gradient_range == 0.0:
            return 0.0
        return math.sqrt(8.0 * game.domain.divergence(start) / game.n_steps) / game.gradient_range

    def regret_bound(self, game: Game, start: FloatArray, step_size: float) -> float:
        if game.gradient_range == 0.0:
            return 0.0
        return game.domain.divergence(start) / step_size + step_size * game.n_steps * game.gradient_range**2 / 8.0


class ScaleFree(Player):
    """AdaGrad with one step size per game: rescaling all gradients changes no play."""

    name = "scale-free"
    code = kernels.SCALE_FREE

    def memory_size(self, domain: Domain) -> int:
        return 1

    def regret_bound(self, game: Game, start: FloatArray, step_size: float) -> float:
        return math.sqrt(2.0 * game.n_steps) * game.domain.diameter * game.gradient_bound


class CoinBetting(Player):
    """Krichevsky-Trofimov bettors, one per label: nothing to tune, and a start near the best point is rewarded."""

    name = "coin"
    code = kernels.COIN
    is_entropic = True

    def memory_size(self, domain: Domain) -> int:
        return 10 if domain.is_interval else 3 * domain.dimension

    def regret_bound(self, game: Game, start: FloatArray, step_size: float) -> float:
        if game.gradient_range == 0.0:
            return 0.0
        return game.gradient_range * math.sqrt(3.0 * game.n_steps * (3.0 + game.domain.divergence(start)))


PLAYERS: dict[str, Player] = {
    player.name: player
    for player in (GradientDescent(), LazyGradientDescent(), ExponentiatedGradient(), ScaleFree(), CoinBetting())
}
