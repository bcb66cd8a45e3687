"""BoostClassifier on a real cluster: the same bits as on one machine, for any chunks and workers, with text."""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.datasets import make_classification

import ocoboost
import ocoboost.dask
from ocoboost.batch.columns import MOST_PLACES
from ocoboost.batch.distributed_games import DaskCrew
from ocoboost.dask import LostRowsError

# Dask's own clean-up is noisy when workers are killed.
pytestmark = pytest.mark.filterwarnings("ignore")


@contextmanager
def cluster_of(n_workers):
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(
    scope="module",
    params=[pytest.param(1, marks=pytest.mark.slow, id="one worker"), pytest.param(2, id="two workers")],
)
def client(request):
    with cluster_of(request.param) as client:
        yield client


def sample(n_rows=400, seed=0):
    X, y = make_classification(n_rows, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=seed)
    draw = np.random.default_rng(seed)
    X[draw.random(X.shape) < 0.05] = np.nan
    return X, y, draw.choice([0.0, 0.5, 1.0, 3.0], n_rows)


def text_sample(n_rows=400):
    """Numbers, a column of few texts, one of many, and a column with texts in its last rows only."""
    draw = np.random.default_rng(4)
    few, many = draw.integers(0, 4, n_rows), draw.integers(0, MOST_PLACES + 30, n_rows)
    frame = pd.DataFrame(
        {
            "few": [None if code == 3 and draw.random() < 0.3 else f"f{code}" for code in few],
            "number": draw.normal(size=n_rows),
            "many": [f"m{code}" for code in many],
            "late": [None] * (n_rows - 30) + [f"l{i % 2}" for i in range(30)],
        }
    )
    secret = draw.integers(0, 3, MOST_PLACES + 30)
    return frame, np.array(["x", "y", "z"])[(secret[many] + few) % 3]


def assert_same_model(one, other):
    assert one.power_ == other.power_
    assert repr(one.members_) == repr(other.members_)  # NaN does not equal itself
    np.testing.assert_array_equal(one.held_out_accuracy_, other.held_out_accuracy_)
    np.testing.assert_array_equal(one.n_stages_, other.n_stages_)
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    if one.keep_held_out:
        np.testing.assert_array_equal(one.held_out_proba_, other.held_out_proba_)
    for left, right in zip(one._forest, other._forest, strict=True):
        np.testing.assert_array_equal(left, right)


SETTINGS = {
    "default": {},
    "class weights": {"class_weight": "balanced", "max_bins": 16, "keep_held_out": True},
    "early stopping": {"n_iter_no_change": 1, "n_estimators": 30},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_bits_for_any_chunking_as_on_one_machine(client, setting):
    X, y, weights = sample()
    parameters = {"n_estimators": 10, "random_state": 5, **SETTINGS[setting]}
    local = ocoboost.BoostClassifier(**parameters).fit(X, y, weights)
    for chunks in [(400,), (1, 177, 2, 0, 220)] if setting == "default" else [(150, 250)]:
        lazy = da.from_array(X, chunks=(chunks, (4, 2)))
        model = ocoboost.dask.BoostClassifier(**parameters)
        model.fit(lazy, da.from_array(y, chunks=100), da.from_array(weights, chunks=(chunks,)))
        assert_same_model(local, model)
        np.testing.assert_array_equal(model.predict_proba(lazy).compute(), local.predict_proba(X))
        np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(X))
    assert type(model.to_local()) is ocoboost.BoostClassifier
    np.testing.assert_array_equal(list(model.staged_predict(X)), list(local.staged_predict(X)))
    with pytest.raises(TypeError, match=r"pass X.compute\(\), or one chunk at a time"):
        model.staged_predict(lazy)


def test_tiny_samples(client):
    X, y, _ = sample(40)
    local = ocoboost.BoostClassifier(n_estimators=5, random_state=1).fit(X, y)
    model = ocoboost.dask.BoostClassifier(n_estimators=5, random_state=1).fit(da.from_array(X, chunks=(7, 6)), y)
    assert_same_model(local, model)
    assert np.isnan(model.held_out_accuracy_)


