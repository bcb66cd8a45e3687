"""What a block costs in a stage and on the wire, what that predicts, and what two processes measure.

    python benchmarks/scaling.py costs       stages in one process, over rows, columns, classes and learners
    python benchmarks/scaling.py wire        passages to an actor and back, over their sizes
    python benchmarks/scaling.py measure     two worker processes beside one process, in turns
    python benchmarks/scaling.py predict     the fits, the predictions and the simulation, for docs/scaling.md

The machine is shared, so costs are processor time: a stage's own thread counts what it works. By the clock, rows per
second depend on who else is there; both are stored in ``benchmarks/results/scaling.json``.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from ocoboost import OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.online.staged import LocalLine, Staged
from ocoboost.online.stages import Passage, Stage

RESULTS = Path(__file__).parent / "results" / "scaling.json"
ROWS = 256  # in a block
GRID = [(learners, d, k) for learners in (25, 100) for d in (4, 16, 32) for k in (2, 7, 14)]
SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20)  # bytes of a passage
WORKERS = (2, 4, 16, 64)


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


def costs() -> None:
    """Processor time of a row in one stage of all learners, after the first rows."""
    found = []
    for learners, d, k in GRID:
        model = OnlineAgnosticBoostClassifier(n_learners=learners, classes=list(range(k)), seed=1)
        staged, lines = in_line(model, 1)
        staged.learn([stream(12 * ROWS, d, k)])
        blocks = [block for block in lines[0].blocks if block[0] == ROWS][4:]
        per_row = statistics.median(seconds[0] / n_rows for n_rows, seconds, _ in blocks)
        size = statistics.median(sizes[0] / n_rows for n_rows, _, sizes in blocks)
        found.append({"learners": learners, "columns": d, "classes": k, "seconds_per_row": per_row, "bytes": size})
        store("costs", found)
        print(found[-1])


class Echo:
    """An actor that gives back what it gets."""

    async def take(self, data: bytes) -> bytes:
        return data


def wire() -> None:
    """Seconds for a passage to an actor in another process and back, the least of many, and its processor time here."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster) as client:
        echo = client.submit(Echo, actor=True).result()
        found = []
        for size in SIZES:
            data = bytes(size)
            taken, used = [], []
            for _ in range(40):
                began, worked = time.perf_counter(), time.process_time()
                echo.take(data).result()
                taken.append(time.perf_counter() - began)
                used.append(time.process_time() - worked)
            found.append({"bytes": size, "seconds": min(taken), "processor_seconds": statistics.median(used)})
            store("wire", found)
            print(found[-1])


def models(budget: int) -> dict[str, Any]:
    return {
        "agnostic": OnlineAgnosticBoostClassifier(n_learners=budget, classes=list(range(7)), seed=1),
        "mixture": OnlineBoostClassifier(budget=budget, classes=list(range(7)), max_size=None, seed=1),
    }


def measure(name: str, budget: int, n_turns: int) -> None:
    """Two worker processes beside one process: turns of the same rows."""
    from distributed import Client, LocalCluster

    from ocoboost.cluster.boosters import on_dask

    local, other = models(budget)[name], models(budget)[name]
    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
    turn = 8 * ROWS
    X, y = stream((n_turns + 1) * turn, 16, 7)
    with (
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster) as client,
        on_dask(other, client=client, block_rows=ROWS, n_stages=2) as model,
    ):
        turns: list[dict[str, Any]] = []
        before: list[Any] = []
        for number in range(n_turns + 1):
            rows = slice(number * turn, (number + 1) * turn)
            table = X[rows], y[rows]
            began, worked = time.perf_counter(), time.thread_time()  # Dask's own threads are here, too
            said = local.predict_learn_many(*table)
            one, one_used = time.perf_counter() - began, time.thread_time() - worked
            began, worked = time.perf_counter(), time.process_time()
            same = model.predict_learn_many(*table)
            two, head_used = time.perf_counter() - began, time.process_time() - worked
            stages = model.stages_
            old = before or [0.0] * len(stages)
            used = [stage.processor_seconds - past for stage, past in zip(stages, old, strict=True)]
            before = [stage.processor_seconds for stage in stages]
            if number > 0:  # the first one compiles
                turns.append(
                    {
                        "rows": turn,
                        "one_process": {"clock": one, "processor": one_used},
                        "two_processes": {"clock": two, "head": head_used, "stages": used},
                        "same": said == same,
                    }
                )
                known = load().get("measured", {})
                store("measured", known | {f"{name} {budget}": turns})
                print(turns[-1])


# -- fits and predictions ----------------------------------------------------------------------------------------------


def fit(found: list[dict[str, Any]]) -> tuple[np.ndarray, float]:
    """Seconds of a row and learner as a + b d + c k + e d k, by relative least squares; and the median error."""
    rows = np.array([[1.0, f["columns"], f["classes"], f["columns"] * f["classes"]] for f in found])
    times = np.array([f["seconds_per_row"] / f["learners"] for f in found])
    coefficients, *_ = np.linalg.lstsq(rows / times[:, None], np.ones(len(times)), rcond=None)
    errors = np.abs(rows @ coefficients / times - 1.0)
    return coefficients, float(np.median(errors))


