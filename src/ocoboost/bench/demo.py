"""One tree, forests and boosters on the same stream, prequentially."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from river import base, forest

from ocoboost.bench.datasets import Stream
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.protocol import StreamClassifier


@dataclass
class Run:
    """A model's way through a stream."""

    name: str
    hits: list[bool] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def accuracy(self) -> float:
        return sum(self.hits) / max(len(self.hits), 1)

    @property
    def last_fifth(self) -> float:
        tail = self.hits[-max(len(self.hits) // 5, 1) :]
        return sum(tail) / max(len(tail), 1)

    @property
    def rows_per_second(self) -> float:
        return len(self.hits) / self.seconds if self.seconds else 0.0

    def curve(self, n_points: int) -> list[float]:
        """Accuracy in each of ``n_points`` equal parts of the stream."""
        edges = [round(len(self.hits) * point / n_points) for point in range(n_points + 1)]
        parts = [self.hits[first:last] for first, last in itertools.pairwise(edges)]
        return [sum(part) / max(len(part), 1) for part in parts]

    def summary(self) -> dict[str, Any]:
        numbers = {"accuracy": self.accuracy, "last_fifth": self.last_fifth, "rows_per_second": self.rows_per_second}
        return {"model": self.name, "rows": len(self.hits), **numbers}


def contestants(*, budget: int, seed: int) -> dict[str, base.Classifier]:
    """A single tree, the paper's boosted stumps, River's two forests, and the default."""
    stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    models = {
        "one Hoeffding tree": HoeffdingTrees(),
        "100 boosted stumps": OnlineAgnosticBoostClassifier(stump, n_learners=100, gamma=0.7, seed=seed),
        "River ARF": forest.ARFClassifier(seed=seed),
        "River AMF": forest.AMFClassifier(seed=seed),
        "ocoboost, boosted": OnlineAgnosticBoostClassifier(budget=budget, seed=seed),
    }
    for model in models.values():
        if isinstance(model, StreamClassifier):
            warm_up = model.clone()
            warm_up.learn_many([{"a": 0.0}, {"a": 1.0}], ["x", "y"])  # compile before the clock starts
            warm_up.predict_one({"a": 0.0})
    return models


def race(models: dict[str, base.Classifier], rows: Stream, taught: list[Any], tick: Callable[[Run], None]) -> list[Run]:
    """Every model predicts each row before it learns it with the label it is taught; ``tick`` is called after each."""
    runs = []
    for name, model in models.items():
        run = Run(name)
        for (x, y), label in zip(rows, taught, strict=True):
            began = time.perf_counter()
            prediction = model.predict_one(x)
            model.learn_one(x, label)
            run.seconds += time.perf_counter() - began
            run.hits.append(prediction == y)
            tick(run)
        runs.append(run)
    return runs
