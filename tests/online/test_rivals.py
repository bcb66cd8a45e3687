"""OnlineMBBM and Adaboost.OLM against their slow twins, their binary ancestors, and the published deviations."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import SGDClassifier

import naive
from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, MondrianTrees, OnlineMBBMClassifier
from ocoboost.bench import datasets
from ocoboost.cascade import potentials
from ocoboost.cascade.mbbm import largest
from ocoboost.cascade.olm import slope, steepness
from ocoboost.errors import BrokenModelError, InvalidInputError, InvalidParameterError, WeakLearnerError
from ocoboost.randomness import derive_seed
from toy_learners import Bins, Fragile, Weightless

RIVALS = [OnlineMBBMClassifier, AdaBoostOLMClassifier]
ROWS = datasets.shuffled(datasets.balance(), 1)[:120]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = ["L", "B", "R"]
# Balance is symmetric: with round weights labels would tie up to rounding, which twins need not do alike.
WEIGHTS = [0.0, 1.0, *np.random.default_rng(1).uniform(0.5, 2.0, len(ROWS) - 2)]
INDEXED = [(x, CLASSES.index(y), w) for x, y, w in zip(X, Y, WEIGHTS, strict=True)]
N_LEARNERS = 7
MBBM_DEVIATIONS = ["constants", "horizon", "monte-carlo", "ties", "min-cost"]
OLM_DEVIATIONS = ["constants", "ties", "min-cost"]


def every_one_and_all(deviations):
    return [(), *((name,) for name in deviations), tuple(deviations)]


def twins(seed):
    return [Bins(derive_seed(seed, learner)) for learner in range(N_LEARNERS)]


def shares_before_learning(model):
    """Each row's distribution from just before it is learned, row by row."""
    distributions = []
    for x, y, w in zip(X, Y, WEIGHTS, strict=True):
        distributions.append(list(model.predict_proba_one(x).values()))
        model.learn_one(x, y, w=w)
    return np.array(distributions)


# -- the algorithms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.05, 0.3, 0.95])
@pytest.mark.parametrize("mode", every_one_and_all(MBBM_DEVIATIONS))
def test_mbbm_is_its_slow_twin(mode, gamma):
    tables = potentials.make_potentials(potentials.MONTE_CARLO, gamma=gamma, n_classes=3, n_learners=N_LEARNERS, seed=9)
    room = potentials.make_room(3, N_LEARNERS)

    def phi(n, counts, label):
        if "monte-carlo" not in mode:
            return float(naive.potential(n, naive.gaps_of(counts, label), Fraction(str(gamma))))
        tables.values[:] = -1.0  # remembered for one n only
        return potentials.potential(tables, 0, n, counts.copy(), label, room)

    counts, lessons = naive.boost_by_majority(
        INDEXED, twins(9), phi=phi, n_classes=3, seed=9, deviations=frozenset(mode)
    )
    model = OnlineMBBMClassifier(Bins(), n_learners=N_LEARNERS, gamma=gamma, classes=CLASSES, mode=mode, seed=9)
    np.testing.assert_allclose(shares_before_learning(model), np.array(counts) / N_LEARNERS, atol=1e-12)
    taught = np.sum(lessons, axis=0)
    learned = [sum(learner.counts.get("all", {}).values()) for learner in model._state.engine.cascades[0].ensemble.learners]
    np.testing.assert_allclose(learned, taught, rtol=1e-10)


@pytest.mark.parametrize("mode", every_one_and_all(OLM_DEVIATIONS))
def test_olm_is_its_slow_twin(mode):
    expected, alphas, log_weights = naive.boost_logistic(
        INDEXED, twins(9), n_classes=3, seed=9, deviations=frozenset(mode)
    )
    model = AdaBoostOLMClassifier(Bins(), n_learners=N_LEARNERS, classes=CLASSES, mode=mode, seed=9)
    np.testing.assert_allclose(shares_before_learning(model), expected, atol=1e-12)
    np.testing.assert_allclose(model.alphas_, alphas, atol=1e-12)
    np.testing.assert_array_equal(model.log_expert_weights_, log_weights)  # sums of rows' weights: exact
    assert np.abs(model.alphas_).max() <= 2.0


@given(
    scores=hnp.arrays(np.float64, 4, elements=st.floats(-20, 20)),
    label=st.integers(0, 3),
    vote=st.integers(0, 3),
    alpha=st.floats(-2, 2),
)
def test_slopes_are_those_of_the_logistic_loss(scores, label, vote, alpha):
    def loss(s):
        return sum(np.logaddexp(0.0, s[j] - s[label]) for j in range(4) if j != label)

    step = 1e-5
    direction = np.eye(4)[vote]
    difference = loss(scores + (alpha + step) * direction) - loss(scores + (alpha - step) * direction)
    assert slope(scores, label, vote, alpha) == pytest.approx(difference / (2 * step), abs=1e-7)
    truth = np.eye(4)[label]
    difference = loss(scores + step * truth) - loss(scores - step * truth)
    assert -steepness(scores, label, 0.0) == pytest.approx(difference / (2 * step), abs=1e-7)


