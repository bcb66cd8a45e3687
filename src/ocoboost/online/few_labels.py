"""Boosting where labels cost money: for every row, ask for its label or not.

The allowance of labels grows by ``label_rate`` a row or, if the number of rows is known beforehand, sooner. A part of
it is spent on all rows alike, and the rest where the booster is in doubt; what was saved is spent on the next rows. So
a row's label is asked for with a probability q that is known. That depends on the row and not on its label, so labels
may be learned as they come; learned with weight b / q instead, b being the row's share of the allowance, rows count
alike on average, whether they were doubtful or not, and a theorem holds (docs/bandit.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ocoboost.arrays import checked_count
from ocoboost.cascade.answers import Answers
from ocoboost.data import tables
from ocoboost.data.labels import Label
from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range
from ocoboost.data.schema import Schema
from ocoboost.errors import InvalidInputError
from ocoboost.online.around import BoosterAround, EngineAround
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.booster import LearnerBooster
from ocoboost.randomness import ASK, uniform
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Engine, State

N_LATEST = 200  # rows over which the doubt is averaged
N_SPENDING = 50  # rows over which savings are spent
EARLY = 0.9  # of the labels are asked for first, if the number of rows is known
SOONEST = 0.5  # the share of rows that is asked for then


class Question(NamedTuple):
    """Whether to ask for a row's label; true if so."""

    is_wanted: bool
    probability: float  # with which it was wanted
    weight: float  # with which it will be learned

    def __bool__(self) -> bool:
        """Like any tuple, it would always be true."""
        return self.is_wanted


