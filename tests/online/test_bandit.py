"""Bandit feedback: unbiased lessons, a bound with content, late and wrong feedback, and the laws of blocks."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import ocoboost
from laws import learned
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBanditBoostClassifier,
    OnlineBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets, synthetic
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.regimes import PAIRWISE, Regime
from ocoboost.errors import InvalidInputError, InvalidParameterError
from ocoboost.online.acting import Acting
from ocoboost.theory import bounds
from test_paper_theorems import assert_mean_at_most
from toy_learners import Bins, Glimpse, Weightless

TREES = HoeffdingTrees(max_depth=1, grace_period=20)
BOOSTERS = {
    "agnostic": OnlineAgnosticBoostClassifier(TREES, n_learners=5),
    "realizable": OnlineRealizableBoostClassifier(TREES, n_learners=5),
    "pairwise": OnlinePairwiseBoostClassifier(TREES, n_learners=5),
    "mbbm": OnlineMBBMClassifier(TREES, n_learners=5),
    "olm": AdaBoostOLMClassifier(TREES, n_learners=5),
    "mixture": OnlineBoostClassifier(TREES, budget=8),
}
ROWS = datasets.shuffled(datasets.load("segment"), 1)[:150]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = sorted(set(Y))


def bandit(booster="pairwise", **options):
    booster = BOOSTERS[booster] if isinstance(booster, str) else booster
    return OnlineBanditBoostClassifier(booster, **{"classes": CLASSES, "seed": 3, **options})


# -- the estimate ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("n_plays", "exploration"), [(0, None), (40, None), (10_000, None), (7, 0.1), (7, 1.0)])
@pytest.mark.parametrize("proposes_mode", [True, False])
def test_a_row_is_learned_with_its_own_label_and_weight_1_on_average(k, n_plays, exploration, proposes_mode):
    """By enumeration over the plays, for every label and every proposal."""
    rng = np.random.default_rng(k)
    proposals = [*np.eye(k), *rng.dirichlet(np.ones(k), size=3)]
    for proposal, label in itertools.product(proposals, range(k)):
        acting = Acting(None, exploration, proposes_mode, 10)
        acting.n_plays = n_plays
        chances = acting.chances(Answers(proposal[None], proposal[None]))
        assert chances.sum() == pytest.approx(1.0)
        assert chances.min() > 0.0
        weights = np.zeros(k)  # taught, on average
        squares = 0.0
        for played in range(k):
            if played == label:  # revealed; nothing is learned of others
                weights[played] += chances[played] * (1.0 / chances[played])
                squares += chances[played] * (1.0 / chances[played]) ** 2
        np.testing.assert_allclose(weights, np.eye(k)[label])
        rate = bounds.exploration_rate(n_plays + 1, k) if exploration is None else exploration
        assert squares <= k / rate + 1e-9  # the term of ``bandit_energy``
        proposed = np.eye(k)[np.argmax(proposal)] if proposes_mode else proposal
        assert 1 - chances[label] <= 1 - proposed[label] + rate * (1 - 1 / k) + 1e-12


def test_the_model_learns_what_was_revealed_with_that_weight_and_nothing_else():
    model, twin = bandit(), BOOSTERS["pairwise"].clone({"classes": CLASSES, "seed": 3})
    for (x, y), play in zip(ROWS, bandit().act_learn_many(X, Y), strict=True):
        issued = model.act_one(x)
        assert issued == play[:3]
        assert issued.greedy == twin.predict_one(x)
        model.learn_feedback_one(x, issued.label, issued.probability, issued.label == y)
        if issued.label == y:
            twin.learn_one(x, y, w=1.0 / issued.probability)
    assert 10 < twin.n_rows_ == model.n_rows_ < len(ROWS)
    assert model.predict_proba_many(X) == twin.predict_proba_many(X)


def test_a_limit_on_weights():
    model, twin = bandit(most_weight=2.0), BOOSTERS["pairwise"].clone({"classes": CLASSES, "seed": 3})
    model.learn_feedback_one(X[0], Y[0], 0.1, True)
    model.learn_feedback_one(X[1], Y[1], 0.8, True)
    twin.learn_many(X[:2], Y[:2], w=[2.0, 1.25])
    assert model.predict_proba_many(X) == twin.predict_proba_many(X)


# -- the bound ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 4])
def test_wrong_plays_are_at_most_those_of_the_bound_below_gamma_1(k):
    gamma, n_learners, n_rows, noise = 0.6, 60, 300, 0.05
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(PAIRWISE))
    booster_mistakes = bounds.pairwise_mistake_bound(
        best_mistakes=noise * n_rows,
        weak_regret=0.0,
        player_regret=player_regret,
        gamma=gamma,
        n_rounds=n_rows,
        n_learners=n_learners,
        n_classes=k,
    )
    bound = bounds.bandit_mistake_bound(booster_mistakes=booster_mistakes, n_rounds=n_rows, n_classes=k)
    assert bound < (1 - 1 / k) * n_rows  # content: guessing is worse
    wrong = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        said = rng.integers(k, size=n_rows)
        is_wrong = rng.permutation(n_rows) < noise * n_rows
        labels = np.where(is_wrong, (said + 1) % k, said)
        booster = OnlinePairwiseBoostClassifier(Glimpse(gamma), gamma=gamma, n_learners=n_learners)
        model = OnlineBanditBoostClassifier(booster, classes=list(range(k)), propose="sample", seed=seed)
        rows = [{"number": number, "says": int(says), "k": k} for number, says in enumerate(said)]
        wrong.append(sum(not play.is_right for play in model.act_learn_many(rows, labels.tolist())))
    assert_mean_at_most(wrong, bound)


def test_the_sums_of_the_schedule_have_their_rates():
    for k in (2, 5, 20):
        explored = [bounds.bandit_mistake_bound(booster_mistakes=0, n_rounds=n, n_classes=k) for n in (10**4, 10**5)]
        assert explored[1] <= 1.5 * k ** (1 / 3) * (10**5) ** (2 / 3)
        assert np.log10(explored[1] / explored[0]) == pytest.approx(2 / 3, abs=0.02)
        energies = [bounds.bandit_energy(n_rounds=n, n_classes=k) for n in (10**4, 10**5)]
        assert np.log10(energies[1] / energies[0]) == pytest.approx(4 / 3, abs=0.02)


# -- feedback ----------------------------------------------------------------------------------------------------------


def test_keyed_feedback_may_come_late_and_in_any_order():
    model, other = bandit(), bandit()
    plays = [model.act_one(x, key=("row", number)) for number, x in enumerate(X[:30])]
    for x in X[:30]:
        other.act_one(x)
    order = np.random.default_rng(1).permutation(30)
    for number in order:
        model.learn_feedback_one(key=("row", int(number)), is_right=plays[number].label == Y[number])
        play = plays[number]
        other.learn_feedback_one(X[number], play.label, play.probability, play.label == Y[number])
    assert learned_by(model) == learned_by(other)
    assert (model.n_plays_, model.n_waiting_, model.n_dropped_) == (30, 0, 0)
    assert model.played_accuracy_ == np.mean([play.label == y for play, y in zip(plays, Y, strict=False)])


def learned_by(model):
    return learned(model, X[:3])[:-1], model.n_plays_, model.played_accuracy_


def all_of(model):
    waiting = list(model.state_.engine.ledger.entries.items())
    return learned(model, X[:3]), waiting, model.n_plays_, model.n_dropped_, model.played_accuracy_


def wrong_feedback(play):
    other = next(label for label in CLASSES if label != play.label)
    return {
        "unknown key": ({"key": "never"}, "nothing was issued under 'never'"),
        "unhashable key": ({"key": []}, "nothing was issued under"),
        "repeated": ({"key": "old"}, "'old' was answered before"),
        "dropped": ({"key": "first"}, "or it was too long ago; the last 3 are kept"),
        "another label": ({"key": "new", "label": other}, f"was not played under the key 'new', but {play.label!r}"),
        "another probability": ({"key": "new", "probability": 0.123}, "probability: must not be 0.123"),
        "another row": ({"key": "new", "x": X[9]}, "another row was played"),
        "no key, no row": ({"label": CLASSES[0], "probability": 0.5}, "needs a key, or the row"),
        "unknown label": ({"x": X[0], "label": "grue", "probability": 0.5}, "'grue' is not among the labels"),
        "no probability": ({"x": X[0], "label": CLASSES[0], "probability": 0.0}, r"must lie in \(0, 1\], got 0.0"),
        "not a number": ({"x": X[0], "label": CLASSES[0], "probability": "p"}, r"must lie in \(0, 1\], got 'p'"),
    }


@pytest.mark.parametrize("name", wrong_feedback(ocoboost.online.bandit.Play("", 1.0, "")))
@pytest.mark.parametrize("is_right", [True, False])
@pytest.mark.parametrize("learn_from", ["revealed", "plays", "estimate"])
def test_wrong_feedback_raises_and_changes_nothing(name, is_right, learn_from):
    """Late (dropped), repeated (with the same verdict or the opposite one), unknown and contradictory feedback."""
    booster = OnlineMBBMClassifier(Bins(), n_learners=3) if learn_from == "estimate" else "pairwise"
    model = bandit(booster, ledger_size=3, learn_from=learn_from)
    for number, key in enumerate(["first", "older", "old"]):
        model.act_one(X[number], key=key)
    model.learn_feedback_one(key="old", is_right=True)
    play = model.act_one(X[3], key="new")
    assert model.n_dropped_ == 1
    before = all_of(model)
    arguments, message = wrong_feedback(play)[name]
    with pytest.raises(InvalidInputError, match=f"OnlineBanditBoostClassifier: .*{message}"):
        model.learn_feedback_one(is_right=is_right, **arguments)
    with pytest.raises(InvalidInputError, match="is_right: must be True or False, got None"):
        model.learn_feedback_one(key="new")
    assert all_of(model) == before
    model.learn_feedback_one(key="new", label=play.label, probability=play.probability, is_right=is_right)


def test_feedback_before_any_play_and_verdicts_that_are_none():
    model = bandit()
    with pytest.raises(InvalidInputError, match="nothing was issued under 'a'"):
        model.learn_feedback_one(key="a", is_right=True)
    assert model.state_ is None
    play = model.act_one(X[0], key="a")
    for verdict in (1, "yes", None, 0.0):
        with pytest.raises(InvalidInputError, match="is_right: must be True or False"):
            model.learn_feedback_one(key="a", is_right=verdict)
    assert (model.n_waiting_, model.n_rows_) == (1, 0)
    model.learn_feedback_one(key="a", label=play.label, is_right=np.bool_(True))
    assert (model.n_waiting_, model.n_rows_) == (0, 1)


def test_a_key_is_issued_once_and_a_refused_play_is_not_made():
    model = bandit()
    model.act_one(X[0], key=1)
    for key in (1, []):
        with pytest.raises(InvalidInputError, match="key: "):
            model.act_one(X[1], key=key)
    with pytest.raises(InvalidInputError, match="only 0 labels are known"):
        OnlineBanditBoostClassifier(BOOSTERS["agnostic"]).act_one(X[0])
    assert model.n_plays_ == 1


def test_parameters_are_checked():
    for options, message in [
        ({"exploration": 0.0}, "exploration must"),
        ({"propose": "both"}, "propose must"),
        ({"most_weight": 0.5}, "most_weight must"),
        ({"booster": "agnostic"}, "booster must be an online booster"),
        ({"booster": OnlineAgnosticBoostClassifier(Weightless(), n_learners=2)}, "takes weights"),
    ]:
        with pytest.raises(InvalidParameterError, match=message):
            OnlineBanditBoostClassifier(**{"classes": CLASSES, **options}).act_one(X[0])


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "booster", [name if name == "mixture" else pytest.param(name, marks=pytest.mark.slow) for name in BOOSTERS]
)
def test_any_cut_of_the_stream_a_pickle_and_a_model_file_give_the_same_bits(booster, tmp_path):
    whole, cut = bandit(booster), bandit(booster)
    played = whole.act_learn_many(X, Y)
    halves = cut.act_learn_many(X[:61], Y[:61])
    cut.act_one(X[0], key="waits")
    whole_twin = bandit(booster)
    whole_twin.act_learn_many(X[:61], Y[:61])
    whole_twin.act_one(X[0], key="waits")
    ocoboost.save(cut, tmp_path / "bandit.oco")
    others = [pickle.loads(pickle.dumps(cut)), ocoboost.load(tmp_path / "bandit.oco")]
    assert halves == played[:61]
    expected = whole_twin.act_learn_many(X[61:], Y[61:])
    for other in others:
        assert (other.n_plays_, other.n_waiting_) == (62, 1)
        assert other.act_learn_many(X[61:], Y[61:]) == expected
        other.learn_feedback_one(key="waits", is_right=True)
        with pytest.raises(InvalidInputError, match="answered before"):
            other.learn_feedback_one(key="waits", is_right=True)


def test_draws_are_keyed_by_calls_not_by_rows_learned():
    model = bandit(exploration=1.0)
    labels = [model.act_one(X[0]).label for _ in range(60)]
    assert len(set(labels)) == len(CLASSES)
    assert model.n_rows_ == 0


def test_it_learns():
    rows = synthetic.load("realizable", 1500, seed=1).rows
    booster = OnlinePairwiseBoostClassifier(HoeffdingTrees(grace_period=50), n_learners=10, gamma=0.3)
    model = OnlineBanditBoostClassifier(booster, classes=synthetic.RULE_CLASSES, seed=1)
    plays = model.act_learn_many([x for x, _ in rows], [y for _, y in rows])
    late = list(zip(plays, rows, strict=True))[1000:]
    assert np.mean([play.greedy == y for play, (_, y) in late]) > 0.9
    # Off-policy: what always playing the greedy label would have got, from the plays alone.
    value = np.mean([(play.label == play.greedy) * play.is_right / play.probability for play in plays])
    assert value == pytest.approx(
        np.mean([play.greedy == y for play, (_, y) in zip(plays, rows, strict=True)]), abs=0.06
    )


def test_foreign_learners_and_growing_labels():
    model = OnlineBanditBoostClassifier(OnlineAgnosticBoostClassifier(Bins(), n_learners=3), seed=1)
    model.learn_many(X[:20], Y[:20])  # labels that are known
    assert model.act_one(X[20]).label in model.classes_
    model.learn_feedback_one(X[20], Y[0], 0.5, True)
    assert model.n_rows_ == 21
