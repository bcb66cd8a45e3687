"""Bandits that learn from every play: what each label's booster is taught, the theorem, and the laws of blocks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ocoboost
from laws import learned
from ocoboost import (
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBanditBoostClassifier,
    OnlineBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets
from ocoboost.cascade.answers import Answers
from ocoboost.data.schema import Block
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.online.acting import Acting
from ocoboost.online.per_label import PerLabel
from ocoboost.randomness import member_seed
from ocoboost.theory import bounds
from test_paper_theorems import assert_mean_at_most
from toy_learners import Bins

TREES = HoeffdingTrees(max_depth=1, grace_period=20)
BOOSTERS = {
    "mixture": OnlineBoostClassifier(TREES, budget=8),
    "agnostic": OnlineAgnosticBoostClassifier(TREES, n_learners=5),
    "foreign": OnlineAgnosticBoostClassifier(Bins(), n_learners=3),
}
ROWS = datasets.shuffled(datasets.load("segment"), 1)[:120]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = sorted(set(Y))
# Columns that come late, a column of text, and one that is mostly missing.
MIXED = [
    ({"a": number % 7, "c": "rgb"[number % 3], **({"b": float(number)} if number > 40 else {})}, "xyz"[number % 3])
    for number in range(80)
]


def bandit(booster="mixture", **options):
    options = {"classes": CLASSES, "seed": 3, "learn_from": "plays", **options}
    return OnlineBanditBoostClassifier(BOOSTERS[booster], **options)


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("booster", BOOSTERS)
def test_every_label_has_a_booster_that_learns_its_plays_with_weight_1(booster):
    """Against separate boosters: no other label is taught, right and wrong plays are, and probabilities are shares."""
    model = bandit(booster)
    twins = [
        BOOSTERS[booster].clone({"classes": [False, True], "seed": member_seed(3, label)})
        for label in range(len(CLASSES))
    ]
    n_wrong = 0
    for x, y in ROWS:
        right = np.array([twin.predict_proba_one(x)[True] for twin in twins])
        expected = right / right.sum() if right.sum() > 0.0 else np.full(len(twins), 1 / len(twins))
        assert list(model.predict_proba_one(x).values()) == pytest.approx(list(expected), abs=1e-15)
        play = model.act_one(x)
        assert expected[CLASSES.index(play.greedy)] == expected.max()
        model.learn_feedback_one(x, play.label, play.probability, play.label == y)
        twins[CLASSES.index(play.label)].learn_one(x, play.label == y)
        n_wrong += play.label != y
    assert 10 < n_wrong < len(ROWS) - 10
    assert model.n_rows_ == len(ROWS) == sum(twin.n_rows_ for twin in twins)


def test_a_row_whose_label_is_known_is_learned_by_all_of_them():
    model, rows = bandit(), bandit()
    twin = BOOSTERS["mixture"].clone({"classes": [False, True], "seed": member_seed(3, 2)})
    model.learn_many(X, Y, w=[2.0] * len(X))
    for x, y in ROWS:
        rows.learn_one(x, y, w=2.0)
        twin.learn_one(x, y == CLASSES[2], w=2.0)
    assert learned(model, X[:3]) == learned(rows, X[:3])
    engine = model.state_.engine.engine
    assert engine.n_learned == [len(X)] * len(CLASSES)
    assert pickle.dumps(engine.engines[2].state()["weights"]) == pickle.dumps(twin.state_.engine.state()["weights"])


def test_a_wrong_play_makes_its_label_less_probable_and_a_right_one_more():
    for is_right in (True, False):
        model = bandit()
        for _ in range(10):
            model.learn_feedback_one(X[0], CLASSES[1], 0.3, is_right)
        probabilities = model.predict_proba_one(X[0])
        assert (probabilities[CLASSES[1]] > 0.2) == is_right
        assert (model.predict_one(X[0]) == CLASSES[1]) == is_right


def test_who_learns_from_plays_unless_told_otherwise():
    def learns_plays(booster, **options):
        model = OnlineBanditBoostClassifier(booster, seed=1, **options)
        model.learn_many(X[:9], CLASSES + CLASSES[:2])
        return isinstance(model.state_.engine.engine, PerLabel)

    small = OnlineBoostClassifier(budget=5)
    assert learns_plays(small, classes=CLASSES)
    assert learns_plays(small.clone({"classes": CLASSES}))
    assert not learns_plays(small)  # more labels may come
    assert not learns_plays(small, classes=CLASSES, most_weight=2.0)
    assert not learns_plays(small.clone({"class_weight": "balanced"}), classes=CLASSES)
    assert not learns_plays(small, classes=CLASSES, learn_from="revealed")
    assert not learns_plays(BOOSTERS["agnostic"], classes=CLASSES)  # what its theorem is about


def test_parameters_are_checked():
    weighted = OnlineBoostClassifier(budget=5, class_weight="balanced")
    for options, message in [
        ({"classes": None}, 'classes must name all labels, got None .*learn_from="plays"'),
        ({"most_weight": 2.0}, 'learn_from must not be "plays" with most_weight'),
        ({"booster": weighted}, 'learn_from must not be "plays" with most_weight or the booster\'s class_weight'),
        ({"learn_from": "guesses"}, "learn_from must"),
    ]:
        with pytest.raises(InvalidParameterError, match=message):
            OnlineBanditBoostClassifier(**{"classes": CLASSES, "learn_from": "plays", **options}).act_one(X[0])


def test_the_boosters_divide_the_memory():
    for booster in (OnlineBoostClassifier(budget=5, max_size=8), OnlineRealizableBoostClassifier(n_learners=2)):
        model = OnlineBanditBoostClassifier(booster, classes=CLASSES, learn_from="plays", seed=1)
        model.act_learn_many(X, Y)
        alone = booster.clone({"classes": CLASSES, "seed": 1})
        alone.learn_many(X, Y)
        limits = [cascade.ensemble.max_bytes for cascade in model.state_.engine.cascades]
        assert sum(limits) <= sum(cascade.ensemble.max_bytes for cascade in alone.state_.engine.cascades) * 1.001
        assert model.memory_usage_ <= model.state_.max_bytes
    tiny = OnlineBanditBoostClassifier(OnlineBoostClassifier(budget=5, max_size=0.02), classes=CLASSES, seed=1)
    with pytest.raises(InvalidInputError, match="the least that works is"):
        tiny.act_learn_many(X[:5], Y[:5])


# -- the theorem -------------------------------------------------------------------------------------------------------


def test_a_greedy_label_loses_no_more_than_the_errors_where_they_are_made():
    """Row by row: the loss against the best label, by the squared error that the play is expected to meet."""
    rng = np.random.default_rng(0)
    tightest = 0.0
    for _ in range(3000):
        k = int(rng.integers(2, 6))
        right, thought = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))
        acting = Acting(None, exploration=float(rng.choice([0.05, 0.3, 1.0])), proposes_mode=True, ledger_size=1)
        answers = Answers(thought[None], thought[None])
        chances = acting.chances(answers)
        loss = right.max() - right[int(answers.labels[0])]
        squared = float(chances @ (thought - right) ** 2)
        allowed = np.sqrt(2.0 * k / acting.exploration * squared)
        assert loss <= allowed + 1e-12
        if acting.exploration == 1.0:  # as at the first play of the schedule
            bound = bounds.play_mistake_bound(best_mistakes=0.0, squared_error=squared, n_rounds=1, n_classes=k)
            assert loss <= bound - (1 - 1 / k) + 1e-12
        tightest = max(tightest, loss / allowed)
    assert tightest > 0.95  # no smaller factor would do


@pytest.mark.parametrize("k", [2, 3])
def test_wrong_plays_are_at_most_those_of_the_bound(k):
    n_rows, wrong, errors = 3000, [], []
    chances = np.full((2, k), 0.03 / (k - 1)) + (0.97 - 0.03 / (k - 1)) * np.eye(2, k)  # of labels, by the row's cell
    for seed in range(2):
        rng = np.random.default_rng(seed)
        cells = rng.integers(2, size=n_rows)
        labels = [int(rng.choice(k, p=chances[cell])) for cell in cells]
        booster = OnlineBoostClassifier(HoeffdingTrees(grace_period=20), budget=2, gammas=(1.0,))
        model = OnlineBanditBoostClassifier(booster, classes=list(range(k)), seed=seed)
        n_wrong, squared_error = 0, 0.0
        for cell, label in zip(cells.tolist(), labels, strict=True):
            x = {"cell": float(cell)}
            play = model.act_one(x)
            squared_error += (thought(model, x, play.label) - chances[cell, play.label]) ** 2
            n_wrong += play.label != label
            model.learn_feedback_one(x, play.label, play.probability, play.label == label)
        wrong.append(n_wrong)
        errors.append(squared_error)
    bound = bounds.play_mistake_bound(
        best_mistakes=0.03 * n_rows, squared_error=float(np.mean(errors)), n_rounds=n_rows, n_classes=k
    )
    assert bound < (1 - 1 / k) * n_rows  # content: guessing is worse
    assert_mean_at_most(wrong, bound)


def thought(model, x, label):
    """With which probability the booster of a label calls it right."""
    state, engine = model.state_, model.state_.engine.engine.engines[label]
    rows = Block([x], state.schema), 2, model.state_.engine.engine.n_learned[label]
    answers = engine.answer_row(rows[0].codes[0], *rows[1:], state.schema.version) or engine.answer(*rows)
    return float(answers.label_probabilities[0, 1])


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", ["numbers", "mixed"])
@pytest.mark.parametrize("booster", BOOSTERS)
def test_any_cut_of_the_stream_a_pickle_and_a_model_file_give_the_same_bits(booster, rows, tmp_path):
    stream = ROWS if rows == "numbers" else MIXED
    xs, ys = [x for x, _ in stream], [y for _, y in stream]
    whole, cut = (bandit(booster, classes=sorted(set(ys))) for _ in range(2))
    played = whole.act_learn_many(xs, ys)
    assert cut.act_learn_many(xs[:50], ys[:50]) == played[:50]
    others = [pickle.loads(pickle.dumps(cut))]
    if booster != "foreign":
        ocoboost.save(cut, tmp_path / "bandit.oco")
        others.append(ocoboost.load(tmp_path / "bandit.oco"))
    for other in others:
        assert other.act_learn_many(xs[50:], ys[50:]) == played[50:]
        assert learned(other, xs[:3]) == learned(whole, xs[:3])
    assert len({play.label for play in played}) > 1


def test_a_forged_number_of_rows_is_refused():
    model = bandit()
    model.act_learn_many(X[:9], Y[:9])
    state = model.state_.engine.state()
    for forged in ([-1] * len(CLASSES), [0], [0.5] * len(CLASSES)):
        engine = bandit().fresh_state(3).engine
        with pytest.raises((ValueError, TypeError), match="number of"):
            engine.restore({**state, "engine": {**state["engine"], "n_learned": forged}}, model.state_.schema, 7)


def test_keyed_feedback_may_come_late_and_in_any_order():
    model, other = bandit(), bandit()
    plays = [model.act_one(x, key=number) for number, x in enumerate(X[:30])]
    for number in np.random.default_rng(1).permutation(30).tolist():
        model.learn_feedback_one(key=number, is_right=plays[number].label == Y[number])
        other.learn_feedback_one(X[number], plays[number].label, 0.5, plays[number].label == Y[number])
    assert learned(model, X[:3])[:-1] == learned(other, X[:3])[:-1]
    assert (model.n_rows_, model.n_waiting_) == (30, 0)
