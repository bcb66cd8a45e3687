"""The boosters on a real cluster of two worker processes."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import ocoboost
import ocoboost.dask
from ocoboost import HistogramTreeClassifier
from ocoboost.dask import LostRowsError

# Dask's own clean-up is noisy when workers are killed.
pytestmark = pytest.mark.filterwarnings("ignore")
BOOSTERS = ["AgnosticBoostClassifier", "RealizableBoostClassifier"]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def sample(n_rows=600, seed=0):
    X, y = make_classification(n_rows, 6, n_informative=4, n_classes=4, n_clusters_per_class=1, random_state=seed)
    return X, y, np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], n_rows)


def assert_same_model(first, second):
    assert first.gamma_ == second.gamma_
    assert first.gamma_scores_ == second.gamma_scores_
    assert first.n_estimators_ == second.n_estimators_
    for one, other in zip(first._hypotheses, second._hypotheses, strict=True):
        if hasattr(one, "weights"):
            for left, right in zip(one, other, strict=True):
                np.testing.assert_array_equal(left, right)


SETTINGS = {
    "default": {},
    "drawn": {"n_drawn": 150},
    "other player": {"start": "label", "player": "exponentiated"},
    "early stopping": {"n_iter_no_change": 3, "validation_fraction": 0.3},
    "auto": {"gamma": "auto", "n_estimators": 2},
    "foreign": {"estimator": DecisionTreeClassifier(max_depth=2), "n_drawn": 150},
}


AGNOSTIC, REALIZABLE = BOOSTERS
CASES = [(name, setting) for setting in ("default", "drawn") for name in BOOSTERS] + [
    (REALIZABLE, "other player"),
    (AGNOSTIC, "early stopping"),
    (REALIZABLE, "auto"),
    (AGNOSTIC, "foreign"),
]


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_the_same_bits_for_any_chunking_as_on_one_machine(client, name, setting):
    X, y, weights = sample()
    parameters = {"n_estimators": 5, "random_state": 5, **SETTINGS[setting]}
    local = getattr(ocoboost, name)(**parameters).fit(X, y, weights)
    chunkings = [(600,), (1, 377, 2, 220)] if setting == "default" else [(250, 350)]
    for chunks in chunkings:
        model = getattr(ocoboost.dask, name)(**parameters)
        lazy = da.from_array(X, chunks=(chunks, (4, 2)))
        model.fit(lazy, da.from_array(y, chunks=100), da.from_array(weights, chunks=chunks))
        assert_same_model(local, model)
        np.testing.assert_array_equal(model.predict_proba(lazy).compute(), local.predict_proba(X))
        np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(X))
        np.testing.assert_array_equal(model.sample(lazy).compute(), local.sample(X))
        np.testing.assert_array_equal(model.decision_function(lazy).compute(), local.decision_function(X))
        assert model.correlation(lazy, y) == local.correlation(X, y)


def test_data_frames_keep_their_names(client):
    X, y, _ = sample()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.Series(y).map({0: "north", 1: "east", 2: "south", 3: "west"})
    local = ocoboost.AgnosticBoostClassifier(n_estimators=5, random_state=1).fit(frame, labels)
    lazy_labels = dd.from_pandas(labels, npartitions=3)
    for lazy in (dd.from_pandas(frame, npartitions=3), dd.from_pandas(frame, npartitions=3).to_dask_array()):
        model = ocoboost.dask.AgnosticBoostClassifier(n_estimators=5, random_state=1).fit(lazy, lazy_labels)
        assert_same_model(local, model)
        np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(frame))
        np.testing.assert_array_equal(model.sample(lazy).compute(), local.sample(frame))
        assert model.correlation(lazy, lazy_labels) == local.correlation(frame, labels)
    assert list(
        ocoboost.dask.AgnosticBoostClassifier(n_estimators=2)
        .fit(dd.from_pandas(frame, npartitions=2), labels)
        .feature_names_in_
    ) == list("abcdef")
    assert type(model.to_local()) is ocoboost.AgnosticBoostClassifier


def kill_at_stage(monkeypatch, kill, stage):
    """Have ``kill`` called when that many stages are done."""
    done = []

    @contextmanager
    def counting(n_steps, is_shown):
        def step():
            done.append(None)
            if len(done) == stage:
                kill()

        yield step

    monkeypatch.setattr("ocoboost.batch.booster.progress_bar", counting)
    return done


@pytest.fixture
def frail_client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow  # a cluster of its own, and workers that start anew
@pytest.mark.parametrize("name", BOOSTERS)
def test_a_killed_worker_changes_no_bit(frail_client, monkeypatch, name):
    X, y, _ = sample()
    parameters = {"n_estimators": 8, "random_state": 5, "n_drawn": 200}
    local = getattr(ocoboost, name)(**parameters).fit(X, y)
    processes = frail_client.run(os.getpid)
    killed = kill_at_stage(monkeypatch, lambda: os.kill(min(processes.values()), signal.SIGKILL), 4)
    model = getattr(ocoboost.dask, name)(**parameters)
    model.fit(da.from_array(X, chunks=(100, 6)), da.from_array(y, chunks=100))
    assert len(killed) == 8
    assert frail_client.run(os.getpid) != processes
    assert_same_model(local, model)


@pytest.mark.slow  # Dask takes its time to give the rows up
def test_rows_that_only_a_killed_worker_had_are_an_error(frail_client, monkeypatch):
    X, y, _ = sample()
    workers = frail_client.run(os.getpid)
    address = min(workers)
    (part,) = frail_client.scatter([X], workers=[address])
    lazy = da.from_delayed(dask.delayed(part), shape=X.shape, dtype=X.dtype)
    del part
    kill_at_stage(monkeypatch, lambda: os.kill(workers[address], signal.SIGKILL), 2)
    model = ocoboost.dask.AgnosticBoostClassifier(n_estimators=6)
    with pytest.raises(LostRowsError, match="workers were lost"):
        model.fit(lazy, y)
    assert not hasattr(model, "classes_")


def test_rows_that_change_are_an_error(client):
    def different_every_time():
        return np.random.default_rng().random((50, 3))

    parts = [da.from_delayed(dask.delayed(different_every_time, pure=False)(), (50, 3), float) for _ in range(2)]
    with pytest.raises(LostRowsError, match=r"begins with row (0|50) changed"):
        ocoboost.dask.AgnosticBoostClassifier(n_estimators=3).fit(da.concatenate(parts), np.arange(100) % 2)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_array_larger_than_the_workers_memory():
    # A worker that has imported and compiled everything has 350 MiB, and Dask pauses it for good at 80 % of the limit.
    limit = 700 * 2**20
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit=limit, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        X = da.random.default_rng(3).random((1_700_000, 110), chunks=(10_000, 110))
        assert X.nbytes > 2 * limit
        y = (X[:, 0] > 0.5).astype(np.int64)
        model = ocoboost.dask.AgnosticBoostClassifier(HistogramTreeClassifier(max_depth=1), n_estimators=2, gamma=1.0)
        model.fit(X, y)
        assert model.score(X[:20_000], y[:20_000]) > 0.97


BAD = {
    "one class": (lambda X, y: (X, y * 0, None), "at least 2 classes in the data"),
    "missing": (lambda X, y: (da.where(X > 2.0, np.inf, X), y, None), "Input X contains infinity"),
    "lengths": (lambda X, y: (X, y[:-1], None), "inconsistent numbers of samples"),
    "no weight": (lambda X, y: (X, y, y * 0.0), "at least one non-zero number"),
    "negative": (lambda X, y: (X, y, y - 1.0), "Negative values in data passed to `sample_weight`"),
    "continuous": (lambda X, y: (X, X[:, 0], None), "Unknown label type"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(client, case):
    X, y, _ = sample(100)
    make, message = BAD[case]
    model = ocoboost.dask.AgnosticBoostClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=message):
        model.fit(*make(da.from_array(X, chunks=(40, 6)), da.from_array(y, chunks=40)))
    assert not hasattr(model, "classes_")


def test_what_a_cluster_cannot_do_is_said(client):
    X, y, _ = sample(100)
    lazy = da.from_array(X, chunks=(40, 6))
    with pytest.raises(ValueError, match="n_drawn must be given for a learner that is not native"):
        ocoboost.dask.AgnosticBoostClassifier(DecisionTreeClassifier()).fit(lazy, y)
    with pytest.raises(TypeError, match="X must be a Dask array or data frame, got ndarray"):
        ocoboost.dask.AgnosticBoostClassifier().fit(X, y)
    model = ocoboost.dask.AgnosticBoostClassifier(n_estimators=2)
    with pytest.raises(NotFittedError):
        model.predict(lazy)
    model.fit(lazy, y)
    with pytest.raises(TypeError, match=r"pass X.compute\(\), or one chunk at a time"):
        model.staged_predict(lazy)
    assert len(list(model.staged_predict(X))) == 2
    np.testing.assert_array_equal(model.predict(X), model.predict(lazy).compute())
