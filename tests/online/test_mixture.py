"""Exponential weights with a fixed share: against a slow twin, against their bound, and inside the mixture."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from laws import learned, state_of_learners
from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench import datasets
from ocoboost.online.members import choose
from ocoboost.online.mixture import SHARP_GAMMA, mix_rows, regret_bound
from toy_learners import Bins


def naive_weights(losses, row_weights=None):
    """The experts' weights before each row, from the definition; ``losses`` has shape (rows, experts)."""
    n_experts = losses.shape[1]
    weights, before = [1.0 / n_experts] * n_experts, []
    for row, loss in enumerate(losses):
        length = 2 ** int(math.log2(row + 1))
        share = 1.0 / max(length, 2)
        rate = math.sqrt(8.0 * math.log(n_experts / share) / length) * (
            1.0 if row_weights is None else row_weights[row]
        )
        before.append(weights)
        scaled = [w * math.exp(-rate * lost) for w, lost in zip(weights, loss, strict=True)]
        weights = [(1.0 - share) * w / sum(scaled) + share / n_experts for w in scaled]
    return np.array(before)


def mixed_losses(losses, cut=None):
    """The mixture's loss on each row, and the weights in the end: an expert's distribution has 1 - loss on label 0."""
    distributions = np.stack([1.0 - losses.T, losses.T], axis=2)
    labels = np.zeros(len(losses), dtype=np.int64)
    weights, before = np.full(losses.shape[1], 1.0 / losses.shape[1]), np.empty_like(losses)
    for rows in (slice(0, cut), slice(cut, None)) if cut is not None else (slice(None),):
        first = rows.start or 0
        block = np.ascontiguousarray(distributions[:, rows])
        mix_rows(block, labels[rows], np.ones(block.shape[1]), first, weights, before[rows])
    return (before * losses).sum(axis=1), weights


def stream_of_losses(kind, n_rows, n_experts, seed):
    draw = np.random.default_rng(seed)
    if kind == "random":
        return draw.random((n_rows, n_experts))
    if kind == "one is better":
        return draw.random((n_rows, n_experts)) * np.linspace(0.5, 1.0, n_experts)
    if kind == "one is always right":
        losses = np.ones((n_rows, n_experts))
        losses[:, -1] = 0.0
        return losses
    if kind == "switching":
        losses = np.ones((n_rows, n_experts))
        losses[np.arange(n_rows), np.arange(n_rows) * 4 // n_rows % n_experts] = 0.0
        return losses
    losses = np.zeros((n_rows, n_experts))  # "alternating": the leader is always wrong next
    losses[np.arange(n_rows), np.arange(n_rows) % n_experts] = 1.0
    return losses


KINDS = ["random", "one is better", "one is always right", "switching", "alternating"]


@pytest.mark.kernels
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 50, 700])
def test_the_mixture_is_its_twin_and_keeps_its_bound(kind, n_rows):
    for n_experts in (2, 12):
        losses = stream_of_losses(kind, n_rows, n_experts, seed=n_rows)
        suffered, weights = mixed_losses(losses)
        np.testing.assert_allclose(suffered, (naive_weights(losses) * losses).sum(axis=1), atol=1e-12)
        assert suffered.sum() <= losses.sum(axis=0).min() + regret_bound(n_rows, n_experts)
        assert weights.sum() == pytest.approx(1.0)
        again, same = mixed_losses(losses, cut=n_rows // 3)
        assert (again.tobytes(), same.tobytes()) == (suffered.tobytes(), weights.tobytes())


@pytest.mark.kernels
@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=80))
def test_the_bound_holds_for_any_losses(losses):
    losses = np.array(losses)
    suffered, _ = mixed_losses(losses)
    assert suffered.sum() <= losses.sum(axis=0).min() + regret_bound(len(losses), 3) + 1e-9


@pytest.mark.kernels
def test_the_bound_grows_like_the_square_root():
    ratio = regret_bound(400_000, 12) / regret_bound(100_000, 12)
    assert ratio == pytest.approx(2.0, rel=0.1)


def test_the_choice_moves_with_the_stream():
    losses = np.ones((2000, 4))
    losses[:1000, 0] = 0.0
    losses[1000:, 1] = 0.0
    suffered, _ = mixed_losses(losses)
    assert suffered[900:1000].mean() < 0.01
    assert suffered[1100:].mean() < 0.05


@pytest.mark.kernels
def test_a_row_of_weight_zero_moves_nothing_but_the_share():
    distributions = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    weights, before = np.full(2, 0.5), np.empty((1, 2))
    mix_rows(distributions, np.array([0]), np.zeros(1), 0, weights, before)
    np.testing.assert_array_equal(weights, [0.5, 0.5])
    mix_rows(distributions, np.array([0]), np.array([1e300]), 1, weights, before)  # as heavy as rows come
    assert weights[0] > weights[1] > 0.0


# -- inside the booster ----------------------------------------------------------------------------------------------

ROWS = datasets.shuffled(datasets.cars(), 1)[:260]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = ["unacc", "acc", "good", "vgood"]
INDICES = np.array([CLASSES.index(y) for y in Y])


def answers(model, w=None):
    """D and the vote shares of every row, from before it was learned."""
    blocks = list(model.prequential(X, Y, w=w))
    return np.concatenate([b.distributions for b in blocks]), np.concatenate([b.vote_shares for b in blocks])


def chances(distributions):
    """D[y]: how likely the sampled prediction is to be right."""
    return distributions[np.arange(len(Y)), INDICES]


