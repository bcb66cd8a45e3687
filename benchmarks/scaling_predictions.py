"""From measured costs to more workers: fits, a simulation of the line of stages, and the tables of docs/scaling.md."""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

import numpy as np
import studies

from ocoboost.arrays import FloatArray

ROWS = 256  # in a block
WORKERS = (2, 4, 16, 64)
LEARNERS, COLUMNS, CLASSES = 1000, 16, 7  # what is predicted and measured
GAINS = (1.2, 1.5, 1.8)


class Costs(NamedTuple):
    """What was fitted to the measurements; all times in seconds."""

    cell: FloatArray  # (4,) of a row and a learner: 1, columns, classes, columns * classes
    error: float  # the median relative error of that fit
    trip: FloatArray  # (2,) to another process and back: latency, per byte
    head: FloatArray  # (2,) processor time of it in the feeding process: latency, per byte

    @property
    def row(self) -> float:
        """One row and one learner, of the kind that is predicted."""
        return float(self.cell @ [1.0, COLUMNS, CLASSES, COLUMNS * CLASSES])

    @property
    def block_trip(self) -> float:
        return float(self.trip @ [1.0, ROWS * passage_bytes()])

    @property
    def block_head(self) -> float:
        return float(self.head @ [1.0, ROWS * passage_bytes()])


def passage_bytes() -> float:
    """Bytes of a row between two stages at most: codes, label, weight, play, its memory and both pools."""
    return 8.0 * (COLUMNS + 2 + 4 * CLASSES)


def fitted(runs: list[dict[str, Any]]) -> Costs:
    """Relative least squares for a row and learner, plain ones for the wire."""
    cells = [run for run in runs if run["part"] == "costs"]
    rows = np.array([[1.0, run["columns"], run["classes"], run["columns"] * run["classes"]] for run in cells])
    times = np.array([run["seconds_per_row"] / run["learners"] for run in cells])
    cell = np.linalg.lstsq(rows / times[:, None], np.ones(len(times)), rcond=None)[0]
    error = float(np.median(np.abs(rows @ cell / times - 1.0)))
    wires = [run for run in runs if run["part"] == "wire"]
    sizes = np.array([[1.0, run["bytes"]] for run in wires])
    trip, head = (
        np.linalg.lstsq(sizes, np.array([run[name] for run in wires]), rcond=None)[0]
        for name in ("seconds", "processor_seconds")
    )
    return Costs(cell, error, trip, head)


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
    """Seconds for ``n_blocks`` blocks through stages; times vary by ``spread``.

    Before a stage there are four places: two that it holds itself, and two of its courier.

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


def predictions(costs: Costs) -> str:
    """What more workers would do."""
    lines = []
    for workers in WORKERS:
        stage = ROWS * LEARNERS * costs.row / workers
        trip, n_blocks = costs.block_trip, 400
        simulated = [
            ROWS * n_blocks / simulate([stage] * workers, trip, n_blocks, **what)
            for what in ({}, {"slow": 2.0}, {"lost_at": n_blocks // 2})
        ]
        rates = [ROWS / stage, *simulated, ROWS / (workers * costs.block_head)]
        cells = [f"{1000 * stage:.1f}", f"{trip / (trip + stage):.0%}", *(f"{rate:,.0f}" for rate in rates)]
        lines.append([str(workers), *cells])
    columns = ["workers", "a block in a stage, ms", "share of the wire", "stages, rows/s", "simulated", "one slow"]
    return studies.table([*columns, "one lost", "feeding process, rows/s"], lines, text=())


def cost_lines(costs: Costs) -> str:
    """The fits, in words and numbers."""
    constant, *slopes = 1e9 * costs.cell
    terms = "".join(
        f" {'-' if x < 0 else '+'} {abs(x):.1f} {of}" for x, of in zip(slopes, ("d", "k", "d k"), strict=True)
    )
    pays = [gain / (2.0 - gain) * 2.0 * costs.block_trip / (ROWS * costs.row) for gain in GAINS]
    limit = np.sqrt(LEARNERS * costs.row * ROWS / costs.block_head)  # where stages and feeding process are level
    lines = [
        ["a row and a learner, ns", f"{constant:.0f}{terms} (median error {costs.error:.0%})"],
        ["a round trip to another process", f"{1e3 * costs.trip[0]:.1f} ms and {1e9 * costs.trip[1]:.1f} ns a byte"],
        [
            "of which the feeding process works",
            f"{1e3 * costs.head[0]:.1f} ms and {1e9 * costs.head[1]:.1f} ns a byte",
        ],
        *(
            [f"learners from which two workers are {gain:g} times as fast as one process", f"{n:.0f}"]
            for gain, n in zip(GAINS, pays, strict=True)
        ),
        ["workers at which the feeding process is the limit", f"{limit:.0f}"],
        ["workers for 100,000 rows per second", f"{1e5 * LEARNERS * costs.row:.0f}"],
    ]
    return studies.table(["what", "measured or fitted"], lines, text=(0, 1))


def measured(costs: Costs, run: dict[str, Any]) -> str:
    """Two processes beside one, and what had been predicted."""
    turns = run["turns"]
    stages = np.array([turn["two_processes"]["stages"] for turn in turns])
    n_rows = sum(turn["rows"] for turn in turns)
    one = sum(turn["one_process"]["processor"] for turn in turns)
    head = sum(turn["two_processes"]["head"] for turn in turns)
    slowest = stages.sum(axis=0).max()
    predicted = 2.0 / (LEARNERS * costs.row)
    ratios = sorted(turn["one_process"]["clock"] / turn["two_processes"]["clock"] for turn in turns)
    clock = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    busy = (stages.sum() + head) / 2.0
    lines = [
        ["predicted: rows per second of the slower of two stages", f"{predicted:,.0f}"],
        ["measured: rows by the processor time of the slower stage", f"{n_rows / slowest:,.0f}"],
        ["predicted / measured", f"{predicted * slowest / n_rows:.2f}"],
        ["one process / slower stage, in processor time", f"{one / slowest:.2f}"],
        ["the most that two cores allow, with the feeding process on them", f"{one / max(slowest, busy):.2f}"],
        [f"one process / two, by the clock, {len(turns)} turns of {turns[0]['rows']:,} rows", clock],
        ["load of the machine at the start", f"{run['load']:.1f}"],
        ["turns with equal answers", f"{sum(turn['same'] for turn in turns)} of {len(turns)}"],
    ]
    return studies.table(["1,000 learners, 16 columns, 7 classes", "value"], lines, text=(0, 1))


def report(options: Any) -> None:
    """Write the tables of docs/scaling.md."""
    runs, page = studies.finished("scaling", options), studies.DOCS / "scaling.md"
    costs = fitted(runs)
    studies.put(page, cost_lines(costs), "costs")
    studies.put(page, predictions(costs), "predictions")
    for run in runs:
        if run["part"] == "measure" and (run["model"], run["budget"]) == ("agnostic", LEARNERS):
            studies.put(page, measured(costs, run), "two processes")
