"""Streams whose best hypothesis is known.

Every stream is made in two steps: features are drawn, and the conditional distribution of the label is written down for
each row; then labels are drawn from it. The best hypothesis says the most probable label of each row, and its expected
accuracy is the mean of their probabilities: exact, given the features.

The streams of ``RULES`` follow a rule that is a stump: three pieces of one feature out of three, each with its label.
So the best hypothesis is known and belongs to a class with learners that have guarantees. On an adversary's stream the
rule is right on a fixed share of the rows and nothing else is known; ``play_adaptive`` even looks at the votes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.bench.datasets import Stream

Matrix: TypeAlias = NDArray[np.float64]


class KnownStream(NamedTuple):
    """Rows with clean labels, and what the best hypothesis says to them."""

    rows: Stream
    best_labels: list[str]
    best_accuracy: float  # expected; of `best_labels` against labels drawn anew


def gaussians(n_rows: int, seed: int) -> KnownStream:
    """Four overlapping round clouds of unequal size and width in four dimensions; half of all rows are of one class."""
    generator = np.random.default_rng(seed)
    priors = np.array([0.5, 0.25, 0.15, 0.1])
    widths = np.array([1.0, 0.8, 1.2, 0.6])
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 2.0, 0.0], [1.0, 1.0, -1.0, 1.0]])
    clouds = generator.choice(4, size=n_rows, p=priors)
    features = centres[clouds] + widths[clouds, None] * generator.standard_normal((n_rows, 4))
    distances = ((features[:, None, :] - centres) ** 2).sum(axis=2)
    densities = priors / widths**4 * np.exp(-distances / (2.0 * widths**2))
    return _drawn(features.tolist(), densities / densities.sum(axis=1, keepdims=True), generator)


def axis_rule(n_rows: int, seed: int) -> KnownStream:
    """Two thresholds decide among three classes, right nine times out of ten; six of the eight features say nothing."""
    generator = np.random.default_rng(seed)
    features = generator.random((n_rows, 8))
    regions = np.where(features[:, 0] < 0.4, 0, np.where(features[:, 1] < 0.5, 1, 2))
    return _drawn(features.tolist(), _mostly(regions, n_classes=3, certainty=0.9), generator)


def checkers(n_rows: int, seed: int) -> KnownStream:
    """A board of three by three fields in three colours, none twice in a line: no feature says anything by itself.

    Two more features say nothing at all.
    """
    generator = np.random.default_rng(seed)
    features = generator.random((n_rows, 4))
    fields = (features[:, :2] * 3.0).astype(int)
    return _drawn(features.tolist(), _mostly(fields.sum(axis=1) % 3, n_classes=3, certainty=1.0), generator)


def rule_table(n_rows: int, seed: int) -> KnownStream:
    """Text: a table of two features decides among five classes, right nine times out of ten; four say nothing."""
    generator = np.random.default_rng(seed)
    table = np.array([[0, 0, 1, 1], [0, 2, 2, 1], [3, 2, 4, 4], [3, 3, 0, 4]])
    codes = generator.integers(4, size=(n_rows, 6))
    words = np.array(["red", "green", "blue", "white"])
    return _drawn(
        words[codes].tolist(), _mostly(table[codes[:, 0], codes[:, 1]], n_classes=5, certainty=0.9), generator
    )


def ordinal(n_rows: int, seed: int) -> KnownStream:
    """Twenty grades: a smooth score of two of four features, plus noise of one grade, cut at whole numbers."""
    generator = np.random.default_rng(seed)
    n_classes, spread = 20, 1.0
    features = generator.random((n_rows, 4))
    scores = n_classes * (0.7 * features[:, 0] + 0.3 * features[:, 1] ** 2)
    edges = np.concatenate([[-np.inf], np.arange(1, n_classes), [np.inf]])  # the outer grades take in all beyond
    below = np.vectorize(_normal_below)((edges - scores[:, None]) / spread)
    return _drawn(features.tolist(), np.diff(below, axis=1), generator)


STREAMS: dict[str, Callable[[int, int], KnownStream]] = {
    "gaussians": gaussians,
    "axis rule": axis_rule,
    "checkers": checkers,
    "rule table": rule_table,
    "ordinal": ordinal,
}


RULE_CLASSES = ["00", "01", "02"]
RULE_CELLS = 8  # the rule's thresholds lie between cells of this grid


def realizable(n_rows: int, seed: int) -> KnownStream:
    """The rule is always right."""
    return noisy(n_rows, seed, certainty=1.0)


def noisy(n_rows: int, seed: int, certainty: float = 0.8) -> KnownStream:
    """The rule is right with probability ``certainty``; other labels are alike."""
    generator = np.random.default_rng(seed)
    features = generator.random((n_rows, 3))
    return _drawn(features.tolist(), _mostly(_rule(features), n_classes=3, certainty=certainty), generator)


def class_noise(n_rows: int, seed: int) -> KnownStream:
    """Noise that depends on the class: the first is never wrong, the second is often the first, the third anything."""
    generator = np.random.default_rng(seed)
    features = generator.random((n_rows, 3))
    confusion = np.array([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5]])
    return _drawn(features.tolist(), confusion[_rule(features)], generator)


def oblivious(n_rows: int, seed: int) -> KnownStream:
    """An adversary that fixes all labels in advance: three rows in five are the rule's, the others follow no rule.

    They keep to one label for runs of 1, 2, 4, ... rows, which costs learners that trust the recent past.
    """
    features = np.random.default_rng(seed).random((n_rows, 3))
    rule, rows = _rule(features), np.arange(n_rows)
    runs = np.floor(np.log2(rows + 1.0)).astype(np.int64)
    labels = np.where(rows % 5 < 3, rule, (runs + seed) % 3)
    return _fixed(features, labels, rule)


def drifting(n_rows: int, seed: int) -> KnownStream:
    """The rule moves from one feature to the next after every third of the stream; the best labels move with it."""
    generator = np.random.default_rng(seed)
    features = generator.random((n_rows, 3))
    part = np.minimum(np.arange(n_rows) * 3 // max(n_rows, 1), 2)
    rule = np.stack([_rule(np.roll(features, -shift, axis=1)) for shift in range(3)])[part, np.arange(n_rows)]
    return _drawn(features.tolist(), _mostly(rule, n_classes=3, certainty=0.9), generator)


RULES: dict[str, Callable[[int, int], KnownStream]] = {
    "realizable": realizable,
    "noisy": noisy,
    "class noise": class_noise,
    "oblivious": oblivious,
    "drifting": drifting,
}


class Voter(Protocol):
    """What an adaptive adversary asks of a booster."""

    def vote_shares_one(self, x: dict[Any, Any]) -> dict[Any, float]: ...

    def learn_one(self, x: dict[Any, Any], y: Any) -> None: ...


def play_adaptive(model: Voter, n_rows: int, seed: int, *, lies: float = 0.3) -> KnownStream:
    """Let a booster learn from an adversary that sees its learners' votes before it chooses the label.

    It lies on at most a share ``lies`` of the rows so far: where the rule's label has most votes, it says the label
    that has fewest. Returns the stream as it was played; the rule is right on all other rows.
    """
    features = np.random.default_rng(seed).random((n_rows, 3))
    rule = _rule(features)
    labels = rule.copy()
    n_lies = 0
    for row, x in enumerate(_as_rows(features.tolist())):
        shares = model.vote_shares_one(x)
        votes = [shares.get(label, 0.0) for label in RULE_CLASSES]
        if n_lies + 1 <= lies * (row + 1) and votes[rule[row]] == max(votes):
            labels[row] = int(np.argmin(votes))
            n_lies += int(labels[row] != rule[row])
        model.learn_one(x, RULE_CLASSES[labels[row]])
    return _fixed(features, labels, rule)


def load(name: str, n_rows: int, seed: int) -> KnownStream:
    """A stream by its name; another seed draws other rows from the same distribution.

    >>> stream = load("axis rule", 1000, seed=1)
    >>> len(stream.rows), round(stream.best_accuracy, 6)
    (1000, 0.9)
    """
    return {**STREAMS, **RULES}[name](n_rows, seed)


def _drawn(features: list[list[Any]], conditional: Matrix, generator: np.random.Generator) -> KnownStream:
    """Labels drawn from each row's distribution. They have leading zeros, so that sorted as text they keep order."""
    n_rows, n_classes = conditional.shape
    beyond = generator.random((n_rows, 1)) >= np.cumsum(conditional, axis=1)
    drawn = np.minimum(beyond.sum(axis=1), n_classes - 1)  # the last sum may round to less than 1
    rows: Stream = [(x, f"{label:02}") for x, label in zip(_as_rows(features), drawn, strict=True)]
    best_labels = [f"{label:02}" for label in conditional.argmax(axis=1)]
    return KnownStream(rows, best_labels, float(conditional.max(axis=1).mean()))


