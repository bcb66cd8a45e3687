"""The fused kernels against the loop by parts, to the bit, and against votes counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

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
from ocoboost.data import tables
from ocoboost.data.schema import Block
from strategies import PLAYER_NAMES
from toy_learners import Witness

ROWS = datasets.shuffled(datasets.balance(), 3)[:150]
X, LABELS = [x for x, _ in ROWS], [y for _, y in ROWS]
TREES = {"hoeffding": HoeffdingTrees(grace_period=20, delta=0.5, tau=0.5), "mondrian": MondrianTrees()}
KINDS = ["label", "distribution"]
BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, OnlinePairwiseBoostClassifier]


def run(model):
    """Everything that was answered on the way, and what the booster and its trees know in the end."""
    answers = [
        (answered.labels, answered.distributions.tolist(), answered.vote_shares.tolist())
        for answered in model.prequential(X, LABELS)
    ]
    cascade = model.state_.engine.cascades[0]
    assert cascade.ensemble.trees.n_nodes.max() > 1
    learned = [array.tobytes() for array in cascade.ensemble.trees]
    return answers, learned, {name: array.tobytes() for name, array in cascade.cells.state().items()}


def both_ways(model):
    """What ``run`` gives in one kernel and by parts."""
    other = model.clone()
    state = other.fresh_state(model.seed)
    cascade = state.engine.cascades[0]
    cascade.ensemble = Witness(cascade.ensemble)
    other.state_ = state
    by_parts = run(other)
    assert sorted(cascade.ensemble.votes) == list(range(model.n_learners))  # it was by parts
    return run(model), by_parts


@pytest.mark.parametrize("pool", KINDS)
@pytest.mark.parametrize("votes", KINDS)
@pytest.mark.parametrize("learner", TREES)
@pytest.mark.parametrize("player", PLAYER_NAMES)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_one_kernel_is_the_loop_by_parts(booster, player, learner, votes, pool):
    options = {"player": player, "votes": votes, "pool": pool, "n_learners": 6, "gamma": 0.5, "seed": 1}
    fused, by_parts = both_ways(booster(TREES[learner], classes=["B", "L", "R"], **options))
    assert fused == by_parts
    answers, *_ = fused
    assert min(sum(shares) for *_, rows in answers for shares in rows) == pytest.approx(1.0)


@pytest.mark.parametrize("mode", [None, "paper", "original"])
@pytest.mark.parametrize("learner", TREES)
@pytest.mark.parametrize("booster", [OnlineMBBMClassifier, AdaBoostOLMClassifier])
def test_one_kernel_is_the_loop_by_parts_for_the_baselines_too(booster, learner, mode):
    model = booster(TREES[learner], n_learners=6, mode=mode, seed=1)
    fused, by_parts = both_ways(model)
    assert fused == by_parts
    answers, _, learned = fused
    assert set(learned) == ({"alphas", "mistakes"} if booster is AdaBoostOLMClassifier else set())
    assert min(sum(shares) for *_, rows in answers[1:] for shares in rows) == pytest.approx(1.0)


@pytest.mark.parametrize("pool", KINDS)
@pytest.mark.parametrize("learner", TREES)
def test_polled_votes_are_those_of_every_tree(learner, pool):
    model = OnlineAgnosticBoostClassifier(TREES[learner], gamma=0.5, n_learners=6, pool=pool, seed=1)
    model.learn_many(X, LABELS)
    state, ensemble = model.state_, model.state_.engine.cascades[0].ensemble
    block = ensemble.prepare(Block(tables.read_rows(X), state.schema), learning=False)
    votes = np.empty((len(X), 3))
    expected = np.zeros((len(X), 3))
    for number in range(6):
        ensemble.vote(number, block, votes)
        expected += np.eye(3)[votes.argmax(axis=1)] if pool == "label" else votes
    shares = [[row[label] for label in model.classes_] for row in model.vote_shares_many(X)]
    np.testing.assert_allclose(shares, expected / 6, atol=1e-12)
