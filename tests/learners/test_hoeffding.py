"""The compiled trees against River's, fed the same weighted examples.

River is the oracle in all but two habits, which are taken out of it here: it breaks ties between classes by the order
in which a leaf met them (ours: lowest index), and it sums weights with Python's ``sum``, which rounds differently from
one Python version to the next (ours: compensated).
"""

from __future__ import annotations

import math
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree
from river.tree.nodes.branch import DTBranch
from river.tree.nodes.htc_nodes import LeafMajorityClass

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from ocoboost.bench import datasets
from ocoboost.learners.hoeffding import kernels

DATA = Path(os.environ.get("OCOBOOST_DATA", Path(__file__).parents[3] / "shared" / "datasets"))
OFTEN = {"grace_period": 20, "delta": 0.1, "tau": 0.2}


@pytest.fixture(autouse=True)
def plain_river(monkeypatch):
    """River with our tie rule and exact sums."""

    def update_stats(self, y, w):
        is_new = y not in self.stats
        self.stats[y] = self.stats.get(y, 0.0) + w
        if is_new:
            self.stats = dict(sorted(self.stats.items()))

    new_leaf = tree.HoeffdingTreeClassifier._new_leaf
    total = property(lambda leaf: math.fsum(leaf.stats.values()) if leaf.stats else 0)
    monkeypatch.setattr(LeafMajorityClass, "update_stats", update_stats)
    monkeypatch.setattr(LeafMajorityClass, "total_weight", total)
    monkeypatch.setattr(
        tree.HoeffdingTreeClassifier,
        "_new_leaf",
        lambda self, stats=None, parent=None: new_leaf(self, dict(sorted((stats or {}).items())), parent),
    )


def river_structure(node):
    if not isinstance(node, DTBranch):
        return "leaf"
    test = getattr(node, "threshold", getattr(node, "value", None))
    names = sorted(node._mapping) if test is None else [None, None]
    children = node.children if test is not None else [node.children[node._mapping[name]] for name in names]
    return (node.feature, test, names, [river_structure(child) for child in children])


def our_structure(model, node=0):
    ensemble, schema = model._state.engine.cascades[0].ensemble, model._state.schema
    trees, columns, names = ensemble.trees, ensemble.columns, list(schema.kinds)
    record = trees.nodes[0, node]
    if record["kind"] == kernels.LEAF:
        return "leaf"
    children, child = [], record["first_child"]
    while child >= 0:
        children.append(child)
        child = trees.nodes[0, child]["sibling"]
    if record["kind"] == kernels.NUMERIC:
        name = names[list(columns.numeric).index(record["feature"])]
        return (name, record["threshold"], [None, None], [our_structure(model, child) for child in children])
    name = names[list(columns.nominal).index(record["feature"] - columns.n_numeric)]
    values = {code: value for value, code in (schema.categories.get(name) or ensemble.nominal.codes[name]).items()}
    if record["kind"] == kernels.EQUAL:
        test = values[record["threshold"]]
        return (name, test, [None, None], [our_structure(model, child) for child in children])
    by_value = {values[trees.nodes[0, child]["category"]]: our_structure(model, child) for child in children}
    return (name, None, sorted(by_value), [by_value[value] for value in sorted(by_value)])


def same_structure(ours, theirs):
    if "leaf" in (ours, theirs):
        return ours == theirs
    same_test = (
        ours[1] == theirs[1] if not isinstance(theirs[1], float) else math.isclose(ours[1], theirs[1], rel_tol=1e-9)
    )
    same_node = ours[0] == theirs[0] and same_test and ours[2] == theirs[2]
    return same_node and all(same_structure(*pair) for pair in zip(ours[3], theirs[3], strict=True))