@pytest.mark.parametrize("kind", ["object", "category", "array"])
def test_text_gives_the_same_bits(client, kind):
    frame, y = text_sample()
    table = frame if kind == "array" else frame.astype(dict.fromkeys(("few", "many", "late"), kind))
    parameters = {"n_estimators": 10, "random_state": 2}
    local = ocoboost.BoostClassifier(**parameters).fit(table.to_numpy() if kind == "array" else table, y)
    for n_parts in (1, 4):
        if kind == "array":
            lazy = da.from_array(table.to_numpy(), chunks=(400 // n_parts, 4))
        else:
            lazy = dd.from_pandas(table, npartitions=n_parts)
        model = ocoboost.dask.BoostClassifier(**parameters).fit(lazy, y)
        assert_same_model(local, model)
        rows = table.to_numpy() if kind == "array" else table
        np.testing.assert_array_equal(model.predict_proba(lazy).compute(), local.predict_proba(rows))
        np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(rows))
    if kind != "array":
        assert list(model.feature_names_in_) == list(frame)
    assert local.held_out_accuracy_ > 0.5


def test_two_fits_on_a_cluster_equal_one(client):
    X, y, _ = sample()
    lazy = da.from_array(X, chunks=(150, 6))
    model = ocoboost.dask.BoostClassifier(n_estimators=10, random_state=3, warm_start=True).fit(lazy, y)
    model.set_params(n_estimators=25).fit(lazy.rechunk((90, 6)), y)
    local = ocoboost.BoostClassifier(n_estimators=25, random_state=3).fit(X, y)
    assert_same_model(local, model)
    assert sent_size(model, lazy) < 1.2 * len(pickle.dumps(local))  # games stay here
    assert len(model.to_local()._chains) == 25


def sent_size(model, lazy):
    return len(cloudpickle.dumps(dict(model.predict(lazy).dask)))


def test_large_games_are_sent_without_advice(client):
    crew = DaskCrew(client)
    things = [np.arange(2_000_000.0), np.ones(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        sent = crew.send(things)
    for thing, one in zip(things, crew.fetch(sent), strict=True):
        np.testing.assert_array_equal(thing, one)


@pytest.mark.parametrize("name", ["BoostClassifier", "AgnosticBoostClassifier"])
def test_many_classes_are_no_reason_to_warn(client, name):
    X, _, _ = sample(208)
    model = getattr(ocoboost.dask, name)(n_estimators=1, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(da.from_array(np.nan_to_num(X), chunks=(104, 6)), np.arange(208) % 26)
    assert len(model.classes_) == 26


BAD = {
    "one class": (lambda X, y: (X, y * 0, None), "at least 2 classes in the data"),
    "infinite": (lambda X, y: (da.where(X > 2.0, np.inf, X), y, None), "Input X contains infinity"),
    "lengths": (lambda X, y: (X, y[:-1], None), "inconsistent numbers of samples"),
    "no weight": (lambda X, y: (X, y, y * 0.0), "at least one non-zero number"),
    "negative": (lambda X, y: (X, y, y - 1.0), "Negative values in data passed to `sample_weight`"),
    "continuous": (lambda X, y: (X, da.nan_to_num(X[:, 0]), None), "Unknown label type"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(client, case):
    X, y, _ = sample(100)
    make, message = BAD[case]
    model = ocoboost.dask.BoostClassifier(n_estimators=5)
    with pytest.raises(ValueError, match=message):
        model.fit(*make(da.from_array(X, chunks=(40, 6)), da.from_array(y, chunks=40)))
    assert not hasattr(model, "classes_")
    with pytest.raises(TypeError, match="X must be a Dask array or data frame, got ndarray"):
        model.fit(X, y)


def test_rows_that_change_are_an_error(client):
    def different_every_time():
        return np.random.default_rng().random((50, 3))

    parts = [da.from_delayed(dask.delayed(different_every_time, pure=False)(), (50, 3), float) for _ in range(2)]
    with pytest.raises(LostRowsError, match=r"begins with row (0|50) changed"):
        ocoboost.dask.BoostClassifier(n_estimators=5).fit(da.concatenate(parts), np.arange(100) % 2)


def kill_at_game(monkeypatch, kill, number):
    """Have ``kill`` called when that many games are played."""
    done = []

    @contextmanager
    def counting(n_steps, is_shown):
        def step():
            done.append(None)
            if len(done) == number:
                kill()

        yield step

    monkeypatch.setattr("ocoboost.batch.boost.progress_bar", counting)
    return done


@pytest.mark.slow  # a cluster of its own, and workers that start anew
@pytest.mark.parametrize(("number", "is_warm"), [(1, False), (13, False), (25, False), (1, True)])
def test_a_killed_worker_changes_no_bit(monkeypatch, number, is_warm):
    frame, y = text_sample()
    local = ocoboost.BoostClassifier(n_estimators=10, random_state=5).fit(frame, y)
    lazy = dd.from_pandas(frame, npartitions=4)
    model = ocoboost.dask.BoostClassifier(n_estimators=10, random_state=5, warm_start=is_warm)
    with cluster_of(2) as client:
        if is_warm:
            model.set_params(n_estimators=5).fit(lazy, y).set_params(n_estimators=10)
        processes = client.run(os.getpid)
        done = kill_at_game(monkeypatch, lambda: os.kill(min(processes.values()), signal.SIGKILL), number)
        model.fit(lazy, y)
        assert len(done) == 25
        assert client.run(os.getpid) != processes
    assert_same_model(local, model)


@pytest.mark.slow  # Dask takes its time to give the rows up
def test_rows_that_only_a_killed_worker_had_are_an_error(monkeypatch):
    X, y, _ = sample()
    with cluster_of(1) as client:
        workers = client.run(os.getpid)
        (part,) = client.scatter([X])
        lazy = da.from_delayed(dask.delayed(part), shape=X.shape, dtype=X.dtype)
        del part
        kill_at_game(monkeypatch, lambda: os.kill(min(workers.values()), signal.SIGKILL), 2)
        model = ocoboost.dask.BoostClassifier(n_estimators=20)
        with pytest.raises(LostRowsError, match="workers were lost"):
            model.fit(lazy, y)
        assert not hasattr(model, "classes_")
