"""What goes in and comes back: tables of any library, labels and features of any kind."""

from __future__ import annotations

import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import evaluate, metrics, stream, tree

from boosters import mixture
from ocoboost import OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from ocoboost.bench import datasets
from ocoboost.data import tables
from ocoboost.errors import HazardWarning
from toy_learners import Bins

ROWS = datasets.shuffled(datasets.balance(), 1)[:200]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, mixture]


@pytest.mark.parametrize("booster", BOOSTERS)
def test_dicts_arrays_and_frames_are_the_same_rows(booster):
    names = list(X[0])
    values = np.array([[x[name] for name in names] for x in X], dtype=float)
    numbered = [{i: float(v) for i, v in enumerate(x.values())} for x in X]
    models = {}
    for kind, rows, labels in [
        ("dicts", X, Y),
        ("pandas", pd.DataFrame(X), pd.Series(Y)),
        ("polars", pl.DataFrame(X), pl.Series(Y)),
        ("arrow", pl.DataFrame(X).to_arrow(), pl.Series(Y).to_arrow()),
        ("numbered", numbered, np.array(Y)),
        ("array", values, np.array(Y, dtype=object)),
    ]:
        models[kind] = booster(Bins(), n_learners=4, seed=1)
        models[kind].learn_many(rows, labels)
        assert models[kind].classes_ == models["dicts"].classes_
        assert all(type(label) is str for label in models[kind].classes_)
    expected = models["dicts"].predict_proba_many(X)
    for kind in ("pandas", "polars", "arrow"):
        assert models[kind].predict_proba_many(X) == expected
    shares = models["numbered"].predict_proba_many(numbered)
    assert models["array"].predict_proba_many(values).tolist() == [list(row.values()) for row in shares]


def test_predictions_come_back_in_the_callers_kind():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=3, seed=1)
    frame = pd.DataFrame(X, index=range(1000, 1000 + len(X)))
    model.learn_many(frame, pd.Series(Y))
    expected = [model.predict_one(x) for x in X]
    labels, shares = model.predict_many(frame), model.vote_shares_many(frame)
    assert isinstance(labels, pd.Series)
    assert labels.index.equals(frame.index)
    assert labels.tolist() == expected
    assert list(shares.columns) == model.classes_
    polars = model.predict_many(pl.DataFrame(X))
    assert isinstance(polars, pl.Series)
    assert polars.to_list() == expected
    assert model.predict_proba_many(pl.DataFrame(X)).columns == model.classes_
    assert model.predict_many(X) == expected
    assert model.predict_proba_many(X)[3] == model.predict_proba_one(X[3])
    array = np.array([list(x.values()) for x in X])
    with pytest.warns(HazardWarning, match="none of its columns"):  # an array's are named 0, 1, ...
        assert model.predict_proba_many(array).shape == (len(X), 3)


def test_labels_that_polars_cannot_tell_apart_are_an_error():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many([{"a": 1}, {"a": 2}], [1, "1"])
    with pytest.raises(ValueError, match="do not have distinct column names in polars"):
        model.predict_proba_many(pl.DataFrame({"a": [1]}))


def test_lists_of_lists_may_mix_numbers_and_text():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many([[1.0, "red"], [2.0, "blue"]], ["x", "y"])
    assert model.state_.schema.kinds == {0: "numbers", 1: "text"}
    model.learn_many([], [])
    model.learn_many(np.empty((0, 2)), [])
    assert model.predict_many([]) == []
    assert model.n_rows_ == 2


def test_labels_and_weights_may_come_from_any_library():
    table = pl.DataFrame({"a": [1.0, 2.0], "y": ["p", "q"], "w": [0.5, 2.0]}).to_arrow()
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many(table.select(["a"]), table["y"], w=table["w"])
    model.learn_many(pd.DataFrame({"a": [1, 2]}), pd.Categorical(["q", "p"]), w=pd.Series([1, 1]))
    model.learn_many([{"a": 1}], (label for label in ["p"]), w=(weight for weight in [1.0]))
    assert model.classes_ == ["p", "q"]
    assert {type(label) for label in model.classes_} == {str}