def check_parity(rows, weights=None, **parameters):
    """Same probabilities on every row before it is learned, same tree at the end."""
    rows = [({name: x[name] for name in sorted(x) if x[name] is not None}, y) for x, y in rows]
    weights = [1.0] * len(rows) if weights is None else weights
    ours = HoeffdingTrees(**parameters)
    n_splits = parameters.pop("n_splits", None)
    splitter = None if n_splits is None else tree.splitter.GaussianSplitter(n_splits=n_splits)
    theirs = tree.HoeffdingTreeClassifier(splitter=splitter, **parameters)
    seen = []

    def see(state, answers):
        seen.extend(answers.distributions)

    ours._learn(*ours._read([x for x, _ in rows], [y for _, y in rows], weights), see=see)
    index = {label: number for number, label in enumerate(ours.classes_)}
    for number, ((x, y), weight) in enumerate(zip(rows, weights, strict=True)):
        expected = theirs.predict_proba_one(x)
        if any(expected.values()):
            expected = [expected.get(label, 0.0) for label in range(len(seen[number]))]
            np.testing.assert_allclose(seen[number], expected, atol=1e-9, err_msg=f"row {number}")
        theirs.learn_one(x, index[y], w=weight)
    assert same_structure(our_structure(ours), river_structure(theirs._root))
    return theirs.n_nodes


