"""Samples with scikit-learn's checks and error messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Binning, Codes, find_bins, rows_for_bins


@contextmanager
def unless_refused(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if ``fit`` raises: scikit-learn's checks set attributes before all is checked."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class CheckedSample(NamedTuple):
    """Features, labels as indices into the sorted classes, and weights of which the largest is 1."""

    X: FloatArray
    labels: IntArray
    weights: FloatArray
    classes: NDArray[Any]


def read_sample(estimator: Any, X: Any, y: Any, sample_weight: Any, *, allow_nan: bool) -> CheckedSample:
    """Check a sample for ``fit``."""
    finite: Any = "allow-nan" if allow_nan else True
    X, y = validate_data(estimator, X, y, dtype=np.float64, order="C", ensure_all_finite=finite)
    classes, labels = read_classes(y)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_enough(classes, len(y), np.bincount(labels[weights > 0.0], minlength=len(classes)))
    return CheckedSample(X, labels, weights / weights.max(), classes)


def read_classes(y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """The classes in order, and the place of every label among them."""
    try:
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
    except TypeError as error:
        types = ", ".join(sorted({type(label).__name__ for label in y}))
        raise TypeError(
            f"y has labels of several types, which have no order: {types}; make all of them one type, and leave out "
            "rows without a label"
        ) from error
    return classes, labels.astype(np.int64)


def check_enough(classes: NDArray[Any], n_rows: int, rows_per_class: IntArray) -> None:
    """Raise unless some weight is positive, two classes have some, and there are more rows than classes."""
    if not rows_per_class.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    present = np.nonzero(rows_per_class)[0]
    if len(present) < 2:
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{classes[present[0]]!r}"
        )
    if n_rows <= len(classes):
        raise ValueError(
            f"The number of samples must be more than the number of classes, got {n_rows} samples of {len(classes)} "
            "classes; are the labels continuous?"
        )


def bin_features(X: FloatArray, weights: FloatArray, max_bins: int, seed: int) -> tuple[Binning, Codes]:
    """Thresholds, and the bin of every cell."""
    chosen = rows_for_bins(seed, 0, len(X), len(X))
    binning = find_bins(X[chosen], weights[chosen], max_bins)
    return binning, binning.codes(X)
