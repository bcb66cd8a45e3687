"""The batch boosters beside their own weak learner, AdaBoost with the same learner, and gradient boosting.

    python benchmarks/batch.py gamma                       # how the default gamma was chosen; synthetic samples
    python benchmarks/batch.py run --data-dir FOLDER       # 10-fold cross-validation; resumes
    python benchmarks/batch.py speed                       # 20,000 x 16, 26 classes, side by side
    python benchmarks/batch.py report                      # writes the tables of docs/batch.md

Every finished fit is kept in ``docs/batch.jsonl`` and ``docs/batch_gamma.jsonl``. Labels are flipped in the training
folds only; accuracy is of the mode on clean test folds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_gaussian_quantiles
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import KFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from ocoboost import AgnosticBoostClassifier, HistogramTreeClassifier, RealizableBoostClassifier
from ocoboost.batch.gamma import default_gamma
from ocoboost.batch.histogram_tree import default_depth
from ocoboost.bench import datasets, noise

DOCS = Path(__file__).resolve().parent.parent / "docs"
RUNS, GAMMA_RUNS, PAGE = DOCS / "batch.jsonl", DOCS / "batch_gamma.jsonl", DOCS / "batch.md"
DATASETS = ("balance", "cars", "landsat", "segment", "mice", "yeast", "abalone")
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


def folds(name: str, data_dir: Path | None, share: float) -> Iterator[tuple[int, Any, Any, Any, Any]]:
    X, labels = load(name, data_dir)
    for fold, (train, test) in enumerate(KFold(N_FOLDS, shuffle=True, random_state=0).split(X)):
        taught = noise.flip([labels[row] for row in train], share, seed=fold)
        yield fold, X[train], np.array(taught), X[test], np.array(labels)[test]


def run(data_dir: Path | None, only: list[str], names: list[str], shares: list[float], n_folds: int) -> None:
    """Do what is not done yet, as far as it is asked for."""
    done = {(r["dataset"], r["share"], r["fold"], r["model"]) for r in read(RUNS)}
    with RUNS.open("a") as store:
        for share, name in itertools.product(shares, names):
            for fold, X, y, X_test, y_test in itertools.islice(folds(name, data_dir, share), n_folds):
                for model, make in MODELS.items():
                    if (name, share, fold, model) in done or (only and model not in only):
                        continue
                    began = time.perf_counter()
                    accuracy = make().fit(X, y).score(X_test, y_test)
                    seconds = round(time.perf_counter() - began, 3)
                    row = {"dataset": name, "share": share, "fold": fold, "model": model}
                    store.write(json.dumps(row | {"accuracy": round(accuracy, 6), "seconds": seconds}) + "\n")
                    store.flush()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def mean_and_error(values: list[float]) -> str:
    """In percent; an asterisk marks fewer folds than ten."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{100 * statistics.fmean(values):.1f} ± {100 * error:.1f}" + ("*" if len(values) < N_FOLDS else "")


def accuracy_tables() -> str:
    cells: dict[tuple[str, float, str], dict[int, float]] = {}
    for r in read(RUNS):
        cells.setdefault((r["dataset"], r["share"], r["model"]), {})[r["fold"]] = r["accuracy"]
    lines = []
    for share in SHARES:
        lines += [f"### {share:.0%} of the training labels flipped", ""]
        lines += ["| | " + " | ".join(name.capitalize() for name in DATASETS) + " |", "|---|" + "---:|" * len(DATASETS)]
        for model in MODELS:
            found = [cells.get((name, share, model)) for name in DATASETS]
            shown = [mean_and_error(list(cell.values())) if cell else "" for cell in found]
            lines.append(f"| {model} | " + " | ".join(shown) + " |")
        for model, single in SINGLE.items():
            shown = []
            for name in DATASETS:
                ours, base = cells.get((name, share, model), {}), cells.get((name, share, single), {})
                ahead = [ours[fold] - base[fold] for fold in ours if fold in base]
                shown.append(
                    ("+" if ahead and statistics.fmean(ahead) > 0 else "") + mean_and_error(ahead) if ahead else ""
                )
            lines.append(f"| {model}: ahead of {single} by | " + " | ".join(shown) + " |")
        lines.append("")
    return "\n".join(lines)


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


