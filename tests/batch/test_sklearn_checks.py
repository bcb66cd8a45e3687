"""scikit-learn's own checks on every batch estimator, and the tools its users reach for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ocoboost import (
    AgnosticBoostClassifier,
    BoostClassifier,
    HistogramTreeClassifier,
    PairwiseBoostClassifier,
    RealizableBoostClassifier,
)

BOOSTERS = [AgnosticBoostClassifier, RealizableBoostClassifier]


def expected_failures(estimator):
    if isinstance(estimator, BoostClassifier):
        reason = "which rows judge which chain depends on their numbers, and repeated rows have numbers of their own"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if isinstance(estimator, AgnosticBoostClassifier) and estimator.n_drawn is not None:
        reason = "which row a draw hits depends on the order of the rows, and the check shuffles the repeated ones"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    return {}


@parametrize_with_checks(
    [
        HistogramTreeClassifier(),
        BoostClassifier(n_estimators=10),
        *(booster(n_estimators=10) for booster in BOOSTERS),
        PairwiseBoostClassifier(n_estimators=10),
        *(booster(n_estimators=10, n_drawn=200) for booster in BOOSTERS),
        *(booster(GaussianNB(), n_estimators=5) for booster in BOOSTERS),
        *(booster(DecisionTreeClassifier(max_depth=2), n_estimators=5) for booster in BOOSTERS),
        *(booster(DecisionTreeClassifier(max_depth=2), n_estimators=5, n_drawn=200) for booster in BOOSTERS),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_works_in_a_pipeline_a_grid_search_and_cross_validation(booster):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), booster(n_estimators=10, random_state=1))
    search = GridSearchCV(model, {f"{booster.__name__.lower()}__gamma": [0.1, 0.5]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(model, X, y, cv=3).min() > 0.85
    copy = clone(booster(HistogramTreeClassifier(max_depth=2), gamma=0.3, n_drawn=7))
    assert copy.get_params()["estimator__max_depth"] == 2
    assert not hasattr(copy, "classes_")


@pytest.mark.parametrize("booster", BOOSTERS)
def test_frames_keep_their_names(booster):
    frame, y = load_iris(return_X_y=True, as_frame=True)
    labels = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    model = booster(n_estimators=10).fit(frame, labels)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert set(model.predict(frame)) == set(labels)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={frame.columns[0]: "other"}))
    bare = booster(n_estimators=10).fit(frame.to_numpy(), labels)
    np.testing.assert_array_equal(bare.predict_proba(frame.to_numpy()), model.predict_proba(frame))
    nullable = frame.convert_dtypes()
    assert isinstance(nullable, pd.DataFrame)
    np.testing.assert_array_equal(model.predict(nullable), model.predict(frame))
