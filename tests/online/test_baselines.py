"""What both baselines of Jung et al. promise their users; each has its own file for its algorithm."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from baseline_runs import CLASSES, Recorder, X, Y
from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, OnlineMBBMClassifier
from ocoboost.errors import BrokenModelError, InvalidInputError, InvalidParameterError, WeakLearnerError
from toy_learners import Bins, Fragile, Weightless

BASELINES = [OnlineMBBMClassifier, AdaBoostOLMClassifier]


@pytest.mark.parametrize("booster", BASELINES)
def test_predictions_are_pure_and_agree_with_each_other(booster):
    model = booster(HoeffdingTrees(), n_learners=20, seed=2)
    model.learn_many(X, Y)
    before = pickle.dumps(model)
    for x in X[:30]:
        probabilities = model.predict_proba_one(x)
        assert math.isclose(sum(probabilities.values()), 1.0)
        assert probabilities[model.predict_one(x)] == max(probabilities.values())
        assert probabilities[model.sample_one(x)] > 0.0
        assert math.isclose(sum(model.vote_shares_one(x).values()), 1.0)
    assert pickle.dumps(model) == before
    resumed = pickle.loads(before)
    resumed.learn_many(X, Y)
    model.learn_many(X, Y)
    assert resumed.predict_proba_many(X) == model.predict_proba_many(X)


@pytest.mark.parametrize("booster", BASELINES)
def test_weights_multiply(booster):
    plain, heavy, mute = (booster(Recorder(), n_learners=3, classes=CLASSES, seed=1) for _ in range(3))
    plain.learn_one(X[0], Y[0])
    heavy.learn_one(X[0], Y[0], w=3.0)
    mute.learn_many(X, Y, w=np.zeros(len(X)))
    lessons = [
        [learner.lessons for learner in m.state_.engine.cascades[0].ensemble.learners] for m in (plain, heavy, mute)
    ]
    for once, thrice in zip(*lessons[:2], strict=True):
        np.testing.assert_allclose(3 * np.array(once), thrice, rtol=1e-12)
    assert any(lessons[0])
    assert lessons[2] == [[], [], []]


@pytest.mark.parametrize("booster", BASELINES)
def test_one_label_is_learned_as_if_there_were_another(booster):
    model = booster(Bins(), n_learners=5, seed=1)
    assert model.predict_one({"a": 1}) is None
    model.learn_many([{"a": 1}] * 3, ["x"] * 3)
    assert model.predict_proba_one({"a": 1}) == {"x": 1.0}
    assert any(learner.counts for learner in model.state_.engine.cascades[0].ensemble.learners)


@pytest.mark.parametrize("booster", BASELINES)
def test_learners_without_weights_are_taught_with_half_the_weight_as_a_probability(booster):
    model = booster(Weightless(), n_learners=20, classes=CLASSES, seed=1)
    model.learn_many(X, Y)
    taught = [
        sum(learner.counts.get("all", {}).values()) for learner in model.state_.engine.cascades[0].ensemble.learners
    ]
    assert all(count == int(count) for count in taught)
    assert 0.1 * len(X) < np.mean(taught) < 0.8 * len(X)
    with pytest.raises(InvalidInputError, match="takes no weights"):
        model.learn_one(X[0], Y[0], w=2.0)


@pytest.mark.parametrize("booster", BASELINES)
def test_sklearn_learners_are_boosted_too(booster):
    model = booster(SGDClassifier(random_state=0), n_learners=3, classes=CLASSES, seed=1)
    predictions = model.predict_learn_many(X, Y)
    assert np.mean([p == y for p, y in zip(predictions, Y, strict=True)]) > 0.5


@pytest.mark.parametrize("booster", BASELINES)
def test_a_learner_that_raises_breaks_the_model(booster):
    model = booster(Fragile(), n_learners=2, seed=1)
    with pytest.raises(WeakLearnerError, match="while learning row 1"):
        model.learn_many([{"a": 1.0}, {"bomb": 1}], ["x", "x"])
    with pytest.raises(BrokenModelError):
        model.learn_one({"a": 1.0}, "x")
    model.reset()
    model.learn_one({"a": 1.0}, "x")


PARAMETERS = [
    (BASELINES, {"n_learners": 0}, "n_learners must be a whole number of at least 1.*, got 0"),
    (BASELINES, {"n_jobs": 0}, "n_jobs must be -1, or be a whole number"),
    (BASELINES, {"seed": -1}, "seed must be None"),
    (BASELINES, {"classes": ["a", "a"]}, "classes must be None or a sequence of distinct labels"),
    (BASELINES, {"learner": "tree"}, "learner must be a classifier that can learn online"),
    (
        BASELINES,
        {"mode": "papre"},
        "mode must be one of None, 'paper', 'original', or a sequence of .*constants.*'papre'",
    ),
    (BASELINES, {"mode": ["ties", "loss"]}, "mode must be"),
    (BASELINES, {"mode": 3}, "mode must be"),
    (BASELINES, {"mode": [["ties"]]}, "mode must be"),
    ([AdaBoostOLMClassifier], {"mode": ["horizon"]}, "mode must be"),
    ([OnlineMBBMClassifier], {"gamma": 1.0}, r"gamma must lie in \(0, 1\), got 1.0 \(smaller means weaker learners\)"),
    ([OnlineMBBMClassifier], {"gamma": 0}, r"gamma must lie in \(0, 1\), got 0"),
    ([OnlineMBBMClassifier], {"n_learners": 1001}, "n_learners must be a whole number of at least 1 and below 1001"),
    (
        [OnlineMBBMClassifier],
        {"potential": "monte-carlo"},
        "potential must be one of 'exact', 'fast', got 'monte-carlo'",
    ),
]


@pytest.mark.parametrize(("boosters", "parameters", "message"), PARAMETERS)
def test_bad_parameters(boosters, parameters, message):
    for booster in boosters:
        model = booster(**{"learner": Bins(), **parameters})
        before = pickle.dumps(model)
        for call in (model.check_parameters, lambda model=model: model.learn_one({"a": 1.0}, "x")):
            with pytest.raises(InvalidParameterError, match=f"^{booster.__name__}: .*{message}"):
                call()
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("booster", BASELINES)
def test_modes_are_sums_of_their_deviations(booster):
    for mode, deviations in booster.modes.items():
        named, listed = (
            booster(Bins(), n_learners=3, mode=mode, seed=1),
            booster(Bins(), n_learners=3, mode=sorted(deviations), seed=1),
        )
        assert named.predict_learn_many(X, Y) == listed.predict_learn_many(X, Y)
        assert named.predict_proba_many(X) == listed.predict_proba_many(X)
        assert named.deviations_ == deviations
