"""Memory does not grow with the number of requests."""

from __future__ import annotations

import gc
import itertools
import tracemalloc

from ocoboost.serve.limits import Limits
from ocoboost.serve.tokens import MOST_CLIENTS, Rates
from services import begin, learn_all, running, trees

AT_ONCE = 100  # rows of a request
TEXT = "x" * 500  # of every row, and what a row that is kept takes at least


def traffic(client, numbers, n_requests):
    """Labels that come, come again, contradict, never come, and nonsense."""
    for _ in range(n_requests):
        names = [f"{TEXT[:100]}{next(numbers)}" for _ in range(AT_ONCE)]
        rows = [{"id": name, "features": {"v": float(len(name) % 7), "text": TEXT}} for name in names]
        assert client.post("/predict", json={"rows": rows}).status_code == 200
        for label in ("yes", "yes", "no"):
            told = [{"id": name, "label": label} for name in names[: AT_ONCE // 2]]
            assert client.post("/learn", json={"rows": told}).status_code == 200
        unknown = [{"id": f"{name}?", "label": "yes"} for name in names]
        assert client.post("/learn", json={"rows": unknown}).status_code == 200
        assert client.post("/learn", json={"id": names[0], "label": names}).status_code == 422
        assert client.get(f"/{names[0]}").status_code == 404
        assert client.get("/model").status_code == client.get("/metrics").status_code == 200
    learn_all(client)


def test_no_row_stays_in_memory(tmp_path):
    numbers = itertools.count()
    with running(begin(tmp_path, trees=trees(max_size=1)), Limits(pending_rows=50), save_every=0.2) as client:
        traffic(client, numbers, 10)
        tracemalloc.start()
        try:
            traffic(client, numbers, 5)
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            traffic(client, numbers, 15)
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert client.service.database.n_pending <= 50
    n_rows = 15 * AT_ONCE
    assert after - before < n_rows * len(TEXT) / 10, (before, after)


def test_latencies_and_clients_are_forgotten(tmp_path):
    rates = Rates(10.0, 1000)
    for number in range(MOST_CLIENTS + 100):
        rates.wait(number, 1)
    assert len(rates._left) == MOST_CLIENTS
    with running(begin(tmp_path)) as client:
        measures = client.service.measures
        for _ in range(10_000):
            measures.answered("predict", 1, 0.01)
        for _ in range(1000):
            measures.sample(1, None)
        assert measures.latencies["predict"].n == 10_000
        assert len(measures.latencies["predict"]._latest) == 2048
        assert len(measures.history) == 300