class Recorder(Bins):
    """Remembers the weights it was taught with.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        self.lessons = []
        self.votes = []

    def learn_one(self, x, y, *, w=1.0):
        self.lessons.append(w)
        super().learn_one(x, y, w=w)

    def predict_proba_one(self, x, **kwargs):
        shares = super().predict_proba_one(x)
        self.votes.append(max(sorted(shares), key=lambda label: shares[label] / sum(shares.values())) if shares else 0)
        return shares


def binary_run(booster, **options):
    """Lessons and votes, of shape (learners, rows), and signs: +1 where the vote was right."""
    rows = [(x, y == "L") for x, y in ROWS]
    model = booster(Recorder(), n_learners=N_LEARNERS, classes=[False, True], seed=3, **options)
    model.learn_many([x for x, _ in rows], [y for _, y in rows])
    learners = model._state.engine.cascades[0].ensemble.learners
    votes = np.array([learner.votes for learner in learners])
    right = np.where(votes == np.array([int(y) for _, y in rows]), 1, -1)
    return model, [learner.lessons for learner in learners], right


@pytest.mark.parametrize("gamma", [0.02, 0.4])
def test_with_two_labels_mbbm_is_boosting_by_majority(gamma):
    _, lessons, right = binary_run(OnlineMBBMClassifier, gamma=gamma)

    def weight(i, margin):  # Beygelzimer, Kale & Luo (2015), with gamma / 2 as their edge
        left = N_LEARNERS - i
        c = (left + 1 - margin) // 2
        if not 0 <= c <= left:
            return 0.0
        return math.comb(left, c) * (0.5 + gamma / 2) ** c * (0.5 - gamma / 2) ** (left - c)

    mean = np.mean([weight(i, 0) for i in range(1, N_LEARNERS + 1)])
    for i, taught in enumerate(lessons, 1):
        margins = right[: i - 1].sum(axis=0)
        expected = [weight(i, int(margin)) / mean for margin in margins]
        np.testing.assert_allclose(taught, [w for w in expected if w > 0.0], atol=1e-12)  # weight 0 teaches nothing


def test_with_two_labels_olm_is_adaboost_ol():
    model, lessons, right = binary_run(AdaBoostOLMClassifier)
    alphas, mistakes = np.zeros(N_LEARNERS), np.zeros(N_LEARNERS)
    for t in range(right.shape[1]):
        margin, eta = 0.0, 2 * math.sqrt(2) / math.sqrt(t + 1)  # theirs is 4 / sqrt(t); the rest is the same
        for i in range(N_LEARNERS):
            z = right[i, t]
            assert lessons[i][t] == pytest.approx(2 * naive.sigma(-margin), abs=1e-12)
            alpha = alphas[i]
            alphas[i] = np.clip(alpha + eta * z * naive.sigma(-(margin + z * alpha)), -2, 2)
            margin += z * alpha
            is_truth_first = Y[t] != "L"  # index 0 wins ties
            mistakes[i] += not (margin > 0 or (margin == 0 and is_truth_first))
    np.testing.assert_allclose(model.alphas_, alphas, atol=1e-12)
    np.testing.assert_array_equal(model.log_expert_weights_, -mistakes)


# -- predictions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("booster", RIVALS)
def test_predictions_are_pure_and_agree_with_each_other(booster):
    model = booster(HoeffdingTrees(), n_learners=20, seed=2)
    model.learn_many(X, Y)
    before = pickle.dumps(model)
    for x in X[:30]:
        probabilities = model.predict_proba_one(x)
        assert math.isclose(sum(probabilities.values()), 1.0)
        assert probabilities[model.predict_one(x)] == max(probabilities.values())
        assert probabilities[model.sample_one(x)] > 0.0
        assert math.isclose(sum(model.vote_shares_one(x).values()), 1.0)
    assert pickle.dumps(model) == before
    resumed = pickle.loads(before)
    resumed.learn_many(X, Y)
    model.learn_many(X, Y)
    assert resumed.predict_proba_many(X) == model.predict_proba_many(X)


def test_mbbm_shares_are_votes_and_draws_of_olm_follow_the_experts():
    model = OnlineMBBMClassifier(Bins(), n_learners=9, seed=1)
    model.learn_many(X, Y)
    assert model.predict_proba_one(X[0]) == model.vote_shares_one(X[0])
    assert all(share * 9 == pytest.approx(round(share * 9)) for share in model.vote_shares_one(X[0]).values())
    model = AdaBoostOLMClassifier(Bins(), n_learners=9, seed=1)
    model.learn_many(X[:25], Y[:25])
    x = next(x for x in X if max(model.predict_proba_one(x).values()) < 0.9)
    probabilities = model.predict_proba_one(x)
    hits = dict.fromkeys(probabilities, 0)
    for _ in range(2000):
        hits[model.sample_one(x)] += 1
        model._state.n_rows += 1  # the draw is keyed by the number of rows learned
    for label, probability in probabilities.items():
        assert abs(hits[label] / 2000 - probability) < 4 * math.sqrt(0.25 / 2000)


def test_thousands_of_mistakes_underflow_nothing():
    model = AdaBoostOLMClassifier(Bins(), n_learners=4, classes=["x", "y"], seed=1)
    for number in range(40):
        model.learn_one({"a": 1.0}, "xy"[number % 2], w=1e4)
    assert model.log_expert_weights_.max() <= -1e4  # exp of that is 0
    assert sum(model.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)
    for number in range(4):
        model.learn_one({"a": 1.0}, "xy"[number % 2], w=1e308)
    assert sum(model.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("booster", RIVALS)
def test_weights_multiply(booster):
    plain, heavy, mute = (booster(Recorder(), n_learners=3, classes=CLASSES, seed=1) for _ in range(3))
    plain.learn_one(X[0], Y[0])
    heavy.learn_one(X[0], Y[0], w=3.0)
    mute.learn_many(X, Y, w=np.zeros(len(X)))
    lessons = [[learner.lessons for learner in m._state.engine.cascades[0].ensemble.learners] for m in (plain, heavy, mute)]
    for once, thrice in zip(*lessons[:2], strict=True):
        np.testing.assert_allclose(3 * np.array(once), thrice, rtol=1e-12)
    assert any(lessons[0])
    assert lessons[2] == [[], [], []]


def test_mbbm_weights_are_one_on_average_before_any_vote():
    for gamma, n_classes, potential in itertools.product([0.01, 0.3, 0.95], [2, 5], ["exact", "fast"]):
        model = OnlineMBBMClassifier(Bins(), n_learners=50, gamma=gamma, potential=potential)
        loop = model._begin().members[0].cascade._loop(n_classes)
        none, room = np.zeros(n_classes, dtype=np.int64), loop.make_room()
        weights = [potentials.importance(loop.potentials, i, 49 - i, none, 0, room) for i in range(50)]
        assert np.mean(loop.scales * weights) == pytest.approx(1.0)


@pytest.mark.parametrize("booster", RIVALS)
def test_one_label_is_learned_as_if_there_were_another(booster):
    model = booster(Bins(), n_learners=5, seed=1)
    assert model.predict_one({"a": 1}) is None
    model.learn_many([{"a": 1}] * 3, ["x"] * 3)
    assert model.predict_proba_one({"a": 1}) == {"x": 1.0}
    assert any(learner.counts for learner in model._state.engine.cascades[0].ensemble.learners)


def test_ties_are_broken_as_the_draw_says():
    values = np.array([1.0, 3.0, 0.0, 3.0, 3.0])
    assert [largest(values, 5, draw) for draw in (0.0, 0.32, 0.34, 0.66, 0.67, 0.999)] == [1, 1, 3, 3, 4, 4]
    assert largest(values, 1, 0.9) == 0
    chosen = set()
    for seed in range(30):
        model = OnlineMBBMClassifier(Bins(), n_learners=2, classes=CLASSES, mode=["ties"], seed=seed)
        model._state = model._begin()
        answers = model._state.answer([{}])
        tied = answers._replace(distributions=np.full((1, 3), 1 / 3))
        chosen.add(int(tied.labels[0]))
    assert chosen == {0, 1, 2}


# -- hosts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "paper", "original"])
@pytest.mark.parametrize("learner", [HoeffdingTrees(grace_period=20, delta=0.1, tau=0.3), MondrianTrees()])
@pytest.mark.parametrize("booster", RIVALS)
def test_the_fused_kernel_equals_the_loop_by_parts(booster, learner, mode):
    rows = datasets.shuffled(datasets.load("segment"), 5)[:150]
    block, labels = [x for x, _ in rows], [y for _, y in rows]
    fused, parts = (booster(learner, n_learners=4, mode=mode, seed=1) for _ in range(2))
    parts._state = parts._begin()
    cascade = parts._state.members[0].cascade
    cascade.learn = cascade.learn_by_parts
    assert fused.predict_learn_many(block, labels) == parts.predict_learn_many(block, labels)
    for one, other in zip(fused._state.engine.cascades[0].ensemble.trees, parts._state.engine.cascades[0].ensemble.trees, strict=True):
        assert one.tobytes() == other.tobytes()
    if booster is AdaBoostOLMClassifier:
        assert fused.alphas_.tobytes() == parts.alphas_.tobytes()
        assert fused.log_expert_weights_.tobytes() == parts.log_expert_weights_.tobytes()


@pytest.mark.parametrize("booster", RIVALS)
def test_learners_without_weights_are_taught_with_half_the_weight_as_a_probability(booster):
    model = booster(Weightless(), n_learners=20, classes=CLASSES, seed=1)
    model.learn_many(X, Y)
    taught = [sum(learner.counts.get("all", {}).values()) for learner in model._state.engine.cascades[0].ensemble.learners]
    assert all(count == int(count) for count in taught)
    assert 0.1 * len(X) < np.mean(taught) < 0.8 * len(X)
    with pytest.raises(InvalidInputError, match="takes no weights"):
        model.learn_one(X[0], Y[0], w=2.0)


@pytest.mark.parametrize("booster", RIVALS)
def test_sklearn_learners_are_boosted_too(booster):
    model = booster(SGDClassifier(random_state=0), n_learners=3, classes=CLASSES, seed=1)
    predictions = model.predict_learn_many(X, Y)
    assert np.mean([p == y for p, y in zip(predictions, Y, strict=True)]) > 0.5


@pytest.mark.parametrize("booster", RIVALS)
def test_a_learner_that_raises_breaks_the_model(booster):
    model = booster(Fragile(), n_learners=2, seed=1)
    with pytest.raises(WeakLearnerError, match="while learning row 1"):
        model.learn_many([{"a": 1.0}, {"bomb": 1}], ["x", "x"])
    with pytest.raises(BrokenModelError):
        model.learn_one({"a": 1.0}, "x")
    model.reset()
    model.learn_one({"a": 1.0}, "x")


PARAMETERS = [
    (RIVALS, {"n_learners": 0}, "n_learners must be a whole number of at least 1.*, got 0"),
    (RIVALS, {"n_jobs": 0}, "n_jobs must be -1, or be a whole number"),
    (RIVALS, {"seed": -1}, "seed must be None"),
    (RIVALS, {"classes": ["a", "a"]}, "classes must be None or a sequence of distinct labels"),
    (RIVALS, {"learner": "tree"}, "learner must be a classifier that can learn online"),
    (RIVALS, {"mode": "papre"}, "mode must be one of None, 'paper', 'original', or a sequence of .*constants.*'papre'"),
    (RIVALS, {"mode": ["ties", "loss"]}, "mode must be"),
    (RIVALS, {"mode": 3}, "mode must be"),
    (RIVALS, {"mode": [["ties"]]}, "mode must be"),
    ([AdaBoostOLMClassifier], {"mode": ["horizon"]}, "mode must be"),
    ([OnlineMBBMClassifier], {"gamma": 1.0}, r"gamma must lie in \(0, 1\), got 1.0 \(smaller means weaker learners\)"),
    ([OnlineMBBMClassifier], {"gamma": 0}, r"gamma must lie in \(0, 1\), got 0"),
    ([OnlineMBBMClassifier], {"n_learners": 1001}, "n_learners must be a whole number of at least 1 and below 1001"),
    (
        [OnlineMBBMClassifier],
        {"potential": "monte-carlo"},
        "potential must be one of 'exact', 'fast', got 'monte-carlo'",
    ),
]


@pytest.mark.parametrize(("boosters", "parameters", "message"), PARAMETERS)
def test_bad_parameters(boosters, parameters, message):
    for booster in boosters:
        model = booster(**{"learner": Bins(), **parameters})
        before = pickle.dumps(model)
        for call in (model.check_parameters, lambda model=model: model.learn_one({"a": 1.0}, "x")):
            with pytest.raises(InvalidParameterError, match=f"^{booster.__name__}: .*{message}"):
                call()
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("booster", RIVALS)
def test_modes_are_sums_of_their_deviations(booster):
    for mode, deviations in booster.modes.items():
        named, listed = (
            booster(Bins(), n_learners=3, mode=mode, seed=1),
            booster(Bins(), n_learners=3, mode=sorted(deviations), seed=1),
        )
        assert named.predict_learn_many(X, Y) == listed.predict_learn_many(X, Y)
        assert named.predict_proba_many(X) == listed.predict_proba_many(X)
        assert named.deviations_ == deviations
