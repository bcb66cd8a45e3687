"""Bad input gets an error that names the thing, the value and the fix, and leaves the model exactly as it was."""

from __future__ import annotations

import datetime
import decimal
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import linear_model, tree
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from boosters import mixture
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.errors import BrokenModelError, InvalidInputError, InvalidParameterError, WeakLearnerError
from toy_learners import Bins, Fragile, Weightless

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, OnlinePairwiseBoostClassifier]
EVERY = [*BOOSTERS, mixture]
GOOD = {"a": 1.0, "b": 2.0}


PARAMETERS = [
    ({"gamma": 0}, r"gamma must lie in \(0, 1\].*, got 0 \(smaller means weaker learners\)"),
    ({"gamma": 1.5}, r"gamma must lie in \(0, 1\].*, got 1.5"),
    ({"gamma": "x"}, r"gamma must lie in \(0, 1\].*, got 'x'"),
    ({"gamma": float("nan")}, "gamma must lie"),
    ({"gamma": True}, "gamma must lie"),
    ({"gamma": None}, "gamma must lie"),
    ({"n_learners": 0}, "n_learners must be a whole number of at least 1.*, got 0"),
    ({"n_learners": 2.5}, "n_learners must be a whole number of at least 1.*, got 2.5"),
    ({"relabel": "soft"}, "relabel must be one of 'fractional', 'random', got 'soft'"),
    ({"votes": 1}, "votes must be one of 'label', 'distribution', got 1"),
    ({"pool": None}, "pool must be one of"),
    ({"start": "zero"}, "start must be one of 'uniform', 'label'"),
    ({"player": "adam"}, "player must be one of 'gradient', 'lazy', 'exponentiated', 'scale-free', 'coin', got 'adam'"),
    ({"step_size": -1.0}, r"step_size must be one of None, 'optimal', or lie in \(0, 1e\+100\], got -1.0"),
    ({"step_size": float("inf")}, "step_size must"),
    ({"player": "coin", "step_size": 0.1}, "step_size must be None, got 0.1 .*player 'coin' sets its own steps"),
    ({"n_jobs": 0}, r"n_jobs must be -1, or be a whole number of at least 1, got 0 \(-1 means all cores\)"),
    ({"seed": -1}, "seed must be None, or be a whole number of at least 0 and below 18446744073709551616, got -1"),
    ({"seed": 2**64}, "seed must be None"),
    ({"classes": []}, "classes must be None or a sequence of distinct labels"),
    ({"classes": ["a", "a"]}, "classes must be None or a sequence of distinct labels"),
    ({"classes": "ab"}, "classes must be None or a sequence of distinct labels"),
    ({"classes": 3}, "classes must be None or a sequence of distinct labels, got 3"),
    ({"classes": [["a"]]}, r"classes must be None or a sequence of distinct labels.*\(label 0 of classes is \['a'\]"),
    ({"classes": {"a", "b"}}, "classes must be None or a sequence of distinct labels"),
    ({"classes": ["a", None]}, "label 1 of classes is missing"),
    ({"learner": DecisionTreeClassifier()}, "learner must be a classifier that can learn online"),
    ({"learner": SGDRegressor()}, "learner must be a classifier that can learn online"),
    ({"learner": linear_model.LinearRegression()}, "learner must be a classifier that can learn online"),
    ({"learner": tree.HoeffdingTreeClassifier}, "pass an instance, not a class"),
    ({"gamma": 10**400}, "gamma must lie"),
    ({"learner": "tree"}, "learner must be a classifier that can learn online.*got 'tree'"),
    ({"learner": GaussianNB()}, "classes must name two or more labels for a scikit-learn learner, got None"),
    ({"learner": linear_model.LogisticRegression(), "classes": ["abc", 1, 2]}, "at most 2 labels"),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_bad_parameters(booster, parameters, message):
    model = booster(**{"learner": Bins(), **parameters})
    before = pickle.dumps(model)
    for call in (
        lambda: model.learn_one(GOOD, "x"),
        lambda: model.predict_one(GOOD),
        lambda: model.learn_many([GOOD], ["x"]),
    ):
        with pytest.raises(InvalidParameterError, match=f"^{booster.__name__}: .*{message}"):
            call()
    assert pickle.dumps(model) == before


OF_THE_MIXTURE = [
    ({"budget": 0}, "budget must be a whole number of at least 1.*, got 0"),
    ({"budget": 2.5}, "budget must be a whole number of at least 1.*, got 2.5"),
    ({"gammas": []}, r"gammas must be None or a sequence of numbers in \(0, 1\], got \[\] \(smaller means weaker"),
    ({"gammas": [0.5, 0.0]}, r"gammas must be None or a sequence of numbers in \(0, 1\], got \[0.5, 0.0\]"),
    ({"gammas": [0.5, 1.5]}, "gammas must be"),
    ({"gammas": [float("nan")]}, "gammas must be"),
    ({"gammas": 0.5}, "gammas must be None or a sequence"),
    ({"gammas": "auto"}, "gammas must be None or a sequence"),
    ({"max_size": 0}, "max_size must"),
    ({"n_jobs": 0}, "n_jobs must be -1, or be a whole number"),
    ({"seed": -1}, "seed must be None"),
    ({"classes": ["a", "a"]}, "classes must be None or a sequence of distinct labels"),
    ({"learner": "tree"}, "learner must be a classifier that can learn online.*got 'tree'"),
    ({"learner": HoeffdingTrees}, "pass an instance, not a class"),
    ({"learner": GaussianNB()}, "classes must name two or more labels for a scikit-learn learner, got None"),
]


@pytest.mark.parametrize(("parameters", "message"), OF_THE_MIXTURE)
def test_bad_parameters_of_the_mixture(parameters, message):
    model = OnlineBoostClassifier(**parameters)
    before = pickle.dumps(model)
    for call in (model.check_parameters, lambda: model.learn_one(GOOD, "x"), lambda: model.predict_one(GOOD)):
        with pytest.raises(InvalidParameterError, match=f"^OnlineBoostClassifier: .*{message}"):
            call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("booster", [*BOOSTERS, OnlineMBBMClassifier, AdaBoostOLMClassifier])
def test_only_the_mixture_chooses_its_learner(booster):
    with pytest.raises(InvalidParameterError, match=f"^{booster.__name__}: learner must be a classifier.*got 'auto'"):
        booster("auto").learn_one(GOOD, "x")


BLOCKS = [
    ([GOOD], ["x", "y"], None, "X has 1 rows and y has 2 entries; give y one entry per row"),
    ([GOOD, {"a": float("inf")}], ["x", "y"], None, "column 'a' at row 1 is inf, which is not a finite number"),
    (np.array([[1.0, -np.inf]]), ["x"], None, "column 1 at row 0 is -inf"),
    ([{"a": 10**400}], ["x"], None, "column 'a' at row 0"),
    ([{"a": [1]}], ["x"], None, r"column 'a' at row 0 is \[1\], a list; features are numbers, text, or missing"),
    ([{"a": np.array([1.0, 2.0])}], ["x"], None, "column 'a' at row 0 is array.*, a ndarray; features are"),
    ([{"a": decimal.Decimal("sNaN")}], ["x"], None, "column 'a' at row 0"),
    (np.array([["2020-01-01"]], dtype="M8[ns]"), ["x"], None, "convert dates to numbers"),
    ([{"a": np.datetime64("2020-01-01", "ns")}], ["x"], None, "a datetime64; features are numbers"),
    (pl.LazyFrame({"a": [1]}), ["x"], None, "collect a lazy frame"),
    (pa.table([[1], [2]], names=["a", "a"]), ["x"], None, "duplicate column names"),
    ([GOOD], {"x"}, None, "y must hold one label per row, got set"),
    ([GOOD], ["x"], [10**400], "weight at row 0"),
    ([GOOD], ["x"], pd.DataFrame({1: [1.0]}), "w must be a number, or one number per row"),
    ([{"a": 1j}], ["x"], None, "column 'a' at row 0 is 1j, a complex"),
    ([{"a": datetime.date(2020, 1, 1)}], ["x"], None, "a date; features are numbers"),
    ([GOOD, {"a": "red"}], ["x", "x"], None, "column 'a' at row 1 is 'red', but the column held numbers before"),
    ([GOOD, GOOD], ["x", None], None, r"label at row 1 is missing \(None\)"),
    ([GOOD, GOOD], ["x", float("nan")], None, r"label at row 1 is missing \(nan\)"),
    ([GOOD], pd.Series([pd.NA]), None, "label at row 0 is missing"),
    ([GOOD], [["x"]], None, r"label at row 0 is \['x'\], a list, which cannot be a dictionary key"),
    ([GOOD], "x", None, "y must hold one label per row, got str 'x'"),
    ([GOOD], 3, None, "y must hold one label per row, got int 3"),
    ([GOOD], np.array([["x"]]), None, r"y must be one-dimensional, got shape \(1, 1\)"),
    ([GOOD], ["x"], [-1.0], "weight at row 0 is -1.0; it must be a finite number of at least 0"),
    ([GOOD, GOOD], ["x", "y"], [1.0, float("nan")], "weight at row 1 is nan"),
    ([GOOD], ["x"], [float("inf")], "weight at row 0 is inf"),
    ([GOOD], ["x"], ["1"], "weight at row 0 is '1'"),
    ([GOOD], ["x"], [1.0, 1.0], "X has 1 rows and w has 2 entries; give w one entry per row"),
    ([GOOD], ["x"], "1", "w must be a number, or one number per row"),
    (GOOD, ["x"], None, "X must be a table of rows, got one dict"),
    ([GOOD, 5], ["x", "y"], None, "row 1 is 5, but the rows before it are dicts; make it a dict"),
    (np.zeros(3), ["x"] * 3, None, r"X must be a two-dimensional array.*shape \(3,\)"),
    ([[1.0], [1.0, 2.0]], ["x"] * 2, None, r"X must be a two-dimensional array.*shape \(2,\) and type object"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["x"], None, "duplicate column names"),
    (np.zeros(2, dtype=[("a", float)]), ["x"] * 2, None, "X must be a two-dimensional array"),
    (None, ["x"], None, "X must be a two-dimensional array"),
    ("text", ["x"], None, "X must be a two-dimensional array"),
]


@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
@pytest.mark.parametrize(("X", "y", "w", "message"), BLOCKS)
@pytest.mark.parametrize("booster", EVERY)
def test_a_block_with_one_bad_row_is_rejected_whole(booster, X, y, w, message, used):
    model = booster(Bins(), n_learners=2, seed=1)
    if used:
        model.learn_many([GOOD, {"a": 3.0, "c": "red"}], ["x", "y"])
    before = pickle.dumps(model)
    for method in (model.learn_many, model.predict_learn_many, model.prequential):
        with pytest.raises(InvalidInputError, match=f"^{type(model).__name__}: .*{message}"):
            method(X, y, w=w)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ({"a": float("inf")}, "x", 1.0),
        (GOOD, None, 1.0),
        (GOOD, float("nan"), 1.0),
        (GOOD, {}, 1.0),
        (GOOD, np.zeros(2), 1.0),
        (GOOD, "x", -0.5),
        (GOOD, "x", float("nan")),
        ([1.0, 2.0], "x", 1.0),
        (None, "x", 1.0),
    ],
)
@pytest.mark.parametrize("booster", EVERY)
def test_learn_one_rejects_what_learn_many_rejects(booster, x, y, w):
    model = booster(Bins(), n_learners=2, seed=1)
    model.learn_one(GOOD, "x")
    before = pickle.dumps(model)
    with pytest.raises(InvalidInputError, match=f"^{type(model).__name__}: "):
        model.learn_one(x, y, w=w)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("method", ["predict_one", "predict_proba_one", "sample_one", "vote_shares_one"])
