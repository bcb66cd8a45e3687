"""What models around an online booster share: its engine, passed through, and how the booster is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cascade import Cascade
from ocoboost.data.labels import Labels
from ocoboost.data.parameters import check_parameters, invalid
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.booster import LearnerBooster
from ocoboost.stream.state import Engine, State


class EngineAround:
    """A booster's engine as it is; a subclass adds to ``settings``, ``state`` and ``restore``."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def cascades(self) -> Sequence[Cascade]:
        return self.engine.cascades

    def learn(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        *,
        answering: bool = True,
    ) -> Answers:
        return self.engine.learn(block, labels, weights, n_classes, first_row, answering=answering)

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        return self.engine.answer(block, n_classes, n_learned)

    def learn_row(self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int) -> bool:
        return self.engine.learn_row(codes, label, weight, n_classes, row, version)

    def answer_row(self, codes: FloatArray, n_classes: int, n_learned: int, version: int) -> Answers | None:
        return self.engine.answer_row(codes, n_classes, n_learned, version)

    @property
    def n_bytes(self) -> int | None:
        return self.engine.n_bytes

    def least_size(self, widths: Widths, n_classes: int, max_bytes: float) -> float:
        return self.engine.least_size(widths, n_classes, max_bytes)

    def settings(self) -> list[dict[str, Any]]:
        return self.engine.settings()

    def state(self) -> dict[str, Any]:
        return {"engine": self.engine.state()}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        self.engine.restore(saved["engine"], schema, n_classes)


class BoosterAround(LearnerBooster):
    """Base of the models that hold an online booster."""

    booster: LearnerBooster | None

    @property
    def _multiclass(self) -> bool:
        return self._inner(None)._multiclass

    def _more_tags(self) -> set[str]:
        return self._inner(None)._more_tags()

    def _inner(self, seed: int | None) -> LearnerBooster:
        """The booster, with this model's classes and seed."""
        booster = OnlineBoostClassifier() if self.booster is None else self.booster
        if not isinstance(booster, LearnerBooster) or isinstance(booster, BoosterAround):
            raise invalid(self, "booster", "be an online booster or None", booster, "see ocoboost.registry")
        changed = {"seed": seed} if self.classes is None else {"seed": seed, "classes": self.classes}
        return booster.clone(changed)

    def _answers(self, x: dict[Any, Any], row: Row) -> tuple[State, Answers]:
        """The state, and the answers to one row, by the short way if it may take that; for whoever has the turn."""
        if self._state is not None:
            codes = self._state.schema.plain_row(x)
            answers = None if codes is None else self._state.answer_row(codes)
            if answers is not None:
                return self._state, answers
        state = self._checked([row])
        return state, state.answer([row])

    def _checked_labels(self) -> Labels:
        check_parameters(self, self.ranges)
        return self._inner(None)._checked_labels()

    def _inner_state(self) -> State:
        """The booster's fresh state, if its learners take weights."""
        check_parameters(self, self.ranges)
        seed = self._root_seed()
        state = self._inner(seed).fresh_state(seed)
        for cascade in state.engine.cascades:
            if not cascade.ensemble.takes_weights:
                must = "boost a learner that takes weights"
                raise invalid(self, "booster", must, self.booster, f"{cascade.ensemble.name} takes none")
        return state
