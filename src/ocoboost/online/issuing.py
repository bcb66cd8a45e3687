"""Predictions that somebody else keeps until their labels come, such as the database of a service.

The ledger of `Saying` is part of the model. Here what was said to a row is given away as bytes, with all that will be
learned from it, and comes back with the label. So the model is a function of the rows that it has learned and of the
bytes that came with them, whatever else it was asked and whenever it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ocoboost.cascade.answers import Answers
from ocoboost.data import tables
from ocoboost.errors import InvalidInputError
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.issued import Issued
from ocoboost.online.saying import Saying
from ocoboost.stream.state import Answered, State


class Issuing(Saying):
    """A mixture whose predictions can be kept elsewhere."""

    def answer_issued(self, X: Any) -> tuple[Answered, list[bytes | None]]:
        """``answer_many``, and what to give back with each row's label; None as long as no label is known."""
        rows = self._read_rows(X)
        with self._turns.asking(self):
            state = self._checked(rows)
            said = self._issued(state, len(rows), lambda: state.answer(rows))
        assert said is not None  # this is the long way
        return said

    def answer_issued_one(self, x: dict[Any, Any]) -> tuple[Answered, list[bytes | None]]:
        """The same for a single row, to the same bits, and faster where the row takes the short way."""
        state = self._state
        codes = None if state is None else state.schema.plain_row(x)
        if state is not None and codes is not None:
            with self._turns.asking(self):
                said = self._issued(state, 1, lambda: state.answer_row(codes))
                if said is not None:
                    self._watch.plain(len(x), self.n_rows_)
                    return said
        with self._naming():
            row = tables.read_row(x)
        return self.answer_issued([row])

    def learn_issued(self, X: Any, y: Any, issued: Sequence[bytes | None]) -> list[Answered]:
        """Learn a block; rows that come with what was said to them teach by that, as ``learn_one`` with a key does.

        Returns what counts as said to each row before it was learned.
        """
        rows, labels, weights = self._read(X, y, None)
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, plan = self._plan(rows, labels, weights)
            mixture = state.engine
            assert isinstance(mixture, Mixture)
            try:
                found = {
                    state.n_rows + place: Issued.unpacked(data, *mixture.shape)
                    for place, data in enumerate(issued)
                    if data is not None
                }
            except ValueError as error:
                raise InvalidInputError(f"{type(self).__name__}: issued: {error}.") from None
            with mixture.keyed.settling_rows(found):
                return list(state.learn(rows, labels, weights, plan, answering=True))

    def _issued(
        self, state: State, n_rows: int, ask: Callable[[], Answers | None]
    ) -> tuple[Answered, list[bytes | None]] | None:
        """What is said, as far as anything is; None if the row has to go the long way."""
        if len(state.labels) == 0:
            return state.answered_with(0, Answers.none(n_rows)), [None] * n_rows
        assert isinstance(state.engine, Mixture)
        answers, issued = state.engine.keyed.given_away(ask)
        return None if answers is None else (state.answered_with(0, answers), issued)
