"""Exponential weights over classes: their votes against every member written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from expert_twins import Exponential, block_of, stump_functions, vote_by_logarithms
from ocoboost import FiniteExperts, MatrixExperts, StumpExperts
from ocoboost.learners.experts.hypotheses import WeightMatrixClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stump_kernels import make_scratch, vote_by_stumps
from ocoboost.learners.experts.stumps import StumpClass

SMALL = [
    StumpClass(n_features=d, n_classes=k, n_cells=b, n_pieces=p)
    for d, b, k, p in itertools.product((1, 2), range(1, 6), (1, 2, 3), (None, 1, 2, 4))
    if p != 4 or k < 3
]


def vote_of_members(stumps, gains, cells, rate):
    """The vote by enumeration, its sums compensated."""
    centres = (np.arange(stumps.n_cells) + 0.5) / stumps.n_cells
    totals, labels = [], []
    for stump in stumps.members():
        X = np.tile(centres[:, None], stumps.n_features)
        said = stump(X)
        totals.append(math.fsum(gains[stump.feature, np.arange(stumps.n_cells), said]))
        labels.append(said[cells[stump.feature]])
    best = max(totals)
    weights = [math.exp(rate * (total - best)) for total in totals]
    by_label = [
        math.fsum(w for w, said in zip(weights, labels, strict=True) if said == label)
        for label in range(stumps.n_classes)
    ]
    return np.array(by_label) / math.fsum(weights)


@pytest.mark.kernels
@pytest.mark.parametrize("stumps", SMALL, ids=str)
def test_the_dynamic_programme_is_the_enumeration(stumps):
    """All d <= 2, cells <= 5, k <= 3."""
    rng = np.random.default_rng(stumps.n_cells)
    shape = (stumps.n_features, stumps.n_cells, stumps.n_classes)
    scratch, out = make_scratch(stumps.pieces, stumps.n_classes), np.empty(stumps.n_classes)
    for scale in (0.0, 1.0, 30.0, 5000.0):
        # Multiples of a sixteenth have exact sums, so that enumeration is right to the last digits at any scale.
        gains = np.round(16 * scale * rng.normal(size=shape)) / 16
        cells = rng.integers(stumps.n_cells, size=stumps.n_features)
        vote_by_stumps(gains, cells, 0.5, scratch, out)
        np.testing.assert_allclose(out, vote_of_members(stumps, gains, cells, 0.5), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 20.0, 1000.0])
def test_large_classes_vote_as_in_logarithms(scale):
    rng = np.random.default_rng(8)
    for d, b, k, pieces in [(6, 12, 4, 4), (3, 20, 5, 3), (2, 9, 7, 7)]:
        gains = scale * rng.random((d, b, k))
        cells, out = rng.integers(b, size=d), np.empty(k)
        vote_by_stumps(gains, cells, 1.0, make_scratch(pieces, k), out)
        np.testing.assert_allclose(out, vote_by_logarithms(gains, cells, 1.0, pieces), rtol=1e-10, atol=1e-10)


def taught_rows(n_rows, n_classes, rng):
    """Hard labels, soft labels, weighted ones, nothing, and gains of a label over its rival."""
    rows = rng.dirichlet(np.full(n_classes, 0.5), size=n_rows)
    hard = np.eye(n_classes)[rng.integers(n_classes, size=n_rows)]
    kinds = rng.integers(5, size=n_rows)
    rows[kinds == 1] = hard[kinds == 1]
    rows[kinds == 2] *= rng.random((int((kinds == 2).sum()), 1)) * 3
    rows[kinds == 3] = 0.0
    rows[kinds == 4] = (hard - np.roll(hard, 1, axis=1))[kinds == 4]
    return rows


RATES = [LearningRate(), LearningRate(horizon=50), LearningRate(constant=1.0)]


@pytest.mark.kernels
@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize(("d", "b", "k"), [(1, 5, 2), (2, 4, 3), (2, 5, 2), (1, 3, 3)])
def test_stump_experts_learn_as_the_enumeration_does(d, b, k, rate):
    rng = np.random.default_rng(7)
    X, taught = rng.uniform(-0.1, 1.1, size=(40, d)), taught_rows(40, k, rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    ensemble = StumpExperts(n_cells=b, learning_rate=rate.constant, horizon=rate.horizon).make_ensemble(1, seed=0)
    votes = np.empty((40, k))
    ensemble.vote_and_learn(0, ensemble.prepare(block_of(X), learning=True), taught, votes)
    twin = Exponential(stump_functions(StumpClass(d, k, b)), k, rate)
    for x, weights, vote in zip(X, taught, votes, strict=True):
        np.testing.assert_allclose(vote, twin.vote(x), rtol=0, atol=1e-12)
        twin.learn(x, weights)


def test_a_class_that_grows_is_the_class_known_from_the_start():
    rng = np.random.default_rng(3)
    rows = [({"a": v} if n < 20 else {"a": v, "b": w}) for n, (v, w) in enumerate(rng.random((60, 2)))]
    labels = ["x"] * 5 + ["y"] * 10 + list(rng.choice(list("xyz"), size=45))
    growing, known = StumpExperts(n_cells=4), StumpExperts(n_cells=4, classes=["x", "y", "z"])
    known.learn_one({"a": 0.5, "b": None}, "x", w=0.0)
    for x, y in zip(rows, labels, strict=True):
        growing.learn_one(x, y)
        known.learn_one(x, y)
    for x in rows:
        assert growing.predict_proba_one(x) == pytest.approx(known.predict_proba_one(x), abs=1e-12)
    assert growing.hypothesis_class_ == known.hypothesis_class_ == StumpClass(2, 3, 4)
    assert growing.regret_bound(60) == StumpExperts(n_cells=4).regret_bound(60, n_features=2, n_classes=3)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e9])
def test_any_gains_give_distributions(scale):
    rng = np.random.default_rng(1)
    out = np.empty(4)
    for _ in range(20):
        gains = scale * rng.normal(size=(3, 12, 4))
        vote_by_stumps(gains, rng.integers(12, size=3), 1.0, make_scratch(4, 4), out)
        assert out.min() >= 0.0
        assert out.sum() == pytest.approx(1.0, abs=1e-12)


def test_weight_two_is_two_rows_at_a_constant_rate():
    rng = np.random.default_rng(5)
    once, twice = StumpExperts(learning_rate=0.3, n_cells=5), StumpExperts(learning_rate=0.3, n_cells=5)
    for x, y in zip(rng.random(30), rng.integers(3, size=30), strict=True):
        once.learn_one({"a": x}, int(y), w=2.0)
        twice.learn_one({"a": x}, int(y))
        twice.learn_one({"a": x}, int(y))
    assert once.predict_proba_one({"a": 0.4}) == pytest.approx(twice.predict_proba_one({"a": 0.4}), abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_matrix_and_function_experts_learn_as_the_enumeration_does(rate):
    rng = np.random.default_rng(2)
    X, labels = rng.integers(-2, 3, size=(40, 2)).astype(float), rng.integers(2, size=40)
    matrices = WeightMatrixClass(2, 2, 3)
    functions = [lambda x, matrix=matrix: int(np.argmax(matrix @ x)) for matrix in matrices.matrices]
    by_row = [lambda row, function=function: function(np.array([row["a"], row["b"]])) for function in functions]
    options = {"learning_rate": rate.constant, "horizon": rate.horizon, "classes": [0, 1]}
    models = [MatrixExperts(["a", "b"], 2, **options), FiniteExperts(by_row, 2, **options)]
    twin = Exponential(functions, 2, rate)
    for x, y in zip(X, labels, strict=True):
        row = {"a": x[0], "b": x[1], "unread": 3.0}
        expected = twin.vote(x)
        for model in models:
            assert list(model.predict_proba_one(row).values()) == pytest.approx(list(expected), abs=1e-12)
            model.learn_one(row, int(y))
        twin.learn(x, np.eye(2)[y])