def synthetic(kind, n_rows=900, seed=0):
    """Three classes; 'mixed' has text, 'late' a category that comes late, 'missing' leaves a third out."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        label = draw.choice("abc")
        centre = "abc".index(label)
        x = {f"n{i}": draw.gauss(centre * (i + 1), 1.5) for i in range(3)}
        if kind in ("nominal", "mixed"):
            x["colour"] = draw.choice(["red", "green", "blue", "red"] + [["red", "green", "blue"][centre]] * 3)
            x["shape"] = draw.choice(["disc", "ring"] if centre else ["ring", "ring", "bar"])
        if kind == "nominal":
            x = {name: value for name, value in x.items() if isinstance(value, str)}
        if kind == "late":
            colours = ["red", "green"] if len(rows) < n_rows / 2 else ["red", "green", "violet"]
            x = {"colour": draw.choice([*colours, *[colours[centre % 2]] * 4]), "n": x["n0"]}
        if kind == "missing":
            x = {name: value for name, value in x.items() if draw.random() > 0.3}
        rows.append((x, label))
    return rows


@pytest.mark.parametrize("name", ["balance", "cars", "landsat", "segment", "mice", "yeast", "abalone"])
@pytest.mark.parametrize("parameters", [{"max_depth": 1, "split_criterion": "gini"}, OFTEN, {**OFTEN, "max_depth": 3}])
def test_parity_on_the_papers_datasets(name, parameters):
    if name == "mice" and not (DATA / f"{name}.csv.gz").exists():
        pytest.skip(f"no {name}.csv.gz in the data directory; set OCOBOOST_DATA")
    rows = datasets.shuffled(datasets.load_raw(name, DATA), 1)
    check_parity(rows[: 400 if name == "mice" else 1000], **parameters)


@pytest.mark.parametrize("leaf_prediction", ["mc", "nb", "nba"])
@pytest.mark.parametrize("split_criterion", ["gini", "info_gain"])
@pytest.mark.parametrize("kind", ["numeric", "nominal", "mixed", "missing", "late"])
def test_parity_on_synthetic_streams(kind, split_criterion, leaf_prediction):
    n_nodes = check_parity(synthetic(kind), split_criterion=split_criterion, leaf_prediction=leaf_prediction, **OFTEN)
    assert n_nodes > 3


@pytest.mark.parametrize("kind", ["mixed", "missing"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"binary_split": True},
        {"merit_preprune": False},
        {"max_share_to_split": 0.5},
        {"min_branch_fraction": 0.2},
        {"n_splits": 3},
        {"leaf_prediction": "nb", "nb_threshold": 50},
        {"max_depth": 1},
        {"max_depth": 0},
    ],
    ids=str,
)
def test_parity_for_every_parameter(kind, parameters):
    check_parity(synthetic(kind, seed=2), **{**OFTEN, **parameters})


@pytest.mark.parametrize("kind", ["numeric", "mixed", "missing"])
def test_parity_with_weights_that_are_not_whole(kind):
    draw = random.Random(5)
    rows = synthetic(kind, seed=3)
    check_parity(rows, [draw.uniform(0.1, 3.0) for _ in rows], **OFTEN)


@pytest.mark.parametrize("kind", ["numeric", "mixed"])
def test_parity_with_hellinger_and_two_classes(kind):
    rows = [(x, y) for x, y in synthetic(kind, seed=4) if y != "c"]
    check_parity(rows, split_criterion="hellinger", **OFTEN)


def test_hellinger_refuses_a_third_class():
    model = HoeffdingTrees(split_criterion="hellinger")
    with pytest.raises(ValueError, match="one more than the 2 labels that HoeffdingTrees tells apart"):
        model.learn_many([{"a": 1}] * 3, ["x", "y", "z"])


def test_parity_with_named_nominal_columns():
    rows = [({"code": i % 5, "n": float(i % 7)}, "even" if i % 5 in (0, 2) else "odd") for i in range(400)]
    check_parity(rows, nominal_attributes=["code"], **OFTEN)


@pytest.mark.parametrize("booster", [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier])
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize(("votes", "pool"), [("label", "distribution"), ("distribution", "label")])
def test_the_fused_kernel_equals_the_loop_by_parts(booster, relabel, votes, pool):
    rows = synthetic("mixed", n_rows=300)
    learner = HoeffdingTrees(grace_period=10, delta=0.1, tau=0.3)
    choices = {"relabel": relabel, "votes": votes, "pool": pool}
    fused, parts = (booster(learner, n_learners=4, gamma=0.4, seed=1, **choices) for _ in range(2))
    parts._state = parts._begin()
    object.__setattr__(parts._state.members[0].cascade, "learn", parts._state.members[0].cascade.learn_by_parts)
    X, y = [x for x, _ in rows], [y for _, y in rows]
    predictions = [model.predict_learn_many(X, y) for model in (fused, parts)]
    assert predictions[0] == predictions[1]
    for one, other in zip(fused._state.engine.cascades[0].ensemble.trees, parts._state.engine.cascades[0].ensemble.trees, strict=True):
        np.testing.assert_array_equal(one, other)
    assert fused._state.engine.cascades[0].ensemble.trees.n_nodes.max() > 1
    assert sum(fused.vote_shares_one(X[0]).values()) == pytest.approx(1.0)


extreme = st.one_of(
    st.floats(-1e300, 1e300),
    st.sampled_from([0.0, 1e-300, -1e-300, 1e300, 5.0]),
    st.integers(-3, 3).map(float),
    st.none(),
)


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
    y = [i % n_classes for i in range(n_rows)]
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(grace_period=20), n_learners=2, gamma=0.3, seed=1)
    model.learn_many(X, y)
    assert np.isfinite(model.predict_proba_many(X[:20])).all()


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
    assert bound._state.engine.cascades[0].ensemble.trees.n_nodes.min() > 1


def test_trees_of_a_share_of_the_features_differ_and_are_repeatable():
    rows = synthetic("mixed", n_rows=200)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    models = [HoeffdingTrees(n_learners=6, feature_share=0.5, seed=3) for _ in range(2)]
    for model in models:
        model.learn_many(X, y)
    visible = models[0]._state.engine.cascades[0].ensemble.trees.visible
    assert len({tuple(row) for row in visible.tolist()}) > 1
    assert models[0].predict_proba_many(X) == models[1].predict_proba_many(X)


def test_a_slow_first_compilation_is_announced_once(capsys, monkeypatch):
    from ocoboost.cascade import kernel as fused

    waits = []
    monkeypatch.setattr(fused.threading, "Timer", lambda seconds, say: waits.append(seconds) or FakeTimer(say))
    done = [False]
    for _ in range(2):
        with fused.announcing_compilation(done):
            pass
    assert waits == [2.0]
    assert capsys.readouterr().err.count("compiling") == 1


class FakeTimer:
    """A timer whose time is always up."""

    daemon = False

    def __init__(self, say):
        self.start = say

    def cancel(self):
        """Too late."""
