"""Compiled Mondrian trees against a slow twin, and the twin against River's trees, on the same draws."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import forest, tree

from mondrian_twin import Draws, Tree
from ocoboost import MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets
from ocoboost.data.schema import Block, Schema
from ocoboost.data.tables import read_rows
from ocoboost.learners.mondrian import kernels


def stream(n_rows=300, seed=0, n_classes=3, missing=0.0):
    draw = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        label = draw.randrange(n_classes)
        x = {name: draw.gauss(label * scale, scale) for name, scale in (("a", 1.0), ("b", 10.0), ("c", 0.1))}
        rows.append(({name: value for name, value in x.items() if draw.random() >= missing}, label))
    return rows


@pytest.mark.kernels
@pytest.mark.parametrize("split_pure", [False, True])
@pytest.mark.parametrize("aggregate", [False, True])
def test_the_twin_is_rivers_tree(split_pure, aggregate):
    draws, classes = Draws(7), []
    twin = Tree(Draws(7), split_pure=split_pure, aggregate=aggregate, counts_first=True)
    theirs = tree.mondrian.MondrianTreeClassifier(split_pure=split_pure, use_aggregation=aggregate)
    theirs._rng = draws
    for x, y in stream():
        if classes:
            expected, votes = theirs.predict_proba_one(x), twin.vote(x, classes)
            assert votes == pytest.approx(expected, abs=1e-9)
        classes = sorted({*classes, y})
        draws.next_row()
        theirs.learn_one(x, y)
        twin.learn(x, {y: 1.0}, classes)
    assert twin.n_nodes == theirs._n_nodes > 50


@pytest.mark.kernels
@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("aggregate", [False, True])
@pytest.mark.parametrize("scale", ["none", "range"])
@pytest.mark.parametrize("options", [{}, {"split_pure": True, "step": 0.3, "dirichlet": 0.1}, {"max_nodes": 40}])
def test_the_kernels_are_the_twin(smoothing, aggregate, scale, options):
    rows = stream(missing=0.1)
    model = MondrianTrees(n_learners=1, smoothing=smoothing, aggregate=aggregate, scale=scale, seed=7, **options)
    twin = Tree(Draws(7), smoothing=smoothing, aggregate=aggregate, is_scaled=scale == "range", **options)
    for number, (x, y) in enumerate(rows):
        weight = (1.0, 0.5, 2.0)[number % 3]
        if model.classes_:
            assert model.predict_proba_one(x) == pytest.approx(twin.vote(x, model.classes_), abs=1e-9)
        model.learn_one(x, y, w=weight)
        twin.learn(x, {y: weight}, model.classes_)
    n_nodes = model.state_.engine.cascades[0].ensemble.trees.n_nodes[0]
    assert n_nodes == twin.n_nodes
    assert n_nodes <= options.get("max_nodes", math.inf)


@pytest.mark.kernels
def test_soft_labels_are_the_twins():
    model = MondrianTrees(smoothing=1.0, scale="none", seed=3)
    ensemble = model.make_ensemble(1, seed=3)
    rows = [x for x, _ in stream(120)]
    schema = Schema()
    for additions in schema.plan(read_rows(rows)).values():
        schema.apply(additions, n_classes=2)
    block = ensemble.prepare(Block(read_rows(rows), schema), learning=True)
    draw = np.random.default_rng(5)
    label_weights = draw.dirichlet([0.4] * 4, len(rows)) * draw.choice([0.0, 1.0], (len(rows), 4), p=[0.4, 0.6])
    votes = np.empty((len(rows), 4))
    ensemble.vote_and_learn(0, block, label_weights, votes)
    twin = Tree(Draws(3), smoothing=1.0)
    for x, taught, vote in zip(rows, label_weights, votes, strict=True):
        assert list(vote) == pytest.approx(list(twin.vote(x, range(4)).values()), abs=1e-9)
        if taught.sum() > 0.0:
            twin.learn(x, {c: weight for c, weight in enumerate(taught) if weight > 0.0}, range(4))
    assert twin.n_nodes == ensemble.trees.n_nodes[0] > 20


unit = st.floats(0.0, 1.0, exclude_max=True)


@given(time=st.floats(0.0, 1e6), later=st.floats(0.0, 10.0), draw=unit, outside=st.floats(1e-9, 1e3))
def test_cuts_are_in_time_or_not_by_the_logarithm(time, later, draw, outside):
    node, child = SimpleNamespace(time=time), SimpleNamespace(time=time + later)
    time_of_cut = getattr(kernels._time_of_cut, "py_func", kernels._time_of_cut)
    expected = time - math.log1p(-draw) / outside
    assert time_of_cut(node, child, True, draw, outside) == expected
    assert time_of_cut(node, child, False, draw, outside) == (expected if expected < child.time else -1.0)


def test_what_the_weights_of_prunings_leave_out_is_rounded_away():
    assert math.exp(-kernels._VANISHED) == 0.0
    assert 1.0 + math.exp(-kernels._NEGLIGIBLE) == 1.0
    assert math.log(0.5 * 1.0) == kernels._LOG_HALF


def test_growing_keeps_every_bit():
    ensemble = MondrianTrees(seed=3).make_ensemble(3, seed=3)
    rows = [x for x, _ in stream(80, missing=0.1)]
    schema = Schema()
    for additions in schema.plan(read_rows(rows)).values():
        schema.apply(additions, n_classes=2)
    block = ensemble.prepare(Block(read_rows(rows), schema), learning=True)
    weights = np.eye(3)[np.arange(len(rows)) % 3]
    for learner in range(3):
        ensemble.vote_and_learn(learner, block, weights, np.empty_like(weights))
    before = ensemble.trees
    ensemble.grow()
    assert ensemble.trees.nodes.shape[1] > before.nodes.shape[1]
    for learner, n_nodes in enumerate(before.n_nodes):
        for name in ("nodes", "class_weight", "boxes"):
            kept, grown = (getattr(trees, name)[learner, :n_nodes].tobytes() for trees in (before, ensemble.trees))
            assert kept == grown, name


def test_ten_trees_are_as_accurate_as_rivers_forest():
    rows = datasets.shuffled(datasets.load("segment"), 1)
    labels = [y for _, y in rows]
    ours = MondrianTrees(smoothing=0.0, scale="none", seed=1).predict_learn_many([x for x, _ in rows], labels)
    river = forest.AMFClassifier(seed=1)
    theirs = []
    for x, y in rows:
        theirs.append(river.predict_one(x))
        river.learn_one(x, y)
    accuracies = [np.mean([p == y for p, y in zip(predictions, labels, strict=True)]) for predictions in (ours, theirs)]
    assert accuracies[0] > accuracies[1] - 0.01


def test_units_do_not_matter():
    rows = stream()
    scaled = [({"a": 1024.0 * x["a"], "b": x["b"] / 4096.0, "c": x["c"]}, y) for x, y in rows]  # exact in binary
    one, other = MondrianTrees(seed=1), MondrianTrees(seed=1)
    labels = [y for _, y in rows]
    assert one.predict_learn_many([x for x, _ in rows], labels) == other.predict_learn_many(
        [x for x, _ in scaled], labels
    )


def test_text_is_cut_category_by_category():
    cars = datasets.shuffled(datasets.cars(), 1)[:900]
    model = MondrianTrees(n_learners=20, split_pure=True, seed=1)
    predictions = model.predict_learn_many([x for x, _ in cars], [y for _, y in cars])
    assert np.mean([p == y for p, (_, y) in zip(predictions, cars, strict=True)][450:]) > 0.8
    ensemble = model.state_.engine.cascades[0].ensemble
    assert set(np.unique(ensemble.trees.boxes[~np.isnan(ensemble.trees.boxes)])) == {0.0, 1.0}


def test_a_column_of_numbers_can_be_nominal():
    rows = [({"a": float(number % 3)}, "xyx"[number % 3]) for number in range(60)]
    model = MondrianTrees(nominal_attributes=["a"], split_pure=True, seed=1)
    model.learn_many([x for x, _ in rows], [y for _, y in rows])
    assert [model.predict_one({"a": value}) for value in (0.0, 1.0, 2.0)] == ["x", "y", "x"]
    assert model.predict_one({"a": 7.0}) in ("x", "y")


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.dictionaries(
                st.sampled_from("abc"), st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0])
            ),
            st.sampled_from("xyz"),
            st.sampled_from([0.0, 1e-300, 0.5, 1.0, 1e12]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["range", "none"]),
    st.sampled_from([0.0, 1.0]),
)
def test_any_finite_numbers_give_distributions(rows, scale, smoothing):
    model = OnlineAgnosticBoostClassifier(
        MondrianTrees(scale=scale, smoothing=smoothing), gamma=0.5, n_learners=3, votes="distribution", seed=1
    )
    for x, y, w in rows:
        model.learn_one(x, y, w=w)
        shares = list(model.vote_shares_one(x).values())
        assert all(share >= 0.0 for share in shares)
        assert sum(shares) == pytest.approx(1.0, abs=1e-6)
