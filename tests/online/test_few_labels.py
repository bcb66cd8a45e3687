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
from ocoboost.cascade.regimes import PAIRWISE, Regime
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.online.few_labels import Asking, Question
from ocoboost.theory import bounds
from test_paper_theorems import assert_mean_at_most
from toy_learners import Glimpse

ROWS = synthetic.load("realizable", 400, seed=1).rows
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
BOOSTER = OnlinePairwiseBoostClassifier(HoeffdingTrees(max_depth=1, grace_period=20), n_learners=5)


@given(
    st.sampled_from([0.01, 0.1, 0.5, 1.0]),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.sampled_from([None, 1, 20, 1000]),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=60),
)
def test_the_rate_is_never_exceeded_and_rows_count_alike_on_average(label_rate, blind_share, n_rows, margins):
    asking = Asking(None, label_rate, blind_share, n_rows, True)
    before = 0.0
    for number, margin in enumerate(margins, 1):
        shares = np.array([[(1 + margin) / 2, (1 - margin) / 2]])
        question = asking.ask(Answers(shares, shares), seed=1)
        allowed = label_rate * number
        if n_rows is not None and number < n_rows:
            allowed = max(allowed, min(0.5 * number, label_rate * (0.9 * n_rows + 0.1 * number)))
        assert asking.spent <= allowed + 1e-9
        assert question.probability * question.weight == pytest.approx(allowed - before)  # whatever the margin
        assert question.probability >= blind_share * (allowed - before) - 1e-12
        assert question.weight <= 1.0 / blind_share + 1e-9
        before = allowed


def test_doubtful_rows_are_asked_for_more_often():
    asking = Asking(None, 0.1, 0.5, None, True)
    sure, torn = (np.array([[a, 1 - a]]) for a in (1.0, 0.5))
    found = [asking.ask(Answers(shares, shares), 1).probability for _ in range(500) for shares in (sure, torn)]
    assert found[-2] == pytest.approx(0.05)
    assert found[-1] == pytest.approx(0.15, abs=0.01)
    assert asking.n_wanted == pytest.approx(100, abs=5 * np.sqrt(100))  # five standard deviations, at most


def test_what_was_saved_is_spent_on_the_next_rows():
    asking = Asking(None, 0.1, 0.5, None, True)
    sure, torn = (np.array([[a, 1 - a]]) for a in (0.95, 0.5))
    for shares, n_rows in ((torn, 400), (sure, 400)):  # doubt falls: the mean of all rows would ask for too few
        for _ in range(n_rows):
            asking.ask(Answers(shares, shares), 1)
        assert asking.spent == pytest.approx(asking.allowance(asking.n_considered), rel=0.07)  # it asked for 64 of 80


def test_without_correction_all_labels_are_learned_alike():
    asking, plain = Asking(None, 0.1, 0.5, None, True), Asking(None, 0.1, 0.5, None, False)
    for share in (0.5, 0.9, 0.7):
        answers = Answers(*2 * [np.array([[share, 1 - share]])])
        questions = [one.ask(answers, 1) for one in (asking, plain)]
        assert questions[0][:2] == questions[1][:2]
        assert questions[1].weight == 1.0


def test_with_the_number_of_rows_known_labels_are_asked_for_early():
    asking = Asking(None, 0.1, 0.5, 10_000, True)
    allowed = [asking.allowance(n) for n in (50, 1500, 2000, 5000, 10_000, 20_000)]
    assert allowed == pytest.approx([25, 750, 920, 950, 1000, 2000])


@given(st.floats(0.001, 1.0), st.integers(1, 300))
def test_every_row_adds_to_the_allowance_and_none_more_than_its_label(label_rate, n_rows):
    asking = Asking(None, label_rate, 0.5, n_rows, True)
    allowed = [asking.allowance(n) for n in range(2 * n_rows)]
    assert allowed[0] == 0.0
    assert all(0.0 < more <= 1.0 + 1e-9 for more in np.diff(allowed))
    assert allowed[n_rows] == pytest.approx(label_rate * n_rows)


