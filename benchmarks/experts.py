"""Learners over classes: how fast the exact dynamic programme is, and how far the regret stays below its bound.

    python benchmarks/experts.py speed      # some seconds; rows per second, and against enumerating the class
    python benchmarks/experts.py regret     # two minutes; measured regret beside the bound
    python benchmarks/experts.py example    # the worked example of docs/experts.md
    python benchmarks/experts.py accuracy   # four minutes; two streams of the paper

Prints the tables of docs/experts.md. Nothing is stored.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import studies
from river import preprocessing

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, StumpExperts
from ocoboost.bench import datasets, measures
from ocoboost.data.rows import NumberRows
from ocoboost.data.schema import Block, Schema
from ocoboost.learners.experts.ensemble import EnumeratedEnsemble, ExpertEnsemble
from ocoboost.learners.experts.hypotheses import EnumeratedClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stumps import StumpClass, find_cells

Labels = Callable[[int, np.ndarray, np.ndarray, np.random.Generator], int]


def block_of(X: np.ndarray) -> Block:
    rows, schema = NumberRows(list(range(X.shape[1])), X), Schema()
    for additions in schema.plan(rows).values():
        schema.apply(additions, n_classes=2)
    return Block(rows, schema)


# -- speed -----------------------------------------------------------------------------------------------------------


class WrittenOut(EnumeratedClass):
    """A class of stumps, every member kept as the label it gives to each cell."""

    def __init__(self, stumps: StumpClass) -> None:
        self.stumps, self.n_classes = stumps, stumps.n_classes
        centres = stumps.low + (stumps.high - stumps.low) * (np.arange(stumps.n_cells) + 0.5) / stumps.n_cells
        grid = np.tile(centres[:, None], stumps.n_features)
        members = list(stumps.members())
        self.features = np.array([member.feature for member in members])
        self.cell_labels = np.array([member(grid) for member in members])

    @property
    def size(self) -> int:
        return len(self.features)

    def labels(self, row: np.ndarray) -> np.ndarray:
        cells = find_cells(row[None, :], self.stumps.edges)[0]
        return self.cell_labels[np.arange(self.size), cells[self.features]]


def seconds(ensemble: ExpertEnsemble, X: np.ndarray, labels: np.ndarray, n_classes: int) -> float:
    """Time to vote on every row and learn it."""
    start = time.perf_counter()
    block = ensemble.prepare(block_of(X), learning=True)
    ensemble.vote_and_learn(0, block, np.eye(n_classes)[labels], np.empty((len(X), n_classes)))
    return time.perf_counter() - start


def speed() -> None:
    print("| features | cells | classes | members | rows per second, median of 7 | least and most |")
    print("|---:|---:|---:|---:|---:|---:|")
    for d, cells, k in [(20, 32, 5), (40, 32, 5), (20, 64, 5), (20, 32, 10), (4, 16, 3)]:
        rng = np.random.default_rng(0)
        X, labels = rng.random((1000, d)), rng.integers(k, size=1000)
        model = StumpExperts(n_cells=cells)
        seconds(model.make_ensemble(1, 0), X[:10], labels[:10], k)
        rates = sorted(1000 / seconds(model.make_ensemble(1, 0), X, labels, k) for _ in range(7))
        size = f"{math.exp(StumpClass(d, k, cells).log_size):.0e}".replace("e+0", "e").replace("e+", "e")
        spread = f"{rates[0]:,.0f} to {rates[-1]:,.0f}"
        print(f"| {d} | {cells} | {k} | {size} | {statistics.median(rates):,.0f} | {spread} |", flush=True)

    print("\n| features | cells | classes | members | times as fast as enumerating, median of 7 | least and most |")
    print("|---:|---:|---:|---:|---:|---:|")
    for d, cells, k in [(2, 5, 3), (4, 8, 3), (2, 6, 4), (4, 8, 4)]:
        rng = np.random.default_rng(0)
        X, labels = rng.random((100, d)), rng.integers(k, size=100)
        stumps = StumpClass(d, k, cells)
        members = WrittenOut(stumps)
        ratios = []
        for _ in range(8):  # the first compiles
            slow = EnumeratedEnsemble(
                "written out", 1, LearningRate(), 0, is_random=False, members=members, read=_values
            )
            enumerated = seconds(slow, X, labels, k)
            ratios.append(enumerated / seconds(StumpExperts(n_cells=cells).make_ensemble(1, 0), X, labels, k))
        ratios = sorted(ratios[1:])
        spread = f"{ratios[0]:.1f} to {ratios[-1]:.1f}"
        print(f"| {d} | {cells} | {k} | {members.size:,} | {statistics.median(ratios):.1f} | {spread} |", flush=True)


def _values(row: dict[int, float]) -> np.ndarray:
    return np.array(list(row.values()))


# -- regret ----------------------------------------------------------------------------------------------------------


def noisy_stump(row: int, x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """A member of the class, but three labels of ten are drawn, so a fifth is wrong."""
    return int(x[0] * len(vote)) if rng.random() < 0.7 else int(rng.integers(len(vote)))


def coin(row: int, x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """Nothing to learn: the regret is what chance gives the best of many."""
    return int(rng.integers(len(vote)))


def spite(row: int, x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """The label with the smallest share, chosen after the vote."""
    return int(np.argmin(vote))


def regret(n_rows: int, labels: Labels, horizon: int | None, seed: int) -> tuple[float, float]:
    """What the best stump gained more than the expected votes, gains in [-1, 1]; and the bound."""
    d, cells, k = 3, 9, 3
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, d))
    ensemble = StumpExperts(n_cells=cells, horizon=horizon).make_ensemble(1, seed)
    block = ensemble.prepare(block_of(X), learning=True)
    vote, taught, gained = np.empty((1, k)), np.zeros((n_rows, k)), 0.0
    for row in range(n_rows):
        ensemble.vote(0, block[row : row + 1], vote)
        taught[row, labels(row, X[row], vote[0], rng)] = 1.0
        gained += float(vote[0] @ taught[row])
        ensemble.vote_and_learn(0, block[row : row + 1], taught[row : row + 1], vote)
    best = ensemble.hypothesis_class.best_in_class(X, taught).value
    return 2.0 * (best - gained), ensemble.regret_bound(n_rows)


def regrets(n_seeds: int) -> None:
    print("| labels | rate | 100 rows | 1,000 rows | 10,000 rows | slope |")
    print("|---|---|---:|---:|---:|---:|")
    sizes = 100, 1_000, 10_000
    for labels in (noisy_stump, coin, spite):
        for rate in ("tuned", "anytime"):
            cells, means = [], []
            for n_rows in sizes:
                horizon = n_rows if rate == "tuned" else None
                measured, bounds = zip(*(regret(n_rows, labels, horizon, s) for s in range(n_seeds)), strict=True)
                means.append(statistics.fmean(measured))
                cells.append(f"{studies.shown(measured, 0)} of {bounds[0]:.0f}")
            slope = math.log(means[-1] / means[1]) / math.log(10.0) if min(means) > 0.0 else math.nan
            print(f"| {labels.__name__.replace('_', ' ')} | {rate} | {' | '.join(cells)} | {slope:.2f} |", flush=True)


# -- example ---------------------------------------------------------------------------------------------------------


def booster(learner: Any, **options: Any) -> OnlineAgnosticBoostClassifier:
    """Twenty learners, with the settings of the mixture's members."""
    return OnlineAgnosticBoostClassifier(learner, n_learners=20, start="label", pool="distribution", **options)


