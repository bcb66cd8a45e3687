"""The native weak learner by itself: a decision tree on binned features, with scikit-learn's protocol."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ocoboost.arrays import FloatArray
from ocoboost.batch.binning import MOST_BINS, Binning
from ocoboost.batch.input import bin_features, read_sample, unless_refused
from ocoboost.batch.learners import TreeLearner
from ocoboost.batch.rows import Rows, count, fixed_point_scale, taught_rows, teach_labels
from ocoboost.batch.tree import Tree
from ocoboost.data.parameters import AnyOf, Count, OneOf, Range, check_parameters


def default_depth(n_classes: int) -> int:
    """One more than the smallest depth with more leaves than classes, which did better in benchmarks.

    >>> [default_depth(k) for k in (2, 3, 4, 7, 8, 26)]
    [3, 3, 4, 4, 5, 6]
    """
    return n_classes.bit_length() + 1


class HistogramTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree grown level by level on features that are binned once; the batch boosters' default learner.

    Splits minimise the Gini impurity. Missing values (NaN) go to the side where that is lower. Weights are summed in
    64-bit fixed point, so the tree does not depend on the order of the rows.

    Parameters
    ----------
    max_depth
        None: one more than the smallest depth with more leaves than classes.
    max_bins
        The largest number of bins per feature, not counting the one for missing values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> HistogramTreeClassifier(max_depth=1).fit(X, y).score(X, y)  # a stump tells two of three classes apart
    0.6666666666666666
    """

    ranges: ClassVar[dict[str, Range]] = {
        "max_depth": AnyOf(Count(at_least=1), OneOf(None)),
        "max_bins": Count(at_least=2, below=MOST_BINS + 1),
    }

    def __init__(self, max_depth: int | None = None, *, max_bins: int = 64) -> None:
        self.max_depth = max_depth
        self.max_bins = max_bins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree."""
        with unless_refused(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_parameters(self, self.ranges)
        sample = read_sample(self, X, y, sample_weight, allow_nan=True)
        binning, codes = bin_features(sample.X, sample.weights, self.max_bins, seed=0)
        none = np.empty(0, dtype=np.int64)
        rows = Rows(0, codes, sample.labels, sample.weights, none, none)
        lesson = teach_labels(rows, fixed_point_scale(int(taught_rows(rows)[1])))
        tree = self.learner(binning, len(sample.classes)).grow(partial(count, rows, None, lesson))
        return self.adopt(sample.classes, binning, tree)

    def learner(self, binning: Binning, n_classes: int) -> TreeLearner:
        """A learner that grows such a tree in every stage."""
        return TreeLearner(binning, n_classes, self.max_depth or default_depth(n_classes))

    def adopt(self, classes: NDArray[Any], binning: Binning, tree: Tree) -> Self:
        """Become a fitted classifier with this tree."""
        self.classes_ = classes
        self.binning_ = binning
        self.tree_ = tree
        self.n_features_in_ = len(binning.starts) - 1
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The heaviest label of each row's leaf, ties to the first."""
        leaves = self._leaves(X)
        labels: NDArray[Any] = self.classes_[self.tree_.votes[leaves]]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """The labels' shares in each row's leaf."""
        leaves = self._leaves(X)
        weights = self.tree_.weights[leaves].astype(np.float64)
        shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def _leaves(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self.tree_.find_leaves(self.binning_.codes(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
