"""Other libraries' classifiers, each tuned by random search for as long as `BoostClassifier` takes to fit.

The clock is processor time. It is first measured how long `BoostClassifier()` takes to fit the same rows, in the same
process; that, times ``patience``, is the budget. The candidates are the library's default and then random
configurations, drawn log-uniformly from ranges that tutorials recommend. Each is scored by its accuracy in 3-fold
cross-validation on the taught (flipped) labels, which is all that a user has. A candidate begins as long as some
of the budget is left, and then ends; the default and one more are always tried. The best one, ties to the first, is
fitted to all rows, on top of the budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from batch_peers import LightGBM
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score

N_CONFIGURATIONS = 1000  # no budget is that large


class Search(NamedTuple):
    """What is tuned."""

    make: Callable[..., Any]
    draw: Callable[[np.random.Generator], dict[str, Any]]


def between(draw: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))


def whole(draw: np.random.Generator, low: int, high: int) -> int:
    return round(between(draw, low, high))


def forest(**parameters: Any) -> Any:
    return RandomForestClassifier(**{"n_estimators": 200, "random_state": 0} | parameters)


def draw_forest(draw: np.random.Generator) -> dict[str, Any]:
    return {
        "min_samples_leaf": whole(draw, 1, 32),
        "max_features": ("sqrt", 0.3, 0.6, 1.0)[int(draw.integers(4))],
        "max_samples": (None, 0.7, 0.4)[int(draw.integers(3))],
    }


def hist_boosting(**parameters: Any) -> Any:
    return HistGradientBoostingClassifier(random_state=0, **parameters)


def draw_hist_boosting(draw: np.random.Generator) -> dict[str, Any]:
    return {
        "learning_rate": between(draw, 0.01, 0.3),
        "max_iter": whole(draw, 30, 200),
        "max_leaf_nodes": whole(draw, 4, 64),
        "min_samples_leaf": whole(draw, 2, 64),
        "l2_regularization": between(draw, 1e-3, 100.0),
    }


def draw_lightgbm(draw: np.random.Generator) -> dict[str, Any]:
    return {
        "learning_rate": between(draw, 0.01, 0.3),
        "n_estimators": whole(draw, 30, 200),
        "num_leaves": whole(draw, 4, 64),
        "min_child_samples": whole(draw, 2, 64),
        "reg_lambda": between(draw, 1e-3, 100.0),
        "colsample_bytree": float(draw.uniform(0.4, 1.0)),
    }


SEARCHES = {
    "random forest": Search(forest, draw_forest),
    "HistGradientBoosting": Search(hist_boosting, draw_hist_boosting),
    "LightGBM": Search(LightGBM, draw_lightgbm),
}


class Tuned:
    """A classifier that tunes itself in ``fit``; ``reference`` is fitted first, and sets the budget."""

    def __init__(self, search: Search, reference: Callable[[], Any], patience: float, seed: int = 0) -> None:
        self.search = search
        self.reference = reference
        self.patience = patience
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Tuned:
        began = time.process_time()
        self.reference().fit(X, y)
        budget = self.patience * (time.process_time() - began)
        draw = np.random.default_rng(self.seed)
        folds = KFold(3, shuffle=True, random_state=self.seed)
        scores: list[tuple[float, dict[str, Any]]] = []
        began = time.process_time()
        for number in range(N_CONFIGURATIONS):
            if number >= 2 and time.process_time() - began >= budget:
                break
            parameters = self.search.draw(draw) if number else {}
            score = cross_val_score(self.search.make(**parameters), X, y, cv=folds, error_score=0.0).mean()
            scores.append((float(score), parameters))
        _, best = max(scores, key=lambda found: found[0])  # the first of equal ones
        self.model_ = self.search.make(**best).fit(X, y)
        self.seconds_ = time.process_time() - began
        self.n_tried_ = len(scores)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)
