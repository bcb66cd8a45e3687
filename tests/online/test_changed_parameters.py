"""Parameters changed after the first row take no effect before ``reset``, and the next call that learns says so."""

from __future__ import annotations

import numpy as np
import pytest

import ocoboost
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.errors import HazardWarning
from ocoboost.sklearn import OnlineBoostClassifier as Wrapper
from toy_learners import Bins


def booster(**options):
    return OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1, **options)


def test_parameters_changed_after_the_first_row():
    model = booster(gamma=0.5)
    model.gamma = 0.4
    model.learn_one({"a": 1.0}, "x")  # nothing was learned before
    model.gamma = 0.3
    message = r"OnlineAgnosticBoostClassifier: gamma was changed from 0.4 to 0.3 after the first row.*call reset\(\)"
    with pytest.warns(HazardWarning, match=message):
        model.learn_many([{"a": 1.0}], ["x"])
    model.learn_one({"a": 1.0}, "x")  # said once
    model.gamma, model.seed = 0.4, 5
    model.reset()
    model.learn_one({"a": 1.0}, "x")
    assert model.state_.engine.cells.gamma == 0.4


def test_parameters_of_the_learner_count_too():
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=2, classes=np.array(["x", "y"]), seed=1)
    model.learn_one({"a": 1.0}, "x")
    model.learner.grace_period = 5
    with pytest.warns(HazardWarning, match=r"learner\.grace_period was changed from 200 to 5"):
        model.learn_one({"a": 1.0}, "x")
    model.learner = MondrianTrees()
    with pytest.warns(HazardWarning, match="learner was changed from a HoeffdingTrees to "):
        model.learn_one({"a": 1.0}, "x")
    model.classes = np.array(["x", "z"])
    with pytest.warns(HazardWarning, match="classes was changed from array"):
        model.learn_one({"a": 1.0}, "x")


def test_parameters_that_were_put_back_are_not_changed(tmp_path):
    model = HoeffdingTrees(seed=1)
    model.learn_one({"a": 1.0}, "x")
    model.seed = 7
    model.seed = 1
    ocoboost.save(model, tmp_path / "model.oco")  # which looks what a fresh model would be
    model.learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="not a mutable attribute"):
        model.mutate({"delta": 0.5})  # River's convention


def test_parameters_changed_before_an_accounted_run():
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=2, seed=1)
    model.account()
    model.gamma = 0.3
    with pytest.warns(HazardWarning, match="gamma was changed"):
        model.learn_one({"a": 1.0}, "x")


def test_the_wrapper_says_so_too():
    model = Wrapper(booster()).partial_fit(np.zeros((2, 1)), [0, 1])
    model.set_params(booster__gamma=0.5)  # what it was
    model.partial_fit(np.zeros((2, 1)), [0, 1])
    model.set_params(booster__gamma=0.3)
    message = "OnlineBoostClassifier: the booster's parameters were changed, which takes effect with the next fit"
    with pytest.warns(HazardWarning, match=message):
        model.partial_fit(np.zeros((2, 1)), [0, 1])
    model.partial_fit(np.zeros((2, 1)), [0, 1])
    model.fit(np.zeros((2, 1)), [0, 1])
    assert model.booster_.gamma == 0.3
