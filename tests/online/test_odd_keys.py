"""Columns and labels with odd names, tables of the wrong shape: they work everywhere, or an error says why."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ocoboost
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.errors import InvalidInputError, InvalidParameterError
from toy_learners import Bins


def booster():
    return OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)


@pytest.mark.parametrize("X", [np.zeros(3), [1.0, 2.0, 3.0], pd.Series([1.0, 2.0, 3.0])], ids=type)
def test_one_dimensional_tables_are_told_how_to_be_reshaped(X):
    message = r"shape \(3,\).*; reshape\(-1, 1\) makes it one column, reshape\(1, -1\) one row\.$"
    with pytest.raises(InvalidInputError, match=message):
        booster().learn_many(X, ["x"] * 3)
    with pytest.raises(InvalidInputError, match=message):
        booster().predict_many(X)


@pytest.mark.parametrize("name", [float("nan"), np.float64("nan"), (1, float("nan")), pd.NaT], ids=repr)
def test_columns_cannot_be_named_nan(name):
    model = booster()
    with pytest.raises(InvalidInputError, match=r"X: a column is named .*; rename the column"):
        model.learn_one({"a": 1.0, name: "red"}, "x")
    with pytest.raises(InvalidInputError, match=r"X: a column is named .*; rename the column"):
        model.predict_many([{name: "red"}])
    assert model.state_ is None


def test_a_frame_with_a_column_named_nan_is_refused_and_none_is_a_name():
    with pytest.raises(InvalidInputError, match="X: a column is named nan"):
        booster().learn_many(pd.DataFrame([[1.0, 2.0]], columns=["a", np.nan]), ["x"])
    model = booster()
    model.learn_one({None: "red", 1: 2.0}, "x")
    model = pickle.loads(pickle.dumps(model))
    model.learn_one({None: "red", 1: 2.0}, "y")


def test_labels_with_nan_in_them_are_missing():
    with pytest.raises(InvalidInputError, match=r"y: the label at row 1 is missing \(\(1, nan\)\)"):
        booster().learn_many([{"a": 1.0}] * 2, [(1, 2), (1, float("nan"))])


@pytest.mark.parametrize("label", [b"caf\xe9", "caf\udce9", "\ud800"], ids=ascii)
def test_bytes_and_lone_surrogates_are_labels_like_any_other(label, tmp_path):
    model = HoeffdingTrees(seed=1)
    model.learn_many([{"a": 1.0}, {"a": 5.0}, {"a": 1.0}], [label, "x", label])
    assert model.predict_one({"a": 1.0}) == label
    assert model.predict_proba_many(pd.DataFrame({"a": [1.0]})).columns.tolist() == [label, "x"]
    ocoboost.save(model, tmp_path / "model.oco")
    for other in (ocoboost.load(tmp_path / "model.oco"), pickle.loads(pickle.dumps(model))):
        assert other.classes_ == [label, "x"]
        assert other.predict_many([{"a": 1.0}]) == [label]
    frame = pl.DataFrame({"a": [1.0]})
    if isinstance(label, bytes):
        assert model.predict_many(frame).to_list() == [label]
    else:  # which polars cannot hold
        for predict in (model.predict_many, model.predict_proba_many):
            with pytest.raises(InvalidInputError, match="pass a pandas frame or a list of dicts"):
                predict(frame)


def test_the_mixture_is_told_auto_and_not_none():
    message = r"OnlineBoostClassifier: learner must be a weak learner, got None \(\"auto\" leaves the choice"
    with pytest.raises(InvalidParameterError, match=message):
        OnlineBoostClassifier(None).learn_one({"a": 1.0}, "x")