def test_a_question_is_true_if_the_label_is_wanted():
    """An ``if question:`` that is always true would ask for every label."""
    assert Question(True, 0.1, 1.0)
    assert not Question(False, 0.1, 1.0)


def test_what_is_learned_and_after_a_restart(tmp_path):
    def fresh():
        return OnlineFewLabelsClassifier(
            BOOSTER, label_rate=0.2, blind_share=0.5, corrected=True, classes=synthetic.RULE_CLASSES, seed=4
        )

    model, by_hand = fresh(), fresh()
    said = model.ask_learn_many(X, Y)
    twin = BOOSTER.clone({"classes": synthetic.RULE_CLASSES, "seed": 4})
    for number, (x, y) in enumerate(ROWS):
        assert by_hand.predict_one(x) == twin.predict_one(x) == said[number]
        question = by_hand.wants_label_one(x)
        if question.is_wanted:
            by_hand.learn_label_one(x, y, question)
            twin.learn_one(x, y, w=question.weight)
        if number == 150:
            ocoboost.save(by_hand, tmp_path / "few.oco")
            by_hand = ocoboost.load(tmp_path / "few.oco")
        if number == 250:
            by_hand = pickle.loads(pickle.dumps(by_hand))
    assert model.n_considered_ == 400
    assert 40 < model.n_wanted_ == by_hand.n_wanted_ == by_hand.n_rows_ < 120
    assert np.mean([a == b for a, b in zip(said, Y, strict=True)]) > 0.6


def test_bad_input_changes_nothing():
    model = OnlineFewLabelsClassifier(BOOSTER, blind_share=0.5, seed=1)
    for question in (None, 0.5, Question(True, 0.5, 0.0), Question(True, 0.5, 3.0)):
        with pytest.raises(InvalidInputError, match="question must be what wants_label_one returned"):
            model.learn_label_one(X[0], Y[0], question)
    with pytest.raises(InvalidParameterError, match="label_rate must"):
        OnlineFewLabelsClassifier(BOOSTER, label_rate=0.0).wants_label_one(X[0])
    assert (model.n_rows_, model.n_considered_) == (0, 0)
    assert OnlineFewLabelsClassifier(BOOSTER, label_rate=1.0, blind_share=1.0).wants_label_one(X[0]).is_wanted


@pytest.mark.parametrize("k", [2, 4])
def test_mistakes_are_at_most_those_of_the_bound_below_gamma_1(k):
    """Learners of known advantage, whatever they are taught: R_W is 0 on rows of any weight."""
    gamma, n_learners, n_rows, noise = 0.6, 60, 200, 0.05
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(PAIRWISE))
    bound = bounds.pairwise_mistake_bound(
        best_mistakes=noise * n_rows,
        weak_regret=0.0,
        player_regret=player_regret,
        gamma=gamma,
        n_rounds=n_rows,
        n_learners=n_learners,
        n_classes=k,
    )
    assert bound < (1 - 1 / k) * n_rows  # content: guessing is worse
    wrong = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        said = rng.integers(k, size=n_rows)
        labels = np.where(rng.permutation(n_rows) < noise * n_rows, (said + 1) % k, said).tolist()
        booster = OnlinePairwiseBoostClassifier(Glimpse(gamma), gamma=gamma, n_learners=n_learners)
        model = OnlineFewLabelsClassifier(
            booster, label_rate=0.2, blind_share=0.5, corrected=True, classes=list(range(k)), seed=seed
        )
        wrong.append(0)
        for number, (says, label) in enumerate(zip(said.tolist(), labels, strict=True)):
            x = {"number": number, "says": says, "k": k}
            wrong[-1] += model.sample_one(x) != label
            question = model.wants_label_one(x)
            if question.is_wanted:
                model.learn_label_one(x, label, question)
        assert model.n_rows_ < 0.4 * n_rows
    assert_mean_at_most(wrong, bound)
