"""What the boosters of Jung, Goetz & Tewari share: the deviations of the published code, and how a state is made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.encoding import Labels
from ocoboost.online.booster import LearnerBooster
from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.protocol import n_threads
from ocoboost.online.state import Member, State
from ocoboost.parameters import invalid
from ocoboost.rivals import Rival


class RivalBooster(LearnerBooster):
    """Base of OnlineMBBM and Adaboost.OLM."""

    # Named modes. A mode may also be a sequence of deviations, among those of any named one.
    modes: ClassVar[Mapping[str, frozenset[str]]]
    n_learners: int
    n_jobs: int
    mode: str | Sequence[str] | None

    @abstractmethod
    def _cascade(self, **shared: Any) -> Rival:
        """The loop with its choices made, given those that both boosters make."""

    @property
    def deviations_(self) -> frozenset[str]:
        """The deviations of the published code that are switched on."""
        known = frozenset().union(*self.modes.values())
        if self.mode is None:
            return frozenset()
        if isinstance(self.mode, str):
            if self.mode in self.modes:
                return self.modes[self.mode]
        elif isinstance(self.mode, list | tuple | set | frozenset) and all(
            isinstance(name, str) and name in known for name in self.mode
        ):
            return frozenset(self.mode)
        must = f"be one of None, {', '.join(map(repr, self.modes))}, or a sequence of {', '.join(sorted(known))}"
        raise invalid(self, "mode", must, self.mode)

    def _checked_labels(self) -> Labels:
        labels = super()._checked_labels()
        _ = self.deviations_  # raises if there is no such mode
        return labels

    def _begin(self) -> State:
        labels = self._checked_labels()
        seed = self._root_seed()
        learner = HoeffdingTrees() if self.learner is None else self.learner
        ensemble = self._ensemble(learner, int(self.n_learners), seed, labels)
        cascade = self._cascade(
            n_learners=int(self.n_learners),
            deviations=self.deviations_,
            is_random=not ensemble.takes_weights,
            seed=seed,
            n_jobs=n_threads(self.n_jobs),
        )
        return State([Member(cascade, ensemble)], labels, seed)
