"""How many rows a second does a service predict and learn, beside River's forest behind the same log?

    python benchmarks/serve_load.py run
    python benchmarks/serve_load.py report

Three services, each in a process of its own, take turns of some seconds; the others are idle meanwhile. Eight or 64
connections predict rows and send their labels some rows later. A turn ends when everything that was sent is learned,
and its throughput is rows over seconds until then. All have learned ``WARM`` rows before. Ratios are of the turns of
one round. Processor time is also told by thread: the event loop, which speaks HTTP, the one that commits, and the one
that owns the model and reads the log for it.

- ours: ``OnlineBoostClassifier()`` behind ``ocoboost serve``. Every row is also predicted just before it is learned,
  for the scores.
- ARF behind the log: River's ``ARFClassifier()`` in the same service: the same log, threads and protocol. It is saved
  as a pickle, and its rows are not predicted again when they are learned, which spares it some of the work.
- chantilly's way: an app that learns ``ARFClassifier()`` in the request, keeps rows in memory, and pickles the model to
  disk after every request that learns. Nothing is forced to disk.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import pickle
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import serving
import studies
import uvicorn
from river import forest
from river.datasets import synth
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ocoboost import OnlineBoostClassifier
from ocoboost.bench import datasets
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli.warmup import use
from ocoboost.serve.folder import Folder
from ocoboost.serve.listening import listen
from ocoboost.serve.served import N_BEFORE_ARRAYS, Served
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import Tokens
from ocoboost.stream.state import Answered

N_ARRAYS = len(Answered._fields) - N_BEFORE_ARRAYS
WARM = 1000
SECONDS = 4.0
ROUNDS = 3
DELAY = 64  # rows
OURS, SAME_LOG, CHANTILLY = "ours", "ARF behind the same log", "ARF, chantilly's way"
JOBS = [
    {"stream": stream, "rows": rows, "connections": connections}
    for rows, connections in ((1, 8), (1, 64), (32, 8))
    for stream in ("segment", "rbf 16")
]


def stream(name: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Rows without end."""
    if name == "rbf 16":
        for x, y in synth.RandomRBF(1, 2, n_classes=10, n_features=16, n_centroids=50):
            yield {str(key): value for key, value in x.items()}, y
    for seed in itertools.count(1):
        yield from datasets.shuffled(datasets.load(name), seed)


# -- contestants -------------------------------------------------------------------------------------------------------


class Forest:
    """River's forest, as much of a model as a service asks for."""

    def __init__(self) -> None:
        self.forest = forest.ARFClassifier(seed=1)
        self.classes_: list[Any] = []
        self.columns_: dict[str, str] = {}
        self.n_rows_ = self.memory_usage_ = 0

    def answer_one(self, x: dict[str, Any]) -> Answered:
        return self.answer_many([x])

    def answer_many(self, rows: list[dict[str, Any]]) -> Answered:
        said = [self.forest.predict_proba_one(row) for row in rows]
        table = np.array([[one.get(label, 0.0) for label in self.classes_] for one in said]).reshape(len(rows), -1)
        labels = [max(one, key=one.get) if one else None for one in said]
        return Answered(0, list(self.classes_), labels, *[table] * N_ARRAYS)

    def prequential(self, rows: list[dict[str, Any]], labels: list[Any]) -> list[Answered]:
        for row, label in zip(rows, labels, strict=True):
            self.forest.learn_one(row, label)
        self.classes_ += sorted(set(labels) - set(self.classes_))
        self.n_rows_ += len(rows)
        return [Answered(0, [], [None] * len(rows), *[np.zeros((len(rows), 0))] * N_ARRAYS)]


class ForestFolder(Folder):
    """A folder whose model is the forest; nobody restarts it here."""

    def read(self, database: Any, n_jobs: int | None = None) -> dict[str, Served]:
        return {"arf": Served("arf", Forest(), database.identity)}  # type: ignore[arg-type]


class ForestService(Service):
    """Saves by a pickle."""

    def _save(self, served: Served) -> None:
        self.folder.file("arf.pickle").write_bytes(pickle.dumps(served.model))
        served.saved_position = served.position


def serve_forest(path: Path, port: int) -> None:
    folder = ForestFolder(path)
    with folder.locked():
        database = folder.open(serving.Limits())
        database.begin()
        database.promote("arf", 0.0)
        database.commit()
        database.close()
    asyncio.run(listen(ForestService(folder), Tokens(), serving.HOST, port, print))


