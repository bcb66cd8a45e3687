"""What compiled trees share: a limit on their memory."""

from __future__ import annotations

from typing import ClassVar

from ocoboost.data.parameters import AnyOf, Between, OneOf
from ocoboost.learners.alone import LoneLearners

MAX_SIZE = AnyOf(OneOf(None), Between(0.0, 1e9, closed="right"), hint="MiB")


class NativeTrees(LoneLearners):
    """Compiled trees, for a booster as its `learner` or on their own."""

    max_size: float | None  # MiB
    appetite: ClassVar[float]  # MiB that a tree makes use of; trees of several kinds divide their memory in this ratio

    @property
    def _max_bytes(self) -> float | None:
        return None if self.max_size is None else float(self.max_size) * 2**20