class Asking(EngineAround):
    """An engine that also decides which labels to ask for."""

    def __init__(
        self, engine: Engine, label_rate: float, blind_share: float, n_rows: int | None, corrected: bool
    ) -> None:
        super().__init__(engine)
        self.label_rate = label_rate
        self.blind_share = blind_share
        self.n_rows = n_rows
        self.corrected = corrected
        self.n_considered = 0  # calls of ``wants_label_one``: the place of the next draw
        self.n_wanted = 0
        self.spent = 0.0  # the sum of all probabilities: never more than the allowance
        self.doubt = 0.0  # its mean over the latest calls

    def allowance(self, n_considered: int) -> float:
        """How many labels may be asked for among the first rows: their share of all, sooner if their number is known.

        On a stream that never changes an early label serves all later rows. Asking for every row at first would be
        soonest, but leave no choice between them.
        """
        evenly = self.label_rate * n_considered
        if self.n_rows is None or n_considered >= self.n_rows:
            return evenly
        soon = self.label_rate * EARLY * self.n_rows + (1.0 - EARLY) * evenly
        return max(evenly, min(SOONEST * n_considered, soon))

    def probability(self, doubt: float) -> tuple[float, float]:
        """With which the next row's label is wanted, and its share of the allowance; ``doubt`` lies in [0, 1]."""
        number = self.n_considered + 1
        before = self.allowance(number - 1)
        share, saved = self.allowance(number) - before, max(0.0, before - self.spent)
        self.doubt += (doubt - self.doubt) / min(number, N_LATEST)
        blind = self.blind_share * share
        extra = (share - blind + saved / N_SPENDING) * doubt / self.doubt if self.doubt > 0.0 else 0.0
        return min(1.0, blind + min(extra, share - blind + saved)), share

    def ask(self, answers: Answers, seed: int) -> Question:
        """Decide on one row."""
        said = answers.shares if answers.probabilities is None else answers.probabilities
        first, second = np.sort(said[0])[::-1][:2] if said.shape[1] > 1 else (0.0, 0.0)
        probability, share = self.probability(1.0 - float(first - second))
        is_wanted = uniform(np.uint64(seed), ASK, self.n_considered, 0) < probability
        self.n_considered += 1
        self.n_wanted += is_wanted
        self.spent += probability
        weight = min(share / probability, 1.0 / self.blind_share) if self.corrected else 1.0
        return Question(bool(is_wanted), probability, weight)

    def settings(self) -> list[dict[str, Any]]:
        asking = {"label_rate": self.label_rate, "blind_share": self.blind_share, "n_rows": self.n_rows}
        return [*super().settings(), {**asking, "corrected": self.corrected}]

    def state(self) -> dict[str, Any]:
        counts = {"n_considered": self.n_considered, "n_wanted": self.n_wanted}
        return {**super().state(), **counts, "spent": self.spent, "doubt": self.doubt}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        super().restore(saved, schema, n_classes)
        self.n_considered = checked_count(saved["n_considered"], "number of rows considered")
        self.n_wanted = checked_count(saved["n_wanted"], "number of labels wanted")
        self.spent, self.doubt = float(saved["spent"]), float(saved["doubt"])
        is_valid = 0.0 <= self.spent <= self.n_considered and 0.0 <= self.doubt <= 1.000001
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
    n_rows
        The number of rows to come, if it is known: then nine tenths of the labels are asked for first, for every
        second row, where they help most on a stream that does not change, and the others evenly.
    blind_share
        The part of it that is spent on all rows alike, in (0, 1]; 1 asks at random.
    corrected
        True learns a row with its share of the allowance over its probability, at most 1 / blind_share, which is what
        the theorem is about. False learns all labels alike, which has less variance, and is right for learners that
        look only at rows nearby, as trees do.
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
        "n_rows": AnyOf(OneOf(None), Count(1), hint="None if it is not known"),
        "blind_share": Between(0.0, 1.0, closed="right", hint="1 asks at random"),
        "corrected": OneOf(True, False),
        "seed": StreamClassifier.shared_ranges["seed"],
    }

    def __init__(
        self,
        booster: LearnerBooster | None = None,
        *,
        label_rate: float = 0.1,
        n_rows: int | None = None,
        blind_share: float = 0.2,
        corrected: bool = False,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.booster = booster
        self.label_rate = label_rate
        self.n_rows = n_rows
        self.blind_share = blind_share
        self.corrected = corrected
        self.classes = classes
        self.seed = seed

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"booster": OnlineBoostClassifier(budget=5)}

    def wants_label_one(self, x: dict[Any, Any]) -> Question:
        """Whether to ask for this row's label, and with which probability that was decided.

        The draw is fixed by the seed and the number of calls so far, which is saved with the model.
        """
        return self._question(x)[1]

    def learn_label_one(self, x: dict[Any, Any], y: Any, question: Question) -> None:
        """Learn a label that was asked for; ``question`` is what ``wants_label_one`` returned."""
        weight = question.weight if isinstance(question, Question) else None
        if not isinstance(weight, float) or not 0.0 < weight <= 1.0 / self.blind_share:
            raise InvalidInputError(
                f"{type(self).__name__}: question must be what wants_label_one returned, got {question!r}."
            )
        self.learn_one(x, y, w=weight)

    def ask_learn_many(self, X: Any, y: Any) -> list[Label | None]:
        """Simulate: predict each row, ask for its label or not, and learn it if so; returns the predictions."""
        rows = self._read_rows(X)
        with self._naming():
            labels = tables.read_labels(y, len(rows))
        said = []
        for x, truth in zip(rows, labels, strict=True):
            label, question = self._question(dict(x))
            said.append(label)
            if question.is_wanted:
                self.learn_label_one(dict(x), truth, question)
        return said

    @property
    def n_considered_(self) -> int:
        """For how many rows it was decided whether to ask."""
        return 0 if self._state is None else self._asking(self._state).n_considered

    @property
    def n_wanted_(self) -> int:
        """How many labels were asked for."""
        return 0 if self._state is None else self._asking(self._state).n_wanted

    def _question(self, x: dict[Any, Any]) -> tuple[Label | None, Question]:
        """What the booster says to a row, and whether to ask for its label."""
        with self._naming():
            row = tables.read_row(x)
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, answers = self._answers(x, row)
            question = self._asking(state).ask(answers, state.seed)
            self._state = state
            known = state.labels.known
            return known[int(answers.labels[0])] if known else None, question

    def _begin(self) -> State:
        state = self._inner_state()
        n_rows = None if self.n_rows is None else int(self.n_rows)
        state.engine = Asking(
            state.engine, float(self.label_rate), float(self.blind_share), n_rows, bool(self.corrected)
        )
        return state

    @staticmethod
    def _asking(state: State) -> Asking:
        assert isinstance(state.engine, Asking)
        return state.engine
