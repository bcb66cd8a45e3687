"""Mixed traffic for a long time: is memory flat, and do the counters add up?

    python benchmarks/serve_soak.py run --minutes 60
    python benchmarks/serve_soak.py run --minutes 8 --rate 100
    python benchmarks/serve_soak.py report

Four connections predict rows one at a time and in batches, so many a second. Of the labels, most come late, some never,
some twice, some with another label, some for ids that nobody knows, some without a prediction; some requests make no
sense at all. The resident memory of the process, and what the models in it say that they take, are noted through the
run, in ``.cache/serve_soak.jsonl`` as it goes; in the end, counters are compared with what the clients have sent.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import tempfile
import time
from collections import Counter, deque
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import serving
import studies

from ocoboost import HoeffdingTrees, OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli.warmup import use
from ocoboost.serve.limits import Limits

CONNECTIONS = 4
RATE = 40  # predictions a second, of all connections, unless --rate says otherwise
SAMPLE_EVERY = 5.0  # seconds
PARTS = 6  # of a run, for each of which the memory is told
SAMPLES = studies.DOCS.parent / ".cache" / "serve_soak.jsonl"
LIMITS = Limits(pending_rows=500, pending_seconds=120.0)
MOST_MEMORY = 32  # MiB of each model: reached early, so that what grows afterwards is the service
MODELS = {
    "boost": lambda: OnlineBoostClassifier(budget=30, max_size=MOST_MEMORY, seed=1),
    "trees": lambda: HoeffdingTrees(max_size=MOST_MEMORY, seed=1),
}
NONSENSE: list[Any] = [[], {}, {"features": 1}, {"id": 5, "label": "x"}, {"features": {"a": []}}, {"rows": []}]


class Traffic:
    """What the clients send, and what should come of it."""

    def __init__(self, seed: int, rate: float) -> None:
        self.rate = rate
        self.rng, self.rows, self.number = random.Random(seed), serving.rows(seed), itertools.count()
        self.waiting: deque[tuple[str, str]] = deque()
        self.done: deque[tuple[str, str]] = deque(maxlen=200)
        self.sent: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.began = time.monotonic()

    async def work(self, until: float, connection: serving.Connection, number: int) -> None:
        while time.monotonic() < until:
            await asyncio.sleep(self.began + self.sent["predictions"] / self.rate - time.monotonic())
            await self.predict(connection)
            while len(self.waiting) > 100:
                await self.label(connection)
            chance = self.rng.random()
            if chance < 0.05:
                await self.refused(connection, "nonsense", self.rng.choice(NONSENSE), 422)
            elif chance < 0.10:
                await self.refused(connection, "unknown", {"id": f"x{chance}", "label": "up"}, 404)
            elif chance < 0.15:
                row, label = next(self.rows)
                await self.accepted(connection, {"id": f"new {next(self.number)}", "features": row, "label": label})

    async def predict(self, connection: serving.Connection) -> None:
        batch = [next(self.rows) for _ in range(self.rng.choice((1, 1, 1, 8)))]
        names = [f"row {next(self.number)}" for _ in batch]
        asked = [{"id": name, "features": row} for name, (row, _) in zip(names, batch, strict=True)]
        began = time.perf_counter()
        status, answer = await connection.ask("POST", "/predict", {"rows": asked})
        self.seconds.append(time.perf_counter() - began)
        if status != 200 or not all(one["kept"] for one in answer["predictions"]):
            raise RuntimeError(f"{status}: {answer}")
        self.sent["predictions"] += len(batch)
        for name, (_, label) in zip(names, batch, strict=True):
            if self.rng.random() < 0.1:
                self.sent["labels that never come"] += 1
            else:
                self.waiting.append((name, label))

    async def label(self, connection: serving.Connection) -> None:
        name, label = self.waiting.popleft()
        await self.accepted(connection, {"id": name, "label": label})
        self.done.append((name, label))
        chance = self.rng.random()
        old, known = self.rng.choice(self.done)
        if chance < 0.1:
            status, answer = await connection.ask("POST", "/learn", {"id": old, "label": known})
            self.expect("duplicates", status, answer, 200, "duplicate")
        elif chance < 0.2:
            await self.refused(connection, "contradictions", {"id": old, "label": f"not {known}"}, 409)

    async def accepted(self, connection: serving.Connection, told: Any) -> None:
        status, answer = await connection.ask("POST", "/learn", told)
        self.expect("labels", status, answer, 200, "accepted")

    async def refused(self, connection: serving.Connection, what: str, told: Any, expected: int) -> None:
        status, answer = await connection.ask("POST", "/learn", told)
        self.expect(what, status, answer, expected, None)

    def expect(self, what: str, status: int, answer: Any, expected: int, said: str | None) -> None:
        if status != expected or (said is not None and answer["status"] != said):
            raise RuntimeError(f"{what}: {status}, {answer}")
        self.sent[what] += 1


def memory_of(child: int) -> float:
    """Resident MiB of a process."""
    fields = Path(f"/proc/{child}/statm").read_text().split()
    return int(fields[1]) * 4096 / 2**20


def run(job: Job) -> Result:
    """So many minutes of traffic."""
    for make in MODELS.values():
        use(make())
    with tempfile.TemporaryDirectory() as place:
        path = Path(place)
        folder = serving.begin(path / "service", {name: make() for name, make in MODELS.items()}, LIMITS)
        port = serving.free_port()
        child = serving.fork(partial(serving.serve, folder, port, save_every=30.0, limits=LIMITS), path / "errors")
        serving.wait_until_up(port)
        traffic, samples = Traffic(1, job.get("rate", RATE)), []
        until = time.monotonic() + 60.0 * job["minutes"]

        async def use_it() -> int:
            watching = asyncio.create_task(watch())
            await serving.at_once(port, CONNECTIONS, partial(traffic.work, until))
            watching.cancel()
            connection = serving.Connection(port)
            while True:
                _, status = await connection.ask("GET", "/model")
                if all(one["position"] == status["log"] for one in status["models"].values()):
                    connection.close()
                    return int(sum(one["refused"] for one in status["models"].values()))
                await asyncio.sleep(0.1)

        async def watch() -> None:
            connection = serving.Connection(port)
            while True:
                _, status = await connection.ask("GET", "/model")
                models = sum(one["memory_bytes"] for one in status["models"].values()) / 2**20
                samples.append((memory_of(child), models))
                note(minutes=job["minutes"], at=time.time(), memory=samples[-1], sent=dict(traffic.sent))
                await asyncio.sleep(SAMPLE_EVERY)

        n_refused = asyncio.run(use_it())
        serving.end(child)
        counters = serving.counters_of(folder)
        check(traffic.sent, counters, n_refused)
        if "Traceback" in (path / "errors").read_text():
            raise RuntimeError((path / "errors").read_text())
    return {
        "sent": dict(traffic.sent),
        "counters": counters,
        "memory": by_part([resident for resident, _ in samples]),
        "models": by_part([models for _, models in samples]),
        "milliseconds": [round(1e3 * float(np.quantile(traffic.seconds, share)), 1) for share in (0.5, 0.99)],
    }


def by_part(samples: list[float]) -> list[float]:
    """Medians of the parts of a run."""
    return [round(float(np.median(part)), 1) for part in np.array_split(np.array(samples), PARTS)]


def note(**found: Any) -> None:
    """Add a line to the file of samples."""
    SAMPLES.parent.mkdir(exist_ok=True)
    with SAMPLES.open("a") as file:
        file.write(json.dumps(found) + "\n")


def check(sent: Counter[str], counters: dict[str, int], n_refused: int) -> None:
    """Raise unless everything is where it should be."""
    gone = counters["expired_by_age"] + counters["expired_by_number"]
    sums = {
        "predictions": (sent["predictions"], counters["predictions_kept"]),
        "kept = labelled + expired + pending": (
            counters["predictions_kept"],
            counters["labels_of_predictions"] + gone + counters["pending"],
        ),
        "labels": (sent["labels"], counters["labels_accepted"]),
        "log": (counters["labels_accepted"], counters["log"]),
        "duplicates": (sent["duplicates"], counters["labels_duplicate"]),
        "contradictions": (sent["contradictions"], counters["labels_contradictory"]),
        "unknown": (sent["unknown"], counters["labels_unknown"]),
        "refused by models": (n_refused, 0),
    }
    for what, (one, other) in sums.items():
        if one != other:
            raise RuntimeError(f"{what}: {one} is not {other}")


def report(options: argparse.Namespace) -> None:
    """The table of the docs."""
    lines = []
    for record in studies.finished("serve_soak", options):
        sent = record["sent"]
        labels = ("labels", "labels that never come", "duplicates", "contradictions", "unknown", "nonsense")
        lines.append(
            (
                f"{record['minutes']}",
                f"{sent['predictions']:,}",
                *(f"{sent[name]:,}" for name in labels),
                ", ".join(f"{value:.0f}" for value in record["memory"]),
                ", ".join(f"{value:.0f}" for value in record["models"]),
                "{:.0f} / {:.0f}".format(*record["milliseconds"]),
            )
        )
    columns = ("minutes", "predictions", "labels", "never", "twice", "contradictory", "unknown", "nonsense")
    memory = ("resident MiB, by sixths of the time", "of these, the models")
    columns = (*columns, *memory, "prediction, ms (median / 99th)")
    text = studies.table(columns, lines, text=())
    print(text)
    studies.put(studies.DOCS / "serving.md", text, "soak")


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    made.add_argument("--minutes", type=int, default=60)
    made.add_argument("--rate", type=int, default=RATE, help="predictions a second")
    options = made.parse_args()
    if options.what == "run":
        job = {"minutes": options.minutes, **({} if options.rate == RATE else {"rate": options.rate})}
        studies.run_missing("serve_soak", [job], run, options)
    report(options)


if __name__ == "__main__":
    main()
