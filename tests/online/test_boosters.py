"""What users may rely on, for both boosters."""

from __future__ import annotations

import enum
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import compose, ensemble, evaluate, forest, metrics, naive_bayes, preprocessing, stream, tree

import naive
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from ocoboost.bench import datasets
from ocoboost.data import tables
from ocoboost.oco.players import PLAYERS
from ocoboost.randomness import derive_seed
from strategies import PLAYER_NAMES
from toy_learners import Bins, Weightless

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier]
REGIMES = {OnlineAgnosticBoostClassifier: "agnostic", OnlineRealizableBoostClassifier: "realizable"}
ROWS = datasets.shuffled(datasets.balance(), 1)[:200]
X = [x for x, _ in ROWS]
Y = [y for _, y in ROWS]


@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize(
    ("gamma", "votes", "pool", "step_size"),
    [
        (0.1, "label", "label", None),
        (0.5, "label", "distribution", None),
        (0.5, "distribution", "label", np.float32(0.125)),
        (0.3, "distribution", "distribution", "optimal"),
        (1.0, "label", "label", 1),
    ],
)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_with_classes_given_it_is_the_papers_algorithm(booster, gamma, relabel, start, votes, pool, step_size):
    classes = ["L", "B", "R"]
    model = booster(
        Bins(),
        n_learners=6,
        gamma=gamma,
        relabel=relabel,
        start=start,
        votes=votes,
        pool=pool,
        step_size=step_size,
        classes=classes,
        seed=9,
    )
    twins = [Bins(derive_seed(9, learner)) for learner in range(6)]
    indexed = [(x, classes.index(y)) for x, y in ROWS]
    expected = naive.boost(
        indexed,
        twins,
        regime=REGIMES[booster],
        gamma=gamma,
        n_classes=3,
        relabel=relabel,
        start=start,
        seed=9,
        votes=votes,
        pool=pool,
        step_size=expected_step(REGIMES[booster], start, gamma, 6) if step_size == "optimal" else step_size,
    )
    for (x, y), distribution in zip(ROWS, expected, strict=True):
        ours = model.predict_proba_one(x)
        assert list(ours) == classes
        np.testing.assert_allclose(list(ours.values()), distribution, atol=1e-12)
        model.learn_one(x, y)


def expected_step(regime, start, gamma, n_learners):
    """R / (G sqrt(N)) with three classes, from the formulas in docs/design.md."""
    if regime == "realizable":
        return (1.0 if start == "label" else 0.5) / ((1 / gamma + 1) * math.sqrt(n_learners))
    bound = math.sqrt(4 * (1 / gamma**2 + 1) - 4 * (1 / gamma - 1) ** 2 / 3)
    return (math.sqrt(2) if start == "label" else math.sqrt(2 / 3)) / (bound * math.sqrt(n_learners))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_weight_two_is_not_weight_one_and_weight_zero_teaches_nothing(booster):
    plain, heavy, mute = (booster(Bins(), n_learners=3, seed=1, classes=["L", "B", "R"]) for _ in range(3))
    plain.learn_many(X, Y)
    heavy.learn_many(X, Y, w=[2.0] * len(X))
    mute.learn_many(X, Y, w=np.zeros(len(X)))
    first, second = (model._state.engine.cascades[0].ensemble.learners[0].counts for model in (plain, heavy))
    assert {label: 2 * count for label, count in first["all"].items()} == pytest.approx(second["all"])
    assert mute._state.engine.cascades[0].ensemble.learners[0].counts == {}
    assert mute.n_rows_ == len(X)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_unit_weights_equal_no_weights(booster):
    one, other = booster(Bins(), n_learners=3, seed=1), booster(Bins(), n_learners=3, seed=1)
    one.learn_many(X, Y)
    other.learn_many(X, Y, w=pd.Series([1] * len(X)))
    assert one.predict_proba_many(X) == other.predict_proba_many(X)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_prediction_changes_nothing_and_modes_agree_with_probabilities(booster):
    model = booster(Bins(), n_learners=5, seed=2, pool="distribution")
    model.learn_many(X, Y)
    before = pickle.dumps(model)
    for x in X[:50]:
        probabilities = model.predict_proba_one(x)
        assert model.predict_one(x) == max(probabilities, key=probabilities.get)
        assert math.isclose(sum(model.vote_shares_one(x).values()), 1.0)
        assert probabilities[model.sample_one(x)] > 0.0
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("booster", BOOSTERS)
def test_nothing_is_predicted_before_the_first_label(booster):
    model = booster(Bins(), n_learners=3)
    assert model.predict_one({"a": 1}) is None
    assert model.sample_one({"a": 1}) is None
    assert model.predict_proba_one({"a": 1}) == {}
    assert model.predict_many([{"a": 1}, {}]) == [None, None]
    assert model.predict_proba_many(np.zeros((2, 3))).shape == (2, 0)
    assert model.predict_learn_many([{"a": 1}, {"a": 2}], ["x", "y"]) == [None, "x"]
    assert model.classes_ == ["x", "y"]


