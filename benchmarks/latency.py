"""Row by row: how long do predict_one and learn_one of a row take, beside River's models and the block path?

    python benchmarks/latency.py run --data-dir FOLDER
    python benchmarks/latency.py report

On every stream all contestants go through the same rows in turns of ``CHUNK`` rows, so that a busy moment of the
machine hits all of them; the first two turns of each warm it up and are not counted. Ratios are of processor time,
medians over the turns with the lowest and the highest; latencies are what the clock says of single rows. One thread.
Runs are kept in ``benchmarks/results/latency.jsonl``; ``report`` writes the tables of ``docs/performance.md``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import studies
from river import forest, tree
from river.datasets import synth

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench import datasets
from ocoboost.bench.jobs import Job, Result

CHUNK = 150
MOST_ROWS = 1500
NAMES = ("segment", "landsat", "mice", "yeast", "abalone", "balance", "rbf 16", "led 24")
BLOCK = " in blocks"
DEFAULT, SMALL, HUNDRED = "default", "default, budget 20", "100 boosted Hoeffding trees"
ARF, AMF, TREE = "River ARF-10", "River AMF-10", "River Hoeffding tree"
CONTESTANTS: dict[str, Callable[[], Any]] = {
    DEFAULT: lambda: OnlineBoostClassifier(seed=1),
    DEFAULT + BLOCK: lambda: OnlineBoostClassifier(seed=1),
    SMALL: lambda: OnlineBoostClassifier(budget=20, seed=1),
    HUNDRED: lambda: OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=100, seed=1),
    HUNDRED + BLOCK: lambda: OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=100, seed=1),
    ARF: lambda: forest.ARFClassifier(n_models=10, seed=1),
    AMF: lambda: forest.AMFClassifier(n_estimators=10, seed=1),
    TREE: tree.HoeffdingTreeClassifier,
}


def load(name: str, data_dir: Path | None) -> list[tuple[dict[Any, Any], Any]]:
    """Rows of numbers: text becomes ranks, which AMF needs."""
    if name == "rbf 16":
        generated = synth.RandomRBF(1, 2, n_classes=10, n_features=16, n_centroids=50)
        return [(dict(x), y) for x, y in generated.take(MOST_ROWS)]
    if name == "led 24":
        rows = synth.LED(seed=1, noise_percentage=0.1, irrelevant_features=True).take(MOST_ROWS)
        return [({key: float(value) for key, value in x.items()}, y) for x, y in rows]
    return datasets.shuffled(datasets.ranked(datasets.load(name, data_dir)), 1)[:MOST_ROWS]


def run(job: Job, data_dir: Path | None) -> Result:
    """Seconds of processor time of each contestant in each turn, and quantiles of single rows."""
    rows = load(job["stream"], data_dir)
    models = {name: make() for name, make in CONTESTANTS.items()}
    turns: dict[str, list[float]] = {name: [] for name in models}
    single: dict[str, list[float]] = {name: [] for name in models}
    for first in range(0, len(rows) - CHUNK + 1, CHUNK):
        chunk = rows[first : first + CHUNK]
        for name, model in models.items():
            began = time.process_time()
            if name.endswith(BLOCK):
                model.predict_learn_many([x for x, _ in chunk], [y for _, y in chunk])
            else:
                for x, y in chunk:
                    before = time.perf_counter()
                    model.predict_one(x)
                    model.learn_one(x, y)
                    single[name].append(time.perf_counter() - before)
            turns[name].append((time.process_time() - began) / CHUNK)
    counted = {name: [round(1e6 * turn, 1) for turn in found[2:]] for name, found in turns.items()}
    latencies = {
        name: [round(1e6 * float(np.quantile(found[2 * CHUNK :], share)), 1) for share in (0.5, 0.99)]
        for name, found in single.items()
        if found
    }
    return {"microseconds": counted, "latencies": latencies}


def ratio(one: list[float], other: list[float]) -> str:
    found = [a / b for a, b in zip(one, other, strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def report(options: Any) -> str:
    """Microseconds a row, and ratios, for every stream."""
    times, ratios, quantiles = [], [], []
    for found in studies.finished("latency", options):
        of = found["microseconds"]
        times.append([found["stream"], *(f"{statistics.median(of[name]):,.0f}" for name in CONTESTANTS)])
        allowed = [2.0 * block + 60.0 for block in of[DEFAULT + BLOCK]]
        allowed_hundred = [2.0 * block + 60.0 for block in of[HUNDRED + BLOCK]]
        ratios.append(
            [
                found["stream"],
                ratio(of[DEFAULT], allowed),
                ratio(of[HUNDRED], allowed_hundred),
                ratio(of[ARF], of[DEFAULT]),
                ratio(of[AMF], of[SMALL]),
            ]
        )
        quantiles.append(
            [
                found["stream"],
                *(" / ".join(f"{q:,.0f}" for q in found["latencies"][name]) for name in found["latencies"]),
            ]
        )
    columns = [
        "stream",
        "default / (2 blocks + 60 µs)",
        "100 trees / (2 blocks + 60 µs)",
        "ARF-10 / default",
        "AMF-10 / budget 20",
    ]
    parts = [studies.table(["µs of processor time a row", *CONTESTANTS], times), studies.table(columns, ratios)]
    single = [name for name in CONTESTANTS if not name.endswith(BLOCK)]
    parts.append(studies.table(["µs by the clock, median / 99th percentile", *single], quantiles))
    return "\n\n".join(parts)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--streams", default=",".join(NAMES))
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "performance.md", report(options), "latency")
        return
    jobs: list[Job] = [{"stream": name} for name in options.streams.split(",")]
    studies.run_missing("latency", jobs, lambda job: run(job, options.data_dir), options)


if __name__ == "__main__":
    main()