def fit_wire(found: list[dict[str, Any]]) -> np.ndarray:
    """Seconds of a round trip, and processor seconds here, as latency + bytes * rate: rows of (latency, rate)."""
    sizes = np.array([[1.0, f["bytes"]] for f in found])
    return np.array(
        [
            np.linalg.lstsq(sizes, np.array([f[name] for f in found]), rcond=None)[0]
            for name in ("seconds", "processor_seconds")
        ]
    )


def passage_bytes(d: int, k: int) -> float:
    """Bytes of a row between two stages: codes, label, weight, plays, memory and both pools."""
    return 8.0 * (d + 2 + 4 * k)


def simulate(
    stage_seconds: list[float],
    wire_seconds: float,
    n_blocks: int,
    *,
    spread: float = 0.1,
    slow: float = 1.0,
    lost_at: int | None = None,
    replayed: int = 50,
    seed: int = 0,
) -> float:
    """Seconds for ``n_blocks`` blocks through stages with two places before each; times vary by ``spread``.

    ``slow`` multiplies the first stage's times; at block ``lost_at`` the middle stage is made again and takes
    ``replayed`` blocks once more.
    """
    rng = np.random.default_rng(seed)
    n_stages = len(stage_seconds)
    done = np.zeros((n_stages + 1, n_blocks + 1))
    started = np.zeros((n_stages + 1, n_blocks + 1))
    for block in range(1, n_blocks + 1):
        for stage in range(1, n_stages + 1):
            ready = done[stage - 1, block] + (wire_seconds if stage > 1 else 0.0)
            free = done[stage, block - 1]
            room = started[stage + 1, block - 4] if stage < n_stages and block > 4 else 0.0  # the next holds four
            took = stage_seconds[stage - 1] * float(rng.lognormal(0.0, spread)) * (slow if stage == 1 else 1.0)
            if lost_at is not None and block == lost_at and stage == (n_stages + 1) // 2:
                took += replayed * stage_seconds[stage - 1]
            started[stage, block] = max(ready, free, room)
            done[stage, block] = started[stage, block] + took
    return float(done[n_stages, n_blocks])


def predict() -> None:
    results = load()
    a, b, c, e = fit(results["costs"])[0]
    wires = fit_wire(results["wire"])
    latency, rate = wires[0]
    out: dict[str, Any] = {
        "per_cell_seconds": {"1": a, "columns": b, "classes": c, "columns*classes": e},
        "median_error": fit(results["costs"])[1],
        "wire": {"latency": latency, "seconds_per_byte": rate, "head_seconds": wires[1].tolist()},
    }
    d, k, learners = 16, 7, 1000
    cell = a + b * d + c * k + e * d * k
    size = passage_bytes(d, k) * ROWS
    trip = latency + rate * size
    head = float(wires[1][0] + wires[1][1] * size)  # processor seconds here for each stage and block
    table = []
    for workers in WORKERS:
        stage = ROWS * learners * cell / workers
        rows_per_second = ROWS / max(stage, workers * head)
        ideal = simulate([stage] * workers, trip, 400)
        table.append(
            {
                "workers": workers,
                "stage_seconds": stage,
                "wire_share": trip / (trip + stage),
                "rows_per_second": rows_per_second,
                "head_limit": ROWS / (workers * head),
                "simulated": ROWS * 400 / ideal,
                "one_slow": ROWS * 400 / simulate([stage] * workers, trip, 400, slow=2.0),
                "one_lost": ROWS * 400 / simulate([stage] * workers, trip, 400, lost_at=200),
                "bytes_per_second_at_head": 2 * workers * passage_bytes(d, k) * rows_per_second,
                "workers_for_1e5_rows_per_second": 1e5 * learners * cell,
            }
        )
    out["workers"] = table
    out["least_budget"] = {gain: float(gain / (2.0 - gain) * 2 * trip / (ROWS * cell)) for gain in (1.2, 1.5, 1.8)}
    if "agnostic 1000" in results.get("measured", {}):
        turns = results["measured"]["agnostic 1000"]
        stages = np.array([turn["two_processes"]["stages"] for turn in turns])
        rows = sum(turn["rows"] for turn in turns)
        one = sum(turn["one_process"]["processor"] for turn in turns)
        slowest = stages.sum(axis=0).max()
        out["two_processes"] = {
            "predicted_rows_per_second": table[0]["rows_per_second"],
            "measured_rows_per_second": rows / slowest,
            "predicted_over_measured": table[0]["rows_per_second"] * slowest / rows,
            "gain_in_processor_time": one / slowest,  # what two free cores and one for the head would show
            "gain_on_two_cores": one
            / max(slowest, (stages.sum() + sum(t["two_processes"]["head"] for t in turns)) / 2),
            "simulated_rows_per_second": table[0]["simulated"],
            "gain_by_the_clock": statistics.median(
                turn["one_process"]["clock"] / turn["two_processes"]["clock"] for turn in turns
            ),
        }
    store("predicted", out)
    print(json.dumps(out, indent=2))


def load() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def store(name: str, value: Any) -> None:
    RESULTS.write_text(json.dumps(load() | {name: value}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["costs", "wire", "measure", "predict"])
    parser.add_argument("--model", choices=list(models(1)), default="agnostic")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    if options.what == "measure":
        measure(options.model, options.budget, options.turns)
    else:
        {"costs": costs, "wire": wire, "predict": predict}[options.what]()


if __name__ == "__main__":
    main()
