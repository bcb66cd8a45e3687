"""`max_size` is a hard limit: from the stated least up nothing is refused, nothing exceeds it, in any blocks."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import learned
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.errors import InvalidInputError

EAGER = {"grace_period": 5, "delta": 0.9, "tau": 0.9}  # trees that split whenever they can
MODELS = {
    "hoeffding": lambda size: HoeffdingTrees(n_learners=3, **EAGER, max_size=size, seed=1),
    "subsets": lambda size: HoeffdingTrees(n_learners=3, **EAGER, feature_share=0.5, max_size=size, seed=1),
    "mondrian": lambda size: MondrianTrees(n_learners=3, split_pure=True, max_size=size, seed=1),
    "nominal": lambda size: HoeffdingTrees(n_learners=2, **EAGER, nominal_attributes=["n0"], max_size=size, seed=1),
    "boosted": lambda size: OnlineAgnosticBoostClassifier(HoeffdingTrees(**EAGER, max_size=size), n_learners=3, seed=1),
    "mixture": lambda size: OnlineBoostClassifier(budget=10, max_size=size, seed=1),
    "ages": lambda size: OnlineBoostClassifier(budget=30, max_size=size, seed=1),
}


@st.composite
def tables(draw):
    """Rows of some shape, in which columns, texts and labels appear little by little."""
    seed = draw(st.integers(0, 2**32))
    n_rows, n_numbers, n_texts = draw(st.integers(5, 120)), draw(st.integers(0, 6)), draw(st.integers(0, 3))
    n_categories, n_classes = draw(st.sampled_from([2, 10, 60, 1000])), draw(st.integers(1, 9))
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for row in range(n_rows):
        late = row / n_rows
        x = {f"n{j}": round(float(rng.normal()), 2) for j in range(n_numbers) if j <= 6 * late + 1}
        x |= {f"t{j}": f"text {rng.integers(n_categories)}" for j in range(n_texts) if j <= 3 * late + 1}
        rows.append(x)
        labels.append(int(rng.integers(1 + int(late * n_classes))))
    return rows, labels


def stated_least(make, rows, labels):
    """What the error of a model without memory calls the least, in MiB."""
    with pytest.raises(InvalidInputError, match="the least that works is") as caught:
        make(1e-6).learn_many(rows, labels)
    return float(re.search(r"is ([0-9.e-]+) MiB\.$", str(caught.value))[1])


LARGE = ("mixture", "ages")  # many members, so fewer examples
TABLES = {
    "table": tables(),
    "factor": st.sampled_from([1.0, 1.05, 1.5, 3.0, 10.0, 50.0]),
    "block": st.sampled_from([1, 7, 40]),
}


@pytest.mark.parametrize("name", [name for name in MODELS if name not in LARGE])
@settings(max_examples=25, deadline=None)
@given(**TABLES)
def test_a_model_keeps_to_any_limit_from_the_stated_least_up(name, table, factor, block):
    keeps_to_a_limit(name, table, factor, block)


@pytest.mark.parametrize("name", LARGE)
@settings(max_examples=6, deadline=None)
@given(**TABLES)
def test_a_mixture_keeps_to_any_limit_from_the_stated_least_up(name, table, factor, block):
    keeps_to_a_limit(name, table, factor, block)


def keeps_to_a_limit(name, table, factor, block):
    rows, labels = table
    size = factor * stated_least(MODELS[name], rows, labels)
    model, whole = MODELS[name](size), MODELS[name](size)
    for first in range(0, len(rows), block):
        if first == block * (len(rows) // block // 2):  # arrays that hold just what is used make no difference
            model = pickle.loads(pickle.dumps(model))
        model.learn_many(rows[first : first + block], labels[first : first + block])
        assert model.memory_usage_ <= size * 2**20
    whole.learn_many(rows, labels)
    assert learned(model, rows[:3]) == learned(whole, rows[:3])


def test_a_label_too_many_is_refused_and_changes_nothing():
    X = np.random.default_rng(0).normal(size=(400, 8))
    labels = [f"label {row % 200}" for row in range(400)]
    least = stated_least(MODELS["mixture"], X, labels)
    model = MODELS["mixture"](0.9 * least)
    model.learn_many(X[:100], labels[:100])
    before = learned(model, [])
    for refuse in (model.learn_many, model.predict_learn_many):
        with pytest.raises(
            InvalidInputError, match=f"too little for 8 numbers, 0 columns of text and 200 labels; .* {least:g} MiB"
        ):
            refuse(X, labels)
        assert learned(model, []) == before
    model.learn_many(X[:100], labels[:100])
    assert model.memory_usage_ <= 0.9 * least * 2**20


def test_trees_at_their_limit_go_on_learning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = (X[:, 0] > 0).astype(int).tolist()
    model = HoeffdingTrees(n_learners=1, grace_period=20, max_size=0.02, seed=1)
    model.learn_many(X, y)
    flipped = [1 - label for label in y]
    for _ in range(3):
        model.learn_many(X, flipped)
    right = np.mean(np.array(model.predict_many(X)) == np.array(flipped))
    assert right > 0.9  # leaves that may not split learn what their labels are now
