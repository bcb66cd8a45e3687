"""Long streams: is memory flat, and does the speed stay?

    python benchmarks/soak.py --model trees --rows 10000000
    python benchmarks/soak.py --model default --rows 1000000
    python benchmarks/soak.py --report

Rows have two numbers whose means drift, a column with five texts, one with a thousand, and one that never stops
bringing new ones; the label depends on all but the last, and a fourth class appears after a third of the stream.
Resident memory, ``memory_usage_``, processor time (mean, median and the quickest tenth of the blocks) and accuracy of
every twentieth of the rows are written to ``benchmarks/results/soak.jsonl``; ``--report`` writes the table of
``docs/memory.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import studies

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench.jobs import code

BLOCK = 1000
N_REPORTS = 20
MODELS = {
    "trees": lambda: OnlineAgnosticBoostClassifier(HoeffdingTrees(max_size=64.0), n_learners=5, seed=1),
    "default": lambda: OnlineBoostClassifier(seed=1),
}
TITLES = {"trees": "five boosted Hoeffding trees", "default": "the default"}
PATH = studies.RESULTS / "soak.jsonl"


def resident() -> float:
    """Resident memory of this process, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def block(rng: np.random.Generator, first: int, n_rows: int) -> tuple[list[dict[str, Any]], list[str]]:
    drift = 3.0 * first / n_rows
    a, b = rng.normal(loc=[drift, -drift], size=(BLOCK, 2)).T
    few, many = rng.integers(5, size=BLOCK), rng.integers(1000, size=BLOCK)
    labels = (2 * (a + b > 0.5) + few + many % 3) % 3
    if first > n_rows / 3:
        labels = np.where((a > drift + 1.0) & (few == 0), 3, labels)
    rows = [
        {
            "a": float(a[row]),
            "b": float(b[row]),
            "few": f"f{few[row]}",
            "many": f"m{many[row]}",
            "id": f"i{(first + row) // 100}",
        }
        for row in range(BLOCK)
    ]
    return rows, [f"label {label}" for label in labels]


def soak(name: str, n_rows: int) -> None:
    model, rng = MODELS[name](), np.random.default_rng(0)
    times, right, every = [], 0, n_rows // N_REPORTS
    with PATH.open("a") as file:
        for first in range(0, n_rows, BLOCK):
            rows, labels = block(rng, first, n_rows)
            began = time.process_time()
            predicted = model.predict_learn_many(rows, labels)
            times.append((time.process_time() - began) / BLOCK * 1e6)
            right += sum(map(str.__eq__, labels, map(str, predicted)))
            if (first + BLOCK) % every == 0:
                result = {
                    "resident": round(resident(), 1),
                    "held": round(model.memory_usage_ / 2**20, 2),
                    "microseconds": round(float(np.mean(times)), 1),
                    "quickest": round(float(np.quantile(times, 0.1)), 1),
                    "median": round(float(np.median(times)), 1),
                    "accuracy": round(right / every, 4),
                }
                job = {"model": name, "rows": n_rows, "at": first + BLOCK}
                print(job | result, flush=True)
                file.write(json.dumps({"job": job, "code": code("soak"), "result": result}) + "\n")
                file.flush()
                times, right = [], 0


def report() -> None:
    lines = [json.loads(line) for line in PATH.read_text().splitlines()]
    latest = {(line["job"]["model"], line["job"]["at"]): line["job"] | line["result"] for line in lines}
    rows = []
    for model, title in TITLES.items():
        marks = [mark for (name, _), mark in sorted(latest.items()) if name == model]
        for mark in marks[1::2]:
            cells = (f"{mark[name]:,.{digits}f}" for name, digits in (("at", 0), ("resident", 0), ("held", 0)))
            times = (f"{mark[name]:.{0 if model == 'default' else 1}f}" for name in ("microseconds", "quickest"))
            rows.append([title, *cells, *times, f"{100 * mark['accuracy']:.1f}"])
    columns = ["", "rows", "resident, MiB", "held, MiB", "µs per row", "quickest tenth", "accuracy, %"]
    studies.put(studies.DOCS / "memory.md", studies.table(columns, rows), "soak")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=tuple(MODELS), default="trees")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        report()
    else:
        soak(options.model, options.rows)


if __name__ == "__main__":
    main()
