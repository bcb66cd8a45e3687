"""Peak resident memory on awkward files, beside their first ten rows: ``ocoboost run``, and the default in Python.

    python benchmarks/peak_memory.py run
    python benchmarks/peak_memory.py report

The loop in Python predicts and learns blocks of a thousand dicts, and asks for ``memory_usage_`` after each. Kernels
are compiled before anything is measured. Every process tells its own peak when it ends: what the system tells the
parent begins with what the parent takes. Runs are kept in ``benchmarks/results/peak_memory.jsonl``; ``report`` writes
the table of ``docs/memory.md``.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import studies

import ocoboost
from ocoboost import OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result

BLOCK = 1000


def texts(n_texts: int, n_rows: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    usual = rng.integers(3, size=n_texts)
    for _ in range(n_rows):
        city, (a, b) = rng.integers(n_texts), rng.normal(size=2).round(3)
        yield {"a": a, "b": b, "city": f"city {city}", "label": f"label {(usual[city] + (a + b > 1)) % 3}"}


def many_classes(n_rows: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    for row in range(n_rows):
        label = row % 1000 if row > 20 else row % 4
        numbers = (rng.normal(size=10) + label / 100).round(3)
        yield {**{f"x{j}": value for j, value in enumerate(numbers)}, "label": f"label {label}"}


def many_columns(n_rows: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    for _ in range(n_rows):
        x = rng.normal(size=500).round(3)
        yield {**{f"x{j}": value for j, value in enumerate(x)}, "label": int(x[0] > 0) + 2 * int(x[1] > 0)}


FILES = {
    "300 texts, 4,000 rows": lambda: texts(300, 4000),
    "100,000 texts, 30,000 rows": lambda: texts(100_000, 30_000),
    "1,000 classes, 4,000 rows": lambda: many_classes(4000),
    "500 columns, 5,000 rows": lambda: many_columns(5000),
}


def write(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    first = next(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(first))
        writer.writeheader()
        writer.writerows(chain([first], rows))
    return path


def learn(path: str) -> None:
    """Predict and learn all rows in this process; prints accuracy and the most that the model held after a block."""
    model, n_right, n_rows, most = OnlineBoostClassifier(seed=1), 0, 0, 0
    with Path(path).open(newline="") as file:
        records = csv.DictReader(file)
        while block := list(islice(records, BLOCK)):
            labels = [x.pop("label") for x in block]
            rows = [{name: cell if name == "city" else float(cell) for name, cell in x.items()} for x in block]
            n_right += sum(map(str.__eq__, labels, map(str, model.predict_learn_many(rows, labels))))
            n_rows, most = n_rows + len(rows), max(most, model.memory_usage_)
    print(json.dumps({"accuracy": n_right / n_rows, "held": most / 2**20, "max_size": model.max_size}))


def peak(arguments: list[str]) -> tuple[float, dict[str, Any]]:
    """Peak resident memory of a Python program in MB, and what it printed."""
    ended = subprocess.run([sys.executable, "-c", TELL_PEAK, *arguments], capture_output=True, text=True, check=True)
    status = ended.stderr.split("VmHWM:")[-1]
    return int(status.split()[0]) * 1024 / 1e6, json.loads(ended.stdout)


# Runs the program that its arguments name, and writes what the system tells of this process as its last words.
TELL_PEAK = f"""
import atexit, runpy, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
atexit.register(lambda: sys.stderr.write(open("/proc/self/status").read()))
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
COMMAND = str(Path(ocoboost.__file__).with_name("__main__.py"))
WAYS = {
    "`run`": lambda path: [COMMAND, "run", str(path), "--target", "label", "--json"],
    "Python": lambda path: [__file__, "learn", "--file", str(path)],
}


def run(job: Job) -> Result:
    make, command = FILES[job["file"]], WAYS[job["way"]]
    with tempfile.TemporaryDirectory() as folder:
        peak(command(write(Path(folder) / "warm.csv", texts(60, 500))))
        low, _ = peak(command(write(Path(folder) / "few.csv", islice(make(), 10))))
        high, found = peak(command(write(Path(folder) / "all.csv", make())))
    if "held" in found and found["held"] > found["max_size"]:
        raise RuntimeError(f"{job['file']}: the model held {found['held']:.1f} MiB")
    return {"low": low, "high": high, "held": found.get("held"), "accuracy": found["accuracy"]}


def report(records: list[dict[str, Any]]) -> str:
    rows = [
        [
            record["file"],
            record["way"],
            f"{record['low']:.0f}",
            f"{record['high'] - record['low']:.0f}",
            "" if record["held"] is None else f"{record['held']:.0f}",
            f"{100 * record['accuracy']:.1f}",
        ]
        for record in records
    ]
    columns = ["", "", "ten rows, MB", "above that, MB", "held at most, MiB", "accuracy, %"]
    return studies.table(columns, rows, text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "report", "learn"))
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "learn":
        learn(options.file)
    elif options.what == "run":
        jobs = [{"file": file, "way": way} for file in FILES for way in WAYS]
        studies.run_missing("peak_memory", jobs, run, options)
    else:
        studies.put(studies.DOCS / "memory.md", report(studies.finished("peak_memory", options)), "peak")


if __name__ == "__main__":
    main()
