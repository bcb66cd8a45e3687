"""After a trillion rows everything works as after a thousand: row numbers are whole, and no sum has lost its digits."""

from __future__ import annotations

import numpy as np
import pytest

from ocoboost import OnlineBoostClassifier

FAR = 2**40  # a multiple of every period of the clock, so that births keep their distances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1600, 4))
Y = ((X[:, 0] > 0) + 2 * (X[:, 1] * X[:, 2] > 0)).astype(int)


def moved_on(model):
    """The same model, as if it had learned so many rows more."""
    state = model.state_
    state.n_rows += FAR
    state.engine.n_rows += FAR
    for ages in state.engine.ages:
        for slot in ages.slots:
            slot.born += FAR if slot.born >= 0 else 0
    return model


def test_a_trillion_rows():
    near, far = (OnlineBoostClassifier(budget=30, seed=1) for _ in range(2))
    for model in (near, far):
        model.learn_many(X[:600], Y[:600])
    moved_on(far)
    right = [np.mean(np.array(model.predict_learn_many(X[600:], Y[600:])) == Y[600:]) for model in (near, far)]
    assert far.n_rows_ == FAR + len(X)
    assert right[1] > right[0] - 0.02  # rates that fall with the row number fall no further than they should
    assert np.all(far.predict_proba_many(X[:100]) > 0.0)
    np.testing.assert_allclose(far.predict_proba_many(X[:100]).sum(axis=1), 1.0)


@pytest.mark.slow
def test_blocks_and_rows_agree_after_a_trillion_rows():
    blocks, by_row = (OnlineBoostClassifier(budget=30, seed=1) for _ in range(2))
    for model in (blocks, by_row):
        model.learn_many(X[:300], Y[:300])
        moved_on(model)
    blocks.learn_many(X[300:400], Y[300:400])
    for x, y in zip(X[300:400].tolist(), Y[300:400].tolist(), strict=True):
        by_row.learn_one(dict(enumerate(x)), y)
    np.testing.assert_array_equal(blocks.predict_proba_many(X[:9]), by_row.predict_proba_many(X[:9]))
