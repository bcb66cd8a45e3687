"""What a split tells about the labels: the evidence for it, in nats.

Counts of labels have a probability under a Dirichlet prior (1/k for each of k labels) that is integrated out. A split
is worth the logarithm of the probability of its branches' counts over that of the counts together: the Bayes factor for
"the branches differ". Unlike an impurity, it is below zero for a split that tells nothing, however few rows it divides,
so that columns which trees cut at random do not add up to something.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from ocoboost.arrays import FloatArray

LEAST_WEIGHT = 8.0  # of a branch that can tell anything
_LEAST_VARIANCE = 1e-4  # relative to that of all labels together: a constant column is not infinitely telling


def log_evidence(counts: FloatArray, n_classes: int) -> FloatArray:
    """The log probability of counts of labels, along the last axis; classes beyond ``n_classes`` have none.

    >>> both, apart = np.array([[8.0, 8.0]]), np.array([[8.0, 0.0], [0.0, 8.0]])
    >>> bool(log_evidence(apart, 2).sum() - log_evidence(both, 2).sum() > 5.0)
    True
    >>> alike = np.array([[4.0, 4.0], [4.0, 4.0]])
    >>> bool(log_evidence(alike, 2).sum() - log_evidence(both, 2).sum() < 0.0)
    True
    """
    prior = 1.0 / n_classes
    known = gammaln(counts + prior) - gammaln(prior)  # 0 for no count
    result: FloatArray = known.sum(axis=-1) - gammaln(1.0 + counts.sum(axis=-1))
    return result


def numbers_evidence(weight: FloatArray, mean: FloatArray, squares: FloatArray) -> FloatArray:
    """How much better numbers are described by a normal distribution per label than by one, as BIC estimates it.

    Arrays have shape (leaves, classes, columns): what was observed of each class.
    """
    seen = weight > 1.0
    weight = np.where(seen, weight, 0.0)
    total = weight.sum(axis=1)
    safe = np.maximum(total, 1.0)
    middle = (weight * np.where(seen, mean, 0.0)).sum(axis=1) / safe
    spread = np.where(seen, squares + weight * (mean - middle[:, None]) ** 2, 0.0).sum(axis=1) / safe
    usable = (spread > 0.0) & np.isfinite(spread)
    spread = np.where(usable, spread, 1.0)
    own = np.maximum(squares / np.maximum(weight, 1.0), _LEAST_VARIANCE * spread[:, None])
    gain = 0.5 * (total * np.log(spread) - np.where(seen, weight * np.log(own), 0.0).sum(axis=1))
    n_more = np.maximum(seen.sum(axis=1) - 1, 0)
    return np.where(usable, gain - n_more * np.log(safe), 0.0)


def categories_evidence(tables: FloatArray, n_classes: int) -> FloatArray:
    """The evidence for splitting by category, from weights of shape (leaves, classes, columns, categories)."""
    by_category = np.moveaxis(tables, 1, -1)  # (leaves, columns, categories, classes)
    apart: FloatArray = log_evidence(by_category, n_classes).sum(axis=-1)
    return apart - log_evidence(by_category.sum(axis=-2), n_classes)


def add_by_place(places: Any, worth: FloatArray, out: FloatArray) -> None:
    """Add what splits are worth to the places that they test."""
    out += np.bincount(places, worth, out.size)
