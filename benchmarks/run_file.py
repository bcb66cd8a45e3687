"""What `ocoboost run` costs beyond learning: memory through a long file, and speed beside an array in memory.

    python benchmarks/run_file.py --rows 1000000 --only memory,speed --models hoeffding,boost

The file has 20 numeric columns and four labels, a tenth of them drawn at random. `memory` runs the model in a process
of its own and reads that process's resident memory after every block. `speed` times a run on the file and a prequential
run on the same rows as an array in blocks of the same size, in turns; the ratio is that of their rows per second:
median, lowest and highest over the repeats. Kernels are compiled before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ocoboost.cli.models import make_model
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings

N_FEATURES = 20
FIRST_ROWS = 10_000  # memory is counted from here on
WARM_UP = 5 * runner.BLOCK  # two chunks of a file: the first is read cell by cell, the second by PyArrow


def write_file(path: Path, n_rows: int, decimals: int = 6) -> None:
    """A stream whose labels need two features each, with noise."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"x{number}" for number in range(N_FEATURES)) + ",label\n")
        for first in range(0, n_rows, 50_000):
            X = rng.normal(size=(min(50_000, n_rows - first), N_FEATURES)).round(decimals)
            y = (X[:, 0] + X[:, 1] > 0) + 2 * (X[:, 2] * X[:, 3] > 0)
            y = np.where(rng.random(len(X)) < 0.1, rng.integers(0, 4, len(X)), y)
            rows = zip(X.tolist(), y.tolist(), strict=True)
            file.write("".join(",".join(map(repr, row)) + f",class {label}\n" for row, label in rows))


def read_file(path: Path) -> tuple[np.ndarray, list[str]]:
    table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(N_FEATURES))
    labels = [line.rsplit(",", 1)[1] for line in path.read_text().splitlines()[1:]]
    return table, labels


def resident() -> float:
    """The resident memory of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1e3 * 1.024


def trace_memory(path: str, model: str, budget: int | None) -> None:
    """Print rows, MB and accuracy after every block (in a process of its own)."""
    run = runner.Run(make_model(model, budget, None, 1, 1), path, Settings("label"))
    for _ in run.steps():
        print(json.dumps([run.scores.n_rows, resident(), run.scores.accuracy]), flush=True)


def measure_memory(path: Path, model: str, budget: int | None) -> dict[str, float]:
    command = [sys.executable, __file__, "--trace", str(path), "--models", model]
    command += [] if budget is None else ["--budget", str(budget)]
    started = time.perf_counter()
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    points = [json.loads(line) for line in output.splitlines()]
    first = next(memory for n_rows, memory, _ in points if n_rows >= FIRST_ROWS)
    after = [memory for n_rows, memory, _ in points if n_rows >= FIRST_ROWS]
    return {
        "rows": points[-1][0],
        "MB at row 10,000": first,
        "most MB after": max(after),
        "growth in MB": max(after) - first,
        "accuracy": points[-1][2],
        "seconds": time.perf_counter() - started,
    }


def learn_array(model: str, budget: int | None, X: np.ndarray, y: list[str]) -> float:
    """Seconds for an array."""
    classifier = make_model(model, budget, None, 1, 1)
    started = time.perf_counter()
    for first in range(0, len(X), runner.BLOCK):
        for _ in classifier.prequential(X[first : first + runner.BLOCK], y[first : first + runner.BLOCK]):
            pass
    return time.perf_counter() - started


def learn_file(model: str, budget: int | None, path: Path, most_rows: float = math.inf) -> float:
    """Seconds for a file, or for its first rows."""
    run = runner.Run(make_model(model, budget, None, 1, 1), str(path), Settings("label"))
    started = time.perf_counter()
    for _ in run.steps():
        if run.scores.n_rows >= most_rows:
            break
    return time.perf_counter() - started


def measure_speed(path: Path, model: str, budget: int | None, repeats: int) -> dict[str, float]:
    X, y = read_file(path)
    learn_array(model, budget, X[:WARM_UP], y[:WARM_UP])
    learn_file(model, budget, path, WARM_UP)
    ratios, arrays, files = [], [], []
    for _ in range(repeats):
        array, file = learn_array(model, budget, X, y), learn_file(model, budget, path)
        ratios.append(array / file)
        arrays.append(len(X) / array)
        files.append(len(X) / file)
    return {
        "rows": len(X),
        "rows/s, array": statistics.median(arrays),
        "rows/s, run": statistics.median(files),
        "run / array": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--budget", type=int, help="total number of weak learners; as the command line has it if not given"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--decimals", type=int, default=6, help="of each number in the file; 17 keep all digits")
    parser.add_argument("--only", default="memory,speed")
    parser.add_argument("--models", default="hoeffding")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    models = arguments.models.split(",")
    if arguments.trace:
        trace_memory(arguments.trace, models[0], arguments.budget)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_file(path, arguments.rows, arguments.decimals)
        for model in models:
            if "memory" in arguments.only:
                print("memory", model, json.dumps(measure_memory(path, model, arguments.budget)), flush=True)
            if "speed" in arguments.only:
                speed = measure_speed(path, model, arguments.budget, arguments.repeats)
                print("speed", model, json.dumps(speed), flush=True)


if __name__ == "__main__":
    main()
