"""Keys spread over two worker processes: the bits of one machine, also if a worker is killed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

from laws import learned
from ocoboost import HoeffdingTrees, ModelsByKey
from ocoboost.dask import ModelsByKey as SpreadModels
from ocoboost.errors import InvalidInputError

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture
def client():
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": 0}
    with LocalCluster(n_workers=2, processes=True, **options) as cluster, Client(cluster) as client:
        yield client


def numbers(n_keys=30, n_rows=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_keys * n_rows, 3))
    return X, (X[:, 0] > 0).astype(int), rng.permutation(np.repeat(np.arange(n_keys), n_rows))


@pytest.mark.parametrize("is_killed", [False, True])
def test_keys_on_workers_have_the_bits_of_one_machine(client, tmp_path, is_killed):
    X, y, keys = numbers()
    model, said, same = HoeffdingTrees(seed=1), [], []
    with ModelsByKey(model) as local, SpreadModels(model, client=client, folder=tmp_path, max_size=0.1) as models:
        for first in range(0, len(X), 60):
            rows = slice(first, first + 60)
            said += local.predict_learn_many(X[rows], y[rows], keys[rows])
            same += models.predict_learn_many(X[rows], y[rows], keys[rows])
            if first == 120:
                models.flush()
            if first == 300 and is_killed:
                os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
        assert said == same
        assert models.n_restarts > 0 if is_killed else models.n_restarts == 0
        assert models.scores_.n_rows == local.scores_.n_rows == 600
        assert models.worst() == local.worst()
        assert models.predict_many(X[:50], keys[:50]) == local.predict_many(X[:50], keys[:50])
        assert len(models) == 30
        with pytest.raises(InvalidInputError, match="key 3:"):
            models.learn_many([{0: "text"}], [1], [3])
        models.flush()
    shards = [ModelsByKey(model, folder=folder) for folder in sorted(tmp_path.glob("shard-*"))]
    assert len(shards) == 2
    for key in range(30):
        (own,) = [shard for shard in shards if key in shard]
        apart = model.clone()
        apart.learn_many(X[keys == key], y[keys == key])
        assert learned(own.get(key), []) == learned(apart, [])
