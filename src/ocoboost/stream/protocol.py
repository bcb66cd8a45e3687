"""River's protocol around the state: what every classifier on streams here can do.

A call is read and checked whole before anything is learned, so bad input changes nothing. Parameters are checked at
first use and fixed from then on; ``reset`` lets changed ones take effect. What is probably a mistake is said once
(``data.hazards``), and threads that get in each other's way get an error (``turns``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from river import base

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.data import tables
from ocoboost.data.hazards import Watch
from ocoboost.data.labels import Label, Labels
from ocoboost.data.parameters import AnyOf, Count, OneOf, Range
from ocoboost.data.rows import Row
from ocoboost.errors import BrokenModelError
from ocoboost.randomness import PREDICT, draw_label, fresh_seed, uniform
from ocoboost.stream import names
from ocoboost.stream.state import Answered, Plan, State
from ocoboost.stream.told import Naming
from ocoboost.stream.turns import Turns


class StreamClassifier(base.MiniBatchClassifier):
    """A classifier whose learned state is a ``State``."""

    shared_ranges: ClassVar[Mapping[str, Range]] = {
        "n_learners": Count(1),
        "n_jobs": AnyOf(OneOf(-1), Count(1), hint="-1 means all cores"),
        "seed": AnyOf(OneOf(None), Count(0, below=2**64)),
    }
    seed: int | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        names.check_parameter_names(cls, kwargs)
        return super().__new__(cls)

    def __init__(self) -> None:
        self._state: State | None = None
        self._watch = Watch()
        self._turns = Turns()

    def __getattr__(self, name: str) -> Any:
        """Only asked for what is not there: say what it is called here."""
        hint = names.method_hint(type(self), name)
        if hint is not None:
            raise AttributeError(hint, name=name, obj=self)
        return self.__getattribute__(name)  # raises, perhaps out of a property

    @abstractmethod
    def _begin(self) -> State:
        """A fresh state for the parameters; raises if one of them is out of its range."""

    @abstractmethod
    def _checked_labels(self) -> Labels:
        """The labels known from the start, once every parameter is known to be in its range."""

    # -- learning ------------------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0) -> None:
        """Learn one row with label ``y`` and weight ``w``."""
        if type(w) is float and 0.0 < w < float("inf") and self._learn_plain(x, y, w):
            return
        with Naming(self):
            rows, labels, weights = [tables.read_row(x)], [tables.read_label(y)], tables.read_weights(w, 1)
        self._learn(rows, labels, weights, answering=False)

    def learn_many(self, X: Any, y: Any, *, w: Any = None) -> None:
        """Learn a block of rows; the same bits as ``learn_one`` on each of them in turn."""
        self._learn(*self._read(X, y, w), answering=False)

    def predict_learn_many(self, X: Any, y: Any, *, w: Any = None) -> list[Label | None]:
        """Predict each row, then learn it; None for rows before the first label was ever seen."""
        return [label for answered in self._learn(*self._read(X, y, w), answering=True) for label in answered.labels]

    def prequential(self, X: Any, y: Any, *, w: Any = None) -> Iterator[Answered]:
        """Watch a prequential run: what is said to each row before it is learned, block by block.

        The rows are checked at once and learned as the iterator is advanced: what it has given is learned, and the rest
        is not if it is dropped. Blocks are cut where a row brings something new, so ``classes`` and the columns of the
        distributions may grow from one to the next. A row that brings a new label begins a block, and has 0 for it.

        >>> from ocoboost import HoeffdingTrees
        >>> model = HoeffdingTrees()
        >>> for answered in model.prequential([{"a": 1.0}, {"a": 1.0}, {"a": 5.0}], ["x", "x", "y"]):
        ...     print(answered.first_row, answered.classes, answered.labels, answered.distributions.tolist())
        0 ['x'] [None, 'x'] [[0.0], [1.0]]
        2 ['x', 'y'] ['x'] [[1.0, 0.0]]
        """
        rows, labels, weights = self._read(X, y, w)
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, plan = self._plan(rows, labels, weights)
            run = state.learn(rows, labels, weights, plan, answering=True, whole=False)
        return self._advancing(run)

    def answer_many(self, X: Any) -> Answered:
        """Labels, distributions and vote shares for a table in one go; nothing is learned."""
        rows = self._read_rows(X)
        with self._turns.asking(self):
            return self._checked(rows).answered(rows)

    def answer_one(self, x: dict[Any, Any]) -> Answered:
        """``answer_many`` of a single row, to the same bits, and faster where the row takes the short way."""
        known, answers = self._ask_one(x, lambda answers: [answers])
        if not known:
            return self.answer_many([x])
        first_row, classes, labels, *arrays = self._ready().answered_with(0, answers)
        return Answered(first_row, classes, labels, *(array.copy() for array in arrays))

    def check_parameters(self) -> None:
        """Raise `InvalidParameterError` now, rather than at first use, if a parameter is out of its range."""
        self._checked_labels()

    def reset(self) -> None:
        """Forget everything that was learned. Parameters changed since then take effect."""
        self._state = None
        self._watch = Watch()
        self._turns = Turns()

    def draws(self, answered: Answered, n_learned: int) -> list[Label | None]:
        """What ``sample_one`` would have said to rows of a prequential run; ``n_learned`` counts those before them."""
        return [
            None if label is None else answered.classes[draw_label(distribution, self._uniform(n_learned + row))]
            for row, (label, distribution) in enumerate(zip(answered.labels, answered.distributions, strict=True))
        ]

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of every label: D, unless the model has better ones. Empty before the first label."""
        known, probabilities = self._ask_one(x, _probabilities)
        return dict(zip(known, probabilities.tolist(), strict=True))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The mode of D; ties go to the most votes, then to the label seen first. None before the first label."""
        known, label = self._ask_one(x, self._chosen)
        return known[int(label)] if known else None

    def sample_one(self, x: dict[Any, Any]) -> Any:
        """A label drawn from D, as the paper predicts; the draw is fixed by the seed and the rows learned so far."""
        known, label = self._ask_one(x, self._draw)
        return known[int(label)] if known else None

    def distribution_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The label distribution D, from which the paper samples its prediction. Empty before the first label."""
        known, distribution = self._ask_one(x, _distributions)
        return dict(zip(known, distribution.tolist(), strict=True))

    def vote_shares_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The share of the learners' pooled votes that each label has, before scaling and projection."""
        known, shares = self._ask_one(x, _shares)
        return dict(zip(known, shares.tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """``predict_proba_one`` of every row, one column per label of ``classes_``."""
        return tables.make_matrix(X, *self._ask(self._read_rows(X), _probabilities))

    def distribution_many(self, X: Any) -> Any:
        """``distribution_one`` of every row, one column per label of ``classes_``."""
        return tables.make_matrix(X, *self._ask(self._read_rows(X), _distributions))

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` of every row."""
        known, labels = self._ask(self._read_rows(X), self._chosen)
        return tables.make_labels(X, [known[label] for label in labels] if known else [None] * len(labels))

    def vote_shares_many(self, X: Any) -> Any:
        """``vote_shares_one`` of every row, one column per label of ``classes_``."""
        return tables.make_matrix(X, *self._ask(self._read_rows(X), _shares))

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Label]:
        """The labels known so far, in the order of their indices."""
        return list(self._state.labels.known if self._state is not None else self._checked_labels().known)

    @property
    def memory_usage_(self) -> int:
        """Bytes that the model takes: its learners, columns, categories, statistics and labels."""
        n_bytes = self._ready().n_bytes
        return self._raw_memory_usage if n_bytes is None else n_bytes

    @property
    def columns_(self) -> dict[Hashable, str | None]:
        """The columns seen so far, and whether they hold "numbers" or "text" (None: only missing values so far)."""
        return {} if self._state is None else dict(self._state.schema.kinds)

    @property
    def categories_(self) -> dict[Hashable, list[str]]:
        """The texts seen so far in every column of text."""
        return {} if self._state is None else {k: list(v) for k, v in self._state.schema.categories.items()}

    @property
    def n_rows_(self) -> int:
        """The number of rows learned so far."""
        return 0 if self._state is None else self._state.n_rows

    # -- for this package's own modules ---------------------------------------------------------------------------

    @property
    def state_(self) -> State | None:
        """All that was learned; None before the first row."""
        return self._state

    @state_.setter
    def state_(self, state: State) -> None:
        self._state = state

    def fresh_state(self, seed: int) -> State:
        """What a model with these parameters begins with, for a seed that it may have drawn itself."""
        own = self.seed
        self.seed = seed
        try:
            return self._begin()
        finally:
            self.seed = own

    def planned(self, X: Any, y: Any, w: Any = None) -> tuple[Sequence[Row], list[Label], FloatArray, Plan]:
        """A table that may be learned now, and what is new in it; raises, having changed nothing, if it may not."""
        rows, labels, weights = self._read(X, y, w)
        _, plan = self._plan(rows, labels, weights)
        return rows, labels, weights, plan

    def checked(self, X: Any) -> tuple[Sequence[Row], State]:
        """The rows of a table that may be voted on now, and the state to do so with."""
        rows = self._read_rows(X)
        return rows, self._checked(rows)

    def unchanging(self) -> AbstractContextManager[None]:
        """A context in which nobody can begin to learn, for whoever reads the state."""
        return self._turns.asking(self)

    # -- inside --------------------------------------------------------------------------------------------------

    def _ready(self) -> State:
        """The state, or a fresh one that is kept only once a row has been accepted for learning."""
        return self._state if self._state is not None else self._begin()

    def _naming(self) -> AbstractContextManager[None]:
        """A context in which what is wrong with the input is said in this model's name."""
        return Naming(self)

    def _root_seed(self) -> int:
        return fresh_seed() if self.seed is None else int(self.seed)

    def _read_rows(self, X: Any) -> Sequence[Row]:
        with Naming(self):
            return tables.read_rows(X)

    def _read(self, X: Any, y: Any, w: Any) -> tuple[Sequence[Row], list[Label], FloatArray]:
        rows = self._read_rows(X)
        with Naming(self):
            return rows, tables.read_labels(y, len(rows)), tables.read_weights(w, len(rows))

    def _plan(self, rows: Sequence[Row], labels: list[Label], weights: FloatArray) -> tuple[State, Plan]:
        """Check a block whole, before it is learned."""
        state = self._ready()
        if state.broken:
            raise BrokenModelError(
                f"{type(self).__name__}: {state.broken}, so rows from there on may be partly learned; "
                "call reset(), or reload an earlier model."
            )
        with Naming(self):
            plan = state.plan(rows, labels, weights)
        if len(rows) > 0:
            self._watch.parameters(self)
            self._watch.learning(self, rows, weights, state.schema, state.labels, *plan, state.n_rows)
            self._state = state
        return state, plan

    def _learn(
        self, rows: Sequence[Row], labels: list[Label], weights: FloatArray, *, answering: bool
    ) -> list[Answered]:
        """Check a block whole, then learn it; returns the answers, if they are wanted."""
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, plan = self._plan(rows, labels, weights)
            return list(state.learn(rows, labels, weights, plan, answering=answering))

    def _learn_plain(self, x: object, y: object, weight: float) -> bool:
        """Learn a dict of numbers with a known label, if it may take the short way."""
        state = self._state
        if state is None:
            return False
        with self._turns.learning(self):
            self._turns.check_alone(self)
            codes, label = state.schema.plain_row(x), state.labels.index(y)
            if codes is None or label is None:
                return False
            n_rows = state.n_rows
            if not state.learn_row(codes, label, weight):
                return False
            self._watch.parameters(self)
            self._watch.plain(codes.size, n_rows)
        return True

    def _advancing(self, run: Iterator[Answered]) -> Iterator[Answered]:
        """Learn block by block, as the iterator is advanced."""
        while True:
            with self._turns.learning(self), Naming(self):
                self._turns.check_alone(self)
                answered = next(run, None)
            if answered is None:
                return
            yield answered

    def _checked(self, rows: Sequence[Row]) -> State:
        """The state, once it is known that these rows can be voted on."""
        state = self._ready()
        with Naming(self):
            state.check(rows)
        self._watch.asking(self, rows, state.schema, state.n_rows)
        return state

    def _ask(self, rows: Sequence[Row], answer: Callable[[Answers], Any]) -> tuple[list[Label], Any]:
        """The labels known, and what ``answer`` reads off the answers to these rows."""
        if self._state is None and not len(self._checked_labels()):
            return [], np.zeros((len(rows), 0))
        with self._turns.asking(self):
            state = self._checked(rows)
            return list(state.labels.known), answer(state.answer(rows))

    def _ask_one(self, x: Any, answer: Callable[[Answers], Any]) -> tuple[list[Label], Any]:
        state = self._state
        if state is not None:
            with self._turns.asking(self):
                codes = state.schema.plain_row(x)
                answers = None if codes is None else state.answer_row(codes)
                if answers is not None:
                    self._watch.plain(len(x), self.n_rows_)
                    return list(state.labels.known), answer(answers)[0]
        with Naming(self):
            row = tables.read_row(x)
        known, answers = self._ask([row], answer)
        return known, answers[0]

    def _chosen(self, answers: Answers) -> IntArray:
        return self._ready().chosen(answers)

    def _draw(self, answers: Answers) -> list[int]:
        draw = self._uniform(self.n_rows_)
        return [draw_label(distribution, draw) for distribution in answers.distributions]  # Alg. 1.5, Alg. 4.5: ŷ ~ D

    def _uniform(self, row: int) -> float:
        """The draw that ``sample_one`` uses when so many rows are learned."""
        return uniform(np.uint64(self._ready().seed), PREDICT, row, 0)


_distributions = attrgetter("distributions")
_probabilities = attrgetter("label_probabilities")
_shares = attrgetter("shares")
