"""Streams whose best hypothesis is known.

Every stream is made in two steps: features are drawn, and the conditional distribution of the label is written down for
each row; then labels are drawn from it. The best hypothesis says the most probable label of each row, and its expected
accuracy is the mean of their probabilities: exact, given the features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

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


def load(name: str, n_rows: int, seed: int) -> KnownStream:
    """A stream by its name; another seed draws other rows from the same distribution.

    >>> stream = load("axis rule", 1000, seed=1)
    >>> len(stream.rows), round(stream.best_accuracy, 6)
    (1000, 0.9)
    """
    return STREAMS[name](n_rows, seed)


def _drawn(features: list[list[Any]], conditional: Matrix, generator: np.random.Generator) -> KnownStream:
    """Labels drawn from each row's distribution. They have leading zeros, so that sorted as text they keep order."""
    n_rows, n_classes = conditional.shape
    beyond = generator.random((n_rows, 1)) >= np.cumsum(conditional, axis=1)
    drawn = np.minimum(beyond.sum(axis=1), n_classes - 1)  # the last sum may round to less than 1
    rows: Stream = [
        ({f"feature {column}": value for column, value in enumerate(values)}, f"{label:02}")
        for values, label in zip(features, drawn, strict=True)
    ]
    best_labels = [f"{label:02}" for label in conditional.argmax(axis=1)]
    return KnownStream(rows, best_labels, float(conditional.max(axis=1).mean()))


def _mostly(labels: NDArray[np.int64], *, n_classes: int, certainty: float) -> Matrix:
    """Each row's label with probability ``certainty``, the others alike."""
    conditional = np.full((labels.size, n_classes), (1.0 - certainty) / (n_classes - 1))
    conditional[np.arange(labels.size), labels] = certainty
    return conditional


def _normal_below(value: float) -> float:
    """The probability that a standard normal draw is below ``value``."""
    return 0.5 * (1.0 + math.erf(value / math.sqrt(2.0)))
