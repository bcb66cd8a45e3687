"""What native learners share when they are used by themselves.

By itself an ensemble is plain: every learner is taught every row's label, and the prediction is the mean of the
learners' distributions. That is the cascade in which no player ever moves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ocoboost.cascade import Cascade
from ocoboost.encoding import Labels
from ocoboost.online.protocol import StreamClassifier, n_threads
from ocoboost.online.state import Member, State
from ocoboost.parameters import Range, check_parameters
from ocoboost.regimes import REALIZABLE, Regime
from ocoboost.weak.contract import WeakEnsemble


class LoneLearners(StreamClassifier):
    """Learners for a booster as its `learner`, or by themselves."""

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
        cascade = Cascade(
            regime=Regime(REALIZABLE),  # at gamma 1, from the label, the play stays at 1: teach every label in full
            gamma=1.0,
            n_learners=int(self.n_learners),
            relabel="fractional",
            votes="label",
            pool="distribution",
            start="label",
            player="gradient",
            step_size=None,
            seed=seed,
            n_jobs=n_threads(self.n_jobs),
        )
        member = Member(cascade, self.make_ensemble(int(self.n_learners), seed))
        return State([member], self._checked_labels(), seed)