def serve_chantilly(path: Path, port: int) -> None:
    model, rows = forest.ARFClassifier(seed=1), {}
    learned = 0

    async def predict(request: Request) -> JSONResponse:
        asked = (await request.json())["rows"]
        answers = []
        for row in asked:
            rows[row["id"]] = row["features"]
            said = model.predict_proba_one(row["features"])
            label = max(said, key=said.get) if said else None
            answers.append({"label": label, "probabilities": {str(name): share for name, share in said.items()}})
        return JSONResponse({"predictions": answers})

    async def learn(request: Request) -> JSONResponse:
        nonlocal learned
        for row in (await request.json())["rows"]:
            model.learn_one(rows.pop(row["id"]), row["label"])
            learned += 1
        path.write_bytes(pickle.dumps(model))
        return JSONResponse({"results": []})

    async def status(request: Request) -> JSONResponse:
        return JSONResponse({"log": learned, "model": {"position": learned}, "longest_block": 0.0})

    routes = [
        Route("/predict", predict, methods=["POST"]),
        Route("/learn", learn, methods=["POST"]),
        Route("/model", status),
    ]
    uvicorn.run(Starlette(routes=routes), host=serving.HOST, port=port, log_config=None, access_log=False)


# -- load --------------------------------------------------------------------------------------------------------------


def _seconds(stat: Path) -> float:
    """The processor time of a process or thread."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Clients of one service."""

    def __init__(self, name: str, port: int, child: int, rows: Iterator[Any], n_connections: int) -> None:
        self.name, self.port, self.child, self.rows, self.n_connections = name, port, child, rows, n_connections
        self.n_rows = 100  # in a request
        self.number = itertools.count()
        self.waiting: deque[dict[str, Any]] = deque()
        self.n_sent = 0
        self.seconds: list[float] = []
        self.blocks: list[float] = []

    def processor_seconds(self) -> float:
        """What the service has used so far."""
        return _seconds(Path(f"/proc/{self.child}/stat"))

    def thread_seconds(self) -> dict[str, float]:
        """The same by thread: these begin in this order, and those of the models' kernels come last."""
        tasks = sorted(int(path.name) for path in Path(f"/proc/{self.child}/task").iterdir())
        used = [_seconds(Path(f"/proc/{self.child}/task/{task}/stat")) for task in tasks]
        return {"event loop": used[0], "commits": sum(used[1:2]), "models": sum(used[2:])}

    async def turn(self, seconds: float, most: float = float("inf")) -> tuple[float, float]:
        """Send for so long, or so many rows, until all of it is learned; rows a second, and a processor's second."""
        began, first, used = time.perf_counter(), self.n_sent, self.processor_seconds()
        until = began + seconds

        async def work(connection: serving.Connection, number: int) -> None:
            while time.perf_counter() < until and self.n_sent - first < most:
                await self.predict(connection)
                while len(self.waiting) >= DELAY + self.n_rows:
                    await self.label(connection, self.n_rows)

        watching = asyncio.create_task(self.watch())
        await serving.at_once(self.port, self.n_connections, work)
        connection = serving.Connection(self.port)
        while self.waiting:
            await self.label(connection, min(len(self.waiting), 500))
        while not await self.is_learned(connection):
            await asyncio.sleep(0.02)
        took = time.perf_counter() - began
        watching.cancel()
        connection.close()
        n_rows = self.n_sent - first
        return round(n_rows / took, 2), round(n_rows / (self.processor_seconds() - used), 2)

    def split(self, n_sent: int, before: dict[str, float]) -> dict[str, float]:
        """Milliseconds of a processor for a row since then, by thread."""
        n_rows = self.n_sent - n_sent
        return {name: round(1e3 * (used - before[name]) / n_rows, 3) for name, used in self.thread_seconds().items()}

    async def predict(self, connection: serving.Connection) -> None:
        batch = [next(self.rows) for _ in range(self.n_rows)]
        self.n_sent += len(batch)
        names = [f"{self.name} {next(self.number)}" for _ in batch]
        asked = [{"id": name, "features": row} for name, (row, _) in zip(names, batch, strict=True)]
        began = time.perf_counter()
        status, answer = await connection.ask("POST", "/predict", {"rows": asked})
        self.seconds.append(time.perf_counter() - began)
        if status != 200:
            raise RuntimeError(f"{self.name}: {status}, {answer}")
        self.waiting.extend({"id": name, "label": label} for name, (_, label) in zip(names, batch, strict=True))

    async def label(self, connection: serving.Connection, n: int) -> None:
        told = [self.waiting.popleft() for _ in range(n)]
        status, answer = await connection.ask("POST", "/learn", {"rows": told})
        if status != 200:
            raise RuntimeError(f"{self.name}: {status}, {answer}")

    async def is_learned(self, connection: serving.Connection) -> bool:
        _, status = await connection.ask("GET", "/model")
        return bool(status["model"]["position"] >= self.n_sent)

    async def watch(self) -> None:
        """Note the longest blocks, which the service tells every second."""
        connection = serving.Connection(self.port)
        try:
            while True:
                self.blocks.append((await connection.ask("GET", "/model"))[1]["longest_block"])
                await asyncio.sleep(1.0)
        finally:
            connection.close()


