"""Cases: native learners by themselves, and experts."""

from __future__ import annotations

from itertools import product
from typing import Any

import ocoboost
from fingerprints.gists import Fingerprint
from fingerprints.learners import LINE, SOON, functions
from fingerprints.streams import stream
from fingerprints.table import add
from fingerprints.taking import adding, take


def alone(kind: str, name: str, **parameters: Any) -> Fingerprint:
    shared = {"seed": 1} | (SOON if kind == "HoeffdingTrees" else {"n_learners": 3})
    return take(getattr(ocoboost, kind)(**shared | parameters), name)


def add_hoeffding() -> None:
    settings: list[tuple[str, dict[str, Any]]] = [
        *(
            ("cars" if criterion == "gini" else "uneven", {"split_criterion": criterion, "leaf_prediction": leaf})
            for criterion, leaf in product(("gini", "info_gain"), ("mc", "nb", "nba"))
        ),
        *(("binary", {"split_criterion": "hellinger", "leaf_prediction": leaf}) for leaf in ("mc", "nb", "nba")),
        *(("cars", {"binary_split": True, "split_criterion": criterion}) for criterion in ("gini", "info_gain")),
        *(("balance", {"max_depth": depth}) for depth in (0, 1, 2)),
        *(("yeast", {"delta": delta, "tau": 0.0}) for delta in (1e-7, 0.3, 0.9)),
        *(("rule", {"tau": tau, "delta": 1e-4}) for tau in (0.05, 0.5, 1.0)),
        *(("balance", {"grace_period": grace}) for grace in (1, 7.5, 60)),
        *(("segment", {"n_splits": n_splits}) for n_splits in (1, 3, 25)),
        *(("weighted", {"nb_threshold": threshold, "leaf_prediction": "nb"}) for threshold in (5, 30)),
        *(("uneven", {"min_branch_fraction": fraction}) for fraction in (0.3, 0.45)),
        *(("uneven", {"max_share_to_split": share}) for share in (0.5, 0.6)),
        ("points", {"merit_preprune": False, "tau": 0.0}),
        ("uneven", {"binary_split": True}),
        *(("yeast", {"feature_share": share, "n_learners": 4}) for share in (0.3, 0.7)),
        *(("uneven", {"feature_share": 0.5, "n_learners": 3, "seed": seed}) for seed in (2, 3)),
        *(("yeast", {"max_size": size, "n_learners": 3}) for size in (0.05, 0.2)),
        *(("uneven", {"max_size": size}) for size in (0.05, 0.1)),
        ("segment", {"n_learners": 4, "feature_share": 0.5, "n_jobs": 2}),
        ("uneven", {"nominal_attributes": ["whole"]}),
        ("balance", {"nominal_attributes": ["left_weight", "right_weight"], "binary_split": True}),
        ("abalone", {}),
        ("landsat", {}),
        ("gaps", {}),
    ]
    for name, changes in settings:
        add("alone", alone, "HoeffdingTrees", name, **changes)


def add_mondrian() -> None:
    settings: list[tuple[str, dict[str, Any]]] = [
        *(
            ("uneven", {"smoothing": smoothing, "split_pure": pure, "aggregate": aggregate})
            for smoothing, pure, aggregate in product((0.0, 1.0, 5.0), (False, True), (False, True))
        ),
        *(
            ("yeast", {"scale": scale, "smoothing": smoothing})
            for scale, smoothing in product(("range", "none"), (0, 1))
        ),
        *(("balance", {"dirichlet": dirichlet, "smoothing": 0.0}) for dirichlet in (0.01, 2.0)),
        *(("balance", {"dirichlet": dirichlet}) for dirichlet in (0.01, 2.0)),
        *(("rule", {"step": step}) for step in (0.1, 4.0)),
        *(("rule", {"max_nodes": nodes}) for nodes in (1, 30)),
        *(("uneven", {"max_size": size}) for size in (0.05, 0.07, 0.1)),
        *(("yeast", {"max_nodes": 50, "max_size": size}) for size in (0.1, 1.0)),
        ("landsat", {"n_jobs": 2}),
        *(("uneven", {"nominal_attributes": ["whole"], "seed": seed}) for seed in (0, 9)),
        *((name, {}) for name in ("abalone", "cars", "segment", "gaps", "weighted", "binary")),
    ]
    for name, changes in settings:
        add("alone", alone, "MondrianTrees", name, **changes)


def experts(kind: str, name: str, *, closed: bool = False, **parameters: Any) -> Fingerprint:
    """Exponential weights by themselves; what their class is made of follows from the kind."""
    given: dict[str, dict[str, Any]] = {
        "StumpExperts": {},
        "FiniteExperts": {"hypotheses": functions(3), "n_classes": 3},
        "MatrixExperts": {"features": ["a", "b"], "n_classes": 3},
        "LittlestoneExperts": {"table": LINE, "feature": "point"},
    }
    classes = stream(name).classes if closed else None
    model = getattr(ocoboost, kind)(**given[kind], classes=classes, **{"seed": 1} | parameters)
    found = take(model, name)
    return adding(found, {}, {"bound": [model.regret_bound(500), model.hypothesis_class_.log_size]})


def add_experts() -> None:
    rates: list[dict[str, Any]] = [{}, {"learning_rate": 0.3}, {"horizon": 220}]
    for votes, rate in product(("expected", "random"), rates):
        add("alone", experts, "StumpExperts", "rule", n_cells=7, votes=votes, **rate)
        add("alone", experts, "FiniteExperts", "rule", closed=True, votes=votes, **rate)
        add("alone", experts, "MatrixExperts", "weighted", closed=True, votes=votes, n_levels=2, **rate)
        add("alone", experts, "LittlestoneExperts", "points", closed=True, votes=votes, **rate)
    for n_cells, n_pieces in ((1, None), (4, 1), (5, 2), (16, None)):
        add("alone", experts, "StumpExperts", "gaps", n_cells=n_cells, n_pieces=n_pieces, low=-5.0, high=15.0)
    add("alone", experts, "StumpExperts", "yeast", n_cells=8, closed=True)
    add("alone", experts, "StumpExperts", "weighted", n_cells=12, low=0.2, high=0.7)
    add("alone", experts, "MatrixExperts", "rule", closed=True, n_levels=3)


# Accounts.


def add_all() -> None:
    """Put the cases of this file into the table."""
    add_hoeffding()
    add_mondrian()
    add_experts()
