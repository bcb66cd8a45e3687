"""Boosting under bandit feedback: all that is seen of a label is whether the one that was played is right.

Clicks, accepted recommendations, cases that were checked: the paper leaves this open. Any online booster learns here,
from every play, as many times over as there are labels (``per_label.py``), or from the rows whose label was revealed,
weighted so that they stand for all (``acting.py``). Two of them learn from an estimate of every row's label instead
(``cascade/estimated.py``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ocoboost.cascade.ada_bandit import AdaBandit
from ocoboost.cascade.cells import Cells
from ocoboost.cascade.estimated import heard
from ocoboost.cascade.mbbm import MBBM
from ocoboost.cascade.olm import OLM
from ocoboost.cascade.opt_bandit import OptBandit
from ocoboost.data import tables
from ocoboost.data.labels import Label
from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, invalid
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError
from ocoboost.online.acting import Acting, Issued
from ocoboost.online.around import BoosterAround
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.booster import LearnerBooster
from ocoboost.online.per_label import PerLabel, Verdict, per_label
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State


class Play(NamedTuple):
    """A label that was played."""

    label: Label
    probability: float  # with which it was drawn: keep it, to evaluate other policies on what was seen
    greedy: Label  # what the booster would say


class Played(NamedTuple):
    """A play of a simulation, and its feedback."""

    label: Label
    probability: float
    greedy: Label
    is_right: bool


class OnlineBanditBoostClassifier(BoosterAround):
    """An online booster that plays labels and is told only whether they were right.

    `predict_one` and its kin are the booster's greedy answers; `learn_one` learns a row whose label is known.

    Parameters
    ----------
    booster
        Any online booster; None stands for `OnlineBoostClassifier()`. It is cloned, with this model's seed and classes.
        Its learners must take weights.
    classes
        All labels that can be played. If None, those of the booster, or those that `learn_one` has seen.
    exploration
        The share of plays that are drawn uniformly from all labels, in (0, 1]. None is a schedule that needs no tuning,
        min(1, (k / t)^(1/3)) at play t, whose cost and benefit are both of the order k^(1/3) T^(2/3).
    propose
        What is played otherwise: the booster's "mode", or a "sample" from its D, which is what the theorem is about.
    learn_from
        "plays" has a booster for each label, which learns from the plays of that label whether it is right; it needs
        `classes`, and divides the booster's memory among them. "revealed" learns the rows whose label was revealed,
        weighted. "estimate", for `OnlineMBBMClassifier` and `AdaBoostOLMClassifier`, teaches every row an unbiased
        estimate of its label: OptBandit and AdaBandit of Zhang, Jung & Tewari (2019). None is "plays" for
        `OnlineBoostClassifier` with known `classes`, and else "revealed", which the boosters' theorems are about.
    most_weight
        The largest weight of a revealed row, at least 1. None is 1 / the probability of the play, which is unbiased; a
        limit has less variance and no theorem. With one, None as `learn_from` is "revealed".
    ledger_size
        How many keyed plays are kept while they wait for their feedback.
    seed
        The random seed; with the same seed, results are bit-identical.

    Examples
    --------
    >>> from ocoboost import OnlineBanditBoostClassifier, OnlinePairwiseBoostClassifier
    >>> from ocoboost.bench import synthetic
    >>> stream = synthetic.load("realizable", 600, seed=1).rows
    >>> booster = OnlinePairwiseBoostClassifier(n_learners=10, gamma=0.3)
    >>> model = OnlineBanditBoostClassifier(booster, classes=["00", "01", "02"], seed=1)
    >>> plays = model.act_learn_many([x for x, _ in stream], [y for _, y in stream])
    >>> sum(play.greedy == y for play, (_, y) in zip(plays, stream)) > 300
    True
    >>> play = model.act_one({"feature 0": 0.1}, key="order 66")
    >>> model.learn_feedback_one(key="order 66", is_right=False)
    >>> model.n_plays_, model.n_waiting_
    (601, 0)

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "exploration": AnyOf(OneOf(None), Between(0.0, 1.0, closed="right"), hint="None is a schedule"),
        "propose": OneOf("mode", "sample"),
        "learn_from": OneOf(None, "plays", "revealed", "estimate"),
        "most_weight": AnyOf(OneOf(None), Between(1.0, np.inf, closed="left"), hint="None is unbiased"),
        "ledger_size": Count(1),
        "seed": StreamClassifier.shared_ranges["seed"],
    }

    def __init__(
        self,
        booster: LearnerBooster | None = None,
        *,
        classes: Sequence[Any] | None = None,
        exploration: float | None = None,
        propose: str = "mode",
        learn_from: str | None = None,
        most_weight: float | None = None,
        ledger_size: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.booster = booster
        self.classes = classes
        self.exploration = exploration
        self.propose = propose
        self.learn_from = learn_from
        self.most_weight = most_weight
        self.ledger_size = ledger_size
        self.seed = seed

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"booster": OnlineBoostClassifier(budget=5)}

    # -- acting --------------------------------------------------------------------------------------------------

    def act_one(self, x: dict[Any, Any], key: Hashable | None = None) -> Play:
        """A label to play, and its probability. With a key, both are kept until ``learn_feedback_one`` names it.

        The draw is fixed by the seed and the number of calls so far, which is saved with the model.
        """
        with self._naming():
            row = tables.read_row(x)
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, answers = self._answers(x, row)
            acting = self._acting(state)
            if len(state.labels) < 2:
                raise InvalidInputError(
                    f"{type(self).__name__}: only {len(state.labels)} labels are known, so there is nothing to choose; "
                    "give all labels as classes."
                )
            if key is not None:
                with self._naming():
                    acting.ledger.check_new(key)
            chances = acting.chances(answers)
            label = acting.play(chances, state.seed)
            if key is not None:
                acting.ledger.issue(key, Issued(row, label, float(chances[label])))
            self._state = state
            known = state.labels.known
            return Play(known[label], float(chances[label]), known[int(answers.labels[0])])

    def learn_feedback_one(
        self,
        x: dict[Any, Any] | None = None,
        label: Any = None,
        probability: float | None = None,
        is_right: bool | None = None,
        *,
        key: Hashable | None = None,
    ) -> None:
        """Learn that a label which was played is right or wrong.

        Name the play by its key, or give the row, the label and the probability that ``act_one`` returned. Feedback
        may come late and in any order. Unknown, repeated and contradictory feedback raises, and changes nothing.
        """
        with self._naming():
            if not isinstance(is_right, bool | np.bool_):
                raise InvalidInputError(f"is_right: must be True or False, got {is_right!r}.")
            state = self._ready()
            issued = self._issued(state, x, label, probability, key)
        self._state = state
        acting = self._acting(state)
        if isinstance(acting.engine, PerLabel):
            self._learn_verdict(acting.engine, issued, bool(is_right))
        elif self.learn_from == "estimate":
            self._learn_estimate(issued, bool(is_right))
        elif is_right:
            weight = 1.0 / issued.probability
            weight = weight if self.most_weight is None else min(weight, float(self.most_weight))
            self.learn_one(dict(issued.row), state.labels.known[issued.label], w=weight)
        if key is not None:
            acting.ledger.settle(key)
        acting.note(bool(is_right))

    def act_learn_many(self, X: Any, y: Any) -> list[Played]:
        """Simulate: play a label for every row, and learn whether it is right. The labels are shown to nobody else."""
        rows = self._read_rows(X)
        with self._naming():
            labels = tables.read_labels(y, len(rows))
        played = []
        for x, truth in zip(rows, labels, strict=True):
            play = self.act_one(dict(x))
            is_right = bool(play.label == truth)
            self.learn_feedback_one(dict(x), play.label, play.probability, is_right)
            played.append(Played(*play, is_right))
        return played

    # -- what is known -------------------------------------------------------------------------------------------

    @property
    def n_plays_(self) -> int:
        """How many labels were played."""
        return 0 if self._state is None else self._acting(self._state).n_plays

    @property
    def n_waiting_(self) -> int:
        """How many keyed plays wait for their feedback."""
        return 0 if self._state is None else len(self._acting(self._state).ledger)

    @property
    def n_dropped_(self) -> int:
        """How many keyed plays were dropped before their feedback came, because there were too many."""
        return 0 if self._state is None else self._acting(self._state).ledger.n_dropped

    @property
    def played_accuracy_(self) -> float:
        """The share of the plays answered so far that were right; NaN before the first."""
        acting = None if self._state is None else self._acting(self._state)
        return acting.n_right / acting.n_answered if acting is not None and acting.n_answered else float("nan")

    # -- inside --------------------------------------------------------------------------------------------------

    def _begin(self) -> State:
        state = self._inner_state()
        if self.learn_from == "estimate":
            (cascade,) = state.engine.cascades[:1]
            cascade.cells = self._estimating(cascade.cells)
        elif self._learns_plays(state):
            state.engine = per_label(self._inner(None), len(state.labels), state.seed)
        exploration = None if self.exploration is None else float(self.exploration)
        state.engine = Acting(state.engine, exploration, self.propose == "mode", int(self.ledger_size))
        return state

    def _learns_plays(self, state: State) -> bool:
        """Whether there is a booster for each label; raises if there cannot be."""
        is_weighing = self.most_weight is not None or getattr(self.booster, "class_weight", None) is not None
        if self.learn_from is None:
            is_mixture = self.booster is None or isinstance(self.booster, OnlineBoostClassifier)
            return is_mixture and state.labels.closed and not is_weighing
        if self.learn_from == "plays" and not state.labels.closed:
            raise invalid(self, "classes", "name all labels", self.classes, 'learn_from="plays" has a booster for each')
        if self.learn_from == "plays" and is_weighing:
            must = 'not be "plays" with most_weight or the booster\'s class_weight'
            raise invalid(self, "learn_from", must, self.learn_from, "all plays weigh the same")
        return self.learn_from == "plays"

    def _estimating(self, cells: Cells[Any, Any]) -> OptBandit | AdaBandit:
        """The booster's cells as they learn from estimates."""
        if isinstance(cells, MBBM) and not cells.deviations:
            return OptBandit(**cells.settings())
        if isinstance(cells, OLM) and not cells.deviations:
            return AdaBandit(**cells.settings())
        must = "be OnlineMBBMClassifier or AdaBoostOLMClassifier with mode None"
        raise invalid(self, "booster", must, self.booster, 'learn_from="revealed" takes any booster')

    def _learn_verdict(self, engine: PerLabel, issued: Issued, is_right: bool) -> None:
        """Teach the booster of the label that was played whether it is right."""
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state = self._ready()
            engine.verdict = Verdict(issued.label, is_right)
            try:
                codes = state.schema.plain_row(dict(issued.row))
                if codes is None or not state.learn_row(codes, issued.label, 1.0):
                    self._learn_played(issued, is_right)
            finally:
                engine.verdict = None

    def _learn_estimate(self, issued: Issued, is_right: bool) -> None:
        """Teach a row what a play says about its label.

        The pivot is the booster's answer now: what it said when it played, unless it has learned meanwhile.
        """
        with self._turns.learning(self):
            self._turns.check_alone(self)
            state, answers = self._answers(dict(issued.row), issued.row)
            cells = state.engine.cascades[0].cells
            assert isinstance(cells, OptBandit | AdaBandit)
            cells.heard = heard(issued.label, issued.probability, int(answers.labels[0]), is_right, len(state.labels))
            try:
                self._learn_played(issued, is_right)
            finally:
                cells.heard = None

    def _learn_played(self, issued: Issued, is_right: bool) -> None:
        """Learn a row of which the engine knows what was said; the weight is for the statistics of texts.

        They count revealed labels.
        """
        row, labels = issued.row, [self._ready().labels.known[issued.label]]
        weights = np.array([1.0 / issued.probability if is_right else 0.0])
        state, plan = self._plan([row], labels, weights)
        list(state.learn([row], labels, weights, plan, answering=False))

    @staticmethod
    def _acting(state: State) -> Acting:
        assert isinstance(state.engine, Acting)
        return state.engine

    def _issued(
        self, state: State, x: dict[Any, Any] | None, label: Any, probability: float | None, key: Hashable | None
    ) -> Issued:
        """The play that a feedback is about; raises for what was not played like that."""
        if key is None:
            if x is None or label is None or probability is None:
                raise InvalidInputError("feedback needs a key, or the row, the label and the probability of the play.")
            row: Row = tables.read_row(x)
            state.check([row])
        else:
            issued = self._acting(state).ledger.entry(key)
            row = issued.row
            if x is not None and tables.read_row(x) != row:
                raise InvalidInputError(f"x: another row was played under the key {key!r}; leave x out.")
            if probability is not None and float(probability) != issued.probability:
                found = f"the play under the key {key!r} had {issued.probability}"
                raise InvalidInputError(f"probability: must not be {probability!r}; {found}.")
            if label is None:
                return issued
        if label not in state.labels.known:
            raise InvalidInputError(f"label: {label!r} is not among the labels that can be played.")
        number = state.labels.known.index(label)
        if key is not None:
            if number != issued.label:
                said = state.labels.known[issued.label]
                raise InvalidInputError(f"label: {label!r} was not played under the key {key!r}, but {said!r}.")
            return issued
        if not isinstance(probability, int | float | np.number) or not 0.0 < float(probability) <= 1.0:
            raise InvalidInputError(
                f"probability: must lie in (0, 1], got {probability!r}; pass what act_one returned."
            )
        return Issued(row, number, float(probability))
