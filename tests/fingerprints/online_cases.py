"""Cases: boosters of the paper, mixtures and baselines on streams."""

from __future__ import annotations

from itertools import product
from typing import Any

import ocoboost
from fingerprints.gists import PLAYERS, Fingerprint, gist
from fingerprints.inside import mixture
from fingerprints.learners import LEARNERS
from fingerprints.streams import stream
from fingerprints.table import add
from fingerprints.taking import adding, take

REGIMES = ("agnostic", "realizable")
BOOSTER: dict[str, Any] = {
    "gamma": 0.5,
    "n_learners": 8,
    "relabel": "fractional",
    "votes": "label",
    "pool": "label",
    "start": "uniform",
    "player": "gradient",
    "step_size": None,
    "n_jobs": 1,
    "seed": 1,
}


def booster(regime: str, name: str, learner: str, *, closed: bool = False, **changes: Any) -> Any:
    """A booster for a stream; ``closed`` tells it all labels."""
    kinds = {
        "agnostic": ocoboost.OnlineAgnosticBoostClassifier,
        "realizable": ocoboost.OnlineRealizableBoostClassifier,
    }
    classes = stream(name).classes if closed else None
    return kinds[regime](LEARNERS[learner](), classes=classes, **BOOSTER | changes)


def boosted(regime: str, name: str, learner: str, **changes: Any) -> Fingerprint:
    model = booster(regime, name, learner, **changes)
    found = take(model, name)
    return adding(found, {"relabel": model.relabel_}, {})


def add_boosters() -> None:
    """Every player with half of all combinations of the other choices (any three occur in all ways), then the rest."""
    streams = ("uneven", "yeast", "balance")
    learners = ("stump", "mondrian", "tree", "smooth-mondrian", "bayes-tree", "majority-tree", "rough-mondrian")
    gammas = (0.5, 0.2, 1.0, 0.05, 0.8)
    choices = product(REGIMES, PLAYERS, ("fractional", "random"), ("label", "distribution"), ("label", "distribution"))
    for number, (regime, player, relabel, votes, pool) in enumerate(choices):
        is_even = (relabel == "random") ^ (votes == "label") ^ (pool == "label")
        add(
            "booster",
            boosted,
            regime,
            streams[number % 3],
            learners[number % 7],
            player=player,
            relabel=relabel,
            votes=votes,
            pool=pool,
            start="uniform" if is_even else "label",
            gamma=gammas[number % 5],
        )
    for regime, player, step_size in product(REGIMES, PLAYERS[:3], ("optimal", 0.03, 1.5)):
        add("booster", boosted, regime, "balance", "stump", player=player, step_size=step_size, gamma=0.3)
    for regime, player in product(REGIMES, PLAYERS):
        add("booster", boosted, regime, "uneven", "tree", player=player, closed=True, gamma=0.1, start="label")
    for regime, gamma in product(REGIMES, (1.0, 0.7, 0.1, 0.01, 1e-6, 1e-200)):
        add("booster", boosted, regime, "weighted", "stump", gamma=gamma, pool="distribution", n_learners=13)
    for number, (name, regime) in enumerate(product(("abalone", "cars", "segment", "landsat", "binary"), REGIMES)):
        learner = ("tree", "mondrian", "bayes-tree")[number % 3]
        add("booster", boosted, regime, name, learner, gamma=0.3, start="label", pool="distribution")
    for regime in REGIMES:
        add("booster", boosted, regime, "long", "default", gamma=0.7, start="label", pool="distribution")
    for regime, learner in product(REGIMES, ("tree", "mondrian")):
        add("booster", boosted, regime, "yeast", learner, n_jobs=2, n_learners=20, relabel="random", seed=3)
    for regime, learner in product(REGIMES, ("small-tree", "small-mondrian", "default")):
        add("booster", boosted, regime, "yeast", learner, votes="distribution", seed=4)
    for regime, seed in product(REGIMES, (0, 2**64 - 1)):
        add("booster", boosted, regime, "uneven", "mondrian", relabel="random", seed=seed, n_learners=1)


def add_boosters_of_other_learners() -> None:
    """Learners that are not native trees go through another loop."""
    expected = {"votes": "distribution", "pool": "distribution"}
    for regime, relabel in product(REGIMES, ("fractional", "random")):
        add("booster", boosted, regime, "rule", "stumps", relabel=relabel, **expected)
        add("booster", boosted, regime, "rule", "functions", relabel=relabel, closed=True, **expected)
        add("booster", boosted, regime, "uneven", "river-tree", relabel=relabel, n_learners=3)
        add("booster", boosted, regime, "short", "sklearn-logistic", relabel=relabel, n_learners=2, closed=True)
    for regime in REGIMES:
        add("booster", boosted, regime, "gaps", "drawn-stumps", gamma=0.3, start="label")
        add("booster", boosted, regime, "weighted", "matrices", closed=True, gamma=0.3)
        add("booster", boosted, regime, "points", "points", closed=True, n_learners=3, **expected)
        add("booster", boosted, regime, "short", "river-bayes", n_learners=3, start="label")
        add("booster", boosted, regime, "binary", "river-logistic", n_learners=3, gamma=0.2, pool="distribution")
        add("booster", boosted, regime, "short", "sklearn-hinge", n_learners=3, closed=True)
        add("booster", boosted, regime, "short", "sklearn-bayes", n_learners=2, closed=True)
    for regime, player in product(REGIMES, PLAYERS):
        add("booster", boosted, regime, "uneven", "river-tree", player=player, n_learners=3, gamma=0.4, start="label")


