"""Exponential weights with a fixed share: against a slow twin, against their bound, and inside the default booster."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets
from ocoboost.online.mixture import Mixture, regret_bound
from toy_learners import Bins


def naive_mixture(losses):
    """The loss of the mixture on each row, from the definition; ``losses`` has shape (rows, experts)."""
    n_experts = losses.shape[1]
    weights = [1.0 / n_experts] * n_experts
    suffered = []
    for row, loss in enumerate(losses):
        length = 2 ** int(math.log2(row + 1))
        share = 1.0 / max(length, 2)
        rate = math.sqrt(8.0 * math.log(n_experts / share) / length)
        suffered.append(sum(w * lost for w, lost in zip(weights, loss, strict=True)))
        scaled = [w * math.exp(-rate * lost) for w, lost in zip(weights, loss, strict=True)]
        weights = [(1.0 - share) * w / sum(scaled) + share / n_experts for w in scaled]
    return suffered


def mixed_losses(losses):
    """The same from ``Mixture``: an expert's distribution has 1 - loss on label 0."""
    distributions = np.stack([1.0 - losses.T, losses.T], axis=2)
    labels = np.zeros(len(losses), dtype=np.int64)
    mixture = Mixture(losses.shape[1])
    weights = mixture.learn(distributions, labels, np.ones(len(losses)))
    return (weights * losses).sum(axis=1), mixture


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 50, 700])
def test_the_mixture_is_its_twin_and_keeps_its_bound(kind, n_rows):
    for n_experts in (2, 12):
        losses = stream_of_losses(kind, n_rows, n_experts, seed=n_rows)
        suffered, mixture = mixed_losses(losses)
        np.testing.assert_allclose(suffered, naive_mixture(losses), atol=1e-12)
        assert suffered.sum() <= losses.sum(axis=0).min() + regret_bound(n_rows, n_experts)
        assert mixture.weights.sum() == pytest.approx(1.0)
        assert mixture.n_rows == n_rows


@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=80))
def test_the_bound_holds_for_any_losses(losses):
    losses = np.array(losses)
    suffered, _ = mixed_losses(losses)
    assert suffered.sum() <= losses.sum(axis=0).min() + regret_bound(len(losses), 3) + 1e-9


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


def test_a_row_of_weight_zero_moves_nothing_but_the_share():
    mixture = Mixture(2)
    distributions = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    mixture.learn(distributions, np.array([0]), np.zeros(1))
    np.testing.assert_array_equal(mixture.weights, [0.5, 0.5])
    mixture.learn(distributions, np.array([0]), np.array([1e300]))  # as heavy as rows come
    assert mixture.weights[0] > mixture.weights[1] > 0.0


# -- inside the booster ----------------------------------------------------------------------------------------------

ROWS = datasets.shuffled(datasets.cars(), 1)[:260]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]


def expected_mistakes(model):
    """1 - D[y], summed over the stream: what the sampled prediction is expected to get wrong."""
    chances = []

    def see(state, answers):
        labels = state.labels.indices(Y)[len(chances) : len(chances) + len(answers.distributions)]
        chances.extend(answers.distributions[np.arange(len(labels)), labels])

    model._learn(*model._read(X, Y, None), see=see)
    assert len(chances) == len(Y)
    return len(Y) - sum(chances)


@pytest.mark.parametrize("learner", ["auto", MondrianTrees(), Bins()])
def test_the_sampled_prediction_keeps_the_bound(learner):
    """Against the best of the boosters run by themselves with the same seeds."""
    classes = ["unacc", "acc", "good", "vgood"]
    model = OnlineAgnosticBoostClassifier(learner, n_learners=4, classes=classes, seed=3)
    mixed = expected_mistakes(model)
    alone = [
        expected_mistakes(
            OnlineAgnosticBoostClassifier(
                choice.learner,
                gamma=choice.gamma,
                n_learners=choice.n_learners,
                classes=classes,
                seed=member.cascade.seed,
            )
        )
        for choice, member in zip(model._choices(), model._state.members, strict=True)
    ]
    assert mixed <= min(alone) + regret_bound(len(Y), model._state.mixture.weights.size)
    assert mixed <= min(alone) + 0.05 * len(Y)  # in fact much less


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_default_obeys_the_block_law(n_jobs):
    one = OnlineAgnosticBoostClassifier(n_learners=3, seed=5)
    many = OnlineAgnosticBoostClassifier(n_learners=3, seed=5, n_jobs=n_jobs)
    predictions = []
    for x, y in ROWS:
        predictions.append(one.predict_one(x))
        one.learn_one(x, y)
    assert predictions == many.predict_learn_many(X[:7], Y[:7]) + many.predict_learn_many(X[7:], Y[7:])
    assert one.member_weights_ == many.member_weights_
    assert [one.predict_proba_one(x) for x in X[:20]] == many.predict_proba_many(X[:20])
    for (_, ensemble), (_, other) in zip(one._state.members, many._state.members, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(ensemble.trees, other.trees, strict=True))


def test_a_restart_changes_nothing():
    model = OnlineAgnosticBoostClassifier(n_learners=3, seed=5)
    model.learn_many(X[:100], Y[:100])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_learn_many(X[100:], Y[100:]) == model.predict_learn_many(X[100:], Y[100:])
    assert copy.member_weights_ == model.member_weights_


def test_the_budget_is_shared_out():
    model = OnlineAgnosticBoostClassifier(budget=50)
    assert [choice.n_learners for choice in model._choices()] == [10] * 5 + [1]
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), budget=50)
    assert [choice.gamma for choice in model._choices()] == [1.0, 0.7, 0.4, 0.2, 1.0]
    assert [choice.n_learners for choice in model._choices()] == [12] * 4 + [1]
    assert [choice.n_learners for choice in OnlineAgnosticBoostClassifier(HoeffdingTrees(), gamma=0.5)._choices()] == [
        200
    ]
    assert [choice.gamma for choice in OnlineAgnosticBoostClassifier(gamma=0.3)._choices()] == [0.3] * 5 + [1.0]


def test_weights_are_readable():
    model = OnlineAgnosticBoostClassifier(n_learners=2, seed=1)
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    model.learn_many(X, Y)
    assert len(model.member_weights_) == 6
    assert sum(model.member_weights_.values()) == pytest.approx(1.0)
    assert "MondrianTrees(smoothing=5.0), gamma=1" in model.member_weights_
    assert OnlineAgnosticBoostClassifier(Bins(), gamma=0.5).member_weights_ == {"Bins(), gamma=0.5": 1.0}
    gammas = OnlineAgnosticBoostClassifier(Bins()).member_weights_
    assert list(gammas) == [*(f"Bins(), gamma={gamma}" for gamma in (1, 0.7, 0.4, 0.2)), "Bins(), unboosted"]
    assert sum(gammas.values()) == pytest.approx(1.0)
