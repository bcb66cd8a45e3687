"""Boosters made for tests: cells with the paper's choices, and the mixture told as the others are."""

from __future__ import annotations

from typing import Any

from ocoboost import OnlineBoostClassifier
from ocoboost.cascade.regimes import Regime
from ocoboost.cascade.relabelling import Relabelling


def relabelling(regime: int, *, gamma: float, n_learners: int, relabel: str, seed: int, **changed: Any) -> Relabelling:
    """Cells of Algorithm 1 or 4, as the paper has them but for what is changed."""
    choices = {"votes": "label", "pool": "label", "start": "uniform", "player": "gradient", "step_size": None}
    known = {"gamma": gamma, "n_learners": n_learners, "relabel": relabel, "seed": seed}
    return Relabelling(regime=Regime(regime), **known, **{**choices, **changed})


def mixture(learner: Any, *, n_learners: int, **options: Any) -> OnlineBoostClassifier:
    """`OnlineBoostClassifier`, told the learners of each of its four boosters as the others are."""
    return OnlineBoostClassifier(learner, budget=4 * n_learners, **options)
