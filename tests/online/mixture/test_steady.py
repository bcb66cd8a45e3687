"""Exponential weights over members and blends: against a twin with experts that sleep, and a bound on their regret."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
from losses import KINDS, stream_of_losses
from ocoboost.online.mixture.slow import SHARP_GAMMA, fixed_share, learning_rate
from ocoboost.online.mixture.steady import RATE, lay_out, settle

pytestmark = pytest.mark.kernels


def naive_weights(losses, awake, row_weights):
    """The experts' weights before each row, from the definition; those asleep only share."""
    n_experts = losses.shape[1]
    weights, before = [1.0 / n_experts] * n_experts, []
    for row, (loss, there) in enumerate(zip(losses, awake, strict=True)):
        length = 2 ** int(math.log2(row + 1))
        share = 1.0 / max(length, 2)
        rate = RATE * row_weights[row] * math.sqrt(8.0 * math.log(n_experts / share) / length)
        before.append(weights)
        scaled = [w * math.exp(-rate * lost) if up else w for w, lost, up in zip(weights, loss, there, strict=True)]
        held = sum(w for w, up in zip(weights, there, strict=True) if up)
        kept = sum(w for w, up in zip(scaled, there, strict=True) if up)
        weights = [w * held / kept if up else w for w, up in zip(scaled, there, strict=True)]
        weights = [(1.0 - share) * w + share / n_experts for w in weights]
    return np.array(before)


def settled(losses, awake, row_weights):
    """The same by the kernel: an expert's distribution has 1 - loss on label 1."""
    weights, before = np.full(losses.shape[1], 1.0 / losses.shape[1]), []
    for row, loss in enumerate(losses):
        before.append(weights.copy())
        settle(np.stack([loss, 1.0 - loss], axis=1), awake[row], 1, row_weights[row], row, weights)
    return np.array(before)


def regret_bound(n_rows, n_experts):
    """Epoch by epoch: (ln(M / share before) + rows ln(1 / (1 - share))) / rate + rate rows / 8."""
    bound, least, length = 0.0, 1.0 / n_experts, 1
    while n_rows > 0:
        rows = min(length, n_rows)
        rate, share = RATE * learning_rate(length, n_experts), fixed_share(length)
        bound += (-math.log(least) - rows * math.log1p(-share)) / rate + rate * rows / 8.0
        least, n_rows, length = share / n_experts, n_rows - length, 2 * length
    return bound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [1, 3, 50, 700])
def test_it_keeps_its_bound(kind, n_rows):
    for n_experts in (2, 25):
        losses = stream_of_losses(kind, n_rows, n_experts, seed=n_rows)
        weights = settled(losses, np.ones(losses.shape, dtype=np.int64), np.ones(n_rows))
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        assert (weights * losses).sum() <= losses.sum(axis=0).min() + regret_bound(n_rows, n_experts)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_its_twin(seed):
    draw = np.random.default_rng(seed)
    losses, awake = draw.random((200, 6)), (draw.random((200, 6)) < 0.7).astype(np.int64)
    awake[:, 0] = 1
    row_weights = draw.choice([0.0, 0.5, 1.0], size=200)
    expected = naive_weights(losses, awake, row_weights)
    np.testing.assert_allclose(settled(losses, awake, row_weights), expected, atol=1e-12)


def test_experts_are_those_of_the_slow_mixture_neighbours_and_blends_twice():
    draw = np.random.default_rng(1)
    slow, windows, blends = (draw.dirichlet(np.ones(4), size=size) for size in (2, 3, 2))
    out, awake = np.zeros((9, 4)), np.ones(9, dtype=np.int64)
    lay_out(slow, windows, np.array([1, 0, 1]), blends, out, awake)

    def sharp(answer):
        return naive.project_sorted(answer / SHARP_GAMMA)

    expected = [*slow, sharp(windows[0]), np.zeros(4), sharp(windows[2])]
    expected += [blends[0], sharp(blends[0]), blends[1], sharp(blends[1])]
    np.testing.assert_allclose(out, expected, atol=1e-12)
    assert awake.tolist() == [1, 1, 1, 0, 1, 1, 1, 1, 1]