@pytest.mark.parametrize("booster", BOOSTERS)
def test_with_classes_given_the_first_row_is_predicted_too(booster):
    model = booster(Bins(), n_learners=3, gamma=0.5, pool="label", classes=("q", "p"))
    assert model.predict_proba_one({}) == {"q": 1.0, "p": 0.0}
    assert model.predict_learn_many([{}], ["p"]) == ["q"]


def test_samples_follow_the_distribution_and_the_seed():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=9, gamma=1.0, votes="distribution", pool="distribution")
    model.seed = 4
    model.learn_many(X[:30], Y[:30])
    probabilities = model.predict_proba_one(X[40])
    hits = dict.fromkeys(probabilities, 0)
    for _ in range(2000):
        hits[model.sample_one(X[40])] += 1
        model._state.n_rows += 1  # the draw is keyed by the number of rows learned
    for label, probability in probabilities.items():
        # Four standard errors: false alarms in 1 of 15,000, and the seed is fixed.
        assert abs(hits[label] / 2000 - probability) < 4 * math.sqrt(0.25 / 2000)


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
    assert model.predict_proba_many(array).shape == (len(X), 3)


def test_labels_that_polars_cannot_tell_apart_are_an_error():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many([{"a": 1}, {"a": 2}], [1, "1"])
    with pytest.raises(ValueError, match="do not have distinct column names in polars"):
        model.predict_proba_many(pl.DataFrame({"a": [1]}))


def test_lists_of_lists_may_mix_numbers_and_text():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2)
    model.learn_many([[1.0, "red"], [2.0, "blue"]], ["x", "y"])
    assert model._state.schema.kinds == {0: "numbers", 1: "text"}
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
    assert model._state.schema.categories == {"c": {"red": 0}}
    masked = np.ma.array([[1.0, 2.0]], mask=[[True, False]])
    assert tables.read_rows(masked) == [{0: None, 1: 2.0}]
    assert tables.read_rows(pa.record_batch({"a": [1, None]})) == [{"a": 1}, {"a": None}]
    model.learn_one({"a": 2.0}, np.datetime64("2020-01-01", "ns"))
    assert isinstance(model.classes_[1], np.datetime64)


@pytest.mark.parametrize(
    ("player", "step_size"),
    [(name, None) for name in PLAYER_NAMES] + [(name, 1e100) for name in PLAYER_NAMES if PLAYERS[name].has_step_size],
)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_extreme_gammas_and_steps_stay_finite(booster, player, step_size):
    for gamma in (1e-300, 1e-9, 1.0):
        model = booster(Bins(), n_learners=4, gamma=gamma, player=player, step_size=step_size, seed=1)
        model.learn_many(X[:20], Y[:20])
        for x in X[:5]:
            assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)
        for learner in model._state.engine.cascades[0].ensemble.learners:
            assert all(math.isfinite(count) for counts in learner.counts.values() for count in counts.values())


def test_seeds_reach_learners_listed_inside_a_learner():
    voting = ensemble.VotingClassifier([forest.AMFClassifier(n_estimators=2), forest.AMFClassifier(n_estimators=2)])
    models = [OnlineAgnosticBoostClassifier(voting, n_learners=2, seed=1) for _ in range(2)]
    for model in models:
        model.learn_many(X, Y)
    seeds = {inner.seed for learner in models[0]._state.engine.cascades[0].ensemble.learners for inner in learner.models}
    assert len(seeds) == 4
    assert models[0].vote_shares_many(X) == models[1].vote_shares_many(X)


@pytest.mark.parametrize("classes", [np.array(["L", "B", "R"]), pd.Index(["L", "B", "R"]), ("L", "B", "R")], ids=type)
def test_classes_may_be_any_sequence(classes):
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, classes=classes)
    assert model.classes_ == ["L", "B", "R"]
    model.learn_many(X, Y)
    assert model.classes_ == ["L", "B", "R"]


def test_parameters_are_fixed_at_first_use_until_reset():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=3, gamma=1.0, seed=1)
    model.learn_many(X, Y)
    before = model.predict_proba_one(X[0])
    model.gamma, model.pool = 0.01, "distribution"
    assert model.predict_proba_one(X[0]) == before
    model.reset()
    model.learn_many(X, Y)
    assert model._state.members[0].cascade.gamma == 0.01


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
    assert model._state.schema.categories["safety"].keys() == {"low", "med", "high"}


