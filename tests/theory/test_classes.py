from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.theory.classes import Constants, QuantileStumps


@given(st.integers(1, 12), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_best_quantile_stump_says_what_it_gains_and_no_threshold_among_the_values_does_better(n, d, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, d)).astype(float)
    X[rng.random((n, d)) < 0.1] = np.nan
    gains = rng.normal(size=(n, k))
    value, best = QuantileStumps(n_cells=n).best_in_class(X, gains)  # as many cells as rows: every value is an edge
    assert gains[np.arange(n), best(X)].sum() == pytest.approx(value)
    naive = max(
        sum(gains[row, labels[int(sum(x > cut for cut in cuts))]] for row, x in enumerate(column))
        for column in np.nan_to_num(X, nan=-1.0).T
        for cuts in itertools.combinations_with_replacement([*np.unique(column[column >= 0]), np.inf], k - 1)
        for labels in itertools.product(range(k), repeat=k)
    )
    assert value == pytest.approx(naive)
    assert value >= Constants().best_in_class(X, gains).value - 1e-12


def test_rows_without_features_leave_only_constants():
    value, best = QuantileStumps().best_in_class(np.zeros((3, 0)), np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    assert value == 2.0
    np.testing.assert_array_equal(best(np.zeros((2, 0))), [1, 1])
