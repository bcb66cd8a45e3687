"""Kill a service at random moments under load: is any acknowledged label lost, or learned twice?

    python benchmarks/serve_kills.py run --count 1000
    python benchmarks/serve_kills.py report

A service with three models, of which a mixture answers, saves them several times a second, while eight connections send
predictions, labels that come some rows later, labels that were sent before, and labels that contradict those. It is
killed by SIGKILL at a random moment, every fourth one while it starts, and the next one goes on in the same folder;
labels that were not acknowledged are sent again. After every kill:

- every label that was ever acknowledged is in the log, once, under the number that was acknowledged;
- the log has no gaps, and no id twice;
- each model file holds the model that an offline run over the log gives up to the number in the file, compared bit by
  bit after unpacking. What the mixture had answered is in the log, and the offline run is given it.

After every ten kills the service is left to learn the whole log and ended by SIGTERM: then the files hold the models of
all of it. Services are forked from one process that has imported and compiled everything. Runs are kept in
``benchmarks/results/serve_kills.jsonl``, by the fifty kills; ``report`` writes the table of ``docs/serving.md``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import signal
import tempfile
import time
from collections import Counter, deque
from functools import partial
from pathlib import Path
from typing import Any

import serving
import studies

import ocoboost
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli.warmup import use
from ocoboost.serve import keeper
from ocoboost.serve.folder import Folder

KILLS_PER_FOLDER = 50
KILLS_PER_END = 10
CONNECTIONS = 8
LONGEST_LIFE = 1.5  # seconds
DELAY = 20  # rows that wait for their labels
SAVE_EVERY = 0.1
MODELS = {
    "boost": lambda: ocoboost.OnlineBoostClassifier(budget=4, max_size=16, seed=1),
    "trees": lambda: ocoboost.HoeffdingTrees(seed=1, grace_period=20),
    "boosted": lambda: ocoboost.OnlineAgnosticBoostClassifier(n_learners=3, seed=1),
}


class Load:
    """What the clients of a service know."""

    def __init__(self, seed: int) -> None:
        self.rows, self.number = serving.rows(seed), itertools.count()
        self.rng = random.Random(f"load {seed}")
        self.waiting: deque[tuple[str, str]] = deque()  # predicted, and not labelled yet
        self.again: deque[tuple[str, str]] = deque()  # labels that nobody has acknowledged
        self.acknowledged: dict[str, tuple[str, int]] = {}  # ids: the label and its number
        self.counts: Counter[str] = Counter()
        self.is_over = self.is_killed = False

    async def work(self, connection: serving.Connection, number: int) -> None:
        """Predict and label until the service is away."""
        try:
            while not self.is_over:
                await self.predict(connection)
                while len(self.waiting) > DELAY or self.again:
                    await self.label(connection, (self.again or self.waiting).popleft())
                if self.acknowledged and self.rng.random() < 0.2:
                    await self.repeat(connection)
        except OSError:
            return

    async def predict(self, connection: serving.Connection) -> None:
        row, label = next(self.rows)
        name = f"row {next(self.number)}"
        status, answer = await connection.ask("POST", "/predict", {"id": name, "features": row})
        if status != 200 or not answer["kept"]:
            raise RuntimeError(f"a prediction was answered with {status}: {answer}")
        self.counts["predictions"] += 1
        self.waiting.append((name, label))

    async def label(self, connection: serving.Connection, told: tuple[str, str]) -> None:
        name, label = told
        try:
            status, answer = await connection.ask("POST", "/learn", {"id": name, "label": label})
        except OSError:
            self.again.append(told)
            raise
        if status != 200 or answer["status"] not in ("accepted", "duplicate"):
            raise RuntimeError(f"a label was answered with {status}: {answer}")
        self.counts[f"labels {answer['status']}"] += 1
        self.acknowledged[name] = label, answer["number"]

    async def repeat(self, connection: serving.Connection) -> None:
        """Send a label once more, or another one under the same id."""
        name = self.rng.choice(list(self.acknowledged)[-100:])
        label, number = self.acknowledged[name]
        sent, expected = self.rng.choice([(label, "duplicate"), (f"not {label}", "contradiction")])
        _, answer = await connection.ask("POST", "/learn", {"id": name, "label": sent})
        if (answer["status"], answer["number"]) != (expected, number):
            raise RuntimeError(f"a {expected} was answered with {answer}")
        self.counts[expected] += 1


class Offline:
    """The models that learn the log without a service, in one block after another."""

    def __init__(self) -> None:
        self.models = {name: make() for name, make in MODELS.items()}
        self.positions = dict.fromkeys(MODELS, 0)

    def check(self, folder: Folder, log: list[Any], found: Counter[str]) -> None:
        """Raise unless every file is the model of the log up to the number in it."""
        for name, model in self.models.items():
            notes = notes_of(folder.file(name))
            position = notes["position"]
            new = log[self.positions[name] : position]
            if position > len(log) or position < self.positions[name]:
                raise RuntimeError(f"{name} has learned up to {position}, and the log ends at {len(log)}")
            if new:
                learn(model, new, bytes.fromhex(notes["maker"]))
            self.positions[name] = position
            if position:
                beside = folder.path / "offline.oco"
                ocoboost.save(model, beside)
                if not serving.is_same(serving.learned(folder.file(name)), serving.learned(beside)):
                    raise RuntimeError(f"{name} at {position} is not the model of an offline run")
                found["files equal to the offline model"] += 1


def learn(model: Any, entries: list[serving.Logged], maker: bytes) -> None:
    """Learn rows of the log, with what this model itself had answered."""
    rows, labels = [entry.features for entry in entries], [entry.label for entry in entries]
    if not isinstance(model, ocoboost.OnlineBoostClassifier):
        model.learn_many(rows, labels)
        return
    said = [entry.issued or b"" for entry in entries]
    model.learn_issued(rows, labels, [one[len(maker) :] if one.startswith(maker) else None for one in said])


def notes_of(path: Path) -> Any:
    with serving.container.opened(path) as file:
        return file.unpacked()["notes"]


def kill_some(job: Job) -> Result:
    """So many kills of services in one folder; returns what was found, and raises if anything was lost."""
    rng = random.Random(f"kills {job['seed']}")
    found: Counter[str] = Counter()
    keeper.SHARE_OF_TIME = 1.0
    with tempfile.TemporaryDirectory() as path:
        folder = serving.begin(Path(path) / "service", {name: make() for name, make in MODELS.items()})
        load, offline, errors = Load(job["seed"]), Offline(), Path(path) / "errors"
        for number in range(job["kills"]):
            lived(folder, load, errors, signal.SIGKILL, rng.uniform(0.0, LONGEST_LIFE), once_up=number % 4 > 0)
            found["kills"] += 1
            check(folder, load, offline, found)
            if number % KILLS_PER_END == KILLS_PER_END - 1 or number == job["kills"] - 1:
                lived(folder, load, errors, signal.SIGTERM, LONGEST_LIFE)
                n_rows = check(folder, load, offline, found)
                if set(offline.positions.values()) != {n_rows}:
                    raise RuntimeError(f"ended at {offline.positions}, and the log has {n_rows} rows")
                found["ends with the whole log learned"] += 1
        found.update(load.counts)
        found["labels lost"] = found["labels learned twice"] = 0  # else it has raised
        found["temporary files left"] = sum(one.suffix != ".oco" for one in folder.models.iterdir())
        if "Traceback" in errors.read_text():
            raise RuntimeError(errors.read_text())
    del found["kills"]  # the job says how many
    return dict(found)


def lived(folder: Folder, load: Load, errors: Path, signum: int, seconds: float, *, once_up: bool = False) -> None:
    """One life of a service under load, until a signal ends it so many seconds after it was started, or was up."""
    port = serving.free_port()
    child = serving.fork(partial(serving.serve, folder, port, save_every=SAVE_EVERY), errors)
    began = time.monotonic()

    async def use() -> None:
        work = asyncio.create_task(serving.at_once(port, CONNECTIONS, partial(patient, load)))
        if once_up or signum == signal.SIGTERM:
            await up(port)
            await asyncio.sleep(seconds)
        else:
            await asyncio.sleep(max(0.0, began + seconds - time.monotonic()))
        if signum == signal.SIGTERM:
            load.is_over = True
            await work
            await caught_up(port)
            load.is_over = False
        os.kill(child, signum)
        load.is_killed = True
        await work
        load.is_killed = False

    try:
        asyncio.run(use())
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != -signum:
        raise RuntimeError(f"the service ended with {code}: {errors.read_text()}")


async def up(port: int) -> None:
    """Return once the service answers."""
    connection = serving.Connection(port)
    for _ in range(20_000):
        try:
            await connection.ask("GET", "/health")
            connection.close()
            return
        except OSError:
            await asyncio.sleep(0.005)
    raise RuntimeError("the service does not answer")


async def caught_up(port: int) -> None:
    """Return once every model has learned the whole log."""
    connection = serving.Connection(port)
    while True:
        _, status = await connection.ask("GET", "/model")
        if all(one["position"] == status["log"] for one in status["models"].values()):
            connection.close()
            return
        await asyncio.sleep(0.05)


async def patient(load: Load, connection: serving.Connection, number: int) -> None:
    """Begin once the service listens; give up when it is killed."""
    while not load.is_killed:
        try:
            await connection.ask("GET", "/health")
        except OSError:
            await asyncio.sleep(0.005)
        else:
            await load.work(connection, number)
            return


def check(folder: Folder, load: Load, offline: Offline, found: Counter[str]) -> int:
    """Raise if anything is lost or learned twice; the number of rows in the log."""
    log = serving.log_of(folder)
    check_log(log, load)
    offline.check(folder, log, found)
    return len(log)


def check_log(log: list[Any], load: Load) -> None:
    """Raise if the log is not what was acknowledged."""
    if [number for number, *_ in log] != list(range(1, len(log) + 1)):
        raise RuntimeError("the log has gaps")
    logged = {entry.id: (entry.label, entry.number) for entry in log}
    if len(logged) != len(log):
        raise RuntimeError("an id is in the log twice")
    for name, acknowledged in load.acknowledged.items():
        if logged.get(name) != acknowledged:
            raise RuntimeError(f"{name} was acknowledged as {acknowledged}, and the log has {logged.get(name)}")


def report(options: argparse.Namespace) -> None:
    """Add all runs up, for the docs."""
    total: Counter[str] = Counter()
    for record in studies.finished("serve_kills", options):
        total.update({name: value for name, value in record.items() if name != "seed"})
    order = ["kills", *sorted(name for name in total if name != "kills")]
    text = studies.table(("", "count"), [(name, f"{total[name]:,}") for name in order])
    print(text)
    studies.put(studies.DOCS / "serving.md", text, "kills")


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    made.add_argument("--count", type=int, default=1000, help="kills")
    options = made.parse_args()
    if options.what == "report":
        report(options)
        return
    sizes = [min(KILLS_PER_FOLDER, options.count - n) for n in range(0, options.count, KILLS_PER_FOLDER)]
    jobs = [{"seed": seed, "kills": kills} for seed, kills in enumerate(sizes)]
    for make in MODELS.values():
        use(make())
    studies.run_missing("serve_kills", jobs, kill_some, options)


if __name__ == "__main__":
    main()
