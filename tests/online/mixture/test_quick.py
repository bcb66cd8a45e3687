"""Exponential weights that switch, against a slow twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from losses import KINDS, stream_of_losses
from ocoboost.online.mixture.quick import MOST_RATE, PACES, switch

pytestmark = pytest.mark.kernels


def naive_switch(losses, awake, row_weights):
    """Weights of every pace after all rows, from the definition."""
    n_rows, n_experts = losses.shape
    paces = []
    for factor, share in PACES:
        weights = [1.0 / n_experts] * n_experts
        for row in range(n_rows):
            length = 2 ** int(math.log2(row + 1))
            rate = min(factor * math.sqrt(8.0 * math.log(n_experts) / length), MOST_RATE) * row_weights[row]
            there = [expert for expert in range(n_experts) if awake[row, expert]]
            held = sum(weights[expert] for expert in there)
            moved = {expert: weights[expert] * math.exp(-rate * losses[row, expert]) for expert in there}
            for expert in there:  # what the awake hold together stays theirs
                weights[expert] = moved[expert] * held / sum(moved.values())
            weights = [(1.0 - share) * weight + share / n_experts for weight in weights]
        paces.append(weights)
    return np.array(paces)


def switched(losses, awake, row_weights):
    weights = np.full((len(PACES), losses.shape[1]), 1.0 / losses.shape[1])
    for row, loss in enumerate(losses):
        switch(np.stack([1.0 - loss, loss], axis=1), awake[row], 0, row_weights[row], row, weights)
    return weights


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_its_twin(kind):
    draw = np.random.default_rng(3)
    for n_rows in (1, 3, 120):
        losses = stream_of_losses(kind, n_rows, 5, seed=n_rows)
        for awake, row_weights in (
            (np.ones(losses.shape, dtype=np.int64), np.ones(n_rows)),
            (draw.integers(0, 2, size=losses.shape), draw.choice([0.0, 0.3, 1.0], size=n_rows)),
        ):
            weights = switched(losses, awake, row_weights)
            np.testing.assert_allclose(weights, naive_switch(losses, awake, row_weights), rtol=1e-9)
            np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_an_expert_that_begins_to_be_right_takes_over():
    losses = np.ones((1030, 4))
    losses[:1000, 0] = losses[1000:, 1] = 0.0
    weights = switched(losses, np.ones(losses.shape, dtype=np.int64), np.ones(1030))
    assert weights[2, 1] > 0.8
    assert weights[3, 1] > 0.8


def test_nobody_awake_and_one_awake_change_little():
    weights = np.array([[0.7, 0.2, 0.1]] * len(PACES))
    before = weights.copy()
    experts = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    switch(experts, np.array([1, 0, 0]), 0, 1.0, 7, weights)  # one that is awake by itself keeps what it had
    shares = np.array([[share] for _, share in PACES])
    np.testing.assert_allclose(weights, (1.0 - shares) * before + shares / 3.0)
