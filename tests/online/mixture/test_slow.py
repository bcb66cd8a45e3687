"""Exponential weights that settle, against a slow twin and a bound on their regret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from losses import KINDS, stream_of_losses
from ocoboost.online.mixture.slow import epoch_length, fixed_share, learning_rate, settle

pytestmark = pytest.mark.kernels


def naive_weights(losses, row_weights=None):
    """The experts' weights before each row, from the definition; ``losses`` has shape (rows, experts)."""
    n_experts = losses.shape[1]
    weights, before = [1.0 / n_experts] * n_experts, []
    for row, loss in enumerate(losses):
        length = 2 ** int(math.log2(row + 1))
        share = 1.0 / max(length, 2)
        rate = math.sqrt(8.0 * math.log(n_experts / share) / length)
        rate *= 1.0 if row_weights is None else row_weights[row]
        before.append(weights)
        scaled = [w * math.exp(-rate * lost) for w, lost in zip(weights, loss, strict=True)]
        weights = [(1.0 - share) * w / sum(scaled) + share / n_experts for w in scaled]
    return np.array(before)


def settled(losses, row_weights=None):
    """The same by the kernel: an expert's distribution has 1 - loss on label 1."""
    weights, before = np.full(losses.shape[1], 1.0 / losses.shape[1]), []
    for row, loss in enumerate(losses):
        before.append(weights.copy())
        experts = np.stack([loss, 1.0 - loss], axis=1)
        settle(experts, 1, 1.0 if row_weights is None else row_weights[row], row, weights)
    return np.array(before)


def regret_bound(n_rows, n_experts):
    """Epoch by epoch: (ln(M / share before) + rows ln(1 / (1 - share))) / rate + rate rows / 8."""
    bound, least, length = 0.0, 1.0 / n_experts, 1
    while n_rows > 0:
        rows = min(length, n_rows)
        rate, share = learning_rate(length, n_experts), fixed_share(length)
        bound += (-math.log(least) - rows * math.log1p(-share)) / rate + rate * rows / 8.0
        least, n_rows, length = share / n_experts, n_rows - length, 2 * length
    return bound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 50, 700])
def test_it_is_its_twin_and_keeps_its_bound(kind, n_rows):
    for n_experts in (2, 12):
        losses = stream_of_losses(kind, n_rows, n_experts, seed=n_rows)
        weights = settled(losses)
        np.testing.assert_allclose(weights, naive_weights(losses), atol=1e-12)
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        suffered = (weights * losses).sum()
        assert suffered <= losses.sum(axis=0).min() + regret_bound(n_rows, n_experts)


@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=60))
def test_the_bound_holds_for_any_losses(losses):
    losses = np.array(losses)
    assert (settled(losses) * losses).sum() <= losses.sum(axis=0).min() + regret_bound(len(losses), 3) + 1e-9


def test_epochs_double():
    assert [epoch_length(row) for row in range(9)] == [1, 2, 2, 4, 4, 4, 4, 8, 8]
    assert regret_bound(400_000, 12) / regret_bound(100_000, 12) == pytest.approx(2.0, rel=0.1)


def test_row_weights_scale_the_losses():
    losses = stream_of_losses("random", 60, 4)
    row_weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], size=60)
    np.testing.assert_allclose(settled(losses, row_weights), naive_weights(losses, row_weights), atol=1e-12)


def test_a_row_of_weight_zero_moves_nothing_but_the_share_and_a_huge_one_does_no_harm():
    experts = np.array([[1.0, 0.0], [0.5, 0.5]])
    weights = np.full(2, 0.5)
    settle(experts, 0, 0.0, 0, weights)
    np.testing.assert_array_equal(weights, [0.5, 0.5])
    settle(experts, 0, 1e300, 1, weights)
    assert weights[0] > weights[1] > 0.0
    settle(experts, 1, 1e300, 2, weights)  # everyone is wrong: nothing is left to divide by
    assert weights.tolist() == [0.5, 0.5]
