"""Weighted products: softmax of weighted logarithms, gradient descent on their log loss, and its regret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost.online.mixture.pools import FLOOR, STEPS, descend, multiply, normalise, take_logs

pytestmark = pytest.mark.kernels


def naive_pool(answers, awake, weights):
    """softmax(sum of w log p) over the members that are awake, from the definition."""
    n_classes = answers.shape[1]
    floored = (1.0 - FLOOR) * answers + FLOOR / n_classes
    product = np.prod([p**w for p, w, there in zip(floored, weights, awake, strict=True) if there], axis=0)
    return product * np.ones(n_classes) / np.sum(product * np.ones(n_classes))


def pooled(answers, awake, weights):
    logs, out = np.zeros(answers.shape), np.empty((len(weights), answers.shape[1]))
    take_logs(answers, awake, logs)
    multiply(logs, awake, weights, out)
    return logs, out


def case(seed, n_members=4, n_classes=3):
    draw = np.random.default_rng(seed)
    answers = draw.dirichlet(np.full(n_classes, 0.5), size=n_members)
    answers[0] = np.eye(n_classes)[0]  # certain, with exact zeros
    return answers, np.array([1, 1, 0, 1]), draw.normal(size=(len(STEPS), n_members))


@pytest.mark.parametrize("seed", range(5))
def test_pools_are_their_twin(seed):
    answers, awake, weights = case(seed)
    _, out = pooled(answers, awake, weights)
    for pool, own in enumerate(weights):
        np.testing.assert_allclose(out[pool], naive_pool(answers, awake, own), rtol=1e-12)
    np.testing.assert_allclose(pooled(answers, awake, weights)[0].mean(axis=1), 0.0, atol=1e-15)  # a mean of 0
    np.testing.assert_allclose(pooled(answers, np.zeros(4, dtype=np.int64), weights)[1], 1 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_steps_go_against_the_gradient_of_the_log_loss(seed):
    answers, awake, weights = case(seed)
    logs, out = pooled(answers, awake, weights)
    label, row_weight, small = seed % 3, 0.7, 1e-6
    after = weights.copy()
    descend(logs, awake, out, label, row_weight, after)
    for pool, step in enumerate(STEPS):
        for member in range(4):
            above, below = weights[pool].copy(), weights[pool].copy()
            above[member] += small
            below[member] -= small
            losses = [-math.log(naive_pool(answers, awake, own)[label]) for own in (above, below)]
            slope = (losses[0] - losses[1]) / (2.0 * small)
            assert (weights[pool, member] - after[pool, member]) / (step * row_weight) == pytest.approx(slope, abs=1e-6)
    np.testing.assert_array_equal(after[:, 2], weights[:, 2])  # asleep


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(["random", "one knows", "switching", "adversarial"]))
def test_the_regret_of_gradient_descent_is_bounded(seed, kind):
    """|w* - w|^2 / (2 s) + s / 2 * (sum of squared gradients), against every w*, with members that sleep."""
    draw = np.random.default_rng(seed)
    n_rows, n_members, n_classes = 40, 3, 3
    weights = np.zeros((len(STEPS), n_members))
    weights[:, 0] = 1.0
    start, lost, squares, rows = weights.copy(), np.zeros(len(STEPS)), np.zeros(len(STEPS)), []
    for row in range(n_rows):
        answers, awake = draw.dirichlet(np.ones(n_classes), size=n_members), draw.integers(0, 2, size=n_members)
        logs, out = pooled(answers, awake, weights)
        label = int(draw.integers(n_classes))
        if kind == "one knows":
            label = int(answers[1].argmax())
        elif kind == "switching":
            label = int(answers[row * 3 // n_rows].argmax())
        elif kind == "adversarial":
            label = int(out[-1].argmin())
        before = weights.copy()
        descend(logs, awake, out, label, 1.0, weights)
        squares += (((weights - before) / np.array(STEPS)[:, None]) ** 2).sum(axis=1)
        lost -= np.log(out[:, label])
        rows.append((answers, awake, label))
    for chosen in (np.eye(3)[1], np.zeros(3), draw.normal(size=3), weights[-1]):
        best = -sum(math.log(naive_pool(answers, awake, chosen)[label]) for answers, awake, label in rows)
        for pool, step in enumerate(STEPS):
            bound = ((chosen - start[pool]) ** 2).sum() / (2.0 * step) + step / 2.0 * squares[pool]
            assert lost[pool] - best <= bound + 1e-9


def test_normalising_takes_any_logarithms():
    for logs in ([0.0, -1e308], [700.0, 800.0], [-1e300, -1e300], [3.0]):
        answer = np.array(logs)
        normalise(answer, 1.0)
        assert answer.sum() == pytest.approx(1.0)
    answer = np.log([0.8, 0.2])
    normalise(answer, 0.5)
    np.testing.assert_allclose(answer, np.sqrt([0.8, 0.2]) / np.sqrt([0.8, 0.2]).sum())
