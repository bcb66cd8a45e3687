"""A limit on memory: kept to, shared out, and the same for every cut of the stream."""

from __future__ import annotations

import numpy as np
import pytest
from river import tree

from laws import learned
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.errors import InvalidParameterError
from ocoboost.online.members import SHARE_OF_NEIGHBOURS, SHARE_OF_SUSPECTS
from ocoboost.stream.state import SHARE_OF_LEARNERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
Y = ((X[:, 0] > 0) + 2 * (X[:, 1] * X[:, 2] > 0)).tolist()


@pytest.mark.parametrize("max_size", [0.05, 0.2])
def test_mondrian_trees_keep_to_their_memory_and_go_on_learning(max_size):
    model, free = (MondrianTrees(n_learners=5, max_size=size, split_pure=True, seed=1) for size in (max_size, None))
    model.learn_many(X, Y)
    free.learn_many(X, Y)
    assert model.memory_usage_ <= max_size * 2**20 < free.memory_usage_
    trees = model.state_.engine.cascades[0].ensemble.trees
    weight, n_nodes = trees.class_weight.sum(), trees.n_nodes.copy()
    model.learn_many(X, Y)
    trees = model.state_.engine.cascades[0].ensemble.trees
    assert trees.class_weight.sum() > weight
    np.testing.assert_array_equal(trees.n_nodes, n_nodes)
    assert model.memory_usage_ <= max_size * 2**20


def test_the_mixture_shares_its_memory_out_by_the_appetite_of_its_trees():
    model = OnlineBoostClassifier(budget=20, max_size=1.0, seed=1)
    model.learn_many(X, Y)
    assert model.memory_usage_ <= 2**20
    ensembles = [cascade.ensemble for cascade in model.state_.engine.cascades]
    shares = [ensemble.max_bytes / len(ensemble.trees.n_nodes) for ensemble in ensembles]
    mondrian, hoeffding = MondrianTrees.appetite, HoeffdingTrees.appetite
    mixture = model.state_.engine
    own = sum(array.nbytes for array in (*mixture.weights, *mixture.watch)) + mixture.prediction_sets.n_bytes
    left = (SHARE_OF_LEARNERS * 2**20 - own) * (1 - SHARE_OF_NEIGHBOURS - SHARE_OF_SUSPECTS)
    unit = left / (10 * mondrian + 9 * hoeffding)
    assert shares == pytest.approx([*(unit * mondrian * share for share in (1, 0.5, 1)), *[unit * hoeffding] * 3])
    assert "max_size" not in "".join(model.member_weights_)  # names say what tells the members apart


def test_the_limit_does_not_depend_on_how_the_stream_is_cut():
    models = [OnlineBoostClassifier(budget=10, max_size=0.3, seed=1, n_jobs=jobs) for jobs in (1, 2)]
    models[0].learn_many(X, Y)
    for first in range(0, len(X), 171):
        models[1].learn_many(X[first : first + 171], Y[first : first + 171])
    assert learned(models[0], []) == learned(models[1], [])


@pytest.mark.parametrize("max_size", [0, -1.0, "1"])
def test_sizes_out_of_range(max_size):
    for model in (MondrianTrees(max_size=max_size), OnlineBoostClassifier(max_size=max_size)):
        with pytest.raises(InvalidParameterError, match="max_size must"):
            model.learn_one({"a": 1.0}, "u")


def test_foreign_learners_have_no_limit():
    model = OnlineBoostClassifier(tree.HoeffdingTreeClassifier(), gammas=(0.5,), budget=2, max_size=0.05)
    model.learn_many(X[:50], Y[:50])
    assert model.memory_usage_ > 0.05 * 2**20


@pytest.mark.parametrize(
    "model",
    [
        HoeffdingTrees(n_learners=10**9),
        MondrianTrees(n_learners=10**7),
        OnlineBoostClassifier(budget=10**9),
        OnlineAgnosticBoostClassifier(n_learners=10**12),
    ],
    ids=lambda model: type(model).__name__,
)
def test_more_learners_than_can_fit_are_not_made(model):
    with pytest.raises(
        InvalidParameterError, match=r"trees do not fit into [0-9.]+ MiB, what max_size leaves for them"
    ):
        model.learn_one({"a": 1.0}, "x")
