"""River's own checks, every one of them, on every registered booster and on the learners that take any row."""

from __future__ import annotations

import pytest
from river import checks, linear_model

from ocoboost import OnlineBoostClassifier, registry

# What River does to a model is ordinary use: no warning of hazards.
pytestmark = pytest.mark.filterwarnings("error::ocoboost.errors.HazardWarning")

BOOSTERS = [model.load() for model in registry.models(registry.BOOSTER)]
# Learners over classes that are given in full cannot take the rows that River makes up.
LEARNERS = [registry.find(key).load() for key in ("hoeffding", "mondrian", "stump-experts")]
AROUND = [model.load() for model in registry.models(registry.AROUND)]
MODELS = [*BOOSTERS, *LEARNERS, *AROUND]


def cases():
    for kind in MODELS:
        for parameters in kind._unit_test_params():
            for number, check in enumerate(checks.yield_checks(kind(**parameters))):
                # It learns thousands of rows, and all boosters have one home for their memory.
                is_slow = check.__name__.startswith("check_bounded_memory") and kind is not OnlineBoostClassifier
                marks = [pytest.mark.slow] if is_slow else []
                yield pytest.param(
                    kind, parameters, check, id=f"{kind.__name__}-{number}-{check.__name__}", marks=marks
                )


@pytest.mark.parametrize(("kind", "parameters", "check"), list(cases()))
def test_river_check(kind, parameters, check):
    check(kind(**parameters))


def test_no_check_is_skipped():
    for kind in MODELS:
        assert kind()._unit_test_skips() == set()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_binary_learner_makes_a_binary_booster(booster):
    model = booster(linear_model.LogisticRegression())
    assert not model._multiclass
    names = {check.__name__ for check in checks.yield_checks(model)}
    assert "check_predict_proba_one_binary" in names
