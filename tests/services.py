"""Services in process, over ASGI, and what is in their folders."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from ocoboost import HoeffdingTrees
from ocoboost.serve.app import make_app
from ocoboost.serve.folder import Folder
from ocoboost.serve.limits import Limits
from ocoboost.serve.listening import make_server
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import Tokens

PATIENCE = 250.0  # seconds, in which kernels may be compiled


def trees(**options: Any) -> HoeffdingTrees:
    return HoeffdingTrees(**{"seed": 1, "grace_period": 20, **options})


def begin(path: Path, **models: Any) -> Folder:
    """A folder with these models, of which the first answers."""
    folder = Folder(path)
    with folder.locked():
        database = folder.open(Limits())
        for name, model in (models or {"trees": trees()}).items():
            folder.add(name, model, database)
        database.close()
    return folder


@contextmanager
def running(
    folder: Folder, limits: Limits | None = None, save_every: float = 1e6, **options: Any
) -> Iterator[TestClient]:
    """A client of a service that starts, and stops in the end; ``client.service`` is the service."""
    service = Service(folder, limits or Limits(), save_every)
    with TestClient(make_app(service, **options)) as client:
        client.service = service
        yield client


@contextmanager
def listening(
    folder: Folder, limits: Limits | None = None, port: int = 0, tokens: Tokens | None = None
) -> Iterator[str]:
    """The address of a service behind a real port, in a thread of its own."""
    service = Service(folder)
    server = make_server(service, tokens or Tokens(), "127.0.0.1", port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def wait_until(condition: Any, seconds: float = PATIENCE) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds
        time.sleep(0.005)


def learn_all(client: TestClient) -> None:
    """Return once every model has learned the whole log."""
    service = client.service
    models = service.keeper.models.values()
    wait_until(lambda: all(one.position == service.database.last_number or one.broken for one in models))


def log_of(folder: Folder) -> list[tuple[int, str, dict[str, Any], Any]]:
    """The log: numbers, ids, features and labels."""
    connection = sqlite3.connect(folder.log)
    found = connection.execute("SELECT number, id, features, label FROM log ORDER BY number").fetchall()
    connection.close()
    return [(number, name, json.loads(features), json.loads(label)) for number, name, features, label in found]


def stream(n_rows: int, seed: int = 0) -> list[tuple[dict[str, Any], str]]:
    """Numbers, text and missing values, and labels that depend on them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    rows = []
    for number, (a, b) in enumerate(rng.normal(size=(n_rows, 2)).round(3).tolist()):
        row = {"a": a, "b": b, "city": f"city {number % 5}"}
        if number % 7 == 0:
            del row["b"]
        rows.append((row, "late" if number > n_rows // 2 and a > 1 else "up" if a + b > 0 else "down"))
    return rows