def _fixed(features: Matrix, labels: NDArray[np.int64], rule: NDArray[np.int64]) -> KnownStream:
    """Labels that nobody drew; the rule's accuracy is what it is."""
    rows: Stream = [(x, RULE_CLASSES[label]) for x, label in zip(_as_rows(features.tolist()), labels, strict=True)]
    return KnownStream(rows, [RULE_CLASSES[label] for label in rule], float(np.mean(labels == rule)))


def _rule(features: Matrix) -> NDArray[np.int64]:
    """A stump on the first feature: labels 0, 2 and 1, cut at 3/8 and 5/8."""
    return np.where(features[:, 0] <= 0.375, 0, np.where(features[:, 0] <= 0.625, 2, 1))


def _as_rows(features: list[list[Any]]) -> list[dict[Any, Any]]:
    return [{f"feature {column}": value for column, value in enumerate(values)} for values in features]


def _mostly(labels: NDArray[np.int64], *, n_classes: int, certainty: float) -> Matrix:
    """Each row's label with probability ``certainty``, the others alike."""
    conditional = np.full((labels.size, n_classes), (1.0 - certainty) / (n_classes - 1))
    conditional[np.arange(labels.size), labels] = certainty
    return conditional


def _normal_below(value: float) -> float:
    """The probability that a standard normal draw is below ``value``."""
    return 0.5 * (1.0 + math.erf(value / math.sqrt(2.0)))
