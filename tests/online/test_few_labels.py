"""Few labels: asked for within the rate, learned alike on average, the same after a restart."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ocoboost
from ocoboost import HoeffdingTrees, OnlineFewLabelsClassifier, OnlinePairwiseBoostClassifier
from ocoboost.bench import synthetic
from ocoboost.cascade.answers import Answers
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.online.few_labels import Asking

ROWS = synthetic.load("realizable", 400, seed=1).rows
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
BOOSTER = OnlinePairwiseBoostClassifier(HoeffdingTrees(max_depth=1, grace_period=20), n_learners=5)


@given(
    st.sampled_from([0.01, 0.1, 0.5, 1.0]),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=60),
)
def test_the_rate_is_never_exceeded_and_every_row_counts_alike_on_average(label_rate, blind_share, margins):
    asking = Asking(None, label_rate, blind_share)
    for number, margin in enumerate(margins, 1):
        shares = np.array([[(1 + margin) / 2, (1 - margin) / 2]])
        question = asking.ask(Answers(shares, shares), seed=1)
        assert asking.spent <= label_rate * number + 1e-9
        weight = min(label_rate / question.probability, 1.0 / blind_share)
        assert question.probability * weight == pytest.approx(label_rate)  # asked or not, on average
        assert question.probability >= blind_share * label_rate - 1e-12


def test_doubtful_rows_are_asked_for_more_often():
    asking = Asking(None, 0.1, 0.5)
    sure, torn = (np.array([[a, 1 - a]]) for a in (1.0, 0.5))
    found = [asking.ask(Answers(shares, shares), 1).probability for _ in range(500) for shares in (sure, torn)]
    assert found[-2] == pytest.approx(0.05)
    assert found[-1] == pytest.approx(0.15, abs=0.01)
    assert asking.n_wanted == pytest.approx(100, abs=5 * np.sqrt(100))  # five standard deviations, at most


def test_what_is_learned_and_after_a_restart(tmp_path):
    def fresh():
        return OnlineFewLabelsClassifier(BOOSTER, label_rate=0.2, classes=synthetic.RULE_CLASSES, seed=4)

    model, by_hand = fresh(), fresh()
    said = model.ask_learn_many(X, Y)
    twin = BOOSTER.clone({"classes": synthetic.RULE_CLASSES, "seed": 4})
    for number, (x, y) in enumerate(ROWS):
        assert by_hand.predict_one(x) == twin.predict_one(x) == said[number]
        question = by_hand.wants_label_one(x)
        if question.is_wanted:
            by_hand.learn_label_one(x, y, question.probability)
            twin.learn_one(x, y, w=0.2 / question.probability)
        if number == 150:
            ocoboost.save(by_hand, tmp_path / "few.oco")
            by_hand = ocoboost.load(tmp_path / "few.oco")
        if number == 250:
            by_hand = pickle.loads(pickle.dumps(by_hand))
    assert model.n_considered_ == 400
    assert 40 < model.n_wanted_ == by_hand.n_wanted_ == by_hand.n_rows_ < 120
    assert np.mean([a == b for a, b in zip(said, Y, strict=True)]) > 0.6


def test_bad_input_changes_nothing():
    model = OnlineFewLabelsClassifier(BOOSTER, seed=1)
    for probability in (0.0, 1.5, None, "half"):
        with pytest.raises(InvalidInputError, match=r"probability must lie in \(0, 1\]"):
            model.learn_label_one(X[0], Y[0], probability)
    with pytest.raises(InvalidParameterError, match="label_rate must"):
        OnlineFewLabelsClassifier(BOOSTER, label_rate=0.0).wants_label_one(X[0])
    assert (model.n_rows_, model.n_considered_) == (0, 0)
    assert OnlineFewLabelsClassifier(BOOSTER, label_rate=1.0, blind_share=1.0).wants_label_one(X[0]).is_wanted
