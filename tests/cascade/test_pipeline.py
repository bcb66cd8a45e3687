"""Stages over threads: no cell before its neighbours, every cell once, and a failure stops all."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import learned
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier
from ocoboost.cascade import pipeline
from ocoboost.cascade.pipeline import _Schedule
from ocoboost.errors import BrokenModelError

RNG = np.random.default_rng(1)
X = RNG.normal(size=(500, 4))
Y = np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3]).tolist()


@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 4), st.integers(0, 2**32))
def test_a_stage_takes_a_tile_after_its_own_last_and_after_the_stage_before(n_stages, n_tiles, n_workers, seed):
    """Workers take and finish in any order; taking must never wait while nobody works."""
    schedule, pick = _Schedule(n_stages, n_tiles), random.Random(seed)
    running, finished = [], set()
    while len(finished) < n_stages * n_tiles:
        ready = [stage for stage in range(n_stages) if schedule._is_ready(stage)]
        if ready and len(running) < n_workers and (not running or pick.random() < 0.5):
            stage, tile = schedule.take()
            assert tile == 0 or (stage, tile - 1) in finished
            assert stage == 0 or (stage - 1, tile) in finished
            assert (stage, tile) not in finished
            assert stage not in [other for other, _ in running]
            running.append((stage, tile))
        else:
            done = running.pop(pick.randrange(len(running)))  # there is one, or nothing would ever be ready again
            schedule.finish(done[0])
            finished.add(done)
    assert schedule.take() is None


@pytest.mark.parametrize(("n_rows", "n_jobs"), [(1, 8), (63, 3), (64, 3), (65, 3), (500, 2), (500, 64)])
@pytest.mark.parametrize("learner", [HoeffdingTrees(grace_period=10, delta=0.5, tau=0.5), MondrianTrees()], ids=type)
@pytest.mark.parametrize("booster", [OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier])
def test_any_number_of_rows_learners_and_threads_gives_the_same_bits(booster, learner, n_rows, n_jobs):
    for n_learners in (1, 5):
        one, many = (booster(learner, n_learners=n_learners, seed=1, n_jobs=jobs) for jobs in (1, n_jobs))
        for model in (one, many):
            model.learn_many(X[:n_rows], Y[:n_rows])
        assert learned(one, []) == learned(many, [])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_thread_that_fails_stops_all_and_the_model_says_so(n_jobs, monkeypatch):
    model = OnlineAgnosticBoostClassifier(MondrianTrees(), n_learners=6, classes=[0, 1, 2], n_jobs=n_jobs, seed=1)
    model.learn_many(X[:10], Y[:10])
    ensemble = model.state_.engine.cascades[0].ensemble

    def refuse():
        raise MemoryError("no more")

    monkeypatch.setattr(ensemble, "grow", refuse)
    with pytest.raises(MemoryError, match="no more"):
        model.learn_many(X[10:], Y[10:])
    with pytest.raises(BrokenModelError, match="learning was interrupted at row 10"):
        model.learn_one(dict(enumerate(X[0])), 0)


def test_tiles_are_small_enough_to_fill_the_pipeline():
    """The tests above would prove nothing about threads if a tile held all their rows."""
    assert len(X) > 4 * pipeline.ROWS_PER_TILE