def choose_gamma() -> None:
    """Test accuracy of both boosters over classes, depths and gammas."""
    boosters = {"agnostic": AgnosticBoostClassifier, "realizable": RealizableBoostClassifier}
    done = {(r["booster"], r["classes"], r["kind"], r["share"], r["depth"], r["gamma"]) for r in read(GAMMA_RUNS)}
    with GAMMA_RUNS.open("a") as store:
        for n_classes, kind, share in itertools.product((2, 4, 8, 16), KINDS, (0.0, 0.3)):
            X, y = problem(kind, n_classes, seed=1)
            X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
            y = np.array(noise.flip(y.tolist(), share, seed=1))
            for depth in (1, default_depth(n_classes)):
                for booster, gamma in itertools.product(boosters, GAMMAS):
                    key = (booster, n_classes, kind, share, depth, gamma)
                    if key in done:
                        continue
                    model = boosters[booster](HistogramTreeClassifier(depth), n_estimators=N_STAGES, gamma=gamma)
                    accuracy = round(model.fit(X, y).score(X_test, y_test), 4)
                    names = ("booster", "classes", "kind", "share", "depth", "gamma")
                    store.write(json.dumps(dict(zip(names, key, strict=True)) | {"accuracy": accuracy}) + "\n")
                    store.flush()


def gamma_table() -> str:
    cells: dict[tuple[str, int, int], dict[float, list[float]]] = {}
    for r in read(GAMMA_RUNS):
        cells.setdefault((r["booster"], r["classes"], r["depth"]), {}).setdefault(r["gamma"], []).append(r["accuracy"])
    lines = ["| booster | classes | depth | " + " | ".join(map(str, GAMMAS)) + " | the rule |"]
    lines.append("|---|---:|---:|" + "---:|" * (len(GAMMAS) + 1))
    regimes = {"agnostic": AgnosticBoostClassifier.regime, "realizable": RealizableBoostClassifier.regime}
    for (booster, n_classes, depth), found in sorted(cells.items()):
        means = {gamma: statistics.fmean(values) for gamma, values in found.items()}
        best = max(means.values())
        shown = [
            f"**{100 * means[g]:.1f}**" if means[g] == best else f"{100 * means[g]:.1f}" for g in GAMMAS if g in means
        ]
        rule = default_gamma(regimes[booster], n_classes, depth)
        lines.append(f"| {booster} | {n_classes} | {depth} | " + " | ".join(shown) + f" | {rule:.2g} |")
    return "\n".join(lines)


def speed(repeats: int) -> str:
    """Interleaved fits on letter-like rows: sixteen whole numbers from 0 to 15, 26 classes."""
    options = {"n_informative": 12, "n_redundant": 0, "n_clusters_per_class": 1, "random_state": 0}
    X, y = make_classification(20_000, 16, n_classes=26, **options)
    X = np.clip(np.round(7.5 + 1.2 * X), 0, 15)
    contestants: dict[str, Callable[[], Any]] = {
        "scikit-learn's AdaBoost, 100 stumps": lambda: AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=1), n_estimators=100
        ),
        "agnostic, 100 stumps, gamma 0.05": lambda: AgnosticBoostClassifier(stump(), gamma=0.05),
        "the same, two threads": lambda: AgnosticBoostClassifier(stump(), gamma=0.05, n_jobs=2),
        "realizable, 100 stumps, gamma 0.05": lambda: RealizableBoostClassifier(stump(), gamma=0.05),
        "agnostic, default": AgnosticBoostClassifier,
    }
    for make in contestants.values():
        make().fit(X[:500], y[:500])  # compile
    times: dict[str, list[float]] = {name: [] for name in contestants}
    accuracies = {}
    for _ in range(repeats):
        for name, make in contestants.items():
            began = time.process_time(), time.perf_counter()
            model = make().fit(X, y)
            times[name].append(time.perf_counter() - began[1])
            accuracies[name] = model.score(X, y)
    base = times["scikit-learn's AdaBoost, 100 stumps"]
    lines = ["| | seconds, median | times as fast as AdaBoost (range) | training accuracy |", "|---|---:|---:|---:|"]
    for name, found in times.items():
        ratios = [b / t for b, t in zip(base, found, strict=True)]
        shown = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"| {name} | {statistics.median(found):.2f} | {shown} | {100 * accuracies[name]:.1f} |")
    return "\n".join(lines)


def report() -> None:
    """Put the tables between their marks in the page."""
    page = PAGE.read_text()
    for mark, table in (("accuracy", accuracy_tables()), ("gamma", gamma_table())):
        before, rest = page.split(f"<!-- {mark} -->\n")
        after = rest.split(f"<!-- end of {mark} -->")[1]
        page = f"{before}<!-- {mark} -->\n{table.strip()}\n<!-- end of {mark} -->{after}"
    PAGE.write_text(page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gamma", "run", "speed", "report"))
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="names of models")
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--shares", nargs="*", type=float, default=list(SHARES))
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="how many of the ten")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.what == "run":
        run(options.data_dir, options.only, options.datasets, options.shares, options.folds)
    elif options.what == "gamma":
        choose_gamma()
    elif options.what == "speed":
        print(speed(options.repeats))
    else:
        report()


if __name__ == "__main__":
    main()
