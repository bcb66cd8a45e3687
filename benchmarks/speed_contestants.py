"""What ``speed.py`` measures: streams as arrays and dicts, our boosters, and what they are compared with."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from river import tree

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets

N_LEARNERS = 100
GAMMA = 0.5
STUMP: dict[str, Any] = {"max_depth": 1, "split_criterion": "gini"}
SEXES = {"M": 0.0, "F": 1.0, "I": 2.0}
WARM_UP = 30  # rows that ``RiverLoop`` learns before it is timed: by then most labels have been seen


class Data:
    """A stream of numbers, as an array for the booster and as dicts for River."""

    def __init__(self, X: np.ndarray, y: list[str], classes: list[str] | None = None) -> None:
        self.X, self.y, self.classes = X, y, classes or sorted(set(y))
        names = [f"x{j:02d}" for j in range(X.shape[1])]
        self.rows = [(dict(zip(names, x, strict=True)), label) for x, label in zip(X.tolist(), y, strict=True)]

    def head(self, n_rows: int) -> Data:
        return Data(self.X[:n_rows], self.y[:n_rows], self.classes)


def load(name: str, data_dir: Path | None) -> Data:
    """A dataset as numbers: Mice's missing values as means, Abalone's sex as 0, 1 or 2."""
    stream = datasets.shuffled(datasets.load(name, data_dir), seed=1)
    X = np.array([[SEXES.get(value, value) for value in x.values()] for x, _ in stream], dtype=float)
    return Data(X, [y for _, y in stream])


def gaussian(n_rows: int, n_features: int, n_classes: int) -> Data:
    """Each label moves one feature by one standard deviation: too little for a stump to split soon."""
    rng = np.random.default_rng(1)
    labels = rng.integers(n_classes, size=n_rows)
    labels[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n_rows, n_features))
    X[np.arange(n_rows), labels % n_features] += 1.0
    return Data(X, [f"class {label:03d}" for label in labels])


def booster(classes: list[str], trees: dict[str, Any] = STUMP, **changes: Any) -> OnlineAgnosticBoostClassifier:
    options = {"n_learners": N_LEARNERS, "gamma": GAMMA, "classes": classes, "n_jobs": 1, "seed": 1, **changes}
    paper = {"start": "uniform", "pool": "label"}
    return OnlineAgnosticBoostClassifier(HoeffdingTrees(**trees), **{**paper, **options})


def timed(call: Callable[[], Any]) -> float:
    gc.collect()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def time_booster(data: Data, n_warm: int = 0, **changes: Any) -> float:
    """Seconds per row of predicting and learning the rows after the first ``n_warm``, in one call."""
    model = booster(data.classes, **changes)
    if n_warm:
        model.predict_learn_many(data.X[:n_warm], data.y[:n_warm])
    X, y = data.X[n_warm:], data.y[n_warm:]
    return timed(lambda: model.predict_learn_many(X, y)) / len(y)


def time_rows(model: Any, data: Data) -> float:
    """Seconds per row of predicting and learning row by row."""
    return timed(lambda: [(model.predict_one(x), model.learn_one(x, y)) for x, y in data.rows]) / len(data.rows)


def time_block(model: Any, data: Data) -> float:
    """Seconds per row of predicting and learning in one call."""
    return timed(lambda: model.predict_learn_many(data.X, data.y)) / len(data.y)


class RiverLoop:
    """Algorithm 1 as one would write it: a list of River trees, every label taught with its weight, label votes."""

    def __init__(self, data: Data) -> None:
        self.classes = data.classes
        self.stream = iter(data.rows)
        self.trees = [tree.HoeffdingTreeClassifier(**STUMP) for _ in range(N_LEARNERS)]
        self.time(WARM_UP)

    def time(self, n_rows: int) -> float:
        """Seconds per row of the next rows of the stream."""
        rows = list(itertools.islice(self.stream, n_rows))
        return timed(lambda: [self.predict_learn_one(x, y) for x, y in rows]) / n_rows

    @property
    def n_bytes(self) -> int:
        return sum(learner._raw_memory_usage for learner in self.trees)

    def predict_learn_one(self, x: dict[str, float], y: str) -> str:
        k, step = len(self.classes), GAMMA / N_LEARNERS**0.5
        play, counts = np.full(k, 1.0 / k), np.zeros(k)
        for learner in self.trees:
            label = learner.predict_one(x)
            vote = 0 if label is None else self.classes.index(label)
            counts[vote] += 1.0
            for j in range(k):
                if play[j] > 0.0:
                    learner.learn_one(x, self.classes[j], w=play[j])
            play[vote] -= step * 2.0 / GAMMA
            play[self.classes.index(y)] += step * 2.0
            play = project(play)
        return self.classes[int(np.argmax(project(counts / (GAMMA * N_LEARNERS))))]


def project(point: np.ndarray) -> np.ndarray:
    """Onto the simplex, by sorting."""
    falling = np.sort(point)[::-1]
    shifts = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    return np.maximum(point - shifts[falling > shifts][-1], 0.0)


def time_vowpal_wabbit(data: Data) -> float:
    """Seconds per row of Vowpal Wabbit's booster on examples that were parsed before the clock started."""
    from vowpalwabbit import Workspace

    codes = {label: code for code, label in enumerate(data.classes, 1)}
    model = Workspace(f"--oaa {len(codes)} --boosting {N_LEARNERS} --alg adaptive --quiet")
    lines = [f"{codes[y]} | " + " ".join(f"{n}:{v!r}" for n, v in x.items()) for x, y in data.rows]
    examples = [model.parse(line) for line in lines]
    return timed(lambda: [(model.predict(row), model.learn(row)) for row in examples]) / len(examples)


