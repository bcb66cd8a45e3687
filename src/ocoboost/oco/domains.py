"""Where a player plays: the probability simplex (agnostic) or the unit interval (realizable).

A domain knows its start points and how far a start point is from the worst comparator, which is all that a regret bound
needs to know about it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ocoboost.arrays import FloatArray


class Domain(Protocol):
    """A compact convex set whose points are vectors of length ``dimension``."""

    @property
    def dimension(self) -> int: ...

    @property
    def diameter(self) -> float: ...

    @property
    def is_interval(self) -> bool: ...

    def centre(self) -> FloatArray:
        """The uniform start point."""

    def radius(self, start: FloatArray) -> float:
        """Largest Euclidean distance from ``start`` to a point of the domain."""

    def divergence(self, start: FloatArray) -> float:
        """Largest relative entropy from ``start`` to a point of the domain; infinite from the boundary."""


@dataclass(frozen=True)
class Simplex:
    """Distributions over ``n_classes`` labels."""

    n_classes: int
    is_interval = False

    @property
    def dimension(self) -> int:
        return self.n_classes

    @property
    def diameter(self) -> float:
        return math.sqrt(2.0) if self.n_classes > 1 else 0.0

    def centre(self) -> FloatArray:
        return np.full(self.n_classes, 1.0 / self.n_classes)

    def radius(self, start: FloatArray) -> float:
        # Convex functions are largest at a vertex: ||e_j - start||^2 = ||start||^2 - 2 start_j + 1.
        return math.sqrt(max(0.0, float(start @ start) - 2.0 * float(start.min()) + 1.0))

    def divergence(self, start: FloatArray) -> float:
        lowest = float(start.min())
        return -math.log(lowest) if lowest > 0.0 else math.inf


@dataclass(frozen=True)
class UnitInterval:
    """Numbers in [0, 1], as vectors of length one. Entropy is that of the coin (play, 1 - play)."""

    is_interval = True

    @property
    def dimension(self) -> int:
        return 1

    @property
    def diameter(self) -> float:
        return 1.0

    def centre(self) -> FloatArray:
        return np.full(1, 0.5)

    def radius(self, start: FloatArray) -> float:
        return max(float(start[0]), 1.0 - float(start[0]))

    def divergence(self, start: FloatArray) -> float:
        lowest = min(float(start[0]), 1.0 - float(start[0]))
        return -math.log(lowest) if lowest > 0.0 else math.inf
