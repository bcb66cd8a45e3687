"""Numbers about predictions, and about numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray

LAST = 5  # the end of a stream is its last fifth


def accuracy(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """Percent of the predictions that are right.

    >>> accuracy(["a", "b", None, "a"], ["a", "b", "b", "b"])
    50.0
    """
    return 100.0 * statistics.fmean(p == y for p, y in zip(predictions, labels, strict=True))


def last(values: Sequence[Any]) -> Sequence[Any]:
    """The last fifth, but at least one."""
    return values[-max(len(values) // LAST, 1) :]


def curve(predictions: Sequence[Any], labels: Sequence[Any], n_points: int) -> list[float]:
    """Accuracy so far, in percent, at ``n_points`` evenly spaced rows, the last row among them."""
    right = np.cumsum([p == y for p, y in zip(predictions, labels, strict=True)])
    ends = np.linspace(0, len(right), n_points + 1).astype(int)[1:]
    return [round(float(100.0 * right[end - 1] / end), 2) if end else 0.0 for end in ends]


def confusion(predictions: Sequence[Any], labels: Sequence[Any], known: Sequence[Any]) -> IntArray:
    """How often each label (rows) was taken for each (columns); no prediction counts nowhere."""
    places = {label: place for place, label in enumerate(known)}
    counts = np.zeros((len(known), len(known)), dtype=np.int64)
    for prediction, label in zip(predictions, labels, strict=True):
        if prediction in places:
            counts[places[label], places[prediction]] += 1
    return counts


def macro_f1(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """Mean of the labels' F1 scores, in percent; every label of the stream counts alike.

    >>> round(macro_f1(["a", "a", "b", "b"], ["a", "a", "c", "b"]), 2)  # 1 for a, 2/3 for b, 0 for c
    55.56
    """
    scores = []
    for label in set(labels):
        hits = sum(p == y == label for p, y in zip(predictions, labels, strict=True))
        called, there = sum(p == label for p in predictions), sum(y == label for y in labels)
        scores.append(2 * hits / (called + there))
    return 100.0 * statistics.fmean(sorted(scores))  # sorted, for a set has no order and sums round


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error; the error of one value is not known, and 0 here."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return statistics.fmean(values), error


def mean_ranks(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean rank of each model over the rows of a table of scores: 1 is best, ties share.

    >>> mean_ranks([{"a": 0.9, "b": 0.8}, {"a": 0.7, "b": 0.7}])
    {'a': 1.25, 'b': 1.75}
    """
    from scipy.stats import rankdata

    names = list(scores[0])
    table: FloatArray = np.array([[row[name] for name in names] for row in scores])
    return dict(zip(names, np.mean(rankdata(-table, axis=1), axis=0).tolist(), strict=True))


def critical_difference(n_models: int, n_rows: int, level: float = 0.05) -> float:
    """How far mean ranks must lie apart to be told apart: Nemenyi's test (Demšar, 2006).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - level, n_models, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_models * (n_models + 1) / (6 * n_rows))
