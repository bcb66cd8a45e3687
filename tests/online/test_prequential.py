"""A prequential run: the answers are those from before each row, and what was given is what was learned."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boosters import mixture
from laws import learned
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineMBBMClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from ocoboost.errors import InvalidInputError
from ocoboost.stream import state
from strategies import streams
from toy_learners import Bins

BOOSTERS = [
    OnlineAgnosticBoostClassifier,
    OnlineRealizableBoostClassifier,
    OnlineMBBMClassifier,
    AdaBoostOLMClassifier,
    mixture,
]
ROWS = datasets.shuffled(datasets.balance(), 1)[:60]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]


@pytest.mark.parametrize("learner", [Bins(), HoeffdingTrees(grace_period=2, delta=0.9, tau=0.9)], ids=type)
@pytest.mark.parametrize("booster", BOOSTERS)
@settings(max_examples=10)
@given(stream=streams(), seed=st.integers(0, 2**32))
def test_every_row_is_answered_as_if_asked_before_it_was_learned(booster, learner, stream, seed):
    watched, asked = (booster(learner, n_learners=3, seed=seed) for _ in range(2))
    rows = 0
    for answered in watched.prequential([x for x, *_ in stream], [y for _, y, _ in stream], w=[w for *_, w in stream]):
        assert answered.first_row == rows
        drawn = watched.draws(answered, rows)
        for place in range(len(answered)):
            x, y, w = stream[rows]
            known = asked.classes_
            assert answered.classes == (known if y in known else [*known, y])
            unknown = {} if y in known else {y: 0.0}
            assert answered.labels[place] == asked.predict_one(x)
            said = zip(answered.classes, answered.probabilities[place].tolist(), strict=True)
            assert dict(said) == asked.predict_proba_one(x) | unknown
            said = zip(answered.classes, answered.distributions[place].tolist(), strict=True)
            assert dict(said) == asked.distribution_one(x) | unknown
            said = zip(answered.classes, answered.vote_shares[place].tolist(), strict=True)
            assert dict(said) == asked.vote_shares_one(x) | unknown
            assert drawn[place] == asked.sample_one(x)
            asked.learn_one(x, y, w=w)
            rows += 1
    assert rows == len(stream)
    assert learned(watched) == learned(asked)


def test_what_was_given_is_learned_and_the_rest_is_not_if_the_run_is_dropped(monkeypatch):
    monkeypatch.setattr(state, "MOST_ROWS", 16)
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=3, classes=["L", "B", "R"], seed=1)
    run = model.prequential(X, Y)
    assert model.n_rows_ == 0
    blocks = [next(run), next(run)]
    assert [(block.first_row, len(block)) for block in blocks] == [(0, 16), (16, 16)]
    run.close()
    other = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=3, classes=["L", "B", "R"], seed=1)
    other.learn_many(X[:32], Y[:32])
    assert learned(model, X[:5]) == learned(other, X[:5])
    model.learn_many(X[32:], Y[32:])  # and it goes on from there
    assert model.n_rows_ == len(X)


def test_a_row_that_brings_a_label_is_given_before_the_next_is_learned():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=3, seed=1)
    run = model.prequential([{"a": 1.0}] * 5, ["x", "x", "y", "y", "y"])
    given = 0
    for answered in run:
        given += len(answered)
        assert model.n_rows_ == given
    assert given == 5


@pytest.mark.parametrize("name", ["city", "number"])
def test_a_text_never_seen_is_answered_alike_before_and_while_it_is_learned(name):
    """It is not missing: a branch that asks for one text sends it where all others go."""
    values = [["a", "b", "c", "d"], [1.0, 2.0, 3.0, 4.0]][name == "number"]
    labels = {values[0]: "u", values[1]: "v", values[2]: "v"}
    rng = np.random.default_rng(0)
    seen = [values[index] for index in rng.choice(3, p=[0.8, 0.1, 0.1], size=300)]
    make = partial(HoeffdingTrees, grace_period=20, binary_split=True, nominal_attributes=["number"])
    watched, asked = make(), make()
    for model in (watched, asked):
        model.learn_many([{name: value} for value in seen], [labels[value] for value in seen])
    assert watched.state_.engine.cascades[0].ensemble.trees.n_nodes[0] > 1
    (answered,) = watched.prequential([{name: values[3]}], ["v"])
    known = zip(answered.classes, answered.distributions[0].tolist(), strict=True)
    assert dict(known) == asked.predict_proba_one({name: values[3]}) == {"u": 0.0, "v": 1.0}
    assert asked.predict_one({}) == "u"  # a missing value goes where most rows went


def test_rows_are_checked_at_once():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    with pytest.raises(InvalidInputError, match="column 'a' at row 1 is inf"):
        model.prequential([{"a": 1.0}, {"a": float("inf")}], ["x", "y"])
    assert model.state_ is None


def test_two_runs_at_a_time_are_refused(monkeypatch):
    monkeypatch.setattr(state, "MOST_ROWS", 16)
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, classes=["L", "B", "R"], seed=1)
    run = model.prequential(X, Y)
    next(run)
    model.learn_one(X[0], Y[0])
    with pytest.raises(
        InvalidInputError, match=r"^OnlineAgnosticBoostClassifier: the model has learned other rows since row 16 of"
    ):
        next(run)
    model.learn_one(X[0], Y[0])  # nothing is broken by that
    assert model.n_rows_ == 18


def test_no_rows_no_blocks():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    assert list(model.prequential([], [])) == []


@pytest.mark.parametrize("booster", BOOSTERS)
def test_answers_to_a_table_are_those_to_its_rows(booster):
    model = booster(HoeffdingTrees(), n_learners=3, seed=1)
    fresh = model.answer_many(X[:3])
    assert (fresh.classes, fresh.labels, fresh.probabilities.shape) == ([], [None] * 3, (3, 0))
    assert repr(model.answer_one(X[0])) == repr(model.answer_many(X[:1]))
    model.learn_many(X, Y)
    before = learned(model, X[:5])
    answered = model.answer_many(X)
    assert answered.classes == model.classes_
    assert answered.labels == model.predict_many(X)
    ours = np.array([list(model.predict_proba_one(x).values()) for x in X])
    np.testing.assert_array_equal(answered.probabilities, ours)
    np.testing.assert_array_equal(answered.vote_shares, [list(model.vote_shares_one(x).values()) for x in X])
    single = [model.answer_one(x) for x in X]
    assert [one.labels[0] for one in single] == answered.labels
    for place in (3, 4, 5):
        np.testing.assert_array_equal(np.concatenate([one[place] for one in single]), answered[place])
    assert learned(model, X[:5]) == before
