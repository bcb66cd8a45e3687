"""Weak learners made for tests: quick, deterministic, and with state that can be compared."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
from river import base


class Bins(base.Classifier):
    """Counts labels in random bins of every feature; the shares are those of the row's bins together.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self.offset = random.Random(seed).random()
        self.counts: dict[Any, dict[int, float]] = {}

    @property
    def _multiclass(self) -> bool:
        return True

    def _bins(self, x: dict[Any, Any]) -> list[Any]:
        return ["all", *((n, v if isinstance(v, str) else math.floor(v + self.offset)) for n, v in x.items())]

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0) -> None:
        for place in self._bins(x):
            counts = self.counts.setdefault(place, {})
            counts[y] = counts.get(y, 0.0) + w

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        shares: dict[Any, float] = {}
        for place in self._bins(x):
            for label, count in self.counts.get(place, {}).items():
                shares[label] = shares.get(label, 0.0) + count
        return shares


class Weightless(Bins):
    """The same learner, taking no weights.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:  # type: ignore[override]
        super().learn_one(x, y)


class Fragile(Bins):
    """Raises at the row whose feature ``bomb`` is set.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0) -> None:
        if x.get("bomb"):
            raise ZeroDivisionError("tick")
        super().learn_one(x, y, w=w)


class Witness:
    """Stands in front of an ensemble and writes down what its learners vote and are taught, learner by learner.

    It hides that an ensemble is native, so a cascade takes its rows by parts.
    """

    def __init__(self, ensemble: Any) -> None:
        self.ensemble = ensemble
        self.votes: dict[int, list[np.ndarray]] = {}  # by learner: one distribution per row
        self.taught: dict[int, list[np.ndarray]] = {}  # label weights

    def __getattr__(self, name: str) -> Any:
        if name == "ensemble":  # copying asks before there is one
            raise AttributeError(name)
        return getattr(self.ensemble, name)

    def vote_and_learn(self, learner: int, rows: Any, label_weights: np.ndarray, out: np.ndarray) -> None:
        self.ensemble.vote_and_learn(learner, rows, label_weights, out)
        self.taught.setdefault(learner, []).extend(label_weights.copy())
        self.votes.setdefault(learner, []).extend(out.copy())


class Glimpse(base.Classifier):
    """Says what the feature ``says`` does with advantage ``gamma``, whatever it is taught: R_W = 0, on any weights.

    Parameters
    ----------
    gamma
        The advantage.
    seed
        Of the noise, which is a function of the row's number.
    """

    def __init__(self, gamma: float = 0.5, seed: int | None = None) -> None:
        self.gamma = gamma
        self.seed = seed

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x, y, *, w=1.0):
        pass

    def predict_proba_one(self, x, **kwargs):
        rng = np.random.default_rng((self.seed or 0, x["number"]))
        return {x["says"] if rng.random() < self.gamma else int(rng.integers(x["k"])): 1.0}


class Sleepy(Bins):
    """Takes its time over the row whose feature ``a`` is 99.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def learn_one(self, x: dict[Any, Any], y: Any, *, w: float = 1.0) -> None:
        if x.get("a") == 99.0:
            time.sleep(6.0)
        super().learn_one(x, y, w=w)