def test_pipelines_and_weights_travel_together():
    scaled = preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier()
    model = OnlineAgnosticBoostClassifier(scaled, n_learners=2, seed=1)
    model.learn_many(X[:50], Y[:50], w=[0.5] * 50)
    assert model.relabel_ == "fractional"
    inside = compose.Pipeline(preprocessing.StandardScaler(), model.clone())
    for x, y in ROWS[:30]:
        inside.learn_one(x, y, w=2.0)
    assert sum(inside.predict_proba_one(X[0]).values()) == pytest.approx(1.0)


def test_clones_have_different_seeds_and_the_booster_is_repeatable():
    models = [OnlineAgnosticBoostClassifier(forest.AMFClassifier(n_estimators=1, seed=1), n_learners=3, seed=5)] * 2
    models = [model.clone() for model in models]
    for model in models:
        model.learn_many(X, Y)
    seeds = {learner.seed for learner in models[0]._state.engine.cascades[0].ensemble.learners}
    assert len(seeds) == 3
    assert models[0].predict_proba_many(X) == models[1].predict_proba_many(X)


def test_two_unseeded_models_differ():
    models = [OnlineAgnosticBoostClassifier(Weightless(), n_learners=8, gamma=0.9) for _ in range(2)]
    for model in models:
        model.learn_many(X, Y)
    assert models[0].vote_shares_many(X) != models[1].vote_shares_many(X)


def test_reset_forgets_everything():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    fresh = pickle.dumps(model)
    model.learn_many(X, Y)
    assert model.n_rows_ == len(X)
    model.reset()
    assert model.n_rows_ == 0
    assert pickle.dumps(model) == fresh


def test_small_gamma_predicts_the_plurality():
    model = OnlineAgnosticBoostClassifier(naive_bayes.GaussianNB(), n_learners=7, gamma=0.001, seed=1)
    model.learn_many(X, Y)
    for x in X[:50]:
        shares = sorted(model.vote_shares_one(x).values())
        if shares[-1] > shares[-2]:
            assert max(model.predict_proba_one(x).values()) == pytest.approx(1.0)


RESUME = """
import pickle, sys
from pathlib import Path
from ocoboost.bench import datasets
rows = datasets.shuffled(datasets.load("segment"), 3)[:300]
model = pickle.loads(Path(sys.argv[1]).read_bytes())
predictions = model.predict_learn_many([x for x, _ in rows[150:]], [y for _, y in rows[150:]])
print(predictions)
print([model.predict_proba_one(x) for x, _ in rows[:40]], [model.sample_one(x) for x, _ in rows[:40]])
"""


@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "learner",
    [
        HoeffdingTrees(grace_period=40, tau=0.2, feature_share=0.8),
        tree.HoeffdingTreeClassifier(grace_period=40, tau=0.2),
        forest.AMFClassifier(n_estimators=1),
    ],
    ids=type,
)
def test_a_pickle_taken_mid_stream_resumes_to_the_same_bits_in_a_fresh_process(booster, learner, relabel, tmp_path):
    rows = datasets.shuffled(datasets.load("segment"), 3)[:300]
    model = booster(learner, n_learners=3, gamma=0.4, relabel=relabel, player="coin")  # the seed is drawn, then kept
    model.learn_many([x for x, _ in rows[:150]], [y for _, y in rows[:150]])
    saved = tmp_path / "model.pickle"
    saved.write_bytes(pickle.dumps(model))
    script = tmp_path / "resume.py"
    script.write_text(RESUME)
    command = [sys.executable, str(script), str(saved)]
    resumed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    predictions = model.predict_learn_many([x for x, _ in rows[150:]], [y for _, y in rows[150:]])
    probabilities = [model.predict_proba_one(x) for x, _ in rows[:40]]
    samples = [model.sample_one(x) for x, _ in rows[:40]]
    assert resumed.stdout == f"{predictions}\n{probabilities} {samples}\n"


def test_river_evaluates_it_with_weights():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    weighted = ((x, y, {"w": 0.5}) for x, y in ROWS)
    evaluate.progressive_val_score(weighted, model, metrics.Accuracy())
    assert model.n_rows_ == len(ROWS)
    assert sum(model._state.engine.cascades[0].ensemble.learners[0].counts["all"].values()) == pytest.approx(0.5 * len(ROWS))


def test_a_stream_of_arrays_works_as_river_reads_it():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=2, seed=1)
    for x, y in stream.iter_array(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(["a", "b"])):
        model.learn_one(x, y)
    assert model.classes_ == ["a", "b"]
