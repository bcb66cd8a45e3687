"""Learners over classes under boosters, on their own, and asked for what they cannot do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ocoboost
from ocoboost import FiniteExperts, LittlestoneExperts, MatrixExperts, StumpExperts
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.learners.experts.stumps import StumpClass
from strategies import cuts

THRESHOLDS = [[int(point >= cut) for point in range(6)] for cut in range(7)]
LEARNERS = {
    "stumps": StumpExperts(n_cells=4, high=6.0),
    "drawn stumps": StumpExperts(n_cells=4, high=6.0, votes="random"),
    "functions": FiniteExperts([lambda x: 0, lambda x: 1, lambda x: int((x.get("a") or 0) > 2)], 3),
    "matrices": MatrixExperts(["a"], 3, votes="random"),
    "table": LittlestoneExperts(THRESHOLDS, "a", horizon=5),
}
BOOSTERS = [
    ocoboost.OnlineAgnosticBoostClassifier,
    ocoboost.OnlineRealizableBoostClassifier,
    ocoboost.OnlineMBBMClassifier,
    ocoboost.AdaBoostOLMClassifier,
]


def state_of(model):
    ensemble = model.state_.engine.cascades[0].ensemble
    arrays = [getattr(ensemble, name).tobytes() for name in ("gains", "n_rows", "energy") if hasattr(ensemble, name)]
    return arrays, getattr(ensemble, "crowds", None)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("booster", BOOSTERS)
@settings(max_examples=10)
@given(data=st.data())
def test_every_booster_takes_experts_and_any_cut_of_the_stream_gives_the_same_bits(booster, learner, data):
    row = st.tuples(st.integers(0, 5), st.integers(0, 1), st.sampled_from([1.0, 0.0, 0.5]))
    stream = data.draw(st.lists(row, min_size=1, max_size=14))
    options = {"n_learners": 3, "seed": data.draw(st.integers(0, 2**32)), "classes": [0, 1]}
    if booster is not ocoboost.AdaBoostOLMClassifier:
        options["gamma"] = 0.3
    one, many = booster(LEARNERS[learner], **options), booster(LEARNERS[learner], **options)
    predictions = []
    for a, y, w in stream:
        predictions.append(one.predict_one({"a": a}))
        one.learn_one({"a": a}, y, w=w)
    blocks = []
    for first, last in data.draw(cuts(len(stream))):
        a, y, w = zip(*stream[first:last], strict=True)
        blocks += many.predict_learn_many([{"a": value} for value in a], list(y), w=list(w))
    assert predictions == blocks
    assert state_of(one) == state_of(many)
    for a in range(6):
        assert one.predict_proba_one({"a": a}) == many.predict_proba_one({"a": a})


def test_a_pickle_goes_on_as_before():
    rng = np.random.default_rng(1)
    rows = [({"a": x}, int(y)) for x, y in zip(rng.random(40), rng.integers(3, size=40), strict=True)]
    model = StumpExperts(votes="random", seed=3)
    for x, y in rows[:20]:
        model.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(model))
    for x, y in rows[20:]:
        assert model.predict_one(x) == copy.predict_one(x)
        model.learn_one(x, y)
        copy.learn_one(x, y)
    assert state_of(model) == state_of(copy)


def test_boosting_stumps_beats_the_best_stump():
    """Two features decide together; a stump sees one of them."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 2))
    labels = np.where(X[:, 0] < 0.5, 0, np.where(X[:, 1] < 0.5, 1, 2))
    best = StumpClass(2, 3, 8).best_in_class(X, np.eye(3)[labels]).value / 1500
    model = ocoboost.OnlineAgnosticBoostClassifier(StumpExperts(n_cells=8), gamma=0.2, n_learners=20, seed=1)
    accuracy = np.mean(np.array(model.predict_learn_many(X, labels)) == labels)
    assert accuracy > best + 0.05


# -- mistakes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StumpExperts(n_cells=0), "n_cells must be a whole number of at least 1, got 0"),
        (lambda: StumpExperts(low=2.0), r"low must be below high=1.0, got 2.0"),
        (lambda: StumpExperts(votes="majority"), "votes must be one of 'expected', 'random', got 'majority'"),
        (lambda: StumpExperts(learning_rate=0.0), "learning_rate must be None, or lie in"),
        (lambda: StumpExperts(horizon=0), "horizon must be None, or be a whole number"),
        (lambda: StumpExperts(classes="xyz"), "classes must be None or a sequence"),
        (lambda: MatrixExperts(list("abcdefghij"), 3), "has 205,891,132,094,649 members"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make().learn_one({"a": 1.0}, "x")
    if "members" not in message:  # a class is made with the learners
        with pytest.raises(InvalidParameterError, match=message):
            make().check_parameters()


@pytest.mark.parametrize(
    ("model", "row", "message"),
    [
        (StumpExperts(), {"a": "red"}, "column 'a' at row 0 is the text 'red', and StumpExperts takes numbers only"),
        (MatrixExperts(["a"], 2), {"a": "red"}, "row 0 has the text 'red' in column 'a'"),
        (
            LittlestoneExperts(THRESHOLDS, "a"),
            {"a": 6},
            "row 0 has 6 in column 'a', which must hold a whole number below 6",
        ),
        (FiniteExperts([lambda x: x["b"]], 2), {"a": 6}, "row 0 makes hypothesis 0 raise KeyError: 'b'"),
        (FiniteExperts([lambda x: "no"], 2), {"a": 6}, "row 0 makes hypothesis 0 raise ValueError"),
        (
            FiniteExperts([lambda x: 2], 2),
            {"a": 6},
            "row 0 makes hypothesis 0 say 2, which is not a label index below 2",
        ),
        (LittlestoneExperts(THRESHOLDS, "a"), {}, "row 0 has None in column 'a'"),
    ],
)
def test_rows_that_cannot_be_read_change_nothing(model, row, message):
    with pytest.raises(InvalidInputError, match=message):
        model.learn_one(row, "x")
    assert model.n_rows_ == 0


def test_a_label_more_than_the_class_has_is_refused():
    model = MatrixExperts(["a"], 2)
    model.learn_many([{"a": 1}, {"a": 2}], ["x", "y"])
    with pytest.raises(InvalidInputError, match="one more than the 2 labels that MatrixExperts can tell apart"):
        model.learn_one({"a": 1}, "z")


def test_stumps_cannot_bound_a_regret_in_unknown_dimensions():
    with pytest.raises(InvalidInputError, match="give n_features and n_classes"):
        StumpExperts().regret_bound(100)
