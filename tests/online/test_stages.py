"""A booster in stages, wherever they are cut and however many blocks are on their way: the bits of one in one piece."""

from __future__ import annotations

import pickle
import random
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import tree
from sklearn.linear_model import SGDClassifier

from laws import learned
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
    StumpExperts,
)
from ocoboost.bench import datasets
from ocoboost.errors import BrokenModelError, InvalidInputError, WeakLearnerError
from ocoboost.online.staged import LocalLine, Staged, predictions
from ocoboost.online.stages import Latest, Learners, cut
from strategies import cuts, streams
from toy_learners import Bins


class ShuffledLine:
    """Stages that take what has arrived in any order that a cluster might, with passages as bytes between them."""

    most = 3

    def __init__(self, stages, seed):
        self._stages, self._pick = stages, random.Random(seed)
        self._queues = [deque() for _ in range(len(stages) + 1)]

    def send(self, passage):
        self._queues[0].append(pickle.dumps(passage))
        self._advance(self._pick.randrange(3))

    def receive(self):
        while not self._queues[-1]:
            self._advance(1)
        return pickle.loads(self._queues[-1].popleft())

    def _advance(self, n_steps):
        for _ in range(n_steps):
            if ready := [number for number, queue in enumerate(self._queues[:-1]) if queue]:
                number = self._pick.choice(ready)
                passed = self._stages[number].take(pickle.loads(self._queues[number].popleft()))
                self._queues[number + 1].append(pickle.dumps(passed))

    def stages(self):
        assert not any(self._queues)
        return self._stages

    def close(self):
        pass


def staged(model, n_stages, *, seed=None, block_rows=256):
    def make(stages, fresh, state):
        return LocalLine(stages) if seed is None else ShuffledLine(stages, seed)

    return Staged(model, make, n_stages, block_rows)


def tables(stream, blocks):
    for first, last in blocks:
        x, y, w = zip(*stream[first:last], strict=True)
        yield list(x), list(y), list(w)


TREES = {
    "hoeffding": HoeffdingTrees(grace_period=2, delta=0.9, tau=0.9, feature_share=0.6),
    "small": HoeffdingTrees(grace_period=2, delta=0.9, tau=0.9, max_size=0.05),
    "mondrian": MondrianTrees(),
    "small mondrian": MondrianTrees(max_size=0.05),
    "python": Bins(),
}
BOOSTERS = [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, OnlinePairwiseBoostClassifier]
BASELINES = [OnlineMBBMClassifier, AdaBoostOLMClassifier]


def same_bits(model, stream, data):
    """Learn a stream in one piece and in stages; votes, predictions and all that is known must be equal."""
    in_stages = staged(
        model.clone(), data.draw(st.integers(1, 5)), seed=data.draw(st.integers(0, 99)), block_rows=data.draw(BLOCKS)
    )
    said, same = [], []
    for table in tables(stream, data.draw(cuts(len(stream)))):
        said += model.prequential(table[0], table[1], w=table[2])
    for answered in in_stages.run(tables(stream, data.draw(cuts(len(stream)))), answering=True):
        same.append(answered)
    assert predictions(said) == predictions(same)
    for name in ("distributions", "vote_shares", "probabilities"):
        assert [row.tolist() for block in said for row in getattr(block, name)] == [
            row.tolist() for block in same for row in getattr(block, name)
        ]
    local = in_stages.to_local()
    assert learned(local) == learned(model)
    rows = [x for x, _, _ in stream]
    assert in_stages.answer(rows).probabilities.tolist() == model.answer_many(rows).probabilities.tolist()
    return local, in_stages


BLOCKS = st.sampled_from([1, 3, 256])


GRID = [(OnlineAgnosticBoostClassifier, learner) for learner in TREES]
GRID += [(booster, "hoeffding") for booster in [*BOOSTERS[1:], *BASELINES]]
SLOW_GRID = [pair for booster in [*BOOSTERS[1:], *BASELINES] for pair in [(booster, name) for name in TREES][1:]]


@pytest.mark.parametrize(
    ("booster", "learner"), GRID + [pytest.param(*pair, marks=pytest.mark.slow) for pair in SLOW_GRID]
)
@settings(max_examples=6)
@given(data=st.data())
def test_any_cut_into_stages_gives_the_same_bits(booster, learner, data):
    stream = data.draw(streams(max_rows=25))
    options = {"n_learners": data.draw(st.integers(1, 7)), "seed": data.draw(st.integers(0, 99))}
    if booster in BOOSTERS and learner != "python":
        options["relabel"] = data.draw(st.sampled_from(["fractional", "random"]))
    same_bits(booster(TREES[learner], **options), stream, data)


@pytest.mark.parametrize("learner", ["auto", "hoeffding", "python"])
@settings(max_examples=10)
@given(data=st.data())
def test_any_cut_of_a_mixture_gives_the_same_bits(learner, data):
    stream = data.draw(streams(max_rows=25))
    options = {"class_weight": "balanced"} if data.draw(st.booleans()) else {}
    learner = TREES.get(learner, learner)
    model = OnlineBoostClassifier(learner, budget=data.draw(st.integers(4, 40)), seed=3, **options)
    same_bits(model, stream, data)


