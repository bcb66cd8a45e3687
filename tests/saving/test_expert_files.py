"""Learners over stumps in model files: the same bits back, and nothing that they cannot have learned."""

from __future__ import annotations

import numpy as np
import pytest

import ocoboost
from ocoboost.errors import ModelFileError

MODELS = {
    "alone": lambda: ocoboost.StumpExperts(n_cells=4, votes="random", seed=1),
    "boosted": lambda: ocoboost.OnlineAgnosticBoostClassifier(
        ocoboost.StumpExperts(n_cells=4, n_pieces=2, horizon=100), gamma=0.3, n_learners=3, seed=1
    ),
    "olm": lambda: ocoboost.AdaBoostOLMClassifier(ocoboost.StumpExperts(low=-1.0), n_learners=3, seed=1),
}


def rows(n_rows=60):
    rng = np.random.default_rng(2)
    features = [{"a": a} if n % 3 else {"a": a, "b": b} for n, (a, b) in enumerate(rng.random((n_rows, 2)).tolist())]
    return list(zip(features, rng.choice(list("xyz"), size=n_rows).tolist(), strict=True))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("half", [0, 1, 30])
def test_a_loaded_model_resumes_bit_identically(name, half, tmp_path):
    model, stream = MODELS[name](), rows()
    for x, y in stream[:half]:
        model.learn_one(x, y)
    ocoboost.save(model, tmp_path / "model.oco")
    loaded = ocoboost.load(tmp_path / "model.oco")
    assert repr(loaded) == repr(model)
    for x, y in stream[half:]:
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
        assert loaded.sample_one(x) == model.sample_one(x)
        model.learn_one(x, y)
        loaded.learn_one(x, y)
    learned = [m.state_.engine.cascades[0].ensemble.state() for m in (model, loaded)]
    assert all(learned[0][key].tobytes() == learned[1][key].tobytes() for key in learned[0])


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("gains", lambda array: array[:, :, :2]),
        ("gains", lambda array: array * np.nan),
        ("gains", lambda array: array.astype(np.float32)),
        ("totals", lambda array: np.tile(array, 4)),
        ("n_rows", lambda array: array - 1000),
        ("energy", lambda array: -array),
    ],
)
def test_what_cannot_be_learned_is_refused(key, change):
    model = MODELS["alone"]()
    for x, y in rows():
        model.learn_one(x, y)
    state = model.state_
    learned = state.engine.cascades[0].ensemble.state()
    MODELS["alone"]().make_ensemble(1, 0).restore(learned, state.schema, len(state.labels))  # unchanged, it fits
    learned[key] = change(learned[key])
    with pytest.raises(ValueError, match="invalid stump state"):
        MODELS["alone"]().make_ensemble(1, 0).restore(learned, state.schema, len(state.labels))


def test_classes_of_functions_need_pickle(tmp_path):
    model = ocoboost.FiniteExperts([len], 2)
    with pytest.raises(ModelFileError, match=r"FiniteExperts cannot be put in a model file.*Use pickle"):
        ocoboost.save(model, tmp_path / "model.oco")
