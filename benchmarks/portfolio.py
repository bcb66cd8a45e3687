"""The streams on which the members of `OnlineBoostClassifier` were chosen, and how each does there by itself.

    python benchmarks/portfolio.py
    python benchmarks/portfolio.py --streams wine,sums --noise 0

Prequential accuracy of the mode against the clean labels, mean over three shuffles, with 0, 20 and 40 % of the labels
flipped. None of these streams is among the seven that the documentation reports. Nothing is stored.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from river.datasets import synth
from sklearn import datasets as bundled

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench import datasets, measures, noise
from ocoboost.online.members import default_pairs

Stream = list[tuple[dict[Any, Any], Any]]


def numbers(X: Any, y: Any) -> Stream:
    return [(dict(enumerate(map(float, x))), int(label)) for x, label in zip(X, y, strict=True)]


def ordinal() -> Stream:
    """25 ordered classes, six correlated columns and one of text."""
    draw = np.random.default_rng(12345)
    depth = draw.normal(size=(2500, 1))
    X = np.exp(0.5 * (depth + 0.3 * draw.normal(size=(2500, 6))))
    kind = draw.integers(0, 3, 2500)
    rank = np.clip(np.round((2.0 * depth[:, 0] + 0.5 * (kind == 2) + draw.gumbel(size=2500)) * 1.6 + 8), 0, 24)
    names = [f"f{column}" for column in range(6)]
    return [
        ({**dict(zip(names, map(float, x), strict=True)), "kind": "ABC"[code]}, int(label))
        for x, code, label in zip(X, kind, rank, strict=True)
    ]


def rules() -> Stream:
    """A small decision table over text."""
    table = np.sort(np.sort(np.random.default_rng(12345).integers(0, 4, (4, 4)), 0), 1)
    rows: Stream = []
    for codes in itertools.product(range(4), range(4), range(3), range(3), range(3), range(4)):
        price = table[codes[0], codes[1]]
        worth = min(codes[2], codes[3]) * (codes[4] > 0) + (codes[5] > 2)
        grade = 0 if price == 0 or worth == 0 else min(3, (price + worth) // 2)
        rows.append(({f"c{column}": "uvwx"[code] for column, code in enumerate(codes)}, int(grade)))
    return rows


def sums() -> Stream:
    """The sign of a weighted sum of small integers, with a thin class where it is zero."""
    rows: Stream = []
    for values in itertools.product(range(4), repeat=5):
        total = values[0] + values[1] + values[2] - 2 * values[3] - values[4]
        label = "left" if total < 0 else "right" if total > 0 else "even"
        rows.append(({f"c{column}": value for column, value in enumerate(values)}, label))
    return rows


def overlap() -> Stream:
    """Ten overlapping gaussians of very unequal size."""
    draw = np.random.default_rng(12345)
    means = 0.9 * draw.normal(size=(10, 8))
    labels = draw.choice(10, 1500, p=[0.3, 0.28, 0.16, 0.1, 0.04, 0.03, 0.03, 0.03, 0.02, 0.01])
    return numbers(means[labels] + draw.normal(size=(1500, 8)), labels)


def wide() -> Stream:
    options = {"n_informative": 20, "n_redundant": 20, "n_classes": 8, "n_clusters_per_class": 4, "class_sep": 1.5}
    return numbers(*bundled.make_classification(1200, 60, random_state=1, **options))


STREAMS: dict[str, Callable[[], Stream]] = {
    "digits": lambda: numbers(*bundled.load_digits(return_X_y=True)),
    "wine": lambda: numbers(*bundled.load_wine(return_X_y=True)),
    "cancer": lambda: numbers(*bundled.load_breast_cancer(return_X_y=True)),
    "rbf": lambda: list(synth.RandomRBF(1, 2, n_classes=8, n_features=10, n_centroids=40).take(2500)),
    "led": lambda: list(synth.LED(seed=3, noise_percentage=0.1).take(1500)),
    "waveform": lambda: list(synth.Waveform(seed=3).take(1500)),
    "ordinal": ordinal,
    "rules": rules,
    "sums": sums,
    "wide": wide,
    "overlap": overlap,
}


def contestants() -> dict[str, Callable[[int], Any]]:
    models: dict[str, Callable[[int], Any]] = {
        f"{type(learner).__name__} {number}, gamma {gamma:g}": lambda seed, learner=learner, gamma=gamma: (
            OnlineAgnosticBoostClassifier(
                learner, gamma=gamma, n_learners=40, start="label", pool="distribution", seed=seed
            )
        )
        for number, (learner, gamma) in enumerate(default_pairs(), 1)
    }
    models["one Hoeffding tree"] = lambda seed: HoeffdingTrees(seed=seed)
    models["mixture, budget 100"] = lambda seed: OnlineBoostClassifier(budget=100, seed=seed)
    models["mixture"] = lambda seed: OnlineBoostClassifier(seed=seed)
    return models


def accuracy(make: Callable[[int], Any], rows: Stream, share: float) -> float:
    accuracies = []
    for seed in (1, 2, 3):
        shuffled = datasets.shuffled(rows, seed)
        labels = [y for _, y in shuffled]
        taught = noise.flip(labels, share, seed=seed)
        predictions = make(seed).predict_learn_many([x for x, _ in shuffled], taught)
        accuracies.append(measures.accuracy(predictions, labels))
    return statistics.fmean(accuracies)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--noise", default="0,0.2,0.4")
    options = parser.parse_args()
    streams = {name: STREAMS[name]() for name in options.streams.split(",")}
    for share in map(float, options.noise.split(",")):
        print(f"\n{share:.0%} flipped".ljust(32), *(f"{name:>8}" for name in streams), "    mean")
        for title, make in contestants().items():
            cells = [accuracy(make, rows, share) for rows in streams.values()]
            print(f"{title:31}", *(f"{cell:8.1f}" for cell in cells), f"{statistics.fmean(cells):8.1f}", flush=True)


if __name__ == "__main__":
    main()
