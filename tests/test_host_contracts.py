"""River's own checks, every one of them, on every public booster."""

from __future__ import annotations

import pytest
from river import checks, linear_model

import ocoboost

BOOSTERS = [
    ocoboost.StumpExperts,
    ocoboost.HoeffdingTrees,
    ocoboost.MondrianTrees,
    ocoboost.AdaBoostOLMClassifier,
    ocoboost.OnlineAgnosticBoostClassifier,
    ocoboost.OnlineMBBMClassifier,
    ocoboost.OnlineRealizableBoostClassifier,
]


def cases():
    for booster in BOOSTERS:
        for parameters in booster._unit_test_params():
            for number, check in enumerate(checks.yield_checks(booster(**parameters))):
                yield pytest.param(booster, parameters, check, id=f"{booster.__name__}-{number}-{check.__name__}")


@pytest.mark.parametrize(("booster", "parameters", "check"), list(cases()))
def test_river_check(booster, parameters, check):
    check(booster(**parameters))


def test_no_check_is_skipped():
    for booster in BOOSTERS:
        assert booster()._unit_test_skips() == set()


@pytest.mark.parametrize("booster", BOOSTERS[3:])
def test_a_binary_learner_makes_a_binary_booster(booster):
    model = booster(linear_model.LogisticRegression(), n_learners=2)
    assert not model._multiclass
    names = {check.__name__ for check in checks.yield_checks(model)}
    assert "check_predict_proba_one_binary" in names
