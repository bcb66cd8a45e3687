"""Adaboost.OLM against its slow twin, its binary ancestor, and the published deviations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from baseline_runs import (
    CLASSES,
    INDEXED,
    N_LEARNERS,
    X,
    Y,
    binary_run,
    every_one_and_all,
    shares_before_learning,
    twins,
)
from ocoboost import AdaBoostOLMClassifier
from ocoboost.cascade.olm import slope, steepness
from toy_learners import Bins

DEVIATIONS = ["constants", "ties", "min-cost"]


@pytest.mark.kernels
@pytest.mark.parametrize("mode", every_one_and_all(DEVIATIONS))
def test_it_is_its_slow_twin(mode):
    expected, alphas, log_weights = naive.boost_logistic(
        INDEXED, twins(9), n_classes=3, seed=9, deviations=frozenset(mode)
    )
    model = AdaBoostOLMClassifier(Bins(), n_learners=N_LEARNERS, classes=CLASSES, mode=mode, seed=9)
    np.testing.assert_allclose(shares_before_learning(model), expected, atol=1e-12)
    np.testing.assert_allclose(model.alphas_, alphas, atol=1e-12)
    np.testing.assert_array_equal(model.log_expert_weights_, log_weights)  # sums of rows' weights: exact
    assert np.abs(model.alphas_).max() <= 2.0


@pytest.mark.kernels
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


@pytest.mark.kernels
def test_with_two_labels_it_is_adaboost_ol():
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


def test_thousands_of_mistakes_underflow_nothing():
    model = AdaBoostOLMClassifier(Bins(), n_learners=4, classes=["x", "y"], seed=1)
    for number in range(40):
        model.learn_one({"a": 1.0}, "xy"[number % 2], w=1e4)
    assert model.log_expert_weights_.max() <= -1e4  # exp of that is 0
    assert sum(model.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)
    for number in range(4):
        model.learn_one({"a": 1.0}, "xy"[number % 2], w=1e308)
    assert sum(model.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)


def test_draws_follow_the_experts():
    model = AdaBoostOLMClassifier(Bins(), n_learners=9, seed=1)
    model.learn_many(X[:25], Y[:25])
    x = next(x for x in X if max(model.predict_proba_one(x).values()) < 0.9)
    probabilities = model.predict_proba_one(x)
    hits = dict.fromkeys(probabilities, 0)
    for _ in range(2000):
        hits[model.sample_one(x)] += 1
        model.state_.n_rows += 1  # the draw is keyed by the number of rows learned
    for label, probability in probabilities.items():
        # Four standard errors: false alarms in 1 of 15,000, and the seed is fixed.
        assert abs(hits[label] / 2000 - probability) < 4 * math.sqrt(0.25 / 2000)