# Mixtures.


def mixed(name: str, learner: str, *, closed: bool = False, **parameters: Any) -> Fingerprint:
    classes = stream(name).classes if closed else None
    model = mixture("auto" if learner == "auto" else LEARNERS[learner](), classes=classes, **parameters)
    found = take(model, name)
    weights = model.member_weights_
    return adding(found, {"members": list(weights)}, {"member weights": list(weights.values())})


def add_mixtures() -> None:
    for name, budget in (("uneven", 20), ("segment", 20), ("cars", 20), ("abalone", 20), ("yeast", 200), ("rule", 3)):
        add("mixture", mixed, name, "auto", budget=budget)
    add("mixture", mixed, "long", "auto", budget=10)
    add("mixture", mixed, "landsat", "auto", budget=30, n_jobs=2, seed=5)
    add("mixture", mixed, "weighted", "auto", budget=20, closed=True)
    for name, max_size in (("yeast", 1.0), ("uneven", 0.5)):
        add("mixture", mixed, name, "auto", budget=20, max_size=max_size)
    for name, learner in (("uneven", "tree"), ("balance", "mondrian"), ("gaps", "stumps"), ("binary", "river-tree")):
        add("mixture", mixed, name, learner, budget=16)
    add("mixture", mixed, "short", "sklearn-bayes", budget=5, closed=True)
    add("mixture", mixed, "yeast", "tree", budget=40, max_size=0.5)
    add("mixture", mixed, "yeast", "mondrian", budget=40, max_size=0.4)


# The boosters of Jung, Goetz & Tewari.


def majority(name: str, learner: str, *, closed: bool = False, **changes: Any) -> Fingerprint:
    settings = {"n_learners": 8, "gamma": 0.1, "potential": "exact", "mode": None, "n_jobs": 1, "seed": 1} | changes
    classes = stream(name).classes if closed else None
    return take(ocoboost.OnlineMBBMClassifier(LEARNERS[learner](), classes=classes, **settings), name)


def logistic(name: str, learner: str, *, closed: bool = False, **changes: Any) -> Fingerprint:
    settings = {"n_learners": 8, "mode": None, "n_jobs": 1, "seed": 1} | changes
    classes = stream(name).classes if closed else None
    model = ocoboost.AdaBoostOLMClassifier(LEARNERS[learner](), classes=classes, **settings)
    found = take(model, name)
    return adding(found, {}, {"alphas": model.alphas_, "log expert weights": [gist(model.log_expert_weights_)]})


def add_baselines() -> None:
    for mode, potential in ((None, "exact"), (None, "fast"), ("paper", "exact"), ("original", "exact")):
        add("mbbm", majority, "balance", "stump", mode=mode, potential=potential)
        add("mbbm", majority, "uneven", "tree", mode=mode, potential=potential)
    for deviation in ("constants", "horizon", "monte-carlo", "ties", "min-cost"):
        add("mbbm", majority, "uneven", "mondrian", mode=(deviation,))
        add("mbbm", majority, "balance", "stump", mode=(deviation,), potential="fast", gamma=0.02)
    for gamma, potential in product((0.001, 0.3, 0.7, 0.95), ("exact", "fast")):
        add("mbbm", majority, "yeast", "stump", gamma=gamma, potential=potential, n_learners=12)
    for mode in (None, "paper", "original", ("constants",), ("ties",), ("min-cost",)):
        add("olm", logistic, "balance", "stump", mode=mode)
        add("olm", logistic, "uneven", "mondrian", mode=mode)
    for title, baseline in (("mbbm", majority), ("olm", logistic)):
        for name, learner in (("abalone", "tree"), ("binary", "river-logistic"), ("uneven", "river-tree")):
            add(title, baseline, name, learner, n_learners=3)
        for mode in (None, "original"):
            add(title, baseline, "short", "river-bayes", n_learners=3, mode=mode)
        add(title, baseline, "short", "sklearn-logistic", n_learners=3, closed=True)
        add(title, baseline, "rule", "stumps", n_learners=4)
        add(title, baseline, "weighted", "smooth-mondrian", n_learners=15, seed=2)
        add(title, baseline, "yeast", "small-tree")
        add(title, baseline, "segment", "tree", n_learners=20, closed=True, n_jobs=2)


# Learners by themselves.


def add_all() -> None:
    """Put the cases of this file into the table."""
    add_boosters()
    add_boosters_of_other_learners()
    add_mixtures()
    add_baselines()
