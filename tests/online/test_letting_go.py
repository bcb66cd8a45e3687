"""The memory of a model that is let go is free at once, and does not wait for the garbage collector."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] > 0).tolist()
ROWS = [dict(enumerate(x)) for x in X.tolist()]

MODELS = {
    "trees": lambda: HoeffdingTrees(n_learners=2, seed=1),
    "booster": lambda: OnlineAgnosticBoostClassifier(n_learners=2, seed=1),
    "mixture": lambda: OnlineBoostClassifier(budget=30, seed=1),
}


def by_row(model):
    for x, y in zip(ROWS, Y, strict=True):
        model.predict_one(x)
        model.learn_one(x, y)


USES = {
    "blocks": lambda model: model.predict_learn_many(X, Y),
    "rows": by_row,
    "prequential": lambda model: list(model.prequential(ROWS, Y)),
}


def let_go(kind, use):
    """Ensembles that models held which are gone."""
    model = MODELS[kind]()
    USES[use](model)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model]
    for one in copies:
        one.learn_many(X[:5], Y[:5])
        one.learn_one(ROWS[0], Y[0])
    held = [weakref.ref(cascade.ensemble) for one in copies for cascade in one.state_.engine.cascades]
    copies[0].reset()
    return held


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("use", USES)
def test_a_model_that_is_let_go(kind, use):
    let_go(kind, use)  # Numba may hold on to whoever makes it compile
    gc.collect()
    gc.disable()
    try:
        held = let_go(kind, use)
        assert [ensemble() for ensemble in held] == [None] * len(held)
    finally:
        gc.enable()
