"""Two threads beside one: how much sooner does the default finish a block, and is a single row ever slower?

    python benchmarks/threads.py run --rounds 5 --data-dir FOLDER
    python benchmarks/threads.py report

Every round is a new process in which two models, with ``n_jobs=1`` and ``n_jobs=2``, go through the same stream in
turns: blocks of ``BLOCK`` rows, then single rows, ``predict_one`` and ``learn_one`` of each. The order changes from
turn to turn, and the first turn warms up. Times are by the clock, so other programs on the machine count: look at the
quartiles of the ratios, and at the load beside them; without two idle cores they say nothing.
Runs are kept in ``benchmarks/results/threads.jsonl``; ``report`` writes the table of ``docs/performance.md``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import latency
import numpy as np
import studies

from ocoboost import OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result

BLOCK = 500
FEW_ROWS = 100  # of each turn row by row
STREAMS = ("segment", "landsat", "rbf 16", "led 24")


def timed(learn: Callable[[Any, list[Any]], None], model: Any, rows: list[Any]) -> float:
    began = time.perf_counter()
    learn(model, rows)
    return time.perf_counter() - began


def turns(rows: list[Any], learn: Callable[[Any, list[Any]], None], size: int) -> list[float]:
    """The time of one thread over that of two, for every turn but the first."""
    models = {n_jobs: OnlineBoostClassifier(seed=1, n_jobs=n_jobs) for n_jobs in (1, 2)}
    ratios = []
    for number, first in enumerate(range(0, len(rows) - size + 1, size)):
        chunk = rows[first : first + size]
        order = (1, 2) if number % 2 == 0 else (2, 1)
        seconds = {n_jobs: timed(learn, models[n_jobs], chunk) for n_jobs in order}
        ratios.append(round(seconds[1] / seconds[2], 3))
    return ratios[1:]


def in_a_block(model: Any, chunk: list[Any]) -> None:
    model.predict_learn_many([x for x, _ in chunk], [y for _, y in chunk])


def row_by_row(model: Any, chunk: list[Any]) -> None:
    for x, y in chunk:
        model.predict_one(x)
        model.learn_one(x, y)


def run(job: Job, options: Any) -> Result:
    rows = latency.load(job["stream"], options.data_dir)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    in_a_block(OnlineBoostClassifier(seed=1), rows[:50])  # kernels are compiled, or read
    return {
        "load": round(load, 1),
        "blocks": turns(rows, in_a_block, BLOCK),
        "rows": turns(rows[:600], row_by_row, FEW_ROWS),
    }


def quartiles(ratios: list[float]) -> str:
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def report(options: Any) -> str:
    """One thread over two, per stream: medians and quartiles over all turns of all rounds."""
    found = studies.finished("threads", options)
    lines = []
    for name in dict.fromkeys(result["stream"] for result in found):
        own = [result for result in found if result["stream"] == name]
        loads = [result["load"] for result in own]
        ratios = [[ratio for result in own for ratio in result[kind]] for kind in ("blocks", "rows")]
        lines.append([name, *map(quartiles, ratios), str(len(own)), f"{min(loads):.0f} to {max(loads):.0f}"])
    columns = [
        "time with one thread / with two",
        f"blocks of {BLOCK} rows",
        "row by row",
        "rounds",
        "load at the start",
    ]
    return studies.table(columns, lines)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", default=",".join(STREAMS))
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "performance.md", report(options), "threads")
        return
    names = options.streams.split(",")
    jobs: list[Job] = [{"round": number, "stream": name} for number in range(options.rounds) for name in names]
    studies.run_missing("threads", jobs, lambda job: run(job, options), options)


if __name__ == "__main__":
    main()
