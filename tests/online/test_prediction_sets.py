"""Prediction sets as callers see them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import ocoboost
from ocoboost import OnlineBoostClassifier
from ocoboost.bench import drifting
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.online.mixture.bounds import fewest_misses, most_misses
from ocoboost.online.mixture.sets import MEMORY
from ocoboost.sklearn import OnlineBoostClassifier as Wrapper

LEVELS = (0.8, 0.9, 0.95)


def made(**options):
    return OnlineBoostClassifier(budget=10, seed=1, **options)


@pytest.fixture(scope="module")
def stream():
    rows, _ = drifting.CATALOGUE["led-abrupt-1"].load(1500)
    return [x for x, _ in rows], [y for _, y in rows]


@pytest.fixture(scope="module")
def learned(stream):
    X, y = stream
    model = made()
    model.learn_many(X, y)
    return model


def test_the_share_of_rows_that_are_missed_is_within_the_bounds(stream):
    X, y = stream
    missed, filled, counted = np.zeros(3), np.zeros(3), 0
    model = made(classes=sorted(set(y)))
    for answered in model.prequential(X, y):
        counted += len(answered)
        truth = [answered.classes.index(label) for label in y[answered.first_row :][: len(answered)]]
        for number in range(3):
            sets = answered.in_sets(number, allow_empty=True)
            missed[number] += len(truth) - sets[np.arange(len(truth)), truth].sum()
            sets = answered.in_sets(number)
            assert sets.any(axis=1).all()
            filled[number] += len(truth) - sets[np.arange(len(truth)), truth].sum()
    for number, level in enumerate(LEVELS):
        assert fewest_misses(counted, level) <= missed[number] <= most_misses(counted, level)
        assert filled[number] <= missed[number]
    assert filled[0] < counted * 0.25  # the sets are not just everything


def test_one_row_and_many_and_the_block_agree(stream, learned):
    X, _ = stream
    answered = learned.answer_many(X[:30])
    for number, level in enumerate(LEVELS):
        for allow_empty in (False, True):
            sets = learned.predict_set_many(X[:30], level, allow_empty=allow_empty)
            assert sets == [learned.predict_set_one(x, level, allow_empty=allow_empty) for x in X[:30]]
            inside = answered.in_sets(number, allow_empty=allow_empty)
            assert sets == [{answered.classes[j] for j in np.flatnonzero(row)} for row in inside]
    assert all(learned.predict_one(x) in learned.predict_set_one(x) for x in X[:30])
    assert learned.predict_set_many(pd.DataFrame(X[:5])) == learned.predict_set_many(X[:5])


def test_before_the_first_label_sets_are_empty():
    assert made().predict_set_one({"a": 1.0}) == set()
    assert made().predict_set_many([{"a": 1.0}] * 2) == [set(), set()]
    assert made(classes=["x", "y"]).predict_set_one({"a": 1.0}) == {"x", "y"}


def test_a_row_that_brings_its_label_is_not_counted():
    """Nobody could have had it in a set."""
    one, other = made(), made(classes=["a", "b"])
    for model in (one, other):
        for number, label in enumerate("aaaabaa"):
            model.learn_one({"x": float(number)}, label)
    rates = [model.state_.engine.prediction_sets.sets.rates for model in (one, other)]
    assert not np.array_equal(*rates)  # the rows with the first a and the first b count if the labels were known
    one_rows, other_rows = (model.state_.engine.prediction_sets.sets.recent.sum() for model in (one, other))
    assert other_rows - one_rows == pytest.approx(2.0, abs=20.0 / MEMORY)  # older rows count less


def test_another_level_is_an_error(learned):
    with pytest.raises(InvalidInputError, match=r"must be one of the levels in coverages \(0.8, 0.9, 0.95\), got 0.99"):
        learned.predict_set_one({}, 0.99)
    with pytest.raises(InvalidInputError, match="coverages"):
        made(coverages=()).predict_set_one({"a": 1.0}, 0.9)


@pytest.mark.parametrize(
    "coverages", [0.9, (0.0,), (1.0,), (0.9, 0.9), ("0.9",), (True,), (float("nan"),), [0.5] * 101]
)
def test_coverages_that_are_no_levels_are_refused(coverages):
    with pytest.raises(InvalidParameterError, match="coverages must be a sequence of"):
        made(coverages=coverages).learn_one({"a": 1.0}, "x")


def test_levels_may_be_chosen_and_are_saved(stream, tmp_path):
    X, y = stream
    model = made(coverages=np.array([0.5, 0.99]))
    model.learn_many(X[:300], y[:300])
    ocoboost.save(model, tmp_path / "model.oco")
    for copy in (ocoboost.load(tmp_path / "model.oco"), pickle.loads(pickle.dumps(model))):
        copy.learn_many(X[300:400], y[300:400])
        assert list(copy.coverages) == [0.5, 0.99]
    model.learn_many(X[300:400], y[300:400])
    for level in (0.5, 0.99):
        assert copy.predict_set_many(X[400:450], level) == model.predict_set_many(X[400:450], level)
    sizes = [np.mean([len(found) for found in model.predict_set_many(X[400:450], level)]) for level in (0.5, 0.99)]
    assert sizes[0] < sizes[1]


def test_the_scikit_learn_wrapper_has_a_column_for_every_class(stream):
    X, y = pd.DataFrame(stream[0][:200]), np.array(stream[1][:200])
    model = Wrapper(made()).partial_fit(X, y)
    inside = model.predict_set(X, 0.8)
    assert inside.shape == (200, len(model.classes_))
    assert inside.dtype == bool
    assert inside[np.arange(200), model.predict_proba(X).argmax(axis=1)].all()
    sets = model.booster_.predict_set_many(X.to_numpy(), 0.8)
    assert [set(model.classes_[row].tolist()) for row in inside] == sets
    assert (model.predict_set(X, 0.8, allow_empty=True) <= inside).all()
    with pytest.raises(AttributeError, match="has no predict_set; the mixture"):
        Wrapper(ocoboost.HoeffdingTrees()).partial_fit(X, y).predict_set(X)