def run(job: Job) -> Result:
    """Three services in turns."""
    use(OnlineBoostClassifier(seed=1))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place)
        folder = serving.begin(path / "ours", {"boost": OnlineBoostClassifier(seed=1)})
        ports = {name: serving.free_port() for name in (OURS, SAME_LOG, CHANTILLY)}
        works = {
            OURS: partial(serving.serve, folder, ports[OURS], save_every=30.0),
            SAME_LOG: partial(serve_forest, path / "arf", ports[SAME_LOG]),
            CHANTILLY: partial(serve_chantilly, path / "chantilly.pickle", ports[CHANTILLY]),
        }
        children = {name: serving.fork(work, path / "errors") for name, work in works.items()}
        try:
            loads = {
                name: Load(name, ports[name], children[name], stream(job["stream"]), job["connections"])
                for name in works
            }
            for name, load in loads.items():
                serving.wait_until_up(ports[name])
                asyncio.run(load.turn(300.0, most=WARM))
                load.n_rows = job["rows"]
                load.seconds, load.blocks = [], []
            before = {name: (load.n_sent, load.thread_seconds()) for name, load in loads.items()}
            turns: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
            for _ in range(ROUNDS):
                for name, load in loads.items():
                    turns[name].append(asyncio.run(load.turn(SECONDS)))
            split = {name: load.split(*before[name]) for name, load in loads.items()}
        finally:
            for child in children.values():
                serving.end(child, serving.signal.SIGTERM)
    latencies = {
        name: [round(1e3 * float(np.quantile(load.seconds, share)), 2) for share in (0.5, 0.99)]
        for name, load in loads.items()
    }
    longest = {name: round(1e3 * max(load.blocks, default=0.0), 1) for name, load in loads.items()}
    by_clock, by_processor = ({name: [turn[n] for turn in found] for name, found in turns.items()} for n in (0, 1))
    speeds = {"rows_per_second": by_clock, "rows_per_processor_second": by_processor}
    return {**speeds, "milliseconds": latencies, "longest_block": longest, "split": split}


def spread(one: list[float], other: list[float]) -> str:
    """How many times as fast one is, in the median round."""
    ratios = [a / b for a, b in zip(one, other, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def report(options: argparse.Namespace) -> None:
    """The table of the docs."""
    lines = []
    for record in studies.finished("serve_load", options):
        clock, processor = record["rows_per_second"], record["rows_per_processor_second"]
        for name in (OURS, SAME_LOG, CHANTILLY):
            median, high = record["milliseconds"][name]
            lines.append(
                (
                    f"{record['stream']}, {record['rows']} a request, {record['connections']} connections",
                    name,
                    f"{statistics.median(clock[name]):,.0f}",
                    "" if name == OURS else spread(clock[OURS], clock[name]),
                    f"{statistics.median(processor[name]):,.0f}",
                    "" if name == OURS else spread(processor[OURS], processor[name]),
                    f"{median:,.0f} / {high:,.0f}",
                    f"{record['longest_block'][name]:,.0f}" if name != CHANTILLY else "",
                    " + ".join(f"{ms:.2f}" for ms in record["split"][name].values()) if name != CHANTILLY else "",
                )
            )
    times = ("rows/s", "ours / this", "rows per processor second", "ours / this")
    columns = (
        "rows",
        "service",
        *times,
        "prediction, ms (median / 99th)",
        "longest block, ms",
        "processor ms a row: HTTP + commits + model",
    )
    text = studies.table(columns, lines, text=(0, 1))
    print(text)
    studies.put(studies.DOCS / "serving.md", text, "load")


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    options = made.parse_args()
    if options.what == "run":
        studies.run_missing("serve_load", JOBS, run, options)
    report(options)


if __name__ == "__main__":
    main()
