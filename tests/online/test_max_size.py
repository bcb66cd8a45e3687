"""A limit on memory: kept to, shared out, and the same for every cut of the stream."""

from __future__ import annotations

import numpy as np
import pytest
from river import tree

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.errors import InvalidParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
Y = ((X[:, 0] > 0) + 2 * (X[:, 1] * X[:, 2] > 0)).tolist()


@pytest.mark.parametrize("max_size", [0.05, 0.2])
def test_mondrian_trees_keep_to_their_memory_and_go_on_learning(max_size):
    model, free = (MondrianTrees(n_learners=5, max_size=size, split_pure=True, seed=1) for size in (max_size, None))
    model.learn_many(X, Y)
    free.learn_many(X, Y)
    assert model.memory_usage_ <= max_size * 2**20 < free.memory_usage_
    weights = [ensemble.trees.class_weight.sum() for _, ensemble in model._state.members]
    model.learn_many(X, Y)
    assert [ensemble.trees.class_weight.sum() for _, ensemble in model._state.members] > weights


def test_the_mixture_shares_its_memory_out_by_the_appetite_of_its_trees():
    model = OnlineAgnosticBoostClassifier(budget=20, max_size=1.0, seed=1)
    model.learn_many(X, Y)
    assert model.memory_usage_ <= 2**20
    shares = [ensemble.max_bytes / len(ensemble.trees.n_nodes) for _, ensemble in model._state.members]
    mondrian, hoeffding = MondrianTrees.appetite, HoeffdingTrees.appetite
    unit = 2**20 / (12 * mondrian + 9 * hoeffding)
    assert shares == pytest.approx([unit * mondrian] * 3 + [unit * hoeffding] * 3)
    assert "max_size" not in "".join(model.member_weights_)  # names say what tells the members apart


def test_the_limit_does_not_depend_on_how_the_stream_is_cut():
    models = [OnlineAgnosticBoostClassifier(budget=10, max_size=0.3, seed=1, n_jobs=jobs) for jobs in (1, 2)]
    models[0].learn_many(X, Y)
    for first in range(0, len(X), 171):
        models[1].learn_many(X[first : first + 171], Y[first : first + 171])
    for one, two in zip(models[0]._state.members, models[1]._state.members, strict=True):
        assert np.array_equal(one.ensemble.trees.n_nodes, two.ensemble.trees.n_nodes)
        assert one.ensemble.trees.class_weight.tobytes() == two.ensemble.trees.class_weight.tobytes()


@pytest.mark.parametrize("max_size", [0, -1.0, "1"])
def test_sizes_out_of_range(max_size):
    for model in (MondrianTrees(max_size=max_size), OnlineAgnosticBoostClassifier(max_size=max_size)):
        with pytest.raises(InvalidParameterError, match="max_size must"):
            model.learn_one({"a": 1.0}, "u")


def test_foreign_learners_have_no_limit():
    model = OnlineAgnosticBoostClassifier(tree.HoeffdingTreeClassifier(), gamma=0.5, max_size=1.0)
    with pytest.raises(InvalidParameterError, match="only native trees can be limited"):
        model.learn_one({"a": 1.0}, "u")
