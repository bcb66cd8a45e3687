"""Boosting where labels cost money: for every row, ask for its label or not.

A row's label is asked for with a probability q that is known, and learned with a weight in proportion to 1 / q: on
average every row counts alike, whether it was doubtful or not (docs/bandit.md). Half of ``label_rate`` is spent on
all rows alike, so that q is never small, and the rest where the votes disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ocoboost.arrays import checked_count
from ocoboost.cascade.answers import Answers
from ocoboost.data import tables
from ocoboost.data.labels import Label
from ocoboost.data.parameters import Between, Range
from ocoboost.data.schema import Schema
from ocoboost.errors import InvalidInputError
from ocoboost.online.around import BoosterAround, EngineAround
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.booster import LearnerBooster
from ocoboost.randomness import ASK, uniform
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Engine, State


class Question(NamedTuple):
    """Whether to ask for a row's label."""

    is_wanted: bool
    probability: float  # with which it was wanted: give it back with the label


class Asking(EngineAround):
    """An engine that also decides which labels to ask for."""

    def __init__(self, engine: Engine, label_rate: float, blind_share: float) -> None:
        super().__init__(engine)
        self.label_rate = label_rate
        self.blind_share = blind_share
        self.n_considered = 0  # calls of ``wants_label_one``: the place of the next draw
        self.n_wanted = 0
        self.spent = 0.0  # the sum of all probabilities: never more than label_rate times the calls
        self.doubt = 0.0  # summed over the calls

    def probability(self, answers: Answers) -> float:
        """With which the next row's label is wanted."""
        first, second = np.sort(answers.shares[0])[::-1][:2] if answers.shares.shape[1] > 1 else (1.0, 0.0)
        doubt = 1.0 - float(first - second)
        self.doubt += doubt
        blind = self.blind_share * self.label_rate
        usual = self.doubt / (self.n_considered + 1)
        extra = (self.label_rate - blind) * doubt / usual if usual > 0.0 else 0.0
        left = self.label_rate * (self.n_considered + 1) - self.spent - blind
        return min(1.0, blind + max(0.0, min(extra, left)))

    def ask(self, answers: Answers, seed: int) -> Question:
        """Decide on one row."""
        probability = self.probability(answers) if answers.shares.shape[1] > 0 else self.label_rate
        is_wanted = uniform(np.uint64(seed), ASK, self.n_considered, 0) < probability
        self.n_considered += 1
        self.n_wanted += is_wanted
        self.spent += probability
        return Question(bool(is_wanted), probability)

    def settings(self) -> list[dict[str, Any]]:
        return [*super().settings(), {"label_rate": self.label_rate, "blind_share": self.blind_share}]

    def state(self) -> dict[str, Any]:
        counts = {"n_considered": self.n_considered, "n_wanted": self.n_wanted}
        return {**super().state(), **counts, "spent": self.spent, "doubt": self.doubt}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        super().restore(saved, schema, n_classes)
        self.n_considered = checked_count(saved["n_considered"], "number of rows considered")
        self.n_wanted = checked_count(saved["n_wanted"], "number of labels wanted")
        self.spent, self.doubt = float(saved["spent"]), float(saved["doubt"])
        is_valid = 0.0 <= self.spent <= self.n_considered and 0.0 <= self.doubt <= 1.000001 * self.n_considered
        if not (is_valid and self.n_wanted <= self.n_considered):
            raise ValueError("more labels were wanted than rows considered")


class OnlineFewLabelsClassifier(BoosterAround):
    """An online booster that says for which rows a label is worth its price.

    `predict_one` and its kin are the booster's; `learn_one` learns a row that was not asked for.

    Parameters
    ----------
    booster
        Any online booster; None stands for `OnlineBoostClassifier()`. It is cloned, with this model's seed and classes.
        Its learners must take weights.
    label_rate
        The share of rows whose label may be asked for, in (0, 1]: the probabilities never sum to more.
    blind_share
        The part of it that is spent on all rows alike, in (0, 1]; 1 asks at random. Weights are at most 1 over this.
    classes
        All labels, if known.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from ocoboost import OnlineFewLabelsClassifier, OnlinePairwiseBoostClassifier
    >>> from ocoboost.bench import synthetic
    >>> stream = synthetic.load("realizable", 2000, seed=1).rows
    >>> model = OnlineFewLabelsClassifier(OnlinePairwiseBoostClassifier(n_learners=10), label_rate=0.1, seed=1)
    >>> said = model.ask_learn_many([x for x, _ in stream], [y for _, y in stream])
    >>> 150 < model.n_wanted_ < 250
    True

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "label_rate": Between(0.0, 1.0, closed="right"),
        "blind_share": Between(0.0, 1.0, closed="right", hint="1 asks at random"),
        "seed": StreamClassifier.shared_ranges["seed"],
    }

    def __init__(
        self,
        booster: LearnerBooster | None = None,
        *,
        label_rate: float = 0.1,
        blind_share: float = 0.5,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.booster = booster
        self.label_rate = label_rate
        self.blind_share = blind_share
        self.classes = classes
        self.seed = seed

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"booster": OnlineBoostClassifier(budget=5)}

    def wants_label_one(self, x: dict[Any, Any]) -> Question:
        """Whether to ask for this row's label, and with which probability that was decided.

        The draw is fixed by the seed and the number of calls so far, which is saved with the model.
        """
        with self._naming():
            row = tables.read_row(x)
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state = self._checked([row])
            question = self._asking(state).ask(state.answer([row]), state.seed)
            self._state = state
            return question

    def learn_label_one(self, x: dict[Any, Any], y: Any, probability: float) -> None:
        """Learn a label that was asked for; ``probability`` is what ``wants_label_one`` returned."""
        if not isinstance(probability, int | float | np.number) or not 0.0 < float(probability) <= 1.0:
            raise InvalidInputError(
                f"{type(self).__name__}: probability must lie in (0, 1], got {probability!r}; "
                "pass what wants_label_one returned."
            )
        self.learn_one(x, y, w=min(self.label_rate / float(probability), 1.0 / self.blind_share))

    def ask_learn_many(self, X: Any, y: Any) -> list[Label | None]:
        """Simulate: predict each row, ask for its label or not, and learn it if so; returns the predictions."""
        rows = self._read_rows(X)
        with self._naming():
            labels = tables.read_labels(y, len(rows))
        said = []
        for x, truth in zip(rows, labels, strict=True):
            said.append(self.predict_one(dict(x)))
            question = self.wants_label_one(dict(x))
            if question.is_wanted:
                self.learn_label_one(dict(x), truth, question.probability)
        return said

    @property
    def n_considered_(self) -> int:
        """For how many rows it was decided whether to ask."""
        return 0 if self._state is None else self._asking(self._state).n_considered

    @property
    def n_wanted_(self) -> int:
        """How many labels were asked for."""
        return 0 if self._state is None else self._asking(self._state).n_wanted

    def _begin(self) -> State:
        state = self._inner_state()
        state.engine = Asking(state.engine, float(self.label_rate), float(self.blind_share))
        return state

    @staticmethod
    def _asking(state: State) -> Asking:
        assert isinstance(state.engine, Asking)
        return state.engine