def test_predicting_checks_its_row_too(method):
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    model.learn_one({"a": 1.0}, "x")
    with pytest.raises(InvalidInputError, match="column 'a' at row 0 is -inf"):
        getattr(model, method)({"a": float("-inf")})
    with pytest.raises(InvalidInputError, match="the column held numbers before"):
        getattr(model, method)({"a": "text"})
    with pytest.raises(InvalidInputError, match="x must be a dict"):
        getattr(model, method)([1.0])


def test_a_learner_that_cannot_be_cloned_is_the_parameters_fault():
    class Unique(Bins):
        """Cannot be cloned."""

        def clone(self, *args, **kwargs):
            raise RuntimeError("mine")

    message = "learner must be a classifier that can be cloned, .*cloning it raised RuntimeError: mine"
    with pytest.raises(InvalidParameterError, match=message):
        OnlineAgnosticBoostClassifier(Unique()).learn_one(GOOD, "x")


def test_an_unknown_label_names_the_classes():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, classes=["x", "y"])
    with pytest.raises(InvalidInputError, match=r"label at row 1 is 'q', which is not among classes=\['x', 'y'\]"):
        model.learn_many([GOOD, GOOD], ["x", "q"])
    assert model.n_rows_ == 0


@pytest.mark.parametrize("booster", EVERY)
def test_a_third_class_is_refused_for_a_binary_learner(booster):
    model = booster(linear_model.LogisticRegression(), n_learners=2)
    model.learn_many([GOOD, GOOD], ["x", "y"])
    before = pickle.dumps(model)
    with pytest.raises(
        InvalidInputError,
        match="label at row 1 is 'z', one more than the 2 labels that LogisticRegression can tell apart",
    ):
        model.learn_many([GOOD, GOOD], ["x", "z"])
    assert pickle.dumps(model) == before
    assert set(model.predict_proba_one(GOOD)) == {"x", "y"}


