"""What Algorithms 1 and 4 and the pairwise booster share: parameters of the game that every row plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.cascade.regimes import SMALLEST_GAMMA, Regime
from ocoboost.cascade.relabelling import Relabelling
from ocoboost.data.labels import Labels
from ocoboost.data.parameters import AnyOf, Between, OneOf, Range, invalid
from ocoboost.oco.players import PLAYERS
from ocoboost.online.booster import GAMMA, OnlineBooster


class PlayingBooster(OnlineBooster):
    """Base of the boosters that play an online convex optimization game for every row."""

    regime: ClassVar[Regime]
    ranges: ClassVar[Mapping[str, Range]] = {
        **OnlineBooster.ranges,
        "gamma": GAMMA,
        "relabel": OneOf("fractional", "random"),
        "votes": OneOf("label", "distribution"),
        "pool": OneOf("label", "distribution"),
        "start": OneOf("uniform", "label"),
        "player": OneOf(*PLAYERS),
        "step_size": AnyOf(OneOf(None, "optimal"), Between(0.0, 1e100, closed="right")),
    }

    def __init__(
        self,
        learner: Any = None,
        *,
        n_learners: int = 100,
        gamma: float = 0.5,
        relabel: str = "fractional",
        votes: str = "label",
        pool: str = "label",
        start: str = "uniform",
        player: str = "gradient",
        step_size: float | str | None = None,
        classes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.learner = learner
        self.n_learners = n_learners
        self.gamma = gamma
        self.relabel = relabel
        self.votes = votes
        self.pool = pool
        self.start = start
        self.player = player
        self.step_size = step_size
        self.classes = classes
        self.n_jobs = n_jobs
        self.seed = seed

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for parameters in super()._unit_test_params():
            yield {**parameters, "gamma": 0.5} if "learner" in parameters else parameters

    @property
    def relabel_(self) -> str:
        """The relabelling that is used: "random" if the learner takes no weights, whatever ``relabel`` says."""
        cells = self._ready().engine.cascades[0].cells
        assert isinstance(cells, Relabelling)
        return cells.relabel

    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> Relabelling:
        return Relabelling(
            regime=self.regime,
            gamma=max(float(self.gamma), SMALLEST_GAMMA),
            n_learners=n_learners,
            relabel=self.relabel if takes_weights else "random",
            votes=self.votes,
            pool=self.pool,
            start=self.start,
            player=self.player,
            step_size=self.step_size,
            seed=seed,
        )

    def _checked_labels(self) -> Labels:
        labels = super()._checked_labels()
        if self.step_size is not None and not PLAYERS[self.player].has_step_size:
            raise invalid(self, "step_size", "be None", self.step_size, f"player {self.player!r} sets its own steps")
        return labels
