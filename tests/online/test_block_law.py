"""The block law: any cut of the stream, any number of threads, and ``learn_one`` in a loop give the same bits."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree

from boosters import mixture
from laws import PROBES, block_by_block, learned, row_by_row
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from strategies import PLAYER_NAMES, cuts, streams
from strategies import settings as booster_settings
from toy_learners import Bins, Weightless

BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, OnlinePairwiseBoostClassifier]
BASELINES = [OnlineMBBMClassifier, AdaBoostOLMClassifier]


@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("player", PLAYER_NAMES)
@pytest.mark.parametrize("booster", BOOSTERS)
@settings(max_examples=8)
@given(data=st.data())
def test_any_cut_of_the_stream_gives_the_same_bits(booster, player, relabel, start, data):
    stream = data.draw(streams())
    options = data.draw(booster_settings())
    one = booster(Bins(), player=player, relabel=relabel, start=start, **options)
    options["n_jobs"] = 3 - options["n_jobs"]
    many = booster(Bins(), player=player, relabel=relabel, start=start, **options)
    assert row_by_row(one, stream) == block_by_block(many, stream, data.draw(cuts(len(stream))))
    assert learned(one) == learned(many)


@pytest.mark.parametrize("player", PLAYER_NAMES)
@pytest.mark.parametrize("booster", BOOSTERS)
@settings(max_examples=15)
@given(data=st.data())
def test_native_trees_obey_the_law(booster, player, data):
    stream = data.draw(streams(max_rows=30))
    options = data.draw(booster_settings())
    learner = HoeffdingTrees(
        grace_period=2,
        delta=0.9,
        tau=0.9,
        leaf_prediction=data.draw(st.sampled_from(["mc", "nb", "nba"])),
        feature_share=data.draw(st.sampled_from([1.0, 0.6])),
        max_size=data.draw(st.sampled_from([None, 0.05])),
    )
    relabel = data.draw(st.sampled_from(["fractional", "random"]))
    start = data.draw(st.sampled_from(["uniform", "label"]))
    one, many = (booster(learner, player=player, relabel=relabel, start=start, **options) for _ in range(2))
    assert row_by_row(one, stream) == block_by_block(many, stream, data.draw(cuts(len(stream))))
    assert learned(one) == learned(many)


@pytest.mark.parametrize("booster", [*BOOSTERS, HoeffdingTrees])
def test_any_number_of_threads_gives_the_same_bits(booster):
    rows = datasets.shuffled(datasets.load("segment"), 5)[:700]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    if booster is HoeffdingTrees:
        models = [HoeffdingTrees(n_learners=7, grace_period=20, delta=0.1, tau=0.3, feature_share=0.7, seed=1)] * 2
        models = [model.clone() for model in models]
        models[1].state_ = models[1].fresh_state(1)
        models[1].state_.engine.cascades[0].n_jobs = 3
    else:
        learner = HoeffdingTrees(grace_period=20, delta=0.1, tau=0.3)
        models = [booster(learner, n_learners=7, gamma=0.5, seed=1, n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
    predictions = [model.predict_learn_many(X, y) for model in models]
    assert all(prediction == predictions[0] for prediction in predictions)
    assert all(learned(model) == learned(models[0]) for model in models)
    assert models[0].state_.engine.cascades[0].ensemble.trees.n_nodes.max() > 3


@pytest.mark.parametrize("booster", BOOSTERS)
@given(data=st.data())
def test_learners_without_weights_obey_the_law_too(booster, data):
    stream = [(x, y, 1.0) for x, y, _ in data.draw(streams())]
    options = data.draw(booster_settings())
    one, many = booster(Weightless(), **options), booster(Weightless(), **options)
    assert row_by_row(one, stream) == block_by_block(many, stream, data.draw(cuts(len(stream))))
    assert learned(one) == learned(many)
    assert one.relabel_ == "random"


@pytest.mark.slow
@pytest.mark.parametrize("booster", BOOSTERS)
def test_river_trees_that_split_obey_the_law(booster):
    rows = datasets.shuffled(datasets.load("segment"), 5)[:400]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    learner = tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, tau=0.2)
    one = booster(learner, n_learners=3, gamma=0.3, start="label", seed=3)
    many = one.clone()
    predictions = row_by_row(one, [(x, label, 1.0) for x, label in rows])
    assert predictions == many.predict_learn_many(X[:150], y[:150]) + many.predict_learn_many(X[150:], y[150:])
    assert any(model.n_nodes > 1 for model in one.state_.engine.cascades[0].ensemble.learners)
    probabilities = [one.predict_proba_one(x) for x in X]
    assert probabilities == [many.predict_proba_one(x) for x in X]
    frame = many.predict_proba_many(pd.DataFrame(X))
    assert probabilities == frame.to_dict("records")


@pytest.mark.parametrize("booster", [*BOOSTERS, mixture])
def test_learn_many_teaches_what_predict_learn_many_teaches(booster):
    rows = datasets.shuffled(datasets.balance(), 1)[:100]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    one, other = booster(Bins(), n_learners=4, seed=1), booster(Bins(), n_learners=4, seed=1)
    one.learn_many(X, y)
    other.predict_learn_many(X, y)
    assert learned(one) == learned(other)


@pytest.mark.parametrize("booster", [*BOOSTERS, mixture])
def test_the_order_of_a_dict_does_not_matter(booster):
    rows = datasets.shuffled(datasets.load("segment"), 2)[:120]
    learner = tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, tau=0.2)
    one, other = booster(learner, n_learners=2, seed=0), booster(learner, n_learners=2, seed=0)
    for x, y in rows:
        backwards = dict(reversed(x.items()))
        assert one.predict_proba_one(x) == other.predict_proba_one(backwards)
        one.learn_one(x, y)
        other.learn_one(backwards, y)


@pytest.mark.parametrize("mode", [None, "paper", "original"])
@pytest.mark.parametrize("learner", [Bins, Weightless, HoeffdingTrees, MondrianTrees])
@pytest.mark.parametrize("booster", BASELINES)
@settings(max_examples=12)
@given(data=st.data())
def test_the_baselines_obey_the_law(booster, learner, mode, data):
    stream = data.draw(streams(max_rows=20))
    if learner is Weightless:
        stream = [(x, y, 1.0) for x, y, _ in stream]
    if learner is MondrianTrees:
        stream = [({name: v for name, v in x.items() if name != "c"}, y, w) for x, y, w in stream]
    kind = HoeffdingTrees(grace_period=2, delta=0.9, tau=0.9) if learner is HoeffdingTrees else learner()
    options = {"n_learners": data.draw(st.integers(1, 5)), "seed": data.draw(st.integers(0, 2**64 - 1)), "mode": mode}
    options["classes"] = data.draw(st.sampled_from([None, ["z", "y", "x", 7]]))
    if booster is OnlineMBBMClassifier:
        options["gamma"] = data.draw(st.sampled_from([0.001, 0.3, 0.95]))
        options["potential"] = data.draw(st.sampled_from(["exact", "fast"]))
    one, many = booster(kind, n_jobs=1, **options), booster(kind, n_jobs=2, **options)
    assert row_by_row(one, stream) == block_by_block(many, stream, data.draw(cuts(len(stream))))
    probes = PROBES if learner is not MondrianTrees else PROBES[:2]
    assert learned(one, probes) == learned(many, probes)


@pytest.mark.parametrize("mode", [None, "paper"])
@pytest.mark.parametrize("booster", BASELINES)
def test_any_number_of_threads_gives_the_baselines_the_same_bits(booster, mode):
    rows = datasets.shuffled(datasets.load("segment"), 5)[:400]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    learner = HoeffdingTrees(grace_period=20, delta=0.1, tau=0.3)
    models = [booster(learner, n_learners=7, mode=mode, seed=1, n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
    predictions = [model.predict_learn_many(X, y) for model in models]
    assert all(prediction == predictions[0] for prediction in predictions)
    assert all(learned(model) == learned(models[0]) for model in models)
    assert models[0].state_.engine.cascades[0].ensemble.trees.n_nodes.max() > 3