def members_alone(model):
    """The boosters that a mixture runs, each by itself with the same seed."""
    options = {"classes": CLASSES, "start": "label", "pool": "distribution"}
    learner = None if model.learner == "auto" else model.learner
    choices = choose(learner, model.gammas, model.budget, model.max_size)
    return [
        OnlineAgnosticBoostClassifier(
            choice.learner, gamma=choice.gamma, n_learners=choice.n_learners, seed=cascade.cells.seed, **options
        )
        for choice, cascade in zip(choices, model.state_.engine.cascades, strict=True)
    ]


@pytest.mark.parametrize(("learner", "budget"), [("auto", 20), (MondrianTrees(), 16), (Bins(), 16)])
def test_the_sampled_prediction_keeps_the_bound(learner, budget):
    """Against the best of the boosters run by themselves with the same seeds."""
    model = OnlineBoostClassifier(learner, budget=budget, classes=CLASSES, seed=3)
    mixed = (1.0 - chances(answers(model)[0])).sum()
    alone = [(1.0 - chances(answers(member)[0])).sum() for member in members_alone(model)]
    assert mixed <= min(alone) + regret_bound(len(Y), model.state_.engine.weights.size)
    assert mixed <= min(alone) + 0.05 * len(Y)  # in fact much less


@pytest.mark.parametrize("learner", ["auto", Bins()])
def test_the_mixture_is_made_of_what_its_members_say_alone(learner):
    """From the definition: every member's D, the mean of the boosters' shares, and all of these sharpened."""
    model = OnlineBoostClassifier(learner, budget=10, classes=CLASSES, seed=3)
    row_weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=len(Y))
    distributions, shares = answers(model, row_weights)
    own = []
    for member, cascade in zip(members_alone(model), model.state_.engine.cascades, strict=True):
        own.append(answers(member, row_weights))
        assert state_of_learners(cascade.ensemble) == state_of_learners(member.state_.engine.cascades[0].ensemble)
    mean = np.mean([votes for _, votes in own[:-1]], axis=0)  # the last member is not boosted
    every = [*own, (mean, mean)]
    sharp = [np.array([naive.project_sorted(row / SHARP_GAMMA) for row in votes]) for _, votes in every]
    experts = np.array([d for d, _ in every] + sharp)  # (experts, rows, classes)
    losses = 1.0 - experts[:, np.arange(len(Y)), INDICES].T
    weights = naive_weights(losses, row_weights)
    np.testing.assert_allclose(distributions, np.einsum("re,erk->rk", weights, experts), atol=1e-12)
    votes = np.array([votes for _, votes in every] * 2)
    np.testing.assert_allclose(shares, np.einsum("re,erk->rk", weights, votes), atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_default_obeys_the_block_law(n_jobs):
    one = OnlineBoostClassifier(budget=15, seed=5)
    many = OnlineBoostClassifier(budget=15, seed=5, n_jobs=n_jobs)
    predictions = []
    for x, y in ROWS:
        predictions.append(one.predict_one(x))
        one.learn_one(x, y)
    assert predictions == many.predict_learn_many(X[:7], Y[:7]) + many.predict_learn_many(X[7:], Y[7:])
    assert one.member_weights_ == many.member_weights_
    assert [one.predict_proba_one(x) for x in X[:20]] == many.predict_proba_many(X[:20])
    assert learned(one, X[:5]) == learned(many, X[:5])


def test_a_restart_changes_nothing():
    model = OnlineBoostClassifier(budget=15, seed=5)
    model.learn_many(X[:100], Y[:100])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_learn_many(X[100:], Y[100:]) == model.predict_learn_many(X[100:], Y[100:])
    assert copy.member_weights_ == model.member_weights_


def members_of(**parameters):
    """Gamma and number of learners of every member."""
    engine = OnlineBoostClassifier(**parameters).fresh_state(1).engine
    return [(cascade.cells.gamma, cascade.cells.n_learners) for cascade in engine.cascades]


def test_the_budget_is_shared_out():
    assert [n for _, n in members_of(budget=50)] == [10] * 5 + [1]
    assert members_of(learner=HoeffdingTrees(), budget=50) == [(1.0, 12), (0.7, 12), (0.4, 12), (0.2, 12), (1.0, 1)]
    assert members_of(learner=HoeffdingTrees(), gammas=(0.5,)) == [(0.5, 200), (1.0, 1)]
    assert [gamma for gamma, _ in members_of(gammas=[0.3])] == [0.3] * 5 + [1.0]
    assert members_of(learner=Bins(), budget=1) == [(1.0, 1), (0.7, 1), (0.4, 1), (0.2, 1), (1.0, 1)]


def test_members_start_at_the_label_and_pool_distributions():
    for cascade in OnlineBoostClassifier().fresh_state(1).engine.cascades:
        cells = cascade.cells
        assert (cells.start, cells.pool, cells.votes, cells.player) == ("label", "distribution", "label", "gradient")


def test_weights_are_readable():
    model = OnlineBoostClassifier(budget=10, seed=1)
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    model.learn_many(X, Y)
    assert len(model.member_weights_) == 6
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    assert "MondrianTrees(smoothing=5.0), gamma=1" in model.member_weights_
    assert list(OnlineBoostClassifier(Bins(), gammas=[0.5]).member_weights_) == [
        "Bins(), gamma=0.5",
        "Bins(), unboosted",
    ]
    gammas = OnlineBoostClassifier(Bins()).member_weights_
    assert list(gammas) == [*(f"Bins(), gamma={gamma}" for gamma in (1, 0.7, 0.4, 0.2)), "Bins(), unboosted"]
    assert sum(gammas.values()) == pytest.approx(1.0)
