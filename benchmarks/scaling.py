"""What a block costs in a stage and on the wire, and what two worker processes measure beside one.

    python benchmarks/scaling.py costs       stages in one process, over rows, columns, classes and learners
    python benchmarks/scaling.py wire        passages to an actor and back, over their sizes
    python benchmarks/scaling.py measure     two worker processes beside one process, in turns
    python benchmarks/scaling.py report      fits, predictions and measurements, into docs/scaling.md

Costs are processor time: a stage's own thread counts what it works, whoever else is on the machine. Rows per second by
the clock mean something only where two cores are idle; the load is stored beside them. Every measurement is kept in
``benchmarks/results/scaling.jsonl``; ``scaling_predictions.py`` makes the predictions from them.
"""

from __future__ import annotations

import os
import pickle
import statistics
import time
from typing import Any

import numpy as np
import scaling_predictions
import studies

from ocoboost import OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result
from ocoboost.online.staged import LocalLine, Staged
from ocoboost.online.stages import Passage, Stage

ROWS = scaling_predictions.ROWS
GRID = [(learners, d, k) for learners in (25, 100) for d in (4, 16, 32) for k in (2, 7, 14)]
SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20)  # bytes of a passage
TURN = 16 * ROWS  # rows; the line fills and empties once in a turn
CLUSTER: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}


def stream(n_rows: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, list[int]]:
    """Noisy classes around centres."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(k, d))
    y = np.concatenate([np.arange(k), rng.integers(k, size=n_rows - k)])  # all labels at once: no block is cut later
    return centres[y] + rng.normal(size=(n_rows, d)), y.tolist()


class TimedLine(LocalLine):
    """Stages in this process, with what each of them works and passes on."""

    def __init__(self, stages: list[Stage]) -> None:
        super().__init__(stages)
        self.blocks: list[tuple[int, list[float], list[int]]] = []  # rows, processor seconds, bytes

    def send(self, passage: Passage) -> None:
        seconds, sizes, n_rows = [], [], passage.n_rows
        for stage in self._stages:
            data = pickle.dumps(passage)
            sizes.append(len(data))
            before = time.thread_time()
            passage = stage.take(pickle.loads(data))
            seconds.append(time.thread_time() - before)
        self.blocks.append((n_rows, seconds, sizes))
        self._done.append(passage)


def in_line(model: Any, n_stages: int) -> tuple[Staged, list[TimedLine]]:
    lines: list[TimedLine] = []

    def make(stages: list[Stage], fresh: list[Stage], state: Any) -> TimedLine:
        lines.append(TimedLine(stages))
        return lines[0]

    return Staged(model, make, n_stages, ROWS), lines


def costs(job: Job) -> Result:
    """Processor time of a row in one stage of all learners, after the first rows."""
    classes = list(range(job["classes"]))
    model = OnlineAgnosticBoostClassifier(n_learners=job["learners"], classes=classes, seed=1)
    staged, lines = in_line(model, 1)
    staged.learn([stream(12 * ROWS, job["columns"], job["classes"])])
    blocks = [block for block in lines[0].blocks if block[0] == ROWS][4:]
    return {
        "seconds_per_row": statistics.median(seconds[0] / n_rows for n_rows, seconds, _ in blocks),
        "bytes_per_row": statistics.median(sizes[0] / n_rows for n_rows, _, sizes in blocks),
    }


class Echo:
    """An actor that gives back what it gets."""

    async def take(self, data: bytes) -> bytes:
        return data


def wire(job: Job) -> Result:
    """Seconds for a passage to an actor in another process and back, the least of many, and its processor time here."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, **CLUSTER) as cluster, Client(cluster) as client:
        echo = client.submit(Echo, actor=True).result()
        data = bytes(job["bytes"])
        taken, used = [], []
        for _ in range(40):
            began, worked = time.perf_counter(), time.process_time()
            echo.take(data).result()
            taken.append(time.perf_counter() - began)
            used.append(time.process_time() - worked)
    return {"seconds": min(taken), "processor_seconds": statistics.median(used)}


def model_of(name: str, budget: int) -> Any:
    if name == "agnostic":
        return OnlineAgnosticBoostClassifier(n_learners=budget, classes=list(range(7)), seed=1)
    return OnlineBoostClassifier(budget=budget, classes=list(range(7)), max_size=None, seed=1)


def measure(job: Job) -> Result:
    """Two worker processes beside one process: turns of the same rows."""
    from distributed import Client, LocalCluster

    from ocoboost.cluster.boosters import on_dask

    local, other = (model_of(job["model"], job["budget"]) for _ in range(2))
    X, y = stream((job["turns"] + 1) * TURN, 16, 7)
    load = os.getloadavg()[0]
    with (
        LocalCluster(n_workers=2, **CLUSTER) as cluster,
        Client(cluster) as client,
        on_dask(other, client=client, block_rows=ROWS, n_stages=2) as model,
    ):
        turns: list[dict[str, Any]] = []
        before = [0.0, 0.0]
        for number in range(job["turns"] + 1):
            rows = slice(number * TURN, (number + 1) * TURN)
            table = X[rows], y[rows]
            began, worked = time.perf_counter(), time.thread_time()  # Dask's own threads are here, too
            said = local.predict_learn_many(*table)
            one, one_used = time.perf_counter() - began, time.thread_time() - worked
            began, worked = time.perf_counter(), time.process_time()
            same = model.predict_learn_many(*table)
            two, head_used = time.perf_counter() - began, time.process_time() - worked
            after = [stage.processor_seconds for stage in model.stages_]
            used = [now - past for now, past in zip(after, before, strict=True)]
            before = after
            if number > 0:  # the first one compiles
                turns.append(
                    {
                        "rows": TURN,
                        "one_process": {"clock": one, "processor": one_used},
                        "two_processes": {"clock": two, "head": head_used, "stages": used},
                        "same": said == same,
                    }
                )
                print(turns[-1])
    return {"load": round(load, 1), "turns": turns}


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=["costs", "wire", "measure", "report"])
    parser.add_argument("--model", choices=["agnostic", "mixture"], default="agnostic")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    if options.what == "report":
        scaling_predictions.report(options)
        return
    jobs: dict[str, list[Job]] = {
        "costs": [{"part": "costs", "learners": n, "columns": d, "classes": k} for n, d, k in GRID],
        "wire": [{"part": "wire", "bytes": size} for size in SIZES],
        "measure": [{"part": "measure", "model": options.model, "budget": options.budget, "turns": options.turns}],
    }
    work = {"costs": costs, "wire": wire, "measure": measure}[options.what]
    studies.run_missing("scaling", jobs[options.what], work, options)


if __name__ == "__main__":
    main()
