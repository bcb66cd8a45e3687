"""The best member of a class, against looking at every member."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.learners.experts.hypotheses import FunctionClass, TableClass, WeightMatrixClass
from ocoboost.learners.experts.stumps import Stump, StumpClass

SMALL_STUMPS = [
    StumpClass(n_features=d, n_classes=k, n_cells=b, n_pieces=p)
    for d, b, k, p in itertools.product((1, 2), range(1, 6), (1, 2, 3), (None, 1, 2))
]


def gained(hypothesis, X, gains):
    return float(gains[np.arange(len(X)), hypothesis(X)].sum())


def rows(hypothesis_class, n_rows, rng):
    X = rng.uniform(-0.2, 1.2, size=(n_rows, hypothesis_class.n_features))
    edges = np.append(hypothesis_class.edges, 0.5)
    return np.where(rng.random(X.shape) < 0.3, rng.choice(edges, X.shape), X)  # on the boundary, too


@pytest.mark.kernels
@pytest.mark.parametrize("stumps", SMALL_STUMPS, ids=str)
def test_the_best_stump_is_the_best_of_all_members(stumps):
    members = list(stumps.members())
    assert math.log(len(members)) == pytest.approx(stumps.log_size, abs=1e-9)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rows(stumps, 12, rng)
        gains = (
            rng.normal(size=(12, stumps.n_classes))
            if seed
            else np.eye(stumps.n_classes)[rng.integers(stumps.n_classes, size=12)]
        )
        value, best = stumps.best_in_class(X, gains)
        assert value == pytest.approx(max(gained(member, X, gains) for member in members), abs=1e-12)
        assert gained(best, X, gains) == pytest.approx(value, abs=1e-12)
        assert len(best.thresholds) == stumps.pieces - 1
        assert len(best.labels) == stumps.pieces


def test_a_missing_value_is_below_every_threshold():
    stump = Stump(0, (-math.inf, 0.5), (0, 1, 2))
    assert stump(np.array([[np.nan], [-1e300], [0.7]])).tolist() == [1, 1, 2]
    stumps = StumpClass(n_features=1, n_classes=2, n_cells=2)
    X = np.array([[np.nan], [0.2], [0.8]])
    gains = np.array([[0.0, 1.0], [0.4, 0.0], [1.0, 0.0]])
    value, best = stumps.best_in_class(X, gains)
    assert value == 2.0
    assert best(X).tolist() == [1, 1, 0]


@pytest.mark.kernels
@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_best_matrix_is_the_best_of_all_members(d, k, n_levels, seed):
    rng = np.random.default_rng(seed)
    matrices = WeightMatrixClass(d, k, n_levels)
    X, gains = rng.integers(-2, 3, size=(7, d)).astype(float), rng.normal(size=(7, k))
    value, best = matrices.best_in_class(X, gains)
    levels = np.linspace(-1, 1, n_levels)
    every = [np.reshape(entries, (k, d)) for entries in itertools.product(levels, repeat=k * d)]
    assert len(every) == matrices.size
    naive = max(float(gains[np.arange(7), (X @ matrix.T).argmax(axis=1)].sum()) for matrix in every)
    assert value == pytest.approx(naive, abs=1e-12)
    assert gained(best, X, gains) == pytest.approx(value, abs=1e-12)


def test_a_class_that_is_too_large_is_refused_with_its_size():
    with pytest.raises(InvalidParameterError, match=r"has 3,486,784,401 members, and at most 1,000,000 are enumerated"):
        WeightMatrixClass(n_features=10, n_classes=2)
    with pytest.raises(InvalidParameterError, match=r"has about 1e47 members"):
        WeightMatrixClass(n_features=10, n_classes=10)


@given(st.integers(0, 2**32 - 1))
def test_the_best_row_of_a_table(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(3, size=(6, 4))
    points, gains = rng.integers(4, size=(9, 1)), rng.normal(size=(9, 3))
    value, best = TableClass(table, 3).best_in_class(points, gains)
    totals = [gains[np.arange(9), row[points[:, 0]]].sum() for row in table]
    assert value == pytest.approx(max(totals), abs=1e-12)
    assert gained(best, points, gains) == pytest.approx(value, abs=1e-12)
    functions = FunctionClass([lambda x, row=row: row[x[0]] for row in table], 3)
    assert functions.best_in_class(points, gains).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TableClass([[0, -1]]), "label indices from 0"),
        (lambda: TableClass([[0, 2]], n_classes=2), "n_classes must be above every label index"),
        (lambda: FunctionClass([], 2), "at least one function"),
        (lambda: StumpClass(0, 2), "n_features must be at least 1, got 0"),
        (lambda: StumpClass(1, 2, low=1.0), "low must be below high"),
    ],
)
def test_impossible_classes_are_refused(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make()


def test_gains_of_another_shape_are_refused():
    with pytest.raises(InvalidInputError, match=r"gains: the shape is \(2, 3\), but 2 rows and 2 classes need"):
        StumpClass(1, 2).best_in_class(np.zeros((2, 1)), np.zeros((2, 3)))
    with pytest.raises(InvalidInputError, match="X: row 0 makes hypothesis 1 say 5"):
        FunctionClass([lambda x: 0, lambda x: 5], 2).best_in_class([0], np.zeros((1, 2)))
