"""Histogram trees against a slow twin with exact fractions, and against scikit-learn."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from ocoboost import HistogramTreeClassifier
from ocoboost.batch import tree as tree_module
from ocoboost.batch.binning import ENOUGH_ROWS, find_bins, rows_for_bins
from ocoboost.batch.learners import TreeLearner
from ocoboost.batch.rows import Lesson, Rows, count
from ocoboost.batch.tree import Tree


def soft_sample(seed, n_rows, n_features, n_classes, with_missing=True):
    """Coarse features with ties and holes, and small whole label weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, n_features)).astype(float)
    if with_missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.integers(0, 5, (n_rows, n_classes)) * rng.integers(0, 2, (n_rows, 1))


def grow(X, quanta, max_depth, cuts=()):
    """A tree grown from histograms that are counted in pieces."""
    binning = find_bins(X, np.ones(len(X)), 255)
    codes, none = binning.codes(X), np.empty(0, dtype=np.int64)
    edges = [0, *sorted(cuts), len(X)]
    shares = [
        (Rows(a, codes[a:b], none, none, none, none), Lesson(quanta[a:b], 1.0)) for a, b in itertools.pairwise(edges)
    ]

    def count_all(tree, nodes, slots):
        return sum(count(rows, None, lesson, tree, nodes, slots) for rows, lesson in shares)

    return TreeLearner(binning, quanta.shape[1], max_depth).grow(count_all), codes, binning


def purity(weights):
    total = int(weights.sum())
    return Fraction(int((weights * weights).sum()), total) if total else Fraction(0)


def slow_split(codes, quanta, n_bins):
    """The first of the best splits, by exact arithmetic: which rows go left, or None."""
    best, best_left = purity(quanta.sum(axis=0)), None
    for column in range(codes.shape[1]):
        missing = codes[:, column] == n_bins[column]
        for last in range(n_bins[column]):
            for takes_missing in (False, True):
                left = (codes[:, column] <= last) & ~missing | (missing if takes_missing else False)
                score = purity(quanta[left].sum(axis=0)) + purity(quanta[~left].sum(axis=0))
                if score > best:
                    best, best_left = score, left
    return best, best_left


def check_node(tree, node, codes, quanta, rows, n_bins, depth):
    np.testing.assert_array_equal(tree.weights[node], quanta[rows].sum(axis=0))
    best, best_left = slow_split(codes[rows], quanta[rows], n_bins)
    if tree.feature[node] < 0:
        assert depth == 0 or best_left is None
        return
    assert depth > 0
    left = tree.left[node]
    assert purity(tree.weights[left]) + purity(tree.weights[left + 1]) == best
    code, missing = codes[rows, tree.feature[node]], n_bins[tree.feature[node]]
    goes_left = np.where(code == missing, tree.missing_left[node] == 1, code <= tree.threshold[node])
    check_node(tree, left, codes, quanta, rows[goes_left], n_bins, depth - 1)
    check_node(tree, left + 1, codes, quanta, rows[~goes_left], n_bins, depth - 1)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 3), st.integers(2, 4), st.integers(1, 4))
def test_every_split_is_the_best_by_exact_arithmetic(seed, n_rows, n_features, n_classes, max_depth):
    X, quanta = soft_sample(seed, n_rows, n_features, n_classes)
    tree, codes, binning = grow(X, quanta, max_depth)
    check_node(tree, 0, codes, quanta, np.arange(n_rows), binning.n_bins, max_depth)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sets(st.integers(1, 29), max_size=5), st.booleans())
def test_neither_cuts_nor_memory_limits_change_a_tree(seed, cuts, is_tight):
    X, quanta = soft_sample(seed, 30, 3, 3)
    whole, codes, _ = grow(X, quanta, 4)
    with pytest.MonkeyPatch.context() as patch:
        if is_tight:
            patch.setattr(tree_module, "MOST_BYTES", 0)
        pieces, _, _ = grow(X, quanta, 4, cuts)
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole.vote(codes), whole.votes[whole.find_leaves(codes)])


@pytest.mark.parametrize("max_depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_as_pure_as_scikit_learns_tree(max_depth, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (300, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] * rng.random(300) > 7).astype(int) + (X[:, 2] > 6)
    weights = rng.choice([0.5, 1.0, 2.0], 300)
    ours = HistogramTreeClassifier(max_depth).fit(X, y, weights)
    theirs = DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(X, y, weights)
    if max_depth == 1:  # deeper trees may part at a tie
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert ours.score(X, y, weights) == pytest.approx(theirs.score(X, y, weights), abs=0.02)


def test_missing_values_go_where_they_help():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan], [8.0], [9.0]])
    for y in ([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]):
        np.testing.assert_array_equal(HistogramTreeClassifier(1).fit(X, y).predict(X), y)
    alone = [0, 0, 1, 1, 0, 0]
    np.testing.assert_array_equal(HistogramTreeClassifier(1).fit(X, alone).predict(X), alone)


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(500, 4)), rng.integers(0, 3, 500), rng.random(500)
    order = rng.permutation(500)
    first = HistogramTreeClassifier(4).fit(X, y, weights)
    second = HistogramTreeClassifier(4).fit(X[order], y[order], weights[order])
    np.testing.assert_array_equal(first.tree_.weights, second.tree_.weights)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=1, max_size=30), st.integers(2, 8))
def test_bins_keep_order_and_missing_values_apart(values, max_bins):
    column = np.array(values)[:, None]
    binning = find_bins(column, np.ones(len(values)), max_bins)
    codes = binning.codes(column)[:, 0]
    known = ~np.isnan(column[:, 0])
    assert (codes[~known] == binning.n_bins[0]).all()
    assert (codes[known] < binning.n_bins[0]).all()
    assert binning.n_bins[0] <= max_bins
    order = np.argsort(column[known, 0], kind="stable")
    assert (np.diff(codes[known][order].astype(int)) >= 0).all()
    if len(np.unique(column[known])) <= max_bins:
        assert len(np.unique(codes[known])) == len(np.unique(column[known]))


def test_bins_have_equal_weight_and_ignore_rows_without():
    rng = np.random.default_rng(0)
    column, weights = rng.random((4000, 1)), rng.integers(0, 3, 4000).astype(float)
    codes = find_bins(column, weights, 8).codes(column)[:, 0]
    shares = np.bincount(codes, weights=weights) / weights.sum()
    np.testing.assert_allclose(shares, 1 / 8, atol=0.002)
    repeated = np.repeat(column, weights.astype(int), axis=0)
    again = find_bins(repeated, np.ones(len(repeated)), 8)
    np.testing.assert_array_equal(find_bins(column, weights, 8).thresholds, again.thresholds)


def test_rows_for_bins_are_keyed_by_row_number():
    n = 4 * ENOUGH_ROWS
    whole = rows_for_bins(3, 0, n, n)
    assert abs(whole.sum() - ENOUGH_ROWS) < 5 * np.sqrt(ENOUGH_ROWS)
    np.testing.assert_array_equal(whole[1000:5000], rows_for_bins(3, 1000, 4000, n))
    assert rows_for_bins(3, 0, 10, 10).all()


def test_a_leaf_is_a_tree():
    tree = Tree.leaf(np.array([1, 5, 5]))
    np.testing.assert_array_equal(tree.vote(np.zeros((3, 2), dtype=np.uint8)), [1, 1, 1])