def test_weights_are_refused_for_a_learner_without_them():
    model = OnlineAgnosticBoostClassifier(Weightless(), n_learners=2)
    model.learn_one(GOOD, "x", w=1.0)
    with pytest.raises(InvalidInputError, match=r"weight at row 1 is 0\.5, and Weightless takes no weights"):
        model.learn_many([GOOD, GOOD], ["x", "x"], w=[1.0, 0.5])
    assert model.n_rows_ == 1


@pytest.mark.parametrize("booster", EVERY)
def test_a_learner_that_raises_is_named_and_the_model_refuses_to_go_on(booster):
    model = booster(Fragile(), n_learners=3, seed=1, **({} if booster is mixture else {"start": "label"}))
    model.learn_many([GOOD, GOOD], ["x", "y"])
    with pytest.raises(
        WeakLearnerError, match=r"learner 0 \(Fragile\) raised ZeroDivisionError: tick while learning row 3"
    ):
        model.learn_many([GOOD, {"bomb": 1}, GOOD], ["x", "y", "x"])
    with pytest.raises(
        BrokenModelError, match="learning row 3, so rows from there on may be partly learned; call reset"
    ):
        model.learn_one(GOOD, "x")
    reloaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(BrokenModelError):
        reloaded.learn_one(GOOD, "x")
    assert model.predict_one(GOOD) in ("x", "y")
    model.reset()
    model.learn_one(GOOD, "x")
    assert model.n_rows_ == 1


