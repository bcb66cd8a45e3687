"""The batch boosters beside their own weak learner, AdaBoost with the same learner, and gradient boosting.

    python benchmarks/batch.py gamma                       # how the default gamma was chosen; synthetic samples
    python benchmarks/batch.py run --data-dir FOLDER       # 10-fold cross-validation
    python benchmarks/batch.py speed                       # 20,000 x 16, 26 classes, side by side
    python benchmarks/batch.py report                      # writes the tables of docs/batch.md

Every finished fit is kept in ``batch.jsonl``, ``batch_gamma.jsonl`` and ``batch_stumps.jsonl`` of
``benchmarks/results``, so an interrupted study resumes. Labels are flipped in the training folds only; accuracy is of
the mode on clean test folds.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
from sklearn.datasets import make_classification, make_gaussian_quantiles
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import KFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from ocoboost import AgnosticBoostClassifier, HistogramTreeClassifier, RealizableBoostClassifier
from ocoboost.batch.gamma import default_gamma
from ocoboost.batch.histogram_tree import default_depth
from ocoboost.bench import datasets, noise, paper
from ocoboost.bench.jobs import Job, Result

PAGE = studies.DOCS / "batch.md"
DATASETS = paper.DATASETS
SHARES = (0.0, 0.2, 0.4)
N_FOLDS, N_STAGES = 10, 100


def stump() -> HistogramTreeClassifier:
    return HistogramTreeClassifier(max_depth=1)


MODELS: dict[str, Callable[[], Any]] = {
    "one stump": stump,
    "agnostic, stumps": lambda: AgnosticBoostClassifier(stump(), n_estimators=N_STAGES),
    "realizable, stumps": lambda: RealizableBoostClassifier(stump(), n_estimators=N_STAGES),
    "AdaBoost, stumps": lambda: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=N_STAGES, random_state=0
    ),
    "one default tree": HistogramTreeClassifier,
    "agnostic": lambda: AgnosticBoostClassifier(n_estimators=N_STAGES),
    "realizable": lambda: RealizableBoostClassifier(n_estimators=N_STAGES),
    "gradient boosting": lambda: HistGradientBoostingClassifier(
        max_iter=N_STAGES, early_stopping=False, random_state=0
    ),
}
SINGLE = {"agnostic, stumps": "one stump", "realizable, stumps": "one stump"} | dict.fromkeys(
    ("agnostic", "realizable"), "one default tree"
)


@cache
def load(name: str, data_dir: Path | None) -> tuple[Any, list[str]]:
    """Features as numbers (text by rank, missing by the column's mean, as AdaBoost takes none) and labels."""
    rows = datasets.imputed(datasets.ranked(datasets.load(name, data_dir)))
    names = sorted({key for x, _ in rows for key in x}, key=str)
    return np.array([[x[key] for key in names] for x, _ in rows], dtype=float), [y for _, y in rows]


def plan(names: list[str], models: list[str], shares: list[float], n_folds: int) -> list[Job]:
    return [
        {"dataset": name, "share": share, "fold": fold, "model": model}
        for share, name, fold, model in itertools.product(shares, names, range(n_folds), models)
    ]


def run(job: Job, data_dir: Path | None) -> Result:
    X, labels = load(job["dataset"], data_dir)
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[job["fold"]]
    taught = noise.flip([labels[row] for row in train], job["share"], seed=job["fold"])
    began = time.perf_counter()
    accuracy = MODELS[job["model"]]().fit(X[train], np.array(taught)).score(X[test], np.array(labels)[test])
    return {"accuracy": round(accuracy, 6), "seconds": round(time.perf_counter() - began, 3)}


def shown(shares: list[float]) -> str:
    """Mean and standard error in percent; an asterisk marks fewer folds than ten."""
    return studies.shown([100.0 * share for share in shares]) + ("*" if len(shares) < N_FOLDS else "")


def accuracy_tables(runs: list[dict[str, Any]]) -> str:
    cells: dict[tuple[str, float, str], dict[int, float]] = {}
    for run in runs:
        cells.setdefault((run["dataset"], run["share"], run["model"]), {})[run["fold"]] = run["accuracy"]
    parts = []
    for share in SHARES:
        rows = []
        for model in MODELS:
            found = [cells.get((name, share, model)) for name in DATASETS]
            rows.append([model, *(shown(list(cell.values())) if cell else "" for cell in found)])
        for model, single in SINGLE.items():
            row = [f"{model}: ahead of {single} by"]
            for name in DATASETS:
                ours, base = cells.get((name, share, model), {}), cells.get((name, share, single), {})
                ahead = [ours[fold] - base[fold] for fold in ours if fold in base]
                row.append(("+" if statistics.fmean(ahead) > 0 else "") + shown(ahead) if ahead else "")
            rows.append(row)
        parts += [f"### {share:.0%} of the training labels flipped", ""]
        parts += [studies.table(["model", *(name.capitalize() for name in DATASETS)], rows), ""]
    return "\n".join(parts)


def problem(kind: str, n_classes: int, seed: int) -> tuple[Any, Any]:
    """Synthetic samples of 2,000 rows; none has to do with the reported datasets."""
    draw = np.random.default_rng(seed)
    if kind == "clusters":
        options = {"n_informative": 8, "n_redundant": 2, "n_clusters_per_class": 2}
        return make_classification(2000, 12, n_classes=n_classes, random_state=seed, **options)
    if kind == "shells":
        return make_gaussian_quantiles(n_samples=2000, n_features=6, n_classes=n_classes, random_state=seed)
    if kind == "clouds":  # of unequal size
        labels = draw.choice(n_classes, 2000, p=draw.dirichlet(np.ones(n_classes)))
        return 0.9 * draw.normal(size=(n_classes, 8))[labels] + draw.normal(size=(2000, 8)), labels
    X = draw.integers(0, 5, (2000, 8))  # "table": three of eight features decide
    return X.astype(float), draw.integers(0, n_classes, (5, 5, 5))[X[:, 0], X[:, 1], X[:, 2]]


KINDS = ("clusters", "shells", "clouds", "table")
GAMMAS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)


