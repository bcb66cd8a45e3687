"""The wrapper for scikit-learn users against scikit-learn's own checks, and against the booster inside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ocoboost
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineMBBMClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from ocoboost.sklearn import OnlineBoostClassifier

# What scikit-learn does to a model is ordinary use: no warning of hazards.
pytestmark = pytest.mark.filterwarnings("error::ocoboost.errors.HazardWarning")

BOOSTERS = [
    ocoboost.OnlineBoostClassifier(budget=20),
    OnlineAgnosticBoostClassifier(MondrianTrees(), gamma=0.5, n_learners=5),
    OnlineRealizableBoostClassifier(n_learners=5),
    OnlineMBBMClassifier(n_learners=5),
    AdaBoostOLMClassifier(n_learners=5),
]
WHY = "a row learned with weight 2 is not a row learned twice: its second copy meets learners that know the first"


def expected_failures(estimator):
    return dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"], WHY
    )


@parametrize_with_checks(
    [OnlineBoostClassifier(booster) for booster in BOOSTERS], expected_failed_checks=expected_failures
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(X))
    return X[order], y[order]


def booster(**options):
    return OnlineAgnosticBoostClassifier(gamma=0.5, n_learners=10, start="label", pool="distribution", **options)


@pytest.fixture
def model():
    return OnlineBoostClassifier(booster(), shuffle=False, random_state=1)


def test_it_is_the_booster_inside(iris, model):
    X, y = iris
    inside = booster(classes=[0, 1, 2], seed=model.fit(X, y).booster_.seed)
    inside.learn_many(X, y)
    assert np.array_equal(model.predict_proba(X), inside.predict_proba_many(X))
    assert model.predict(X).tolist() == inside.predict_many(X)


def test_without_a_booster_it_is_the_mixture(iris):
    X, y = iris
    model = OnlineBoostClassifier(shuffle=False, random_state=1).set_params(booster__budget=20).fit(X, y)
    assert type(model.booster_) is ocoboost.OnlineBoostClassifier
    inside = ocoboost.OnlineBoostClassifier(budget=20, classes=[0, 1, 2], seed=model.booster_.seed)
    inside.learn_many(X, y)
    assert np.array_equal(model.predict_proba(X), inside.predict_proba_many(X))


def test_parts_are_the_whole(iris, model):
    X, y = iris
    whole = clone(model).fit(X, y).predict_proba(X)
    for rows in np.array_split(np.arange(len(X)), 7):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert np.array_equal(model.predict_proba(X), whole)


def test_fit_learns_in_random_order():
    """A table that is sorted by its labels is no stream."""
    X, y = load_iris(return_X_y=True)
    model = OnlineBoostClassifier(ocoboost.OnlineBoostClassifier(budget=30), random_state=1).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    order = np.random.default_rng(model.booster_.seed).permutation(len(X))
    weights = 1.0 + np.arange(len(X)) % 3
    shuffled = clone(model).set_params(shuffle=False).fit(X[order], y[order], sample_weight=weights[order])
    assert np.array_equal(shuffled.predict_proba(X), model.fit(X, y, sample_weight=weights).predict_proba(X))


def test_labels_may_appear_one_by_one(iris, model):
    X, y = iris
    names = np.array(["virginica", "setosa", "versicolor"])[y]
    order = np.argsort(y, kind="stable")
    for n_classes, rows in enumerate(np.array_split(order, 3), 1):
        model.partial_fit(X[rows], names[rows])
        assert model.predict_proba(X).shape == (150, n_classes)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert np.mean(model.predict(X) == names) > 0.6  # the columns are in the order of classes_


def test_fit_forgets(iris, model):
    X, y = iris
    first = model.fit(X, y).predict_proba(X)
    assert np.array_equal(model.fit(X, y).predict_proba(X), first)
    assert model.booster.n_rows_ == 0


def test_searching_in_a_pipeline(iris, model):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    search = GridSearchCV(
        make_pipeline(StandardScaler().set_output(transform="pandas"), model),
        {"onlineboostclassifier__booster__gamma": [0.1, 0.9], "onlineboostclassifier__booster__n_learners": [5]},
        cv=3,
    ).fit(frame, y)
    assert search.best_score_ > 0.9
    best = search.best_estimator_[-1]
    assert best.booster.n_learners == 5
    assert best.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert cross_val_score(OnlineBoostClassifier(HoeffdingTrees()), frame, y).mean() > 0.9


def test_columns_of_text_and_missing_numbers():
    model = OnlineBoostClassifier(ocoboost.OnlineBoostClassifier(budget=60), random_state=1)
    rows = datasets.shuffled(datasets.cars(), 1)
    frame = pd.DataFrame([x for x, _ in rows]).assign(number=np.nan)
    y = [label for _, label in rows]
    model.fit(frame[:1500], y[:1500])
    assert model.score(frame[1500:], y[1500:]) > 0.8
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"safety": "danger"}))
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="fitted on columns with text"),
    ):
        model.predict(np.zeros((1, 7)))


def test_wrong_arguments_change_nothing(iris, model):
    X, y = iris
    before = model.partial_fit(X, y, classes=[0, 1, 2]).predict_proba(X)
    for arguments, message in [
        ((X, y, [0, 1]), "not the same as on last call"),
        ((X, y + 5), "label"),
        ((X[:, :2], y), "2 features"),
        ((X, y[:3]), "inconsistent"),
        ((np.full_like(X, np.inf), y), "infinity"),
        ((X, y, None, -np.ones(150)), "egative"),
        ((X, y + 0.5), "continuous"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert np.array_equal(model.predict_proba(X), before)
    with pytest.raises(TypeError, match="booster must be one of ocoboost's"):
        OnlineBoostClassifier("agnostic").fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'gama'"):
        model.set_params(booster__gama=0.1)


def test_importances_and_suspects_are_those_of_the_rows_as_given():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(400, 3))
    y = (X[:, 1] > 0).astype(int)
    wrong = draw.choice(400, 20, replace=False)
    y[wrong] = 1 - y[wrong]
    model = OnlineBoostClassifier(ocoboost.OnlineBoostClassifier(budget=40), random_state=1)
    for name in ("feature_importances_", "suspects_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    model.fit(X, y)
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.argmax() == 1
    found = [suspect.row for suspect in model.suspects_[:20]]
    assert len(set(found) & set(wrong.tolist())) >= 15
    assert all(y[suspect.row] == suspect.given_label for suspect in model.suspects_)
    other = OnlineBoostClassifier(HoeffdingTrees(), random_state=1).fit(X, y)
    assert not hasattr(other, "feature_importances_")
