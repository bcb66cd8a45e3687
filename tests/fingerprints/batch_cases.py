"""Cases: batch boosters, their trees and their portfolio, and the scikit-learn wrapper."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

import ocoboost
from fingerprints.gists import PLAYERS, Fingerprint, digest, fingerprint, gist, shortened
from fingerprints.inside import histogram_tree, mixture, sklearn_wrapper
from fingerprints.online_cases import REGIMES, booster
from fingerprints.streams import Stream, stream
from fingerprints.table import add


def estimator(name: str) -> Any:
    """A weak learner for the batch boosters."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    if name == "default":
        return None
    if name.startswith("depth"):
        return ocoboost.HistogramTreeClassifier(max_depth=int(name[5:]), max_bins=16)
    return {
        "bayes": GaussianNB(),
        "neighbours": KNeighborsClassifier(n_neighbors=3),  # takes no weights
        "foreign-tree": DecisionTreeClassifier(max_depth=2, max_features=2),  # draws
    }[name]


def as_arrays(learned: Stream) -> tuple[Any, Any, Any, Any]:
    """Numbers, labels, weights and probes of a stream as scikit-learn takes them; text is left out."""
    names = sorted({name for x in learned.rows for name, value in x.items() if not isinstance(value, str)}, key=str)
    names = [name for name in names if not any(isinstance(x.get(name), str) for x in learned.rows)]
    X, probes = (
        np.array([[x.get(name) for name in names] for x in rows], dtype=np.float64)
        for rows in (learned.rows, learned.probes)
    )
    return X, np.array([str(label) for label in learned.labels]), learned.weights, probes


def batch(regime: str, name: str, learner: str, **parameters: Any) -> Fingerprint:
    kinds = {"agnostic": ocoboost.AgnosticBoostClassifier, "realizable": ocoboost.RealizableBoostClassifier}
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    settings = {"n_estimators": 12, "random_state": 1, "n_jobs": 1, "player": "gradient"} | parameters
    model = kinds[regime](estimator(learner), **settings).fit(X, y, sample_weight=weights)
    exact = {
        "predictions": learned.letters(model.predict(X)),
        "labels": learned.letters(model.predict(probes)),
        "drawn": [learned.letters(model.sample(probes, state)) for state in (None, 3)],
        "staged": digest([learned.letters(labels) for labels in model.staged_predict(X)]),
        "stages": model.n_estimators_,
    }
    floats = {
        "gamma": model.gamma_,
        "gamma scores": list(model.gamma_scores_.values()),
        "correlation": model.correlation(X, y, weights),
        "distributions": [gist(model.predict_proba(X)), *model.predict_proba(probes)[0]],
        "decisions": gist(model.decision_function(X)),
        "staged": gist([gist(distributions) for distributions in model.staged_predict_proba(X)]),
    }
    if isinstance(model.estimators_[0], ocoboost.HistogramTreeClassifier):
        trees = [histogram_tree(tree) for tree in model.estimators_]
        exact["trees"] = digest([arrays for arrays, _ in trees])
        floats["thresholds and weights"] = [number for _, numbers in trees[:8] for number in numbers]
    return fingerprint(exact, floats)


