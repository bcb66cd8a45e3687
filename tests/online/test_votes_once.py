"""Learning a row right after predicting it uses what the prediction worked out: with the same bits, in any order."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import learned
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.compiling import IS_COMPILED

N_BEFORE = 61  # the actions go across a birth
NAN = float("nan")
PROBES = [{}, {"p": 0.5}, {"p": -2, "q": 1.0, "text": "red"}]
ROWS = [
    {"p": 0.5, "q": -1.0, "r": 0.0, "s": 2.0},
    {"p": 0.5, "q": -1.0, "r": -0.0, "s": 2.0},
    {"p": 0.5, "q": -1, "r": 0, "s": 2},
    {"p": -0.5, "q": 1.0, "r": 0.25, "s": 2.0},
    {"p": NAN, "q": -1.0, "r": 0.0, "s": 2.0},
    {"q": -1.0, "r": 0.0, "s": 2.0},
    {"p": 0.5, "q": -1.0, "r": 0.0, "s": 2.0, "text": "red"},
    {"p": 0.5, "q": -1.0, "r": 0.0, "s": 2.0, "more": 1.0},
]
MODELS = {
    "mixture": lambda: OnlineBoostClassifier(budget=30, seed=2),
    "boosted": lambda: OnlineAgnosticBoostClassifier(HoeffdingTrees(grace_period=20), n_learners=4, seed=2),
}
row = st.integers(0, len(ROWS) - 1)
ACTIONS = st.one_of(
    st.tuples(st.just("predict"), row),
    st.tuples(st.just("learn"), row, st.sampled_from(["k0", "k1", "k2", "new"]), st.sampled_from([1.0, 1.0, 0.0, 2.5])),
    st.tuples(st.just("both"), row, st.sampled_from(["k0", "k1", "k2", "new"]), st.just(1.0)),
    st.tuples(st.just("predict elsewhere"), row),
    st.tuples(st.just("copy")),
)


@pytest.fixture(scope="module")
def begun():
    """Models that have learned some rows, as pickles."""
    found = {}
    for name, make in MODELS.items():
        model = make()
        X = np.random.default_rng(3).normal(size=(N_BEFORE, 4)).round(2)
        model.learn_many([dict(zip("pqrs", x, strict=True)) for x in X.tolist()], [f"k{int(p > 0)}" for p in X[:, 0]])
        found[name] = pickle.dumps(model)
    return found


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(actions=st.lists(ACTIONS, max_size=12))
def test_any_order_of_asking_and_learning_gives_the_bits_of_blocks(begun, name, actions):
    one, many = pickle.loads(begun[name]), pickle.loads(begun[name])  # the second one goes the long way only
    with ThreadPoolExecutor(1) as elsewhere:
        for action, *told in actions:
            if action == "copy":
                one = pickle.loads(pickle.dumps(one))
                continue
            x = ROWS[told[0]]
            if action != "learn":
                run = elsewhere.submit if action == "predict elsewhere" else None
                said = run(one.predict_proba_one, dict(x)).result() if run else one.predict_proba_one(dict(x))
                answered = many.answer_many([dict(x)])
                assert said == dict(zip(answered.classes, answered.probabilities[0].tolist(), strict=True))
            if action in ("learn", "both"):
                one.learn_one(dict(x), told[1], w=told[2])
                many.learn_many([dict(x)], [told[1]], w=[told[2]])
    assert learned(one, PROBES) == learned(many, PROBES)


@pytest.mark.skipif(not IS_COMPILED, reason="rows go the long way")
def test_the_prediction_is_used_once_and_only_for_an_equal_row(begun):
    """A forged answer shows who uses it."""

    def after(*steps):
        model = pickle.loads(begun["mixture"])
        for step in steps:
            step(model)
        return learned(model, PROBES)

    def forge(model):
        model.state_.engine.row_by_row._single.page.said[0] = 0.125

    def ask(model):
        model.predict_one(ROWS[0])

    def learn(model):
        model.learn_one(ROWS[0], "k0")

    def ask_other(model):
        model.predict_one(ROWS[3])

    def learn_other(model):
        model.learn_one(ROWS[3], "k1")

    def learn_block(model):
        model.learn_many([ROWS[3]], ["k1"])

    expected = after(learn)
    assert after(ask, learn) == expected
    assert after(ask, forge, learn) != expected  # it is used
    assert after(ask, forge, ask, learn) == expected
    assert after(ask, ask_other, forge, learn) == expected
    assert after(ask, forge, learn_other, learn) == after(learn_other, learn)
    assert after(ask, forge, learn_block, learn) == after(learn_block, learn)


@pytest.mark.skipif(not IS_COMPILED, reason="rows go the long way")
@pytest.mark.parametrize("is_forged", [False, True])
def test_trees_recall_what_they_found_out_for_their_votes(begun, is_forged):
    model, other = pickle.loads(begun["boosted"]), pickle.loads(begun["boosted"])
    for m in (model, other):
        m.learn_one(ROWS[3], "k1")  # a pickle holds what is in use, so arrays have to grow first
    model.predict_one(ROWS[0])
    if is_forged:
        (cascade,) = model.state_.engine.cascades
        cascade.seats._seats[0].page.scratch.known_scores[:] *= -1.0
    for m in (model, other):
        m.learn_one(ROWS[0], "k0")
    assert (learned(model, PROBES) != learned(other, PROBES)) == is_forged


@pytest.mark.parametrize("name", MODELS)
def test_what_is_remembered_is_no_state(begun, name):
    model = pickle.loads(begun[name])
    model.predict_one(ROWS[3])
    before, names, size = pickle.dumps(model), set(vars(model)), model.memory_usage_
    model.predict_one(ROWS[0])
    assert pickle.dumps(model) == before
    assert set(vars(model)) == names
    assert model.memory_usage_ == size