@pytest.mark.parametrize("n_stages", [2, 5])
def test_a_longer_stream_in_which_trees_split_and_forests_are_born(n_stages):
    rows = datasets.shuffled(datasets.load("segment"), 5)[:700]
    X, y = [x for x, _ in rows], [label for _, label in rows]
    model = OnlineBoostClassifier(budget=60, max_size=64, seed=1)
    in_stages = staged(model.clone(), n_stages, seed=1, block_rows=50)
    assert predictions(in_stages.run([(X, y)], answering=True)) == model.predict_learn_many(X, y)
    assert in_stages.model.member_weights_ == model.member_weights_  # known without the members themselves
    local = in_stages.to_local()
    assert learned(local, X[:3]) == learned(model, X[:3])
    again = staged(local, 3, seed=2, block_rows=64)  # and from one piece into others
    again.learn([(X[:100], y[:100])])
    model.learn_many(X[:100], y[:100])
    assert learned(again.to_local(), X[:3]) == learned(model, X[:3])


def test_learners_that_are_python_objects_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int).tolist()
    learners = [tree.HoeffdingTreeClassifier(grace_period=20), SGDClassifier(random_state=1), StumpExperts()]
    for learner in learners:
        model = OnlineAgnosticBoostClassifier(learner, n_learners=5, classes=[0, 1], seed=1)
        in_stages = staged(model.clone(), 3, seed=1, block_rows=32)
        assert predictions(in_stages.run([(X, y)], answering=True)) == model.predict_learn_many(X, y)
        assert in_stages.answer(X).distributions.tolist() == model.answer_many(X).distributions.tolist()
        assert in_stages.to_local().predict_many(X) == model.predict_many(X)


def test_stages_share_out_the_learners_and_hold_each_once():
    state = OnlineBoostClassifier(budget=100, seed=1).fresh_state(1)
    for n_stages in (1, 2, 5):
        stages = cut(state.engine, n_stages)
        parts = [part for stage in stages for part in stage.held]
        held = [
            (part.number, learner)
            for part in parts
            if isinstance(part, Learners)
            for learner in range(part.cascade.learners.first, part.cascade.learners.end)
        ]
        every = [(c, i) for c, cascade in enumerate(state.engine.cascades) for i in range(cascade.cells.n_learners)]
        assert held == every
        assert sum(isinstance(part, Latest) for part in parts) == 1
        assert all(stage.held for stage in stages)


def test_a_part_holds_its_own_learners_only():
    model = OnlineAgnosticBoostClassifier(MondrianTrees(), n_learners=10, seed=1)
    whole = model.fresh_state(1).engine.cascades[0]
    assert [len(whole.part(*span).ensemble.trees.n_nodes) for span in ((0, 3), (3, 10))] == [3, 7]


def test_a_bad_table_leaves_what_was_learned_before_it():
    X = np.random.default_rng(1).normal(size=(60, 2))
    y = ["a", "b"] * 30
    model = OnlineAgnosticBoostClassifier(n_learners=4, seed=1)
    in_stages = staged(model.clone(), 2, seed=1, block_rows=7)
    with pytest.raises(InvalidInputError, match="row 3"):
        in_stages.learn([(X, y), (X[:5], ["a", "b", "a", float("nan"), "a"])])
    model.learn_many(X, y)
    in_stages.learn([(X, y)])
    model.learn_many(X, y)
    assert learned(in_stages.to_local(), []) == learned(model, [])


def test_rows_on_their_way_are_learned_even_if_nobody_takes_their_answers():
    X = np.random.default_rng(1).normal(size=(60, 2))
    y = ["a", "b"] * 30
    in_stages = staged(OnlineAgnosticBoostClassifier(n_learners=4, seed=1), 2, seed=1, block_rows=5)
    run = in_stages.run([(X, y)], answering=True)
    next(run)
    next(run)
    run.close()
    local = in_stages.to_local()
    model = OnlineAgnosticBoostClassifier(n_learners=4, seed=1)
    model.learn_many(X[: local.n_rows_], y[: local.n_rows_])
    assert 2 < local.n_rows_ < 60
    assert learned(local, []) == learned(model, [])


class Refusing(Bins):
    """Fails on the label that nobody likes."""

    def learn_one(self, x, y, w=1.0):
        if x.get("a") == 99.0:
            raise ValueError("no more")
        super().learn_one(x, y, w=w)


def test_a_learner_that_fails_is_named_and_the_model_learns_no_more():
    in_stages = staged(OnlineAgnosticBoostClassifier(Refusing(), n_learners=4, seed=1), 4, block_rows=5)
    rows = [{"a": float(i)} for i in range(23)]
    in_stages.learn([(rows, ["a", "b"] * 11 + ["a"])])
    with pytest.raises(WeakLearnerError, match="row 24"):
        in_stages.learn([([{"a": 1.0}, {"a": 99.0}], ["a", "b"])])
    with pytest.raises(BrokenModelError, match="at row 23"):
        in_stages.learn([(rows, ["a", "b"] * 11 + ["a"])])