def add_batch() -> None:
    for number, (regime, player, start) in enumerate(product(REGIMES, PLAYERS, ("uniform", "label"))):
        gamma = (0.1, 0.5, 0.03)[number % 3]
        n_drawn = (None, 80)[number // 2 % 2]
        add("batch", batch, regime, "balance", "depth2", player=player, start=start, gamma=gamma, n_drawn=n_drawn)
    for regime in REGIMES:
        for name in ("gaps", "segment", "abalone", "binary", "weighted"):
            add("batch", batch, regime, name, "default", gamma=None, start=None)
        for learner, n_drawn in (("bayes", None), ("bayes", 100), ("foreign-tree", None), ("neighbours", 60)):
            add("batch", batch, regime, "balance", learner, gamma=0.2, start="label", n_drawn=n_drawn, n_estimators=5)
        add("batch", batch, regime, "rule", "foreign-tree", gamma=0.2, start="uniform", n_estimators=6)
        add("batch", batch, regime, "rule", "depth1", gamma="auto", start="label", validation_fraction=0.2)
        add("batch", batch, regime, "rule", "depth1", gamma="auto", start="uniform", n_iter_no_change=4, n_drawn=90)
        for patience, tolerance in ((2, 1e-4), (3, 0.02)):
            stop = {"n_iter_no_change": patience, "tol": tolerance, "validation_fraction": 0.3, "n_estimators": 25}
            add("batch", batch, regime, "yeast", "depth2", gamma=0.2, start="label", **stop)
        add("batch", batch, regime, "weighted", "depth3", gamma=0.1, start="uniform", n_jobs=2, n_drawn=50)
        add("batch", batch, regime, "yeast", "depth3", gamma=0.1, start="label", n_jobs=2)
        add("batch", batch, regime, "clean", "depth2", gamma=0.9, start="uniform", random_state=7)


def portfolio(name: str, **parameters: Any) -> Fingerprint:
    """`BoostClassifier`."""
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    model = ocoboost.BoostClassifier(**{"n_estimators": 10, "random_state": 1} | parameters)
    model.fit(X, y, sample_weight=weights)
    exact = {"predictions": learned.letters(model.predict(X)), "labels": learned.letters(model.predict(probes))}
    floats = {
        "members": [number for member in model.members_ for number in member[1:]],
        "power and accuracy": [model.power_, model.held_out_accuracy_],
        "importances": gist(model.feature_importances_),
        "distributions": [gist(model.predict_proba(X)), *model.predict_proba(probes)[0]],
    }
    return fingerprint(exact, floats)


def add_portfolios() -> None:
    for name in ("gaps", "abalone", "weighted"):
        add("portfolio", portfolio, name)
    add("portfolio", portfolio, "yeast", n_jobs=2, class_weight="balanced", max_bins=16)


def lone_histogram_tree(name: str, **parameters: Any) -> Fingerprint:
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    model = ocoboost.HistogramTreeClassifier(**parameters).fit(X, y, sample_weight=weights)
    arrays, numbers = histogram_tree(model)
    exact = {
        "predictions": learned.letters(model.predict(X)),
        "labels": learned.letters(model.predict(probes)),
        "features": shortened(arrays[0]),
        "tree": digest(arrays),
    }
    shares = model.predict_proba(probes)
    return fingerprint(exact, {"shares": [gist(shares), *shares[0]], "thresholds and weights": numbers})


def add_histogram_trees() -> None:
    for name, max_depth in product(("uneven", "yeast", "weighted"), (None, 1, 6)):
        add("histogram tree", lone_histogram_tree, name, max_depth=max_depth)
    for max_bins in (2, 7, 255):
        add("histogram tree", lone_histogram_tree, "abalone", max_bins=max_bins)
    add("histogram tree", lone_histogram_tree, "landsat", max_depth=4, max_bins=32)


# Players and their games by themselves.


def wrapped(name: str, learner: str, *, n_calls: int = 1, closed: bool = False, **changes: Any) -> Fingerprint:
    """``fit``, or ``partial_fit`` in several calls, of an agnostic booster or of a mixture."""
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    if learned.as_table is not list:
        X, probes = learned.as_table(learned.rows), learned.as_table(learned.probes)
    if learner == "mixture":
        model = sklearn_wrapper(mixture(budget=10, seed=None), 3)
    else:
        model = sklearn_wrapper(booster("agnostic", name, learner, **{"seed": None} | changes), 3)
    if n_calls == 1:
        model.fit(X, y, sample_weight=weights)
    else:
        edges = np.linspace(0, len(X), n_calls + 1).astype(int)
        for first, last in pairwise(edges):
            part = None if weights is None else weights[first:last]
            model.partial_fit(
                X[first:last], y[first:last], classes=learned.classes if closed else None, sample_weight=part
            )
    exact = {
        "classes": model.classes_.tolist(),
        "labels": learned.letters(model.predict(probes)),
        "predictions": learned.letters(model.predict(X)),
    }
    shares = model.predict_proba(probes)
    return fingerprint(exact, {"distributions": [gist(shares), *shares[0]]})


def add_wrapped() -> None:
    add("sklearn", wrapped, "yeast", "tree", gamma=0.3)
    add("sklearn", wrapped, "gaps", "mondrian", gamma=0.7, n_calls=3)
    add("sklearn", wrapped, "balance", "stump", n_calls=4, closed=True, seed=6)
    add("sklearn", wrapped, "weighted", "stump", relabel="random")
    add("sklearn", wrapped, "short", "sklearn-bayes", n_learners=2)
    add("sklearn", wrapped, "cars", "tree", start="label", n_calls=2)
    add("sklearn", wrapped, "balance", "mixture")
    add("sklearn", wrapped, "uneven", "mixture", n_calls=2)


def add_all() -> None:
    """Put the cases of this file into the table."""
    add_batch()
    add_histogram_trees()
    add_portfolios()
    add_wrapped()
