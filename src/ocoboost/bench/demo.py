"""One tree before boosting, many after: the same stream, prequentially."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from river import base, forest
from river.tree import HoeffdingTreeClassifier

from ocoboost.bench.datasets import Stream
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
from ocoboost.online.hoeffding import HoeffdingTrees


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


def contestants(*, n_learners: int, gamma: float, seed: int) -> dict[str, base.Classifier]:
    """River's trees of two kinds by themselves, the same boosted, and River's forest."""
    tree = forest.AMFClassifier(n_estimators=1, seed=seed)
    stumps = OnlineAgnosticBoostClassifier(
        HoeffdingTrees(max_depth=1, split_criterion="gini"), gamma=gamma, start="label", seed=seed
    )
    booster = OnlineAgnosticBoostClassifier(
        tree, n_learners=n_learners, gamma=gamma, start="label", pool="distribution", seed=seed
    )
    booster.check_parameters()
    warm_up = stumps.clone()
    warm_up.learn_many([{"a": 0.0}, {"a": 1.0}], ["x", "y"])  # compile before the clock starts
    warm_up.predict_one({"a": 0.0})
    return {
        "1 stump": HoeffdingTreeClassifier(max_depth=1, split_criterion="gini"),
        "100 boosted stumps": stumps,
        "1 Mondrian tree": tree,
        f"{n_learners} averaged (AMF)": forest.AMFClassifier(n_estimators=n_learners, seed=seed),
        f"{n_learners} boosted": booster,
    }


def race(models: dict[str, base.Classifier], rows: Stream, tick: Callable[[Run], None]) -> list[Run]:
    """Every model predicts each row before it learns it; ``tick`` is called after every row of every model."""
    runs = []
    for name, model in models.items():
        run = Run(name)
        for x, y in rows:
            began = time.perf_counter()
            prediction = model.predict_one(x)
            model.learn_one(x, y)
            run.seconds += time.perf_counter() - began
            run.hits.append(prediction == y)
            tick(run)
        runs.append(run)
    return runs
