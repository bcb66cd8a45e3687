"""What does `ocoboost run` cost beyond learning? Memory through a long file, and speed beside plain arrays.

    python benchmarks/run_file.py --rows 1000000 --only memory,speed --models hoeffding,agnostic

The file has 20 columns of numbers and four labels, a tenth of them drawn at random. `memory` runs the command in a
process of its own and reads that process's resident memory after every block. `speed` times `run` on the file and
`predict_learn_many` on the same rows as an array in blocks of the same size, in turns; the ratio is that of their rows
per second, median over the repeats with the lowest and the highest. Kernels are compiled before anything is timed.
The default model takes six minutes for a million rows, so `--repeats 1` may do for it.
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

from ocoboost.cli.run import Model, make_model
from ocoboost.run import runner

N_FEATURES = 20
FIRST_ROWS = 10_000  # memory is counted from here on
WARM_UP = 5 * runner.BLOCK  # the second chunk of a file is read in another way than the first


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
    """MB of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1e3 * 1.024


def trace_memory(path: str, model: str, budget: int) -> None:
    """Print rows, MB and accuracy after every block (in a process of its own)."""
    run = runner.Run(make_model(Model(model), budget, None, 1, 1), path, runner.Settings("label"))
    for _ in run.steps():
        print(json.dumps([run.scores.n_rows, resident(), run.scores.accuracy]), flush=True)


def measure_memory(path: Path, model: str, budget: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--trace", str(path), "--models", model, "--budget", str(budget)]
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


def learn_array(model: str, budget: int, X: np.ndarray, y: list[str]) -> float:
    """Seconds for the rows as an array."""
    classifier = make_model(Model(model), budget, None, 1, 1)
    started = time.perf_counter()
    for first in range(0, len(X), runner.BLOCK):
        classifier.predict_learn_many(X[first : first + runner.BLOCK], y[first : first + runner.BLOCK])
    return time.perf_counter() - started


def learn_file(model: str, budget: int, path: Path, most_rows: float = math.inf) -> float:
    """Seconds for the rows of a file, or for the first of them."""
    run = runner.Run(make_model(Model(model), budget, None, 1, 1), str(path), runner.Settings("label"))
    started = time.perf_counter()
    for _ in run.steps():
        if run.scores.n_rows >= most_rows:
            break
    return time.perf_counter() - started


def measure_speed(path: Path, model: str, budget: int, repeats: int) -> dict[str, float]:
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
    parser.add_argument("--budget", type=int, default=200, help="weak learners in all")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--decimals", type=int, default=6, help="of each number in the file; 17 are all that it has")
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
