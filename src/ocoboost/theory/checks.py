"""Is this learner a weak learner? The conditions of ``conditions``, checked on what a learner did.

A run shows the gains of the learner and of the best hypothesis, so it shows which R a given gamma needs (``slack``),
and which gamma needs no R at all (``estimated_gamma``). It cannot show that a condition holds for all streams, only
that it failed on this one. A learner without any advantage passes by luck in about one run of forty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import Labels
from ocoboost.data.schema import Schema
from ocoboost.errors import InvalidInputError
from ocoboost.theory.classes import QuantileStumps, Searchable
from ocoboost.theory.conditions import Condition, Demand, Guessing, plain_gain
from ocoboost.theory.meters import Account
from ocoboost.theory.replay import lessons
from ocoboost.theory.reports import NORMAL_95, UNKNOWN, Advantage, advantage

# A class that is right on all but this share of the weight counts as realizing the labels, up to rounding.
ROUNDING = 1e-9


class Outcome(NamedTuple):
    """The outcome of one demand."""

    about: str
    learner_gain: float
    best_gain: float
    estimated_gamma: Advantage  # NaN if the best gain is not above zero


@dataclass(frozen=True)
class Check:
    """What a run says about a condition."""

    condition: str
    n_rows: int
    gamma: float  # the advantage asked for
    outcomes: list[Outcome]
    best_over_constant: float  # share of rows by which the best hypothesis beats the best constant
    learner_over_constant: float
    is_weak_learner: bool | None  # None: this run cannot tell
    verdict: str

    @property
    def worst(self) -> Outcome:
        """The demand that needs the most slack."""
        return max(self.outcomes, key=lambda outcome: self.gamma * outcome.best_gain - outcome.learner_gain)

    @property
    def slack(self) -> float:
        """The least R_W(T, k) with which the condition holds on this run at ``gamma``; negative means a margin."""
        return self.gamma * self.worst.best_gain - self.worst.learner_gain

    @property
    def slack_per_row(self) -> float:
        return self.slack / self.n_rows

    @property
    def estimated_gamma(self) -> Advantage:
        """The least over the demands: the advantage with which the condition holds without slack."""
        known = [outcome.estimated_gamma for outcome in self.outcomes if math.isfinite(outcome.estimated_gamma.low)]
        return min(known, key=lambda one: one.low) if known else UNKNOWN

    def __str__(self) -> str:
        edge = self.estimated_gamma
        return (
            f"{self.condition} on {self.n_rows:,} rows: {self.verdict} Estimated gamma {edge.estimated_gamma:.3f}, "
            f"95 % [{edge.low:.3f}, {edge.high:.3f}]; at gamma {self.gamma:g} the slack is {self.slack_per_row:+.4f} "
            "per row."
        )


def check(
    condition: Condition,
    X: Any,
    votes: Any,
    taught: Any,
    hypotheses: Searchable | None = None,
    *,
    gamma: float = 0.1,
    weights: FloatArray | None = None,
    n_classes: int | None = None,
) -> Check:
    """Check a condition on what a learner voted and what it was taught, row by row.

    ``votes`` and ``taught`` are label indices, or label weights of shape (rows, classes). A learner fails if it does no
    better than the best constant, or if its advantage is not above zero, each by 1.96 standard errors.

    >>> from ocoboost.theory.conditions import Plain
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((2000, 2))
    >>> labels = (X[:, 0] > 0.5).astype(int)
    >>> often_right = np.where(rng.random(2000) < 0.7, labels, 1 - labels)
    >>> print(check(Plain(), X, often_right, labels).verdict)
    A weak learner as far as this run shows.
    >>> print(check(Plain(), X, rng.permutation(labels), labels).verdict)
    Not a weak learner: it does no better than always saying label 0.
    """
    hypotheses = QuantileStumps() if hypotheses is None else hypotheses
    n_classes = n_classes or _n_classes(votes, taught)
    said, lesson = _shares(votes, n_classes, "votes"), _shares(taught, n_classes, "taught")
    if len(said) != len(lesson) or len(said) != len(X) or len(said) == 0:
        raise InvalidInputError(
            f"check: X, votes and taught must have equally many rows, got {len(X)}, {len(said)} and {len(lesson)}."
        )
    if weights is not None:
        lesson = lesson * weights[:, None]
    outcomes = [_outcome(demand, X, lesson, hypotheses) for demand in condition.demands(said, lesson)]
    plain = 2.0 * lesson - lesson.sum(axis=1, keepdims=True)
    rows = np.arange(len(lesson))
    best = plain[rows, hypotheses.best_in_class(X, plain).hypothesis(X)]
    constant = int(plain.sum(axis=0).argmax())
    best_excess, excess = best - plain[:, constant], plain_gain(said, lesson) - plain[:, constant]
    drafted = Check(
        condition.name,
        len(lesson),
        gamma,
        outcomes,
        float(best_excess.sum()) / 2.0 / len(lesson),
        float(excess.sum()) / 2.0 / len(lesson),
        None,
        "",
    )
    is_weak, verdict = _verdict(drafted, _is_above_zero(best_excess), _is_above_zero(excess), constant)
    if condition.is_realizable and best.sum() < lesson.sum() * (1.0 - ROUNDING):
        is_weak = None
        verdict = "Cannot tell: no hypothesis of the class is right on every row, so the condition does not apply."
    return replace(drafted, is_weak_learner=is_weak, verdict=verdict)


def _outcome(demand: Demand, X: Any, lesson: FloatArray, hypotheses: Searchable) -> Outcome:
    if demand.gains is None:
        best_gains = lesson.sum(axis=1)
    else:
        best_gains = demand.gains[np.arange(len(lesson)), hypotheses.best_in_class(X, demand.gains).hypothesis(X)]
    learner_gains = demand.learner_gains
    edge = advantage(
        float(learner_gains.sum()),
        float(best_gains.sum()),
        float(learner_gains @ learner_gains),
        float(learner_gains @ best_gains),
        float(best_gains @ best_gains),
    )
    return Outcome(demand.about, float(learner_gains.sum()), float(best_gains.sum()), edge)


def _verdict(check: Check, is_best_better: bool, is_better: bool, constant: int) -> tuple[bool | None, str]:
    """Whether it is a weak learner, and why; "better" means better than the best constant."""
    if not is_better and not is_best_better:
        return None, "Cannot tell: no hypothesis of the class does better than a constant on this run."
    if not is_better:
        return False, f"Not a weak learner: it does no better than always saying label {constant}."
    failed = [outcome for outcome in check.outcomes if outcome.estimated_gamma.low <= 0.0]
    if failed:
        about = f" on {failed[0].about}" if failed[0].about else ""
        gains = f"{failed[0].learner_gain:.0f}, the best hypothesis' {failed[0].best_gain:.0f}"
        return False, f"Not a weak learner in this sense: its gain{about} is {gains}."
    if not any(math.isfinite(outcome.estimated_gamma.low) for outcome in check.outcomes):
        return None, "Cannot tell: the best hypothesis gains nothing either, so the condition asks for nothing."
    if check.estimated_gamma.high < check.gamma:
        return False, f"A weak learner, but not with advantage {check.gamma:g}."
    return True, "A weak learner as far as this run shows."


def _is_above_zero(terms: FloatArray) -> bool:
    """By 1.96 standard errors of a sum of martingale differences."""
    return float(terms.sum()) > NORMAL_95 * math.sqrt(float(terms @ terms))


def check_learner(
    learner: Any,
    stream: Iterable[tuple[dict[Any, Any], Any]],
    hypotheses: Searchable | None = None,
    *,
    condition: Condition | None = None,
    gamma: float = 0.1,
) -> Check:
    """Check a River classifier by itself: it predicts each row of a stream, then learns it.

    >>> from river import dummy, tree
    >>> from ocoboost.bench import synthetic
    >>> rows = synthetic.load("axis rule", 1000, seed=1).rows
    >>> check_learner(tree.HoeffdingTreeClassifier(grace_period=50), rows).is_weak_learner
    True
    >>> check_learner(dummy.PriorClassifier(), rows).is_weak_learner
    False
    """
    rows, labels, said = [], [], []
    for x, y in stream:
        rows.append(x)
        labels.append(y)
        said.append(learner.predict_one(x))
        learner.learn_one(x, y)
    known = Labels()
    for _, label in sorted(known.plan(labels).items()):
        known.add(label)
    places = {label: index for index, label in enumerate(known.known)}
    shares = np.zeros((len(said), len(known)))
    for row, label in enumerate(said):
        if label in places:  # None before the learner has seen a label
            shares[row, places[label]] = 1.0
    schema = Schema()
    for _, additions in sorted(schema.plan(rows).items()):
        schema.apply(additions)
    condition = Guessing() if condition is None else condition
    return check(condition, schema.encode(rows), shares, known.indices(labels), hypotheses, gamma=gamma)


def check_run(
    account: Account,
    condition: Condition,
    hypotheses: Searchable | None = None,
    *,
    gamma: float | None = None,
    member: int = 0,
) -> list[Check]:
    """Check every learner of a recorded booster on what it was taught; ``gamma`` None is that of the booster."""
    cells = account.record.tapes[member].cells
    spans = list(account.record.spans(member))
    n_classes = max(span.rows.n_classes for span in spans)
    n_features = max(span.rows.features.shape[1] for span in spans)
    X = np.concatenate([_widened(span.rows.features, n_features, np.nan) for span in spans])
    weights = np.concatenate([span.rows.weights for span in spans])
    checks = []
    for parts in zip(*(lessons(cells, span) for span in spans), strict=True):
        votes = np.concatenate([_widened(part.votes, n_classes, 0.0) for part in parts])
        taught = np.concatenate([_widened(part.taught, n_classes, 0.0) for part in parts])
        asked = cells.gamma if gamma is None else gamma
        checks.append(check(condition, X, votes, taught, hypotheses, gamma=asked, weights=weights, n_classes=n_classes))
    return checks


def _widened(block: FloatArray, n_columns: int, value: float) -> FloatArray:
    return np.pad(block, ((0, 0), (0, n_columns - block.shape[1])), constant_values=value)


def _n_classes(*shares: Any) -> int:
    return max(np.shape(array)[1] if np.ndim(array) > 1 else int(np.max(array, initial=0)) + 1 for array in shares)


def _shares(labels: Any, n_classes: int, name: str) -> FloatArray:
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == n_classes:
        return array.astype(np.float64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInputError(f"check: {name} must be label indices or weights over {n_classes} labels.")
    shares: FloatArray = np.eye(n_classes)[array]
    return shares
