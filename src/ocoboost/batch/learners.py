"""Weak learners of a stage: the native tree, or any scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import rows as shards
from ocoboost.batch.binning import Binning
from ocoboost.batch.rows import Hypothesis
from ocoboost.batch.sample import Sample
from ocoboost.batch.tree import Tree, grow
from ocoboost.randomness import derive_seed

_EXACT_BITS = 52  # of a sum; floats have one more, a margin for the rounding of every weight


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
        """Grow a tree; ``count`` returns the histograms of some of its leaves (see ``rows.count``)."""
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
        every = sample.from_lessons(shards.examples)
        *columns, units = zip(*every, strict=True)
        order, X, labels, quanta = map(np.concatenate, columns)
        weights = exactly_summable(quanta, units[0])
        kept = np.flatnonzero(weights)
        in_order = kept[np.argsort(order[kept], kind="stable")]
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


def exactly_summable(quanta: IntArray, unit: float) -> FloatArray:
    """Fixed-point weights as floats with so few digits that every sum of them is exact.

    A classifier may sum weights in any order. If its sums were rounded, then rounding would decide between splits of
    equal merit (splits that divide the rows alike are common), and another order of the rows, or a row of weight 2
    instead of two rows, would grow another tree.

    >>> weights = exactly_summable(np.array([2**59 + 1, 2**60, 3]), 2.0**60)
    >>> weights.tolist(), weights.sum().item(), weights[::-1].sum().item()
    ([0.5, 1.0, 0.0], 1.5, 1.5)
    """
    n_bits = max(0, int(quanta.sum()).bit_length() - _EXACT_BITS)
    half = (1 << n_bits) >> 1
    rounded: FloatArray = ((quanta + half) >> n_bits).astype(np.float64)
    return rounded * (2.0**n_bits / unit)


def _seeds_of(estimator: Any) -> list[str]:
    return [name for name in estimator.get_params() if name == "random_state" or name.endswith("__random_state")]
