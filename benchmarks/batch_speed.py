"""How long `BoostClassifier` takes to fit beside a random forest and gradient boosting, and what grows with what.

    python benchmarks/batch_speed.py run --data-dir FOLDER
    python benchmarks/batch_speed.py report                      # writes the tables of docs/batch.md

Processor time on one thread (set ``OMP_NUM_THREADS=1`` for HistGradientBoosting), all models in turns in one process,
so that they share whatever else the machine does; the datasets of ``batch_accuracy.py``, first fold. Beside it the size
of the pickled models, and the peak of memory while fitting a larger sample, each fit in a process of its own.
"""

from __future__ import annotations

import pickle
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
from batch_accuracy import DATASETS, MODELS, NOISE, OURS, cell_of, warm_up
from sklearn.datasets import make_classification

from ocoboost.bench.jobs import Job, Result

STORE = "batch_speed"
FOREST, BOOSTING = "random forest, 200", "HistGradientBoosting"
N_TURNS = 3
NOISES = ("clean", "20")
SIZES = {"rows": (2_000, 4_000, 8_000, 16_000, 32_000), "columns": (8, 16, 32, 64, 128), "classes": (2, 4, 8, 16, 32)}
BASE = {"rows": 4_000, "columns": 16, "classes": 4}
LARGE = {"rows": 100_000, "columns": 20, "classes": 4}


def plan() -> list[Job]:
    turns: list[Job] = [{"dataset": name, "noise": noise} for name in DATASETS for noise in NOISES]
    growing: list[Job] = [{**BASE, size: value} for size, values in SIZES.items() for value in values]
    peaks: list[Job] = [{**LARGE, "model": model} for model in (OURS, FOREST, BOOSTING)]
    return [*turns, *({"growing": True, **job} for job in growing), *({"peak": True, **job} for job in peaks)]


def work(job: Job, data_dir: Path | None) -> Result:
    if "peak" in job:
        command = [sys.executable, __file__, "peak", *(str(job[name]) for name in BASE), "--models", job["model"]]
        return {"MiB": float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)}
    warm_up()
    if "growing" in job:
        X, y = synthetic(*(job[name] for name in BASE))
        return {"seconds": round(min(took(OURS, X, y)[0] for _ in range(N_TURNS)), 4)}
    cell = cell_of(
        {"dataset": job["dataset"], "share": NOISE[job["noise"]][0], "noise": "uniform", "fold": 0}, data_dir
    )
    turns: dict[str, list[float]] = {model: [] for model in (OURS, FOREST, BOOSTING)}
    sizes = {}
    for _ in range(N_TURNS):
        for model, seconds in turns.items():
            spent, fitted = took(model, cell.X[cell.train], cell.y)
            seconds.append(round(spent, 4))
            sizes[model] = len(pickle.dumps(fitted))
    return {"seconds": turns, "bytes": sizes}


def took(model: str, X: Any, y: Any) -> tuple[float, Any]:
    made = MODELS[model]()
    began = time.process_time()
    made.fit(X, y)
    return time.process_time() - began, made


def synthetic(n_rows: int, n_columns: int, n_classes: int) -> tuple[Any, Any]:
    return make_classification(
        n_rows, n_columns, n_informative=6, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1, random_state=1
    )


def peak(model: str, n_rows: int, n_columns: int, n_classes: int) -> float:
    """By how many MiB fitting lifts the peak of this process above that of making the sample."""
    warm_up()
    X, y = synthetic(n_rows, n_columns, n_classes)
    before = _most_held()
    MODELS[model]().fit(X, y)
    return _most_held() - before


def _most_held() -> float:
    """The peak of this process so far, in MiB; that of ``resource`` would begin with what the parent process holds."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def report(runs: list[dict[str, Any]]) -> str:
    turns = {(run["dataset"], run["noise"]): run for run in runs if "dataset" in run}
    rows, every = [], []
    for name in DATASETS:
        cells = [turns[name, noise] for noise in NOISES if (name, noise) in turns]
        ratios = [ratio(cell["seconds"], rival) for rival in (FOREST, BOOSTING) for cell in cells]
        size = cells[0]["bytes"][OURS] / cells[0]["bytes"][FOREST]
        own = [statistics.median(cell["seconds"][OURS]) for cell in cells]
        every.append([*ratios, size])
        rows.append([name, *(f"{value:.2f}" for value in own), *(f"{value:.2f}" for value in every[-1])])
    medians = np.median(every, axis=0)
    fewer = [sum(one <= 1.0 for one in column) for column in zip(*every, strict=True)]
    rows.append(["median", "", "", *(f"{value:.2f}" for value in medians)])
    rows.append(["at most 1", "", "", *(f"{count} of {len(every)}" for count in fewer)])
    titles = ["dataset", "seconds, clean", "20 % flipped", "/ forest, clean", "20 % flipped"]
    titles += ["/ gradient boosting, clean", "20 % flipped", "size / forest"]
    return "\n\n".join([studies.table(titles, rows), _growth(runs), _peaks(runs)])


def ratio(seconds: dict[str, list[float]], rival: str) -> float:
    """Of the medians over turns."""
    return statistics.median(seconds[OURS]) / statistics.median(seconds[rival])


def _growth(runs: list[dict[str, Any]]) -> str:
    """The exponent to which time grows with one size while the others stand still, fitted over a factor of 16."""
    found = {tuple(run[name] for name in BASE): run["seconds"] for run in runs if "growing" in run}
    told = []
    for size, values in SIZES.items():
        times = [found[tuple({**BASE, size: value}.values())] for value in values]
        slope = np.polyfit(np.log(values), np.log(times), 1)[0]
        told.append(f"{size} {slope:.2f} ({times[0]:.2f} to {times[-1]:.2f} s for {values[0]:,} to {values[-1]:,})")
    return f"Exponents of growth: {'; '.join(told)}."


def _peaks(runs: list[dict[str, Any]]) -> str:
    found = {run["model"]: run["MiB"] for run in runs if "peak" in run and run["rows"] == LARGE["rows"]}
    told = ", ".join(f"{model} {found[model]:.0f}" for model in (OURS, FOREST, BOOSTING))
    sizes = f"{LARGE['rows']:,} x {LARGE['columns']}"
    return f"Fitting {sizes} lifts the peak of memory above that of making the sample by, in MiB: {told}."


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report", "peak"))
    parser.add_argument("sizes", nargs="*", type=int, help="of a sample: rows, columns, classes")
    parser.add_argument("--models", choices=list(MODELS), help="whose peak")
    options = parser.parse_args()
    if options.action == "peak":
        print(peak(options.models, *options.sizes))
    elif options.action == "run":
        studies.run_missing(STORE, plan(), partial(work, data_dir=options.data_dir), options)
    else:
        studies.put(studies.DOCS / "batch.md", report(studies.finished(STORE, options)), "batch-speed")


if __name__ == "__main__":
    main()
