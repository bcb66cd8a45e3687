"""What a split is worth: class distributions of candidate branches, and River's criteria on them."""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.layout import GINI, HIGH, INFO_GAIN, LOW, MEAN, SQUARES, WEIGHT

_kernel = kernel(error_model="numpy")


@_kernel
def total_weight(weights: FloatArray) -> float:
    """Compensated sum (Neumaier): what Python's ``sum`` gives from 3.12 on."""
    total = 0.0
    lost = 0.0
    for weight in weights:
        grown = total + weight
        if abs(total) >= abs(weight):
            lost += (total - grown) + weight
        else:
            lost += (weight - grown) + total
        total = grown
    return total + lost


@_kernel
def _entropy(dist: FloatArray) -> float:
    entropy = 0.0
    total = 0.0
    for weight in dist:
        if weight > 0.0:
            entropy -= weight * np.log2(weight)
            total += weight
    return (entropy + total * np.log2(total)) / total if total > 0.0 else 0.0


@_kernel
def _gini(dist: FloatArray, total: float) -> float:
    gini = 1.0
    if total != 0.0:
        for weight in dist:
            share = weight / total
            gini -= share * share
    return gini


@_kernel
def merit_of_split(
    criterion: int, before: FloatArray, branches: FloatArray, n_branches: int, min_fraction: float
) -> float:
    """River's merit of splitting ``before`` into the first rows of ``branches``; -inf if fewer than two are large."""
    total = 0.0
    for b in range(n_branches):
        total += total_weight(branches[b])
    n_large = 0
    if total > 0.0:
        for b in range(n_branches):
            if total_weight(branches[b]) / total > min_fraction:
                n_large += 1
    if n_large < 2:
        return -np.inf
    if criterion == GINI:
        gini = 0.0
        for b in range(n_branches):
            weight = total_weight(branches[b])
            gini += weight / total * _gini(branches[b], weight)
        return 1.0 - gini
    if criterion == INFO_GAIN:
        entropy = 0.0
        for b in range(n_branches):
            entropy += total_weight(branches[b]) * _entropy(branches[b])
        return _entropy(before) - entropy / total
    return _hellinger(branches)


@_kernel
def _hellinger(branches: FloatArray) -> float:
    """Distance between the two classes' distributions over the first two branches; 0 where one of them is unknown."""
    if branches.shape[1] < 2:
        return 0.0
    if min(branches[0, 0], branches[0, 1], branches[1, 0], branches[1, 1]) <= 0.0:
        return 0.0
    negative = branches[0, 0] + branches[1, 0]
    positive = branches[0, 1] + branches[1, 1]
    first = np.sqrt(branches[0, 0] / negative) - np.sqrt(branches[0, 1] / positive)
    second = np.sqrt(branches[1, 0] / negative) - np.sqrt(branches[1, 1] / positive)
    return float(np.sqrt(first * first + second * second))


@_kernel
def divide_numbers(moments: FloatArray, threshold: float, branches: FloatArray) -> None:
    """Estimated class distributions at or below a threshold, and above it."""
    for c in range(moments.shape[0]):
        weight = moments[c, WEIGHT]
        if weight <= 0.0:
            branches[0, c] = 0.0
            branches[1, c] = 0.0
        elif threshold < moments[c, LOW]:
            branches[0, c] = 0.0
            branches[1, c] = weight
        elif threshold >= moments[c, HIGH]:
            branches[0, c] = weight
            branches[1, c] = 0.0
        else:
            below = 0.0
            if weight > 1.0 and moments[c, SQUARES] > 0.0:
                deviation = np.sqrt(moments[c, SQUARES] / (weight - 1.0))
                below = 0.5 * (1.0 + math.erf((threshold - moments[c, MEAN]) / deviation / np.sqrt(2.0)))
            branches[0, c] = below * weight
            branches[1, c] = weight - branches[0, c]


@_kernel
def divide_categories(table: FloatArray, code: int, branches: FloatArray) -> None:
    """Class distributions of one category, and of all others."""
    for c in range(table.shape[0]):
        equal = 0.0
        other = 0.0
        for category in range(table.shape[1]):
            if category == code:
                equal += table[c, category]
            else:
                other += table[c, category]
        branches[0, c] = equal
        branches[1, c] = other


@_kernel
def list_categories(table: FloatArray, branches: FloatArray, codes: IntArray) -> int:
    """Class distributions of every category observed, and their codes; returns how many."""
    n_observed = 0
    for category in range(table.shape[1]):
        observed = False
        for c in range(table.shape[0]):
            observed |= table[c, category] > 0.0
        if observed:
            for c in range(table.shape[0]):
                branches[n_observed, c] = table[c, category]
            codes[n_observed] = category
            n_observed += 1
    return n_observed


@_kernel
def numeric_range(moments: FloatArray) -> tuple[float, float]:
    low = np.inf
    high = -np.inf
    for c in range(moments.shape[0]):
        low = min(low, moments[c, LOW])
        high = max(high, moments[c, HIGH])
    return low, high
