"""The fused kernels against the loop by parts, which shares no cell with them, and against votes counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineMBBMClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.weighting import Rival
from ocoboost.data.schema import Block
from strategies import PLAYER_NAMES

ROWS = datasets.shuffled(datasets.balance(), 3)[:150]
X, LABELS = [x for x, _ in ROWS], [y for _, y in ROWS]
TREES = {"hoeffding": HoeffdingTrees(grace_period=20, delta=0.5, tau=0.5), "mondrian": MondrianTrees()}
KINDS = ["label", "distribution"]
BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier]


def run(model):
    """Everything that was answered on the way, and what the trees know in the end."""
    seen = []
    model._learn(
        *model._read(X, LABELS, None),
        see=lambda _, answers: seen.extend(zip(answers.distributions.tolist(), answers.shares.tolist(), strict=True)),
    )
    return seen, [array.tobytes() for array in model._state.engine.cascades[0].ensemble.trees]


def both_ways(model, monkeypatch):
    other = model.clone()
    fused = run(model)
    monkeypatch.setattr(Cascade, "learn", Cascade.learn_by_parts)
    monkeypatch.setattr(Rival, "learn", Rival.learn_by_parts)
    return fused, run(other)


@pytest.mark.parametrize("pool", KINDS)
@pytest.mark.parametrize("votes", KINDS)
@pytest.mark.parametrize("learner", TREES)
@pytest.mark.parametrize("player", PLAYER_NAMES)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_one_kernel_is_the_loop_by_parts(booster, player, learner, votes, pool, monkeypatch):
    options = {"player": player, "votes": votes, "pool": pool, "n_learners": 6, "gamma": 0.5, "seed": 1}
    model = booster(TREES[learner], classes=["B", "L", "R"], **options)
    (fused, fused_trees), (by_parts, trees) = both_ways(model, monkeypatch)
    np.testing.assert_allclose(fused, by_parts, atol=1e-12)
    assert fused_trees == trees
    assert min(sum(shares) for _, shares in fused) == pytest.approx(1.0)


@pytest.mark.parametrize("learner", TREES)
@pytest.mark.parametrize("booster", [OnlineMBBMClassifier, AdaBoostOLMClassifier])
def test_the_rivals_kernel_is_their_loop_by_parts(booster, learner, monkeypatch):
    model = booster(TREES[learner], n_learners=6, classes=["B", "L", "R"], seed=1)
    (fused, fused_trees), (by_parts, trees) = both_ways(model, monkeypatch)
    assert (fused, fused_trees) == (by_parts, trees)
    assert min(sum(shares) for _, shares in fused) == pytest.approx(1.0)


@pytest.mark.parametrize("pool", KINDS)
@pytest.mark.parametrize("learner", TREES)
def test_polled_votes_are_those_of_every_tree(learner, pool):
    model = OnlineAgnosticBoostClassifier(TREES[learner], gamma=0.5, n_learners=6, pool=pool, seed=1)
    model.learn_many(X, LABELS)
    state, ensemble = model._state, model._state.engine.cascades[0].ensemble
    block = ensemble.prepare(Block(model._read_rows(X), state.schema), learning=False)
    votes = np.empty((len(X), 3))
    expected = np.zeros((len(X), 3))
    for number in range(6):
        ensemble.vote(number, block, votes)
        expected += np.eye(3)[votes.argmax(axis=1)] if pool == "label" else votes
    shares = [[row[label] for label in model.classes_] for row in model.vote_shares_many(X)]
    np.testing.assert_allclose(shares, expected / 6, atol=1e-12)
