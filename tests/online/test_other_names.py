"""Whoever comes with the names of another library is told ours; signatures, clones and pickles are as ever."""

from __future__ import annotations

import inspect

import pytest
from river import compose, preprocessing

from ocoboost import HoeffdingTrees, OnlineBoostClassifier, registry

KINDS = [model.load() for model in registry.models(registry.BOOSTER, registry.LEARNER)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("fit", r"learn_many\(X, y\)"),
        ("partial_fit", r"learn_many\(X, y\)"),
        ("predict", r"predict_many\(X\)"),
        ("predict_proba", r"predict_proba_many\(X\)"),
        ("score", "river.evaluate.progressive_val_score"),
    ],
)
def test_methods_of_scikit_learn_are_named_in_ours(kind, name, ours):
    model = kind.__new__(kind)
    assert not hasattr(model, name)
    message = f"'{kind.__name__}' object has no attribute '{name}': here that is {ours}.*ocoboost.sklearn.OnlineBoost"
    with pytest.raises(AttributeError, match=message):
        getattr(model, name)


def test_other_attributes_are_missing_as_ever():
    model = OnlineBoostClassifier()
    with pytest.raises(AttributeError, match=r"'OnlineBoostClassifier' object has no attribute 'fitt'$"):
        model.fitt  # noqa: B018


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_other_libraries_are_named_in_ours(kind):
    known = inspect.signature(kind).parameters
    assert not {"args", "kwargs"} & known.keys()
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) has no parameter 'random_state': here .* 'seed'\.$"):
        kind(random_state=1)
    number = "budget" if "budget" in known else "n_learners"
    if number in known:
        with pytest.raises(TypeError, match=f"no parameter 'n_estimators': here it is called '{number}'"):
            kind(n_estimators=10)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'gama'|missing .* required"):
        kind(gama=1)


def test_a_class_may_have_such_a_parameter_itself():
    class Mine(HoeffdingTrees):
        """With a parameter that others call seed."""

        def __init__(self, random_state=None):
            super().__init__()
            self.random_state = random_state

    assert Mine(random_state=3).clone().random_state == 3


def test_a_river_pipeline_finds_a_classifier_in_it():
    model = compose.Pipeline(preprocessing.StandardScaler(), HoeffdingTrees())
    for number in range(6):
        model.predict_one({"a": float(number)})
        model.learn_one({"a": float(number)}, number % 2)
    assert model._multiclass
    assert model["HoeffdingTrees"].n_rows_ == 6
