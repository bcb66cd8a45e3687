"""A model that plays labels, and learns from right and wrong.

Playing changes nothing in the model here: a play takes its draw from the number of predictions before it, which the
database knows, and goes with its probability into the database. The feedback brings both back. So the model depends on
the log alone, and models learn from each other's plays: a play's probability is that of whoever played.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ocoboost.cascade.answers import Answers
from ocoboost.errors import InvalidInputError
from ocoboost.online.acting import Acting
from ocoboost.online.bandit import OnlineBanditBoostClassifier
from ocoboost.randomness import fresh_seed
from ocoboost.serve.entries import Entry
from ocoboost.serve.reading import Features
from ocoboost.serve.served import Served
from ocoboost.stream.state import Answered, State

_PLAY = struct.Struct("<qd")  # its number, and its probability


@dataclass
class Playing(Served):
    """A model that plays, and how far it has come."""

    takes_feedback: ClassVar[bool] = True

    @property
    def _state(self) -> State:
        model, state = self.model, self.model.state_
        if state is None:
            state = model.state_ = model.fresh_state(fresh_seed() if model.seed is None else int(model.seed))
        return state

    @property
    def _acting(self) -> Acting:
        engine = self._state.engine
        assert isinstance(engine, Acting)
        return engine

    def answer(self, rows: Sequence[Any]) -> tuple[Answered, list[bytes | None]]:
        """A label for each row, drawn; the probabilities are those with which it was drawn."""
        acting, seed = self._acting, self._state.seed
        said, _ = super().answer(rows)
        if len(said.classes) < 2:
            raise InvalidInputError("there is nothing to choose from; begin with --classes.")
        plays: list[bytes | None] = []
        labels, chances = [], []
        for distribution, shares in zip(said.distributions, said.vote_shares, strict=True):
            play = copy.copy(acting)
            play.n_plays = self.n_asked
            chances.append(play.chances(Answers(distribution[None], shares[None])))
            label = play.play(chances[-1], seed)
            labels.append(said.classes[label])
            plays.append(_PLAY.pack(self.n_asked, chances[-1][label]))
            self.n_asked += 1
        arrays = said.distributions, said.vote_shares, np.array(chances), said.thresholds
        return Answered(0, said.classes, labels, *arrays), plays

    def learn(self, entries: Sequence[Entry]) -> None:
        """Learn the next rows of the log, one by one."""
        for entry in entries:
            if entry.issued is None:
                self.refuse(entry, "it was not played")
                continue
            number, probability = _PLAY.unpack(entry.issued)
            is_right = entry.label is not None
            try:
                self._teach(entry.features, entry.answer, probability, is_right)
            except InvalidInputError as error:
                self.refuse(entry, str(error))
                continue
            self._acting.n_plays = max(self._acting.n_plays, number + 1)
            self.recent.append(is_right)
            self.position = entry.number

    def _teach(self, row: Features, label: Any, probability: float, is_right: bool) -> None:
        assert isinstance(self.model, OnlineBanditBoostClassifier)
        self.model.learn_feedback_one(row, label, probability, is_right)

    def standing(self) -> dict[str, Any]:
        """Position and scores: of what was played, since nobody knows the labels of wrong plays."""
        answered = self._acting.n_answered
        unknown = dict.fromkeys(("balanced_accuracy", "kappa", "log_loss"))
        return {**super().standing(), **unknown, "accuracy": self._acting.n_right / answered if answered else None}
