"""The online boosters on a real cluster of two worker processes, against the local ones."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster
from river import tree

import ocoboost
import ocoboost.dask
from laws import learned
from ocoboost import HoeffdingTrees, MondrianTrees
from ocoboost.bench import datasets
from ocoboost.cluster.boosters import ONLINE, on_dask
from ocoboost.dask import LostStageError, SlowStageWarning
from ocoboost.errors import BrokenModelError, InvalidInputError, InvalidParameterError
from ocoboost.online.staged import predictions
from toy_learners import Sleepy

# Dask's own clean-up is noisy when workers are killed.
pytestmark = pytest.mark.filterwarnings("ignore")


def new_cluster(n_workers=2):
    """No limit on memory: a worker that has imported everything is large, and Dask would restart it."""
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    )


@pytest.fixture(scope="module")
def client():
    with new_cluster() as cluster, Client(cluster) as client:
        yield client


def stream(n_rows=600):
    """Numbers and text, with labels and categories that come late."""
    rng = np.random.default_rng(3)
    X = [{"a": float(a), "b": float(b)} for a, b in rng.normal(size=(n_rows, 2))]
    for number, x in enumerate(X):
        if number > n_rows // 3:
            x["c"] = ["red", "green", "blue"][int(rng.integers(2 if number < n_rows // 2 else 3))]
    y = ["up" if x["a"] * x["b"] > 0 else "down" for x in X]
    y[int(0.8 * n_rows) :: 3] = ["late"] * len(y[int(0.8 * n_rows) :: 3])
    return X, y


def in_tables(X, y, size=150):
    return [(X[first : first + size], y[first : first + size]) for first in range(0, len(X), size)]


CASES = {
    "agnostic": (ocoboost.OnlineAgnosticBoostClassifier, {"learner": MondrianTrees(), "relabel": "random"}),
    "realizable": (ocoboost.OnlineRealizableBoostClassifier, {}),
    "pairwise": (ocoboost.OnlinePairwiseBoostClassifier, {}),
    "mbbm": (ocoboost.OnlineMBBMClassifier, {}),
    "olm": (ocoboost.AdaBoostOLMClassifier, {"learner": HoeffdingTrees(grace_period=20, delta=0.5)}),
    "river": (ocoboost.OnlineAgnosticBoostClassifier, {"learner": tree.HoeffdingTreeClassifier(grace_period=50)}),
    "mixture": (ocoboost.OnlineBoostClassifier, {"budget": 60}),
}


QUICK = ("agnostic",)


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_the_same_bits_as_on_one_machine(client, case):
    kind, options = CASES[case]
    options = {"seed": 5, **({} if case == "mixture" else {"n_learners": 7}), **options}
    X, y = stream(240 if case == "river" else 600)
    local = kind(**options)
    said = local.predict_learn_many(X, y)
    for n_stages, block_rows in ((2, 40), (5, 37)) if case in ("agnostic", "mixture") else ((3, 40),):
        with ONLINE[kind](**options, n_stages=n_stages, block_rows=block_rows, client=client) as model:
            assert model.predict_learn_many(in_tables(X, y)) == said
            assert model.predict_many(X[:50]) == local.predict_many(X[:50])
            moved = model.to_local()
            if case == "river":  # its trees have no ==
                assert moved.predict_proba_many(X) == local.predict_proba_many(X)
            else:
                assert learned(moved, X[:3]) == learned(local, X[:3])
            assert [stage.n_restarts for stage in model.stages_] == [0] * n_stages
            assert {stage.worker for stage in model.stages_} == set(client.nthreads())


@pytest.mark.slow
def test_models_move_between_the_two_worlds(client, tmp_path):
    X, y = stream()
    local = ocoboost.OnlineBoostClassifier(budget=60, seed=1)
    local.learn_many(X[:300], y[:300])
    before = learned(local, X[:2])
    with on_dask(local, client=client, block_rows=50) as model:
        model.learn_many(X[300:450], y[300:450])
        model.save(tmp_path / "model.oco")
    assert learned(local, X[:2]) == before  # it was copied
    with ocoboost.dask.OnlineBoostClassifier.load(tmp_path / "model.oco", client=client, n_stages=3) as model:
        model.learn_many(X[450:], y[450:])
        moved = model.to_local()
    local.learn_many(X[300:], y[300:])
    assert learned(moved, X[:2]) == learned(local, X[:2])
    assert learned(ocoboost.load(tmp_path / "model.oco"), X[:2]) != learned(local, X[:2])


def test_dask_arrays_and_frames(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    local = ocoboost.OnlineAgnosticBoostClassifier(n_learners=5, seed=1)
    said = local.predict_learn_many(X, y)
    with ocoboost.dask.OnlineAgnosticBoostClassifier(n_learners=5, seed=1, client=client) as model:
        lazy = da.from_array(X, chunks=((130, 1, 169), (2, 1)))
        assert model.predict_learn_many(lazy, da.from_array(y, chunks=100)) == said
        assert model.predict_many(lazy) == local.predict_many(X)
    frame, labels = pd.DataFrame(X, columns=list("abc")), pd.Series(y)
    local = ocoboost.OnlineAgnosticBoostClassifier(n_learners=5, seed=1)
    said = local.predict_learn_many(frame, labels)
    with ocoboost.dask.OnlineAgnosticBoostClassifier(n_learners=5, seed=1, client=client) as model:
        lazy = dd.from_pandas(frame, npartitions=3)
        assert predictions(model.prequential(lazy, dd.from_pandas(labels, npartitions=3))) == said


def test_bad_rows_and_parameters_are_said_as_they_are_on_one_machine(client):
    X, y = stream(60)
    with pytest.raises(InvalidParameterError, match="n_stages must be a whole number of at least 1, got 0"):
        ocoboost.dask.OnlineBoostClassifier(n_stages=0)
    with pytest.raises(TypeError, match="HoeffdingTrees cannot be put on a cluster"):
        on_dask(HoeffdingTrees())
    with ocoboost.dask.OnlineAgnosticBoostClassifier(n_learners=3, client=client, seed=1) as model:
        model.learn_many(X, y)
        with pytest.raises(InvalidInputError, match="row 1"):
            model.learn_many([{"a": 1.0}, {"a": "text"}], ["up", "up"])
        assert model.n_rows_ == 60
        assert model.to_local().n_rows_ == 60


# -- workers that are lost or slow -------------------------------------------------------------------------------------


@pytest.fixture
def frail_client():
    with new_cluster() as cluster, Client(cluster) as client:
        yield client


def kill_some_worker(client, pick):
    os.kill(pick.choice(sorted(client.run(os.getpid).values())), signal.SIGKILL)


@pytest.mark.slow  # clusters of their own, and workers that start anew
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(20))
def test_a_worker_killed_at_any_moment_changes_no_bit(frail_client, seed):
    pick = random.Random(seed)
    X, y = stream()
    local = ocoboost.OnlineBoostClassifier(budget=40, seed=seed)
    said = local.predict_learn_many(X, y)
    options = {"n_stages": pick.choice([2, 3]), "block_rows": 20, "log_size": pick.choice([0.05, 64.0])}
    with on_dask(ocoboost.OnlineBoostClassifier(budget=40, seed=seed), client=frail_client, **options) as model:
        at = pick.randrange(1, 580)
        answers, killed = [], False
        for answered in model.prequential(X, y):
            answers += answered.labels
            if not killed and len(answers) >= at:
                killed = True
                kill_some_worker(frail_client, pick)
        assert killed
        assert answers == said
        assert learned(model.to_local(), X[:2]) == learned(local, X[:2])


def lost_after(model, X, y, strike):
    """How many rows are answered, and the error that follows, if something strikes after 300."""
    n_answered, has_struck = 0, False
    try:
        for answered in model.prequential(X, y):
            n_answered += len(answered)
            if n_answered >= 300 and not has_struck:
                has_struck = True
                strike()
    except LostStageError as error:
        return n_answered, error
    raise AssertionError("nothing was lost")


@pytest.mark.slow
def test_without_a_log_a_lost_worker_is_a_clear_error_with_the_last_certain_row(frail_client):
    X, y = stream()
    with ocoboost.dask.OnlineBoostClassifier(
        budget=40, seed=1, client=frail_client, block_rows=20, log_size=0, n_stages=2
    ) as model:
        n_answered, error = lost_after(model, X, y, lambda: kill_some_worker(frail_client, random.Random(1)))
        assert error.row == n_answered >= 300
        assert "was lost and cannot be begun again" in str(error)
        assert f"the first {n_answered} rows" in str(error)
        with pytest.raises(BrokenModelError):
            model.learn_many(X, y)
        with pytest.raises(BrokenModelError):
            model.to_local()


@pytest.mark.slow
def test_a_checkpoint_that_is_gone_is_a_clear_error(frail_client, tmp_path):
    X, y = stream()
    local = ocoboost.OnlineBoostClassifier(budget=40, seed=1)
    local.learn_many(X, y)
    with on_dask(local, client=frail_client, block_rows=20, n_stages=2, checkpoints=tmp_path) as model:

        def strike():
            files = list(tmp_path.glob("*.oco"))
            assert len(files) == 2
            for path in files:
                path.unlink()
            kill_some_worker(frail_client, random.Random(1))

        n_answered, error = lost_after(model, X, y, strike)
        assert error.row == 600 + n_answered >= 900
        assert "its checkpoint cannot be read" in str(error)


@pytest.mark.slow
def test_a_stage_that_is_held_up_is_named_and_holds_the_sender_up(frail_client):
    model = ocoboost.dask.OnlineAgnosticBoostClassifier(
        Sleepy(), n_learners=1, seed=1, classes=[0, 1], client=frail_client, block_rows=1, n_stages=1, slow_after=1.0
    )
    with model:
        model.learn_many([{"a": 0.0}], [0])
        sent = []

        def tables():
            for number in range(100):
                sent.append(time.monotonic())
                yield [{"a": 99.0 if number == 0 else 1.0}], [1]

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.learn_many(tables())
        named = [str(warning.message) for warning in caught if warning.category is SlowStageWarning]
        assert named
        assert "stage 1 (learners 0 to 0 of booster 0) of 1 on" in named[0]
        n_at_once = sum(moment - sent[0] < 3.0 for moment in sent)
        assert n_at_once < 20  # bounded, and far from 100
    assert not any(thread.name.startswith("ocoboost-stage") and thread.is_alive() for thread in threading.enumerate())


@pytest.mark.slow
def test_datasets_of_the_paper_too(client):
    rows = datasets.shuffled(datasets.load("balance"), 1)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    local = ocoboost.OnlineBoostClassifier(budget=60, seed=2)
    with on_dask(ocoboost.OnlineBoostClassifier(budget=60, seed=2), client=client, block_rows=64) as model:
        assert model.predict_learn_many(X, y) == local.predict_learn_many(X, y)
