"""The weak learners that cases name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ocoboost

SOON: dict[str, Any] = {"grace_period": 15, "delta": 0.1, "tau": 0.4}


def river_learner(name: str) -> Any:
    from river import linear_model, naive_bayes, preprocessing, tree

    if name == "tree":
        return tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, tau=0.4)
    if name == "bayes":
        return naive_bayes.GaussianNB()  # takes no weights
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()  # tells two labels apart


def sklearn_learner(name: str) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    if name == "bayes":
        return GaussianNB()
    return SGDClassifier(loss="log_loss" if name == "logistic" else "hinge")


def functions(n_classes: int) -> list[Callable[[Any], int]]:
    """Constants, and features cut in as many pieces as there are labels, with shifts that make some about as good."""
    constants = [lambda x, label=label: label for label in range(n_classes)]
    cuts = [
        lambda x, name=name, shift=shift: min(max(int((x[name] + shift) * n_classes), 0), n_classes - 1)
        for name in "abc"
        for shift in (-0.02, 0.0, 0.01)
    ]
    return [*constants, *cuts]


LINE = [[int(point >= cut) for point in range(8)] for cut in range(9)]

LEARNERS: dict[str, Callable[[], Any]] = {
    "default": lambda: None,
    "stump": lambda: ocoboost.HoeffdingTrees(**SOON, max_depth=1, split_criterion="gini"),
    "tree": lambda: ocoboost.HoeffdingTrees(**SOON),
    "bayes-tree": lambda: ocoboost.HoeffdingTrees(**SOON, leaf_prediction="nb", feature_share=0.6),
    "majority-tree": lambda: ocoboost.HoeffdingTrees(**SOON, leaf_prediction="mc", binary_split=True),
    "small-tree": lambda: ocoboost.HoeffdingTrees(**SOON, max_size=0.15),
    "mondrian": lambda: ocoboost.MondrianTrees(smoothing=1.0),
    "smooth-mondrian": lambda: ocoboost.MondrianTrees(smoothing=5.0, split_pure=True),
    "rough-mondrian": lambda: ocoboost.MondrianTrees(smoothing=0.0, aggregate=False, scale="none"),
    "small-mondrian": lambda: ocoboost.MondrianTrees(max_size=0.05),
    "stumps": lambda: ocoboost.StumpExperts(n_cells=8),
    "drawn-stumps": lambda: ocoboost.StumpExperts(n_cells=6, votes="random", horizon=220),
    "functions": lambda: ocoboost.FiniteExperts(functions(3), 3),
    "matrices": lambda: ocoboost.MatrixExperts(["a", "b"], 3, n_levels=2, votes="random"),
    "points": lambda: ocoboost.LittlestoneExperts(LINE, "point", horizon=120),
    "river-tree": lambda: river_learner("tree"),
    "river-bayes": lambda: river_learner("bayes"),
    "river-logistic": lambda: river_learner("logistic"),
    "sklearn-logistic": lambda: sklearn_learner("logistic"),
    "sklearn-hinge": lambda: sklearn_learner("hinge"),
    "sklearn-bayes": lambda: sklearn_learner("bayes"),
}
