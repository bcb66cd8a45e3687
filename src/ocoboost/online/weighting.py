"""What the boosters of Jung, Goetz & Tewari share: the deviations of the published code, and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.data.labels import Labels
from ocoboost.data.parameters import invalid
from ocoboost.online.booster import OnlineBooster


class WeightingBooster(OnlineBooster):
    """Base of OnlineMBBM and Adaboost.OLM."""

    # Named modes. A mode may also be a sequence of deviations, among those of any named one.
    modes: ClassVar[Mapping[str, frozenset[str]]]
    mode: str | Sequence[str] | None

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

    def _shared(self, n_learners: int, seed: int, takes_weights: bool) -> dict[str, Any]:
        """The settings that both boosters share."""
        return {
            "n_learners": n_learners,
            "deviations": self.deviations_,
            "is_random": not takes_weights,
            "seed": seed,
        }