def test_a_learner_that_raises_while_a_new_label_is_predicted_breaks_the_model_too():
    class Shy(Bins):
        """Refuses to vote on rows marked so."""

        def predict_proba_one(self, x, **kwargs):
            if x.get("bomb"):
                raise ZeroDivisionError("tick")
            return super().predict_proba_one(x)

    model = OnlineAgnosticBoostClassifier(Shy(), n_learners=2)
    message = r"learner 0 \(Shy\) raised ZeroDivisionError: tick while voting on row 2"
    with pytest.raises(WeakLearnerError, match=message):
        model.predict_learn_many([GOOD, GOOD, {"bomb": 1}], ["x", "x", "new"])
    with pytest.raises(BrokenModelError, match="voting on row 2"):
        model.learn_one(GOOD, "x")
    fresh = OnlineAgnosticBoostClassifier(Shy(), n_learners=2)
    fresh.learn_one(GOOD, "x")
    with pytest.raises(WeakLearnerError):
        fresh.predict_one({"bomb": 1})
    fresh.learn_one(GOOD, "y")  # a failed prediction harms nothing


def test_an_interrupted_model_refuses_to_go_on():
    class Impatient(Bins):
        """Interrupts."""

        def learn_one(self, x, y, *, w=1.0):
            raise KeyboardInterrupt

    model = OnlineAgnosticBoostClassifier(Impatient(), n_learners=2)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(GOOD, "x")
    with pytest.raises(BrokenModelError, match="learning was interrupted at row 0"):
        model.learn_one(GOOD, "x")


@pytest.mark.parametrize("booster", BOOSTERS)
def test_scikit_learn_learners_say_what_they_cannot_take(booster):
    model = booster(SGDClassifier(loss="log_loss"), n_learners=2, classes=["x", "y"], seed=1)
    with pytest.raises(
        InvalidInputError, match="column 'c' at row 1 is the text 'red', and SGDClassifier takes numbers only"
    ):
        model.learn_many([GOOD, {"c": "red"}], ["x", "y"])
    model.learn_many([GOOD, {"a": 1.0}, {}], ["x", "y", "x"])
    before = pickle.dumps(model)
    with pytest.raises(InvalidInputError, match="column 'z' at row 0 is new, and SGDClassifier fixed its 2 columns"):
        model.learn_one({"a": 1.0, "z": 1.0}, "x")
    assert pickle.dumps(model) == before
    assert model.predict_one({"z": 5.0}) in ("x", "y")
