"""Peak resident memory of ``ocoboost run`` on awkward files, beside the first ten rows of each.

    python benchmarks/peak_memory.py

Writes the table of ``docs/memory.md``. The kernels are compiled before anything is measured.
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
from pathlib import Path
from typing import Any

import numpy as np
import studies

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


def peak(path: Path) -> tuple[float, dict[str, Any]]:
    """Peak resident memory in MB, and the scores."""
    command = [sys.executable, "-m", "ocoboost", "run", str(path), "--target", "label", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{path.name}: exit code {process.returncode}")
    return usage.ru_maxrss * 1024 / 1e6, json.loads(output)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    table = []
    with tempfile.TemporaryDirectory() as folder:
        peak(write(Path(folder) / "warm.csv", list(texts(60, 500))))
        for name, make in FILES.items():
            rows = list(make())
            few, _ = peak(write(Path(folder) / "few.csv", rows[:10]))
            most, scores = peak(write(Path(folder) / "all.csv", rows))
            print(name, f"{few:.0f} MB, {most:.0f} MB, {scores['accuracy']:.3f}", flush=True)
            table.append([name, f"{few:.0f}", f"{most - few:.0f}", f"{100 * scores['accuracy']:.1f}"])
    columns = ["", "ten rows, MB", "above that, MB", "accuracy, %"]
    studies.put(studies.DOCS / "memory.md", studies.table(columns, table), "peak")


if __name__ == "__main__":
    main()
