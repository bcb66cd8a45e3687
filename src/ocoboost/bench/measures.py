"""Numbers about predictions, and about numbers.

Scores are scikit-learn's, in percent. No prediction, which is what a model has before its first label, is a wrong one.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn import metrics

from ocoboost.arrays import FloatArray, IntArray

LAST = 5  # the end of a stream is its last fifth


def accuracy(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """Percent of the predictions that are right.

    >>> accuracy(["a", "b", None, "a"], ["a", "b", "b", "b"])
    50.0
    """
    return 100.0 * float(metrics.accuracy_score(*_indices(predictions, labels)))


def last(values: Sequence[Any]) -> Sequence[Any]:
    """The last fifth, but at least one."""
    return values[-max(len(values) // LAST, 1) :]


def curve(predictions: Sequence[Any], labels: Sequence[Any], n_points: int) -> list[float]:
    """Accuracy so far, in percent, at ``n_points`` evenly spaced rows, the last row among them."""
    right = np.cumsum([p == y for p, y in zip(predictions, labels, strict=True)])
    ends = np.linspace(0, len(right), n_points + 1).astype(int)[1:]
    return [round(float(100.0 * right[end - 1] / end), 2) if end else 0.0 for end in ends]


def confusion(predictions: Sequence[Any], labels: Sequence[Any], known: Sequence[Any]) -> IntArray:
    """The confusion matrix: true labels down, predictions across, both in the order of ``known``.

    >>> confusion([None, "a", "b"], ["a", "a", "a"], ["a", "b"]).tolist()  # no prediction is in no column
    [[1, 1], [0, 0]]
    """
    true, predicted = _indices(predictions, labels, known)
    columns = metrics.confusion_matrix(true, predicted, labels=[*range(len(known)), _UNKNOWN])
    return np.asarray(columns[: len(known), : len(known)], dtype=np.int64)


def macro_f1(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """Mean of the labels' F1 scores, in percent; every label of the stream counts alike.

    >>> round(macro_f1(["a", "a", "b", "b"], ["a", "a", "c", "b"]), 2)  # 1 for a, 2/3 for b, 0 for c
    55.56
    """
    true, predicted = _indices(predictions, labels)
    return 100.0 * float(
        metrics.f1_score(true, predicted, labels=sorted(set(true)), average="macro", zero_division=0.0)
    )


def kappa(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """Cohen's kappa, in percent: 0 for guessing by frequency, 100 for no mistake.

    >>> kappa(["a", "a", "a", "a"], ["a", "a", "a", "b"])
    0.0
    """
    true, predicted = _indices(predictions, labels)
    if true == predicted:
        return 100.0
    return 100.0 * float(metrics.cohen_kappa_score(true, predicted))


def kappa_temporal(predictions: Sequence[Any], labels: Sequence[Any]) -> float:
    """The same against repeating the last label, in percent (Žliobaitė et al., 2015): below 0 is worse than that.

    >>> round(kappa_temporal(["a", "a", "b", "b"], ["a", "a", "b", "a"]), 1)  # the last label is right once, we thrice
    66.7
    """
    mistakes = 100.0 - accuracy(predictions, labels)
    repeated = 100.0 - accuracy([None, *labels[:-1]], labels)  # wrong on the first row at least
    return 100.0 * (1.0 - mistakes / repeated)


def after_changes(
    predictions: Sequence[Any], labels: Sequence[Any], changes: Sequence[int], n_rows: int = 1000
) -> list[float]:
    """Accuracy, in percent, on the rows after each change, up to the next one.

    >>> after_changes(["a"] * 6, ["a", "a", "b", "a", "b", "b"], [2, 4], n_rows=3)
    [50.0, 0.0]
    """
    spans = [slice(begin, min(begin + n_rows, end)) for begin, end in pairwise((*changes, len(labels)))]
    return [accuracy(predictions[span], labels[span]) for span in spans]


_UNKNOWN = -1


def _indices(
    predictions: Sequence[Any], labels: Sequence[Any], known: Sequence[Any] | None = None
) -> tuple[list[int], list[int]]:
    """Labels and predictions as numbers, for scikit-learn sorts them, and None has no order."""
    places = {label: place for place, label in enumerate(dict.fromkeys(labels) if known is None else known)}
    return [places[label] for label in labels], [places.get(label, _UNKNOWN) for label in predictions]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error; the error of one value is not known, and 0 here."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return statistics.fmean(values), error


def shown(interval: tuple[float, float], digits: int = 1) -> str:
    """A mean and its error, which a single run does not have.

    >>> shown((85.23, 0.41)), shown((85.23, 0.0))
    ('85.2 ± 0.4', '85.2')
    """
    mean, error = interval
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if error else f"{mean:.{digits}f}"


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
    """How far apart mean ranks must be to differ significantly: Nemenyi's test (Demšar, 2006).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - level, n_models, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_models * (n_models + 1) / (6 * n_rows))


def calibration_error(confidence: FloatArray, is_right: Any, n_bins: int = 15) -> float:
    """Expected calibration error: how far confidence and accuracy are apart in bins of equal width, by their rows.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])), 3)
    0.1
    """
    bins = np.minimum((np.asarray(confidence) * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, np.asarray(is_right, dtype=float) - confidence, n_bins)
    return float(np.abs(gaps).sum() / max(1, len(bins)))
