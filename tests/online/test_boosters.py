"""What users may rely on, for every booster of the paper and for their mixture."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from river import compose, ensemble, evaluate, forest, metrics, preprocessing, tree

from boosters import mixture
from ocoboost import (
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from toy_learners import Bins, Weightless

ROWS = datasets.shuffled(datasets.balance(), 1)[:200]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, OnlinePairwiseBoostClassifier]
EVERY = [*BOOSTERS, mixture]


@pytest.mark.parametrize("booster", EVERY)
def test_weight_two_is_not_weight_one_and_weight_zero_teaches_nothing(booster):
    plain, heavy, mute = (booster(Bins(), n_learners=3, seed=1, classes=["L", "B", "R"]) for _ in range(3))
    plain.learn_many(X, Y)
    heavy.learn_many(X, Y, w=[2.0] * len(X))
    mute.learn_many(X, Y, w=np.zeros(len(X)))
    first, second = (model.state_.engine.cascades[0].ensemble.learners[0].counts for model in (plain, heavy))
    assert {label: 2 * count for label, count in first["all"].items()} == pytest.approx(second["all"])
    assert mute._state.engine.cascades[0].ensemble.learners[0].counts == {}
    assert mute.n_rows_ == len(X)


@pytest.mark.parametrize("booster", EVERY)
def test_unit_weights_equal_no_weights(booster):
    one, other = booster(Bins(), n_learners=3, seed=1), booster(Bins(), n_learners=3, seed=1)
    one.learn_many(X, Y)
    other.learn_many(X, Y, w=pd.Series([1] * len(X)))
    assert one.predict_proba_many(X) == other.predict_proba_many(X)


@pytest.mark.parametrize("booster", EVERY)
def test_prediction_changes_nothing_and_modes_agree_with_probabilities(booster):
    model = booster(Bins(), n_learners=5, seed=2, **({} if booster is mixture else {"pool": "distribution"}))
    model.learn_many(X, Y)
    before = pickle.dumps(model)
    for x in X[:50]:
        probabilities = model.predict_proba_one(x)
        assert model.predict_one(x) == max(probabilities, key=probabilities.get)
        assert math.isclose(sum(model.vote_shares_one(x).values()), 1.0)
        assert probabilities[model.sample_one(x)] > 0.0
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("booster", EVERY)
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
        model.state_.n_rows += 1  # the draw is keyed by the number of rows learned
    for label, probability in probabilities.items():
        # Four standard errors: false alarms in 1 of 15,000, and the seed is fixed.
        assert abs(hits[label] / 2000 - probability) < 4 * math.sqrt(0.25 / 2000)


def test_seeds_reach_learners_listed_inside_a_learner():
    voting = ensemble.VotingClassifier([forest.AMFClassifier(n_estimators=2), forest.AMFClassifier(n_estimators=2)])
    models = [OnlineAgnosticBoostClassifier(voting, n_learners=2, seed=1) for _ in range(2)]
    for model in models:
        model.learn_many(X, Y)
    seeds = {
        inner.seed for learner in models[0].state_.engine.cascades[0].ensemble.learners for inner in learner.models
    }
    assert len(seeds) == 4
    assert models[0].vote_shares_many(X) == models[1].vote_shares_many(X)


def test_parameters_are_fixed_at_first_use_until_reset():
    model = OnlineAgnosticBoostClassifier(Bins(), n_learners=3, gamma=1.0, seed=1)
    model.learn_many(X, Y)
    before = model.predict_proba_one(X[0])
    model.gamma, model.pool = 0.01, "distribution"
    assert model.predict_proba_one(X[0]) == before
    model.reset()
    model.learn_many(X, Y)
    assert model.state_.engine.cascades[0].cells.gamma == 0.01


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
    seeds = {learner.seed for learner in models[0].state_.engine.cascades[0].ensemble.learners}
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


@pytest.mark.slow  # a new process for each, a minute in all
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
def test_a_pickle_taken_mid_stream_resumes_bit_identically_in_a_fresh_process(booster, learner, relabel, tmp_path):
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
    assert sum(model.state_.engine.cascades[0].ensemble.learners[0].counts["all"].values()) == pytest.approx(
        0.5 * len(ROWS)
    )
