"""What compiled trees share: a limit on their memory."""

from __future__ import annotations

from typing import ClassVar

from ocoboost.data.parameters import AnyOf, Between, OneOf
from ocoboost.errors import InvalidParameterError
from ocoboost.learners.alone import LoneLearners
from ocoboost.stream.state import SHARE_OF_LEARNERS, State

LEAST_BYTES = 100  # of any tree, without columns
HARMLESS = 2**26  # bytes: the first row tells how much fewer of them would need
DEFAULT_SIZE = 512.0  # MiB for all that a model holds; docs/memory.md has the measurements behind it
MAX_SIZE = AnyOf(OneOf(None), Between(0.0, 1e9, closed="right"), hint="MiB")


class NativeTrees(LoneLearners):
    """Compiled trees, for a booster as its `learner` or on their own."""

    max_size: float | None  # MiB
    appetite: ClassVar[float]  # MiB that a tree makes use of; trees of several kinds divide their memory in this ratio

    @property
    def _max_bytes(self) -> float | None:
        """For the trees, of ``max_size`` for all that a model holds."""
        return None if self.max_size is None else SHARE_OF_LEARNERS * float(self.max_size) * 2**20

    def _check_number(self, n_learners: int) -> None:
        """Raise if so many trees cannot fit, before they are made: that alone might take all memory there is."""
        if self._max_bytes is not None and n_learners * LEAST_BYTES > max(self._max_bytes, HARMLESS):
            raise InvalidParameterError(
                f"{type(self).__name__}: {n_learners:,} trees do not fit into {self._max_bytes / 2**20:.3g} MiB, what "
                "max_size leaves for them; make it larger, or have fewer learners."
            )

    def _begin(self) -> State:
        return super()._begin().limited(self.max_size)
