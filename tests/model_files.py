"""Models to save, streams to teach them, and all that they know, so that == compares to the bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import ocoboost

MODELS: dict[str, Any] = {
    "mixture": lambda **k: ocoboost.OnlineBoostClassifier(budget=12, **k),
    "ages": lambda **k: ocoboost.OnlineBoostClassifier(budget=30, **k),
    "gammas": lambda **k: ocoboost.OnlineBoostClassifier(ocoboost.MondrianTrees(), budget=8, **k),
    "agnostic": lambda **k: ocoboost.OnlineAgnosticBoostClassifier(
        ocoboost.HoeffdingTrees(grace_period=5, tau=1.0), gamma=0.3, n_learners=3, relabel="random", **k
    ),
    "soft": lambda **k: ocoboost.OnlineAgnosticBoostClassifier(
        n_learners=3, votes="distribution", pool="distribution", start="label", player="exponentiated", **k
    ),
    "realizable": lambda **k: ocoboost.OnlineRealizableBoostClassifier(n_learners=3, player="coin", **k),
    "pairwise": lambda **k: ocoboost.OnlinePairwiseBoostClassifier(n_learners=3, relabel="random", **k),
    "mbbm": lambda **k: ocoboost.OnlineMBBMClassifier(n_learners=4, mode=("ties", "constants"), **k),
    "olm": lambda **k: ocoboost.AdaBoostOLMClassifier(ocoboost.MondrianTrees(split_pure=True), n_learners=4, **k),
    "hoeffding": lambda **k: ocoboost.HoeffdingTrees(
        n_learners=3, grace_period=4, tau=1.0, feature_share=0.6, max_size=2.0, nominal_attributes=["a"], **k
    ),
    "mondrian": lambda **k: ocoboost.MondrianTrees(n_learners=3, max_nodes=30, nominal_attributes=["b"], **k),
}
PROBES: list[dict[str, Any]] = [{}, {"a": 0.5}, {"a": -2, "b": 1.0, "c": "red"}, {"c": "violet", "d": 3}]


def knowledge(model: Any) -> Any:
    """All that a model has learned, whatever the size of its arrays, and what it says with it."""
    state = model.state_
    return (
        [(type(label), label) for label in state.labels.known],
        [(type(name), name, kind) for name, kind in state.schema.kinds.items()],
        bits(state.schema.state()),
        (state.n_rows, state.seed),
        bits(state.engine.state()),
        [model.predict_proba_one(x) for x in PROBES],
        [model.sample_one(x) for x in PROBES],
    )


def bits(value: Any) -> Any:
    """A state as something that == compares to the bit."""
    if isinstance(value, dict):
        return [(name, bits(item)) for name, item in value.items()]
    if isinstance(value, list):
        return [bits(item) for item in value]
    return (value.dtype.descr, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def taught(model: Any, stream: Iterable[tuple[dict[str, Any], Any, float]]) -> Any:
    """The model, after it has learned the rows one by one."""
    for x, y, w in stream:
        model.learn_one(x, y, w=w)
    return model


def long_stream(n_rows: int = 400) -> Iterator[tuple[dict[str, Any], int, float]]:
    """Numbers, text, gaps, and labels that a tree can find."""
    rng = np.random.default_rng(1)
    for _ in range(n_rows):
        x = {"a": float(rng.integers(5)), "b": float(rng.normal()), "c": ["red", "blue", "green"][rng.integers(3)]}
        if rng.random() < 0.1:
            x.pop("b")
        yield x, int(x["a"] > 2) + 2 * (x["c"] == "red"), 1.0