def example(n_seeds: int) -> None:
    """Two features decide together, a stump sees one of them; one label in ten is wrong."""
    n_rows = 3000
    print(f"| model | accuracy, mean and standard error over {n_seeds} seeds |")
    print("|---|---:|")
    scores: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = rng.random((n_rows, 4))
        clean = np.where(X[:, 0] < 0.5, 0, np.where(X[:, 1] < 0.5, 1, 2))
        labels = np.where(rng.random(n_rows) < 0.1, rng.integers(3, size=n_rows), clean)
        best = StumpClass(n_features=4, n_classes=3, n_cells=8).best_in_class(X, np.eye(3)[labels])
        scores.setdefault("best stump in hindsight", []).append(best.value / n_rows)
        learner = StumpExperts(n_cells=8)
        models = {
            "`StumpExperts`": StumpExperts(n_cells=8),
            "20 boosted, mode": booster(learner, gamma=0.2, seed=seed),
        }
        for name, model in models.items():
            predictions = np.array(model.predict_learn_many(X, labels))
            scores.setdefault(name, []).append(float(np.mean(predictions == labels)))
        scores.setdefault("the rule itself", []).append(float(np.mean(clean == labels)))
    for name, values in scores.items():
        print(f"| {name} | {studies.shown([100.0 * value for value in values])} |")


def accuracy(n_shuffles: int) -> None:
    """Prequential accuracy of the mode; every feature scaled to the range seen so far, this row included."""
    models = {
        "`StumpExperts`": lambda seed: StumpExperts(),
        "20 boosted, gamma 0.3": lambda seed: booster(StumpExperts(), gamma=0.3, seed=seed),
        "20 boosted Hoeffding trees of depth 1, gamma 0.3": lambda seed: booster(
            HoeffdingTrees(max_depth=1), gamma=0.3, seed=seed
        ),
    }
    streams = {"Balance": datasets.balance(), "Segment": datasets.load("segment")}
    print(f"| model | {' | '.join(streams)} |")
    print("|---|---:|---:|")
    for name, make in models.items():
        cells = []
        for rows in streams.values():
            scores = []
            for seed in range(1, n_shuffles + 1):
                scaler, X, labels = preprocessing.MinMaxScaler(), [], []
                for x, y in datasets.shuffled(rows, seed):
                    scaler.learn_one(x)
                    X.append(scaler.transform_one(x))
                    labels.append(y)
                predictions = make(seed).predict_learn_many(X, labels)
                scores.append(measures.accuracy(predictions, labels))
            cells.append(studies.shown(scores))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what: dict[str, Callable[[int], None]] = {"regret": regrets, "example": example, "accuracy": accuracy}
    parser.add_argument("what", choices=["speed", *what])
    parser.add_argument("--seeds", type=int, help="or shuffles; 8 for regret, 5 for the others")
    options = parser.parse_args()
    if options.what == "speed":
        speed()
    else:
        what[options.what](options.seeds or (8 if options.what == "regret" else 5))


if __name__ == "__main__":
    main()
