"""Weak learners of a stage: the native tree, or any scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from ocoboost.arrays import IntArray
from ocoboost.batch import rows as shards
from ocoboost.batch.binning import Binning
from ocoboost.batch.rows import Hypothesis
from ocoboost.batch.sample import Sample
from ocoboost.batch.tree import Tree, grow
from ocoboost.randomness import derive_seed


class WeakLearner(Protocol):
    """Fits a hypothesis to the lesson that a sample holds."""

    def fit(self, sample: Sample, stage: int) -> Hypothesis: ...


class TreeLearner(NamedTuple):
    """A native tree, from histograms of binned features."""

    binning: Binning
    n_classes: int
    max_depth: int

    def fit(self, sample: Sample, stage: int) -> Tree:
        return self.grow(partial(sample.sum_of_lessons, shards.count))

    def grow(self, count: Callable[[Tree, IntArray, IntArray], IntArray]) -> Tree:
        """A tree from whatever counts histograms of the leaves of a tree (see ``rows.count``)."""
        slots = self.binning.slots
        return grow(lambda tree, nodes: count(tree, nodes, slots), slots, self.n_classes, self.max_depth)


class ForeignHypothesis(NamedTuple):
    """A fitted scikit-learn classifier."""

    estimator: Any
    classes: NDArray[Any]

    def vote(self, X: Any, /) -> IntArray:
        votes: IntArray = np.searchsorted(self.classes, self.estimator.predict(X)) if len(X) else np.zeros(0, np.int64)
        return votes


class ForeignLearner(NamedTuple):
    """Clones of a scikit-learn classifier, taught single examples with weights."""

    estimator: Any
    classes: NDArray[Any]
    takes_weights: bool  # if not, every example has weight 1
    seed: int

    def fit(self, sample: Sample, stage: int) -> ForeignHypothesis:
        parts = sample.from_lessons(shards.examples)
        order, X, labels, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        in_order = np.argsort(order, kind="stable")
        X, labels, weights = X[in_order], labels[in_order], weights[in_order]
        if labels.min() == labels.max():  # many classifiers refuse to learn a single class
            constant = DummyClassifier(strategy="most_frequent").fit(X, self.classes[labels])
            return ForeignHypothesis(constant, self.classes)
        estimator = clone(self.estimator)
        seeds = {name: derive_seed(self.seed, stage) for name in _seeds_of(estimator)}
        estimator.set_params(**seeds)
        if self.takes_weights:
            estimator.fit(X, self.classes[labels], sample_weight=weights)
        else:
            estimator.fit(X, self.classes[labels])
        return ForeignHypothesis(estimator, self.classes)


def _seeds_of(estimator: Any) -> list[str]:
    return [name for name in estimator.get_params() if name == "random_state" or name.endswith("__random_state")]
