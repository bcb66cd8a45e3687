"""Hoeffding trees by themselves and under boosters: odd streams, memory, and subsets of the features."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from river_trees import synthetic


@pytest.mark.kernels
def test_hellinger_refuses_a_third_class():
    model = HoeffdingTrees(split_criterion="hellinger")
    with pytest.raises(ValueError, match="one more than the 2 labels that HoeffdingTrees can tell apart"):
        model.learn_many([{"a": 1}] * 3, ["x", "y", "z"])


class NotCompiled:
    """An ensemble that does not show its arrays, so that a cascade has to ask it learner by learner."""

    def __init__(self, ensemble):
        self.ensemble = ensemble
        self.n_calls = 0

    def vote_and_learn(self, *arguments):
        self.n_calls += 1
        self.ensemble.vote_and_learn(*arguments)

    def __getattr__(self, name):
        return getattr(self.ensemble, name)


@pytest.mark.kernels
@pytest.mark.parametrize("booster", [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier])
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize(("votes", "pool"), [("label", "distribution"), ("distribution", "label")])
def test_the_fused_kernel_equals_the_loop_by_parts(booster, relabel, votes, pool):
    rows = synthetic("mixed", n_rows=300)
    learner = HoeffdingTrees(grace_period=10, delta=0.1, tau=0.3)
    choices = {"relabel": relabel, "votes": votes, "pool": pool}
    fused, parts = (booster(learner, n_learners=4, gamma=0.4, seed=1, **choices) for _ in range(2))
    parts.state_ = parts.fresh_state(1)
    cascade = parts.state_.engine.cascades[0]
    cascade.ensemble = NotCompiled(cascade.ensemble)
    X, y = [x for x, _ in rows], [y for _, y in rows]
    assert fused.predict_learn_many(X, y) == parts.predict_learn_many(X, y)
    assert cascade.ensemble.n_calls > 0
    trees = fused.state_.engine.cascades[0].ensemble.trees
    for one, other in zip(trees, cascade.ensemble.trees, strict=True):
        np.testing.assert_array_equal(one, other)
    assert trees.n_nodes.max() > 1
    assert sum(fused.vote_shares_one(X[0]).values()) == pytest.approx(1.0)


extreme = st.one_of(
    st.floats(-1e300, 1e300),
    st.sampled_from([0.0, 1e-300, -1e-300, 1e300, 5.0]),
    st.integers(-3, 3).map(float),
    st.none(),
)


@pytest.mark.kernels
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.lists(extreme, min_size=3, max_size=3), st.integers(0, 3)), min_size=1, max_size=40),
    st.sampled_from(["mc", "nb", "nba"]),
    st.sampled_from(["gini", "info_gain"]),
)
def test_fuzzed_streams_give_probabilities(rows, leaf_prediction, split_criterion):
    learner = HoeffdingTrees(
        grace_period=3, delta=0.5, tau=0.9, leaf_prediction=leaf_prediction, split_criterion=split_criterion
    )
    model = OnlineAgnosticBoostClassifier(learner, n_learners=3, gamma=0.3, pool="distribution", seed=1)
    for values, y in rows:
        x = dict(enumerate(values))
        model.learn_one(x, y)
        shares = model.vote_shares_one(x)
        assert all(math.isfinite(share) for share in shares.values())
        assert math.isclose(sum(shares.values()), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_classes"), [(300, 2, 200), (1500, 1, 1000), (60, 500, 3), (200, 1, 1), (100, 3, 2)]
)
def test_odd_shapes(n_rows, n_columns, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, -1] = np.nan if n_columns > 1 else 1.0
    y = [f"label {i % n_classes}" for i in range(n_rows)]
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(grace_period=20), n_learners=2, gamma=0.3, seed=1)
    model.learn_many(X, y)
    assert np.isfinite(model.predict_proba_many(X[:20])).all()


@pytest.mark.kernels
def test_memory_stays_within_its_bound_and_can_be_read_back():
    rows = synthetic("mixed", n_rows=2000)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    free, bound = (
        OnlineAgnosticBoostClassifier(
            HoeffdingTrees(grace_period=10, delta=0.5, tau=0.9, max_size=size), n_learners=10, gamma=0.5, seed=1
        )
        for size in (None, 0.1)
    )
    for model in (free, bound):
        model.learn_many(X, y)
    assert free.memory_usage_ > 2 * bound.memory_usage_
    assert bound.memory_usage_ <= 0.1 * 2**20
    assert bound.state_.engine.cascades[0].ensemble.trees.n_nodes.min() > 1


@pytest.mark.kernels
@pytest.mark.parametrize(("n_numbers", "n_texts", "k"), [(4, 0, 2), (15, 0, 7), (64, 0, 28), (5, 3, 4), (0, 2, 3)])
def test_trees_take_the_bytes_that_the_documentation_says(n_numbers, n_texts, k):
    rng = np.random.default_rng(0)
    rows = [
        {f"x{j}": rng.normal() for j in range(n_numbers)} | {f"t{j}": f"text {row % 5}" for j in range(n_texts)}
        for row in range(200)
    ]
    model = HoeffdingTrees(grace_period=20, delta=0.5, tau=0.9, n_learners=3)
    model.learn_many(rows, [f"label {row % k}" for row in range(200)])
    trees = model.state_.engine.ensemble.trees
    slots, nodes, n_categories = trees.free.shape[1], trees.nodes.shape[1], trees.tables.shape[4]
    d, c = -(-n_numbers // 4) * 4, n_texts
    documented = 8 * (slots * (k * (5 * d + c * n_categories) + 1) + nodes * (12 + 2 * k) + 2 + d + c)
    assert model.state_.engine.n_bytes == 3 * documented


@pytest.mark.kernels
def test_trees_of_a_share_of_the_features_differ_and_are_repeatable():
    rows = synthetic("mixed", n_rows=200)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    models = [HoeffdingTrees(n_learners=6, feature_share=0.5, seed=3) for _ in range(2)]
    for model in models:
        model.learn_many(X, y)
    visible = models[0].state_.engine.cascades[0].ensemble.trees.visible
    assert len({tuple(row) for row in visible.tolist()}) > 1
    assert models[0].predict_proba_many(X) == models[1].predict_proba_many(X)
