"""What the mixture says beyond a label: prediction sets; and what it says under a key, until the label comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.cascade.answers import Answers, in_sets
from ocoboost.data import tables
from ocoboost.data.labels import Label
from ocoboost.data.parameters import Between, invalid
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError
from ocoboost.online.mixture.engine import Mixture
from ocoboost.online.mixture.keyed import Keyed
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State

MOST_LEVELS = 100
_LEVEL = Between(0.0, 1.0, closed="neither")


def check_coverages(model: Any) -> None:
    """Raise unless a model's ``coverages`` are levels."""
    must = f"be a sequence of at most {MOST_LEVELS} different numbers in (0, 1)"
    try:
        levels = list(model.coverages)
    except TypeError:
        raise invalid(model, "coverages", must, model.coverages) from None
    if len(levels) > MOST_LEVELS or not all(level in _LEVEL for level in levels) or len(set(levels)) < len(levels):
        raise invalid(model, "coverages", must, model.coverages)


class Saying(StreamClassifier):
    """Prediction sets, and predictions that are kept under a key.

    With a key nothing but the ledger changes. Until the label comes, the same key gets the same answers again.
    """

    coverages: Sequence[float]

    @staticmethod
    def _keyed(state: State) -> Keyed:
        assert isinstance(state.engine, Mixture)
        return state.engine.keyed

    # -- learning ------------------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0, key: Hashable | None = None) -> None:
        """Learn one row with label ``y`` and weight ``w``.

        With the ``key`` under which the row was predicted, the members' weights and the prediction sets learn from what
        was said then. If too many rows were predicted since, the row is learned as if without a key, and counted in
        `n_unmatched_`.
        """
        if key is None:
            super().learn_one(x, y, w=w)
            return
        with self._naming():
            rows, labels, weights = [tables.read_row(x)], [tables.read_label(y)], tables.read_weights(w, 1)
        self._learn_keyed(rows, labels, weights, [key])

    def learn_many(self, X: Any, y: Any, *, w: Any = None, keys: Sequence[Hashable | None] | None = None) -> None:
        """Learn a block of rows; the same bits as ``learn_one`` on each of them in turn, with its key if it has one."""
        if keys is None:
            super().learn_many(X, y, w=w)
            return
        rows, labels, weights = self._read(X, y, w)
        self._learn_keyed(rows, labels, weights, self._read_keys(keys, len(rows)))

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict_one(self, x: dict[Any, Any], *, key: Hashable | None = None, **kwargs: Any) -> Any:
        """The mode of D; ties go to the most votes, then to the label seen first. None before the first label."""
        known, label = self._say(x, key, self._chosen)
        return known[int(label)] if known else None

    def predict_proba_one(self, x: dict[Any, Any], *, key: Hashable | None = None, **kwargs: Any) -> dict[Any, float]:
        """The probability of every label, made for log loss and never 0. Empty before the first label."""
        known, probabilities = self._say(x, key, attrgetter("label_probabilities"))
        return dict(zip(known, probabilities.tolist(), strict=True))

    def predict_set_one(
        self, x: dict[Any, Any], coverage: float = 0.9, *, allow_empty: bool = False, key: Hashable | None = None
    ) -> set[Any]:
        """Labels among which the right one is, on about this share of the rows; ``coverage`` is one of `coverages`.

        Sets that may be empty miss neither many more nor many fewer rows than that, on every stream
        (`ocoboost.online.mixture.bounds`). By default an empty set is filled with the most probable label.
        """
        known, inside = self._say(x, key, self._in_sets(coverage, allow_empty))
        return {label for label, is_in in zip(known, inside, strict=True) if is_in}

    def predict_many(self, X: Any, *, keys: Sequence[Hashable | None] | None = None) -> Any:
        """``predict_one`` of every row, under a key for each (None for a row without one)."""
        if keys is None:
            return super().predict_many(X)
        known, labels = self._say_many(X, keys, self._chosen)
        return tables.make_labels(X, [known[int(label)] for label in labels] if known else [None] * len(labels))

    def predict_proba_many(self, X: Any, *, keys: Sequence[Hashable | None] | None = None) -> Any:
        """``predict_proba_one`` of every row, one column per label of ``classes_``; 0 for those that are newer."""
        if keys is None:
            return super().predict_proba_many(X)
        known, said = self._say_many(X, keys, attrgetter("label_probabilities"))
        matrix = np.zeros((len(said), len(known)))
        for row, probabilities in zip(matrix, said, strict=True):
            row[: len(probabilities)] = probabilities
        return tables.make_matrix(X, known, matrix)

    def predict_set_many(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        allow_empty: bool = False,
        keys: Sequence[Hashable | None] | None = None,
    ) -> list[set[Any]]:
        """``predict_set_one`` of every row, under a key for each (None for a row without one)."""
        known, sets = self._say_many(X, keys, self._in_sets(coverage, allow_empty))
        return [{known[place] for place in np.flatnonzero(inside)} for inside in sets]

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def n_waiting_(self) -> int:
        """How many predictions with a key wait for their labels."""
        return 0 if self._state is None else len(self._keyed(self._state).ledger)

    @property
    def n_dropped_(self) -> int:
        """How many predictions with a key were dropped before their label came, because there were too many."""
        return 0 if self._state is None else self._keyed(self._state).ledger.n_dropped

    @property
    def n_unmatched_(self) -> int:
        """How many labels came with a key under which nothing waited, and were learned as if without one."""
        return 0 if self._state is None else self._keyed(self._state).n_unmatched

    # -- inside --------------------------------------------------------------------------------------------------

    def _read_keys(self, keys: Any, n_rows: int) -> list[Hashable | None]:
        with self._naming():
            return tables.read_keys(keys, n_rows)

    def _learn_keyed(
        self, rows: Sequence[Row], labels: list[Label], weights: FloatArray, keys: Sequence[Hashable | None]
    ) -> None:
        """Learn rows under keys, or none of them."""
        with self._turns.learning(self):
            self._turns.check_alone(self)
            with self._naming():
                (Keyed() if self._state is None else self._keyed(self._state)).check(keys, rows)
            state, plan = self._plan(rows, labels, weights)
            first_row = state.n_rows
            with self._keyed(state).settling(keys, first_row):
                list(state.learn(rows, labels, weights, plan, answering=False))
            assert isinstance(state.engine, Mixture)
            state.engine.suspects.identify(first_row, keys)

    def _in_sets(self, coverage: float, allow_empty: bool) -> Callable[[Answers], Any]:
        """What reads the sets of a level off the answers."""
        levels = [float(level) for level in self.coverages]
        if coverage not in levels:
            given = ", ".join(f"{level:g}" for level in levels) or "none"
            raise InvalidInputError(
                f"{type(self).__name__}: coverage must be one of the levels in coverages ({given}), got {coverage!r}; "
                "levels are fixed when the model is made."
            )
        number = levels.index(coverage)

        def read(answers: Answers) -> Any:
            probabilities, thresholds = answers.label_probabilities, answers.thresholds
            if thresholds is None:  # no label is known
                thresholds = np.zeros((len(probabilities), len(levels)))
            return in_sets(probabilities, thresholds[:, number], allow_empty=allow_empty)

        return read

    def _say(
        self, x: dict[Any, Any], key: Hashable | None, answer: Callable[[Answers], Any]
    ) -> tuple[list[Label], Any]:
        """What is read off the answers to a row, which are kept if there is a key."""
        if key is None:
            return self._ask_one(x, answer)
        with self._naming():
            row = tables.read_row(x)
        known, said = self._say_keyed([row], [key], answer)
        n_known = said[0].size if isinstance(said[0], np.ndarray) else len(known)  # when it was said
        return known[:n_known], said[0]

    def _say_many(
        self, X: Any, keys: Sequence[Hashable | None] | None, answer: Callable[[Answers], Any]
    ) -> tuple[list[Label], Sequence[Any]]:
        """The same for a table: what is read off may be shorter where a key has waited while labels appeared."""
        rows = self._read_rows(X)
        read = [None] * len(rows) if keys is None else self._read_keys(keys, len(rows))
        if all(key is None for key in read):
            return self._ask(rows, answer)
        return self._say_keyed(rows, read, answer)

    def _say_keyed(
        self, rows: Sequence[Row], keys: Sequence[Hashable | None], answer: Callable[[Answers], Any]
    ) -> tuple[list[Label], list[Any]]:
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state = self._checked(rows)
            if len(state.labels) == 0:
                return [], list(answer(Answers.none(len(rows))))
            with self._naming():
                answers = self._keyed(state).issue(keys, rows, lambda: state.answer(rows))
            self._state = state
            return list(state.labels.known), [answer(said)[0] for said in answers]