def test_unusual_numbers_text_and_tables_mean_what_they_say():
    class Colour(str, enum.Enum):  # noqa: UP042, its str() is not its text
        RED = "red"

    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    model.learn_one({"a": np.longdouble(1), "b": np.float16(0.5), "c": Colour.RED, "d": np.True_}, "x")
    assert model.state_.schema.categories == {"c": {"red": 0}}
    masked = np.ma.array([[1.0, 2.0]], mask=[[True, False]])
    assert tables.read_rows(masked) == [{0: None, 1: 2.0}]
    assert tables.read_rows(pa.record_batch({"a": [1, None]})) == [{"a": 1}, {"a": None}]
    model.learn_one({"a": 2.0}, np.datetime64("2020-01-01", "ns"))
    assert isinstance(model.classes_[1], np.datetime64)


@pytest.mark.parametrize("classes", [np.array(["L", "B", "R"]), pd.Index(["L", "B", "R"]), ("L", "B", "R")], ids=type)
def test_classes_may_be_any_sequence(classes):
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, classes=classes)
    assert model.classes_ == ["L", "B", "R"]
    model.learn_many(X, Y)
    assert model.classes_ == ["L", "B", "R"]


def test_named_nominal_features_are_the_learners_to_know():
    numbers = [({"code": i % 4}, "even" if i % 2 == 0 else "odd") for i in range(200)]
    learner = tree.HoeffdingTreeClassifier(nominal_attributes=["code"], grace_period=20)
    model = OnlineAgnosticBoostClassifier(learner, n_learners=3, gamma=0.7, start="label", seed=1)
    predictions = model.predict_learn_many([x for x, _ in numbers], [y for _, y in numbers])
    assert predictions[-100:] == [y for _, y in numbers[-100:]]


@pytest.mark.parametrize("labels", [[True, False], [0, 1], ["a", "b"], [(1, "u"), (2, "v")], [1.5, "mixed"]])
def test_labels_come_back_as_they_were_given(labels):
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many([{"a": 0}, {"a": 5}], labels)
    assert model.classes_ == labels
    assert [type(label) for label in model.classes_] == [type(label) for label in labels]
    assert model.predict_one({"a": 0}) in labels
    assert list(model.predict_proba_many(pd.DataFrame({"a": [0]})).columns) == labels


def test_numpy_labels_come_back_as_python_scalars():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    for label in (np.bool_(True), np.int32(5), np.float64(2.5), np.str_("s")):
        model.learn_one({"a": 1}, label)
    assert [type(label) for label in model.classes_] == [bool, int, float, str]


@pytest.mark.parametrize("booster", BOOSTERS)
def test_missing_values_absent_keys_and_empty_rows_are_one_thing(booster):
    one = booster(tree.HoeffdingTreeClassifier(), n_learners=2, seed=1)
    other = one.clone()
    rows = [({"a": 1.0, "b": float("nan")}, "x"), ({"a": None, "b": 2.0}, "y"), ({"a": pd.NA, "b": np.nan}, "x")]
    for x, y in rows:
        one.learn_one(x, y)
    for x, y in [({"a": 1.0}, "x"), ({"b": 2.0}, "y"), ({}, "x")]:
        other.learn_one(x, y)
    assert one.predict_proba_one({"a": 1.0}) == other.predict_proba_one({"a": 1.0})


def test_text_features_reach_the_learner_as_text():
    cars = datasets.shuffled(datasets.cars(), 1)[:300]
    model = OnlineAgnosticBoostClassifier(tree.HoeffdingTreeClassifier(), n_learners=3, gamma=0.7, pool="label", seed=1)
    metric = evaluate.progressive_val_score(iter(cars), model, metrics.Accuracy())
    assert metric.get() > 0.7
    assert model.state_.schema.categories["safety"].keys() == {"low", "med", "high"}


def test_a_stream_of_arrays_works_as_river_reads_it():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    for x, y in stream.iter_array(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(["a", "b"])):
        model.learn_one(x, y)
    assert model.classes_ == ["a", "b"]
