"""Histogram trees, compiled: rows to leaves, rows to histograms, histograms to splits.

A histogram counts, for every bin of every feature, the weight of each label in 64-bit fixed point. Sums of integers
do not depend on the order, so shards may be counted anywhere and added in any order, and a child's histogram is exactly
its parent's minus its sibling's.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Codes
from ocoboost.compiling import allocating, kernel

# A split must improve on the best so far by more than rounding can: the first of equal ones wins, on every machine.
MARGIN = 1e-12


@kernel
def find_leaves(
    codes: Codes,
    feature: IntArray,
    threshold: IntArray,
    missing: IntArray,
    missing_left: IntArray,
    left: IntArray,
    out: IntArray,
) -> None:
    """The leaf that every row ends in."""
    for row in range(codes.shape[0]):
        node = 0
        while feature[node] >= 0:
            code = codes[row, feature[node]]
            goes_left = missing_left[node] == 1 if code == missing[node] else code <= threshold[node]
            node = left[node] if goes_left else left[node] + 1
        out[row] = node


@kernel
def count_soft(
    codes: Codes, quanta: IntArray, leaves: IntArray, place_of_node: IntArray, slots: IntArray, out: IntArray
) -> None:
    """Add every row's label weights to its node's histogram; ``out``: (nodes, slots, classes)."""
    for row in range(codes.shape[0]):
        place = place_of_node[leaves[row]]
        if place >= 0:
            for column in range(codes.shape[1]):
                slot = slots[column] + codes[row, column]
                for j in range(quanta.shape[1]):
                    out[place, slot, j] += quanta[row, j]


@kernel
def count_hard(
    codes: Codes,
    examples: IntArray,
    labels: IntArray,
    quanta: IntArray,
    leaves: IntArray,
    place_of_node: IntArray,
    slots: IntArray,
    out: IntArray,
) -> None:
    """The same for examples (numbers of rows) that carry one label each."""
    for example in range(examples.size):
        row = examples[example]
        place = place_of_node[leaves[row]]
        if place >= 0:
            for column in range(codes.shape[1]):
                out[place, slots[column] + codes[row, column], labels[example]] += quanta[example]


@kernel
def _purity(part: IntArray, whole: IntArray) -> float:
    """Squared label weights over their sum, for a part and the rest: the weight that guessing in proportion gets right.

    Both in one loop, because each addition waits for the one before it in its own sum.
    """
    total = 0.0
    squares = 0.0
    rest_total = 0.0
    rest_squares = 0.0
    for j in range(part.size):
        weight = np.float64(part[j])
        rest = np.float64(whole[j] - part[j])
        total += weight
        squares += weight * weight
        rest_total += rest
        rest_squares += rest * rest
    purity = squares / total if total > 0.0 else 0.0
    return purity + rest_squares / rest_total if rest_total > 0.0 else purity


@kernel
def _copy(weights: IntArray, out: IntArray) -> None:
    for j in range(out.size):
        out[j] = weights[j]


@kernel
def find_split(histogram: IntArray, slots: IntArray, best: IntArray, left_weights: IntArray, spare: IntArray) -> None:
    """The split of one node that lowers the Gini impurity most.

    ``best`` receives feature (-1: no split helps), the last bin on the left, and whether missing values go left;
    ``left_weights`` the label weights that go left. ``spare``: (3, classes).
    """
    n_classes = histogram.shape[1]
    whole = spare[0]
    part = spare[1]
    with_missing = spare[2]
    whole[:] = 0
    for slot in range(slots[0], slots[1]):
        for j in range(n_classes):
            whole[j] += histogram[slot, j]
    best[0] = -1
    best_score = _purity(whole, whole)
    for column in range(slots.size - 1):
        missing_slot = slots[column + 1] - 1
        any_missing = False
        for j in range(n_classes):
            any_missing |= histogram[missing_slot, j] != 0
        part[:] = 0
        # The last bin's threshold separates missing values from all others.
        for slot in range(slots[column], missing_slot - (0 if any_missing else 1)):
            any_here = False
            for j in range(n_classes):
                any_here |= histogram[slot, j] != 0
                part[j] += histogram[slot, j]
            if not any_here:
                continue
            score = _purity(part, whole)
            if score > best_score * (1.0 + MARGIN):
                best_score = score
                best[0] = column
                best[1] = slot - slots[column]
                best[2] = 0
                _copy(part, left_weights)
            if any_missing and slot < missing_slot - 1:
                for j in range(n_classes):
                    with_missing[j] = part[j] + histogram[missing_slot, j]
                score = _purity(with_missing, whole)
                if score > best_score * (1.0 + MARGIN):
                    best_score = score
                    best[0] = column
                    best[1] = slot - slots[column]
                    best[2] = 1
                    _copy(with_missing, left_weights)


@allocating
def find_splits(histograms: IntArray, slots: IntArray, best: IntArray, left_weights: IntArray) -> None:
    """``find_split`` for every node."""
    spare = np.empty((3, histograms.shape[2]), dtype=np.int64)
    for node in range(histograms.shape[0]):
        find_split(histograms[node], slots, best[node], left_weights[node], spare)


@kernel
def quantize(plays: FloatArray, weights: FloatArray, scale: float, out: IntArray) -> None:
    """Label weights in fixed point."""
    for row in range(plays.shape[0]):
        unit = weights[row] * scale
        for j in range(plays.shape[1]):
            out[row, j] = np.int64(plays[row, j] * unit + 0.5)