def time_capymoa(data: Data) -> float:
    """Seconds per row of CapyMOA's OzaBoost on instances that were made before the clock started."""
    from capymoa.classifier import OzaBoost
    from capymoa.stream import NumpyStream

    stream = NumpyStream(data.X, np.array([data.classes.index(y) for y in data.y]))
    model = OzaBoost(stream.schema, boosting_iterations=N_LEARNERS)
    instances = [stream.next_instance() for _ in data.y]
    return timed(lambda: [(model.predict(row), model.train(row)) for row in instances]) / len(instances)


@njit(error_model="numpy")
def stream_state(X: np.ndarray, weights: np.ndarray, state: np.ndarray, scores: np.ndarray) -> None:
    """The least that naive Bayes leaves can do: densities, then updates of (weight, mean, squares, lowest, highest)."""
    log_density, product = scores[0], scores[1]
    for begin in range(0, len(X), 64):
        for learner in range(len(state)):
            for row in range(begin, min(begin + 64, len(X))):
                log_density[:], product[:] = 0.0, 1.0
                for feature in range(X.shape[1]):
                    x = X[row, feature]
                    moments = state[learner, feature]
                    for c in range(len(product)):
                        variance = moments[2, c] / (moments[0, c] - 1.0)
                        difference = x - moments[1, c]
                        log_density[c] -= difference * difference / (2.0 * variance)
                        product[c] *= variance
                    for c in range(len(product)):
                        weight = moments[0, c] + weights[row, c]
                        difference = x - moments[1, c]
                        mean = moments[1, c] + weights[row, c] / weight * difference
                        moments[2, c] += weights[row, c] * difference * (x - mean)
                        moments[0, c], moments[1, c] = weight, mean
                        moments[3, c] = min(moments[3, c], x)
                        moments[4, c] = max(moments[4, c], x)
                    if feature % 8 == 7 or feature == X.shape[1] - 1:
                        for c in range(len(product)):
                            log_density[c] -= 0.5 * np.log(product[c])
                            product[c] = 1.0


def time_bare_kernel(data: Data) -> float:
    (n_rows, d), k = data.X.shape, len(data.classes)
    state = np.ones((N_LEARNERS, d, 5, k)) * np.array([5.0, 0.0, 5.0, np.inf, -np.inf])[:, None]
    weights = np.random.default_rng(1).dirichlet(np.ones(k), size=n_rows)
    return timed(lambda: stream_state(data.X, weights, state, np.zeros((2, k)))) / n_rows
