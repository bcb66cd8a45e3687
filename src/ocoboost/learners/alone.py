"""What native learners share when they are used on their own.

On its own an ensemble is plain: every learner is taught every row's label, and the prediction is the mean of the
learners' distributions. That is the cascade in which no player ever moves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.contract import WeakEnsemble
from ocoboost.cascade.regimes import REALIZABLE, Regime
from ocoboost.cascade.relabelling import Relabelling
from ocoboost.data.labels import Labels
from ocoboost.data.parameters import Range, check_parameters
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State
from ocoboost.stream.told import n_threads


def plain_cells(n_learners: int, seed: int) -> Relabelling:
    """Cells in which every learner is taught every row's label in full: at gamma 1, from the label, plays stay at 1."""
    return Relabelling(
        regime=Regime(REALIZABLE),
        gamma=1.0,
        n_learners=n_learners,
        relabel="fractional",
        votes="label",
        pool="distribution",
        start="label",
        player="gradient",
        step_size=None,
        seed=seed,
    )


class LoneLearners(StreamClassifier):
    """Learners for a booster as its `learner`, or on their own."""

    ranges: ClassVar[Mapping[str, Range]]
    n_learners: int
    n_jobs: int

    @abstractmethod
    def make_ensemble(self, n_learners: int, seed: int) -> WeakEnsemble:
        """Fresh learners for a booster."""

    def _checked_labels(self) -> Labels:
        check_parameters(self, self.ranges)
        return Labels()

    def _begin(self) -> State:
        seed = self._root_seed()
        n_learners = int(self.n_learners)
        cells = plain_cells(n_learners, seed)
        cascade = Cascade(cells, self.make_ensemble(n_learners, seed), n_threads(self.n_jobs))
        return State(cascade, self._checked_labels(), seed)
