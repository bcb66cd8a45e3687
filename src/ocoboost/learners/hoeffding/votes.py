"""What a leaf of a Hoeffding tree says to a row: class shares, by naive Bayes or by majority.

Arrays are indexed whole, not through views: where references are counted, a view costs two atomic operations, about as
much as the arithmetic on its elements.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.layout import ADAPTIVE, MEAN, NAIVE_BAYES, SQUARES, WEIGHT, Rules, Scratch, Trees

_DENSITY_SCALE = 1.0 / math.tau
_TINY = 1e-290  # squares below this have no finite inverse
# One logarithm is taken of the product of sixteen precisions, if its four factors are within these limits.
_LOG_EVERY, _SMALLEST, _LARGEST = 16, 1e-70, 1e70

_kernel = kernel(error_model="numpy")  # divisions by zero are guarded, so loops vectorise
_inlined = kernel(error_model="numpy", forceinline=True)


@_inlined
def _log_likelihood(
    moments: FloatArray,
    tree: int,
    slot: int,
    c: int,
    x: FloatArray,
    prior: float,
    penalty: FloatArray,
    precision: FloatArray,
) -> float:
    """The logarithm of a class's prior times the density of every column of numbers, up to a constant."""
    n_numeric = moments.shape[4]
    for f in range(n_numeric):
        freedom = moments[tree, slot, c, WEIGHT, f] - 1.0
        squares = moments[tree, slot, c, SQUARES, f]
        difference = x[f] - moments[tree, slot, c, MEAN, f]
        known = (freedom > 0.0) & (squares > _TINY) & (squares < np.inf) & (difference == difference)
        inverse = freedom / squares  # of the variance
        precision[f] = inverse * _DENSITY_SCALE if known else 1.0
        penalty[f] = difference * difference * inverse if known else 0.0
    # Four sums and products side by side: the operations of one would wait for each other.
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    p0, p1, p2, p3 = prior, prior, 1.0, 1.0
    logs = 0.0
    is_plain = n_numeric > 0
    for first in range(0, n_numeric, _LOG_EVERY):
        for f in range(first, min(first + _LOG_EVERY, n_numeric), 4):
            s0 += penalty[f]
            s1 += penalty[f + 1]
            s2 += penalty[f + 2]
            s3 += penalty[f + 3]
            p0 *= precision[f]
            p1 *= precision[f + 1]
            p2 *= precision[f + 2]
            p3 *= precision[f + 3]
        is_plain &= (min(p0, p1, p2, p3) > _SMALLEST) & (max(p0, p1, p2, p3) < _LARGEST)
        logs += np.log((p0 * p1) * (p2 * p3))
        p0, p1, p2, p3 = 1.0, 1.0, 1.0, 1.0
    if not is_plain:
        logs = 2.0 * np.log(prior)
        for f in range(n_numeric):
            logs += np.log(precision[f])
    return 0.5 * (logs - ((s0 + s1) + (s2 + s3)))


@_kernel
def _bayes_scores(
    class_weight: FloatArray,
    class_seen: IntArray,
    moments: FloatArray,
    tables: FloatArray,
    tree: int,
    node: int,
    slot: int,
    x: FloatArray,
    penalty: FloatArray,
    precision: FloatArray,
    scores: FloatArray,
) -> bool:
    """``bayes_scores``; a call copies every array of its named tuples, so it is handed only those that it needs."""
    total = 0.0
    for c in range(scores.size):
        total += class_weight[tree, node, c]
    if not total > 0.0:
        return False
    for c in range(scores.size):
        weight = class_weight[tree, node, c]
        if not class_seen[tree, node, c]:
            scores[c] = -np.inf
            continue
        if not weight > 0.0:
            scores[c] = 0.0  # River's rule for a class that is known with weight zero
            continue
        score = _log_likelihood(moments, tree, slot, c, x, weight / total, penalty, precision)
        for f in range(tables.shape[3]):
            value = x[moments.shape[4] + f]
            if value == value and value < tables.shape[4] and tables[tree, slot, c, f, int(value)] > 0.0:
                observed = 0.0
                for category in range(tables.shape[4]):
                    observed += tables[tree, slot, c, f, category]
                score += np.log(tables[tree, slot, c, f, int(value)] / observed)
        scores[c] = score
    return True


@_inlined
def bayes_scores(trees: Trees, tree: int, node: int, slot: int, x: FloatArray, scratch: Scratch) -> bool:
    """Log probabilities up to a constant in ``scratch.scores``, -inf for unseen classes; false if nothing is known."""
    return _bayes_scores(
        trees.class_weight,
        trees.class_seen,
        trees.moments,
        trees.tables,
        tree,
        node,
        slot,
        x,
        scratch.penalty,
        scratch.precision,
        scratch.scores,
    )


@_inlined
def leaf_vote(
    trees: Trees,
    tree: int,
    leaf: int,
    rules: Rules,
    has_scores: bool,
    scores: FloatArray,
    n_classes: int,
    out: FloatArray,
) -> None:
    """The leaf's class probabilities, by naive Bayes or by majority; uniform if it knows nothing."""
    class_weight = trees.class_weight
    total = 0.0
    for c in range(n_classes):
        total += class_weight[tree, leaf, c]
    use_bayes = has_scores
    if rules.leaf == NAIVE_BAYES:
        use_bayes &= total >= rules.nb_threshold
    elif rules.leaf == ADAPTIVE:
        use_bayes &= trees.nodes[tree, leaf].bayes_right >= trees.nodes[tree, leaf].majority_right
    highest = -np.inf
    if use_bayes:
        for c in range(n_classes):
            highest = max(highest, scores[c])
    if highest > -np.inf:  # else no density is above zero, which takes values near the limits of floating point
        summed = 0.0
        for c in range(n_classes):
            out[c] = np.exp(scores[c] - highest)
            summed += out[c]
        for c in range(n_classes):
            out[c] /= summed
    else:
        for c in range(n_classes):
            out[c] = class_weight[tree, leaf, c] / total if total > 0.0 else 1.0 / n_classes
