"""Peak resident memory on awkward files, beside their first ten rows: ``ocoboost run``, and the default in Python.

    python benchmarks/peak_memory.py

The loop in Python predicts and learns blocks of a thousand dicts, and asks for ``memory_usage_`` after each. Writes
the table of ``docs/memory.md``. The kernels are compiled before anything is measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import studies

from ocoboost import OnlineBoostClassifier

BLOCK = 1000
RNG = np.random.default_rng(0)


def texts(n_texts: int, n_rows: int) -> Iterator[dict[str, Any]]:
    usual = RNG.integers(3, size=n_texts)
    for _ in range(n_rows):
        city, (a, b) = RNG.integers(n_texts), RNG.normal(size=2).round(3)
        yield {"a": a, "b": b, "city": f"city {city}", "label": f"label {(usual[city] + (a + b > 1)) % 3}"}


def many_classes(n_rows: int) -> Iterator[dict[str, Any]]:
    for row in range(n_rows):
        label = row % 1000 if row > 20 else row % 4
        numbers = (RNG.normal(size=10) + label / 100).round(3)
        yield {**{f"x{j}": value for j, value in enumerate(numbers)}, "label": f"label {label}"}


def many_columns(n_rows: int) -> Iterator[dict[str, Any]]:
    for _ in range(n_rows):
        x = RNG.normal(size=500).round(3)
        yield {**{f"x{j}": value for j, value in enumerate(x)}, "label": int(x[0] > 0) + 2 * int(x[1] > 0)}


FILES = {
    "300 texts, 4,000 rows": lambda: texts(300, 4000),
    "100,000 texts, 30,000 rows": lambda: texts(100_000, 30_000),
    "1,000 classes, 4,000 rows": lambda: many_classes(4000),
    "500 columns, 5,000 rows": lambda: many_columns(5000),
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
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


def peak(command: list[str]) -> tuple[float, dict[str, Any]]:
    """Peak resident memory of a command in MB, and what it printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command}: exit code {process.returncode}")
    return usage.ru_maxrss * 1024 / 1e6, json.loads(output)


WAYS = {
    "`run`": lambda path: [sys.executable, "-m", "ocoboost", "run", str(path), "--target", "label", "--json"],
    "Python": lambda path: [sys.executable, __file__, "--learn", str(path)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        learn(options.learn)
        return
    table = []
    with tempfile.TemporaryDirectory() as folder:
        warm = write(Path(folder) / "warm.csv", list(texts(60, 500)))
        for command in WAYS.values():
            peak(command(warm))
        for name, make in FILES.items():
            rows = list(make())
            few = write(Path(folder) / "few.csv", rows[:10])
            every = write(Path(folder) / "all.csv", rows)
            for way, command in WAYS.items():
                low, _ = peak(command(few))
                high, found = peak(command(every))
                if "held" in found and found["held"] > found["max_size"]:
                    raise SystemExit(f"{name}: the model held {found['held']:.1f} MiB")
                held = f"{found['held']:.0f}" if "held" in found else ""
                table.append([name, way, f"{low:.0f}", f"{high - low:.0f}", held, f"{100 * found['accuracy']:.1f}"])
                print(" | ".join(table[-1]), flush=True)
    columns = ["", "", "ten rows, MB", "above that, MB", "held at most, MiB", "accuracy, %"]
    studies.put(studies.DOCS / "memory.md", studies.table(columns, table, text=(0, 1)), "peak")


if __name__ == "__main__":
    main()