BOOSTERS = {"agnostic": AgnosticBoostClassifier, "realizable": RealizableBoostClassifier}


def plan_gammas() -> list[Job]:
    return [
        {"booster": booster, "classes": n_classes, "kind": kind, "share": share, "depth": depth, "gamma": gamma}
        for n_classes, kind, share in itertools.product((2, 4, 8, 16), KINDS, (0.0, 0.3))
        for depth, booster, gamma in itertools.product((1, default_depth(n_classes)), BOOSTERS, GAMMAS)
    ]


def run_gamma(job: Job) -> Result:
    """Test accuracy on a synthetic sample."""
    X, y = problem(job["kind"], job["classes"], seed=1)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    y = np.array(noise.flip(y.tolist(), job["share"], seed=1))
    tree = HistogramTreeClassifier(job["depth"])
    model = BOOSTERS[job["booster"]](tree, n_estimators=N_STAGES, gamma=job["gamma"])
    return {"accuracy": round(model.fit(X, y).score(X_test, y_test), 4)}


def gamma_table(runs: list[dict[str, Any]]) -> str:
    cells: dict[tuple[str, int, int], dict[float, list[float]]] = {}
    for run in runs:
        row = cells.setdefault((run["booster"], run["classes"], run["depth"]), {})
        row.setdefault(run["gamma"], []).append(run["accuracy"])
    rows, strong = [], set()
    for number, ((booster, n_classes, depth), found) in enumerate(sorted(cells.items())):
        means = [100.0 * statistics.fmean(found[gamma]) for gamma in GAMMAS]
        strong |= {(number, 3 + place) for place, mean in enumerate(means) if mean == max(means)}
        rule = default_gamma(BOOSTERS[booster].regime, n_classes, depth)
        rows.append([booster, str(n_classes), str(depth), *(f"{mean:.1f}" for mean in means), f"{rule:.2g}"])
    return studies.table(["booster", "classes", "depth", *map(str, GAMMAS), "the rule"], rows, strong=strong)


ADABOOST = "scikit-learn's AdaBoost, 100 stumps"
SPEED_CLASSES, N_REPEATS = 26, 5
CONTESTANTS: dict[str, Callable[[], Any]] = {
    ADABOOST: MODELS["AdaBoost, stumps"],
    "agnostic, 100 stumps, gamma 0.05": lambda: AgnosticBoostClassifier(stump(), gamma=0.05),
    "the same, two threads": lambda: AgnosticBoostClassifier(stump(), gamma=0.05, n_jobs=2),
    "realizable, 100 stumps, gamma 0.05": lambda: RealizableBoostClassifier(stump(), gamma=0.05),
    f"agnostic, default (depth {default_depth(SPEED_CLASSES)})": AgnosticBoostClassifier,
}


@cache
def letters() -> tuple[Any, Any]:
    """Letter-like rows: sixteen whole numbers from 0 to 15, 26 classes. All contestants have seen some: compiled."""
    options = {"n_informative": 12, "n_redundant": 0, "n_clusters_per_class": 1, "random_state": 0}
    X, y = make_classification(20_000, 16, n_classes=SPEED_CLASSES, **options)
    X = np.clip(np.round(7.5 + 1.2 * X), 0, 15)
    for make in CONTESTANTS.values():
        make().fit(X[:500], y[:500])
    return X, y


def run_speed(job: Job) -> Result:
    """All fits in turn, so that they share whatever else the machine does."""
    X, y = letters()
    seconds, accuracies = {}, {}
    for name, make in CONTESTANTS.items():
        began = time.perf_counter()
        model = make().fit(X, y)
        seconds[name] = round(time.perf_counter() - began, 3)
        accuracies[name] = round(model.score(X, y), 6)
    return {"seconds": seconds, "accuracy": accuracies}


def speed_table(runs: list[dict[str, Any]]) -> str:
    rows = []
    for name in CONTESTANTS:
        ratios = [run["seconds"][ADABOOST] / run["seconds"][name] for run in runs]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        middle = statistics.median(run["seconds"][name] for run in runs)
        rows.append([name, f"{middle:.2f}", spread, f"{100 * runs[-1]['accuracy'][name]:.1f}"])
    return studies.table(["", "seconds, median", "times as fast as AdaBoost (range)", "training accuracy"], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("gamma", "run", "speed", "report"))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--shares", nargs="*", type=float, default=list(SHARES))
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="how many of the ten")
    options = parser.parse_args()
    if options.what == "run":
        jobs = plan(options.datasets, options.models, options.shares, options.folds)
        studies.run_missing("batch", jobs, partial(run, data_dir=options.data_dir), options)
    elif options.what == "gamma":
        studies.run_missing("batch_gamma", plan_gammas(), run_gamma, options)
    elif options.what == "speed":
        studies.run_missing("batch_stumps", [{"repeat": number} for number in range(N_REPEATS)], run_speed, options)
    else:
        studies.put(PAGE, accuracy_tables(studies.finished("batch", options)), "accuracy")
        studies.put(PAGE, gamma_table(studies.finished("batch_gamma", options)), "gamma")
        studies.put(PAGE, speed_table(studies.finished("batch_stumps", options)), "stumps speed")


if __name__ == "__main__":
    main()
