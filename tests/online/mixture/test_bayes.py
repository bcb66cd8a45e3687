"""Bayes' rule with a share: its twin, its bound, and all sequences of experts by brute force."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest

from ocoboost.online.mixture import pools, quick
from ocoboost.online.mixture.bayes import LEAST, N_BLENDS, N_EXPERTS, QUICK_FLOOR, SHARE, temper, update
from ocoboost.online.mixture.bounds import log_loss_bound

pytestmark = pytest.mark.kernels


def streams(kind, n_rows, n_experts, seed=0):
    """What every expert gives to the label of each row."""
    draw = np.random.default_rng(seed)
    chances = draw.uniform(LEAST, 1.0, size=(n_rows, n_experts))
    if kind == "switching":
        chances[:] = 0.01
        chances[np.arange(n_rows), np.arange(n_rows) * 4 // n_rows] = 0.99
    elif kind == "one knows":
        chances[:] = LEAST
        chances[:, -1] = 1.0
    elif kind == "alternating":
        chances[:] = 0.9
        chances[np.arange(n_rows), np.arange(n_rows) % n_experts] = LEAST
    return chances


def log_losses(chances):
    """The mixture's, by the kernel: an expert's answer has its chance on label 0."""
    n_experts = chances.shape[1]
    weights, losses = np.full(n_experts, 1.0 / n_experts), []
    for chance in chances:
        losses.append(-math.log(weights @ chance))
        update(np.stack([chance, 1.0 - chance], axis=1), 0, 1.0, weights)
        assert weights.sum() == pytest.approx(1.0)
    return losses


@pytest.mark.parametrize("kind", ["random", "switching", "one knows", "alternating"])
@pytest.mark.parametrize("n_rows", [1, 2, 40, 400])
def test_the_bound_holds(kind, n_rows):
    chances = streams(kind, n_rows, N_EXPERTS, seed=n_rows)
    total = sum(log_losses(chances))
    losses = -np.log(chances)
    assert total <= losses.sum(axis=0).min() + log_loss_bound(n_rows) + 1e-9
    pieces = [losses[part] for part in np.array_split(np.arange(n_rows), 4) if len(part)]
    best = sum(piece.sum(axis=0).min() for piece in pieces)
    assert total <= best + log_loss_bound(n_rows, len(pieces) - 1) + 1e-9


def test_the_bound_has_content():
    """Where one expert knows all labels the loss is close to ln(n), and far below that of the others."""
    total = sum(log_losses(streams("one knows", 400, N_EXPERTS)))
    assert math.log(N_EXPERTS) <= total + 1e-9 <= log_loss_bound(400) + 1e-9
    assert log_loss_bound(400) < 0.05 * 400


def test_the_mixture_is_a_mean_over_all_sequences_of_experts(monkeypatch):
    """The probability of the labels is the prior-weighted mean of what every sequence gives to them."""
    n_rows, n_experts = 4, 3
    chances = streams("random", n_rows, n_experts, seed=5)
    total = 0.0
    for path in product(range(n_experts), repeat=n_rows):
        prior = 1.0 / n_experts
        for one, after in pairwise(path):
            prior *= SHARE / n_experts + (1.0 - SHARE) * (one == after)
        total += prior * math.prod(chances[row, expert] for row, expert in enumerate(path))
    assert sum(log_losses(chances)) == pytest.approx(-math.log(total), rel=1e-12)


def test_row_weights_temper_the_likelihood():
    tempered = np.array([[0.9, 0.1], [0.2, 0.8]])
    weights = np.array([0.5, 0.5])
    update(tempered, 0, 0.25, weights)
    expected = np.array([0.9, 0.2]) ** 0.25
    np.testing.assert_allclose(weights, (1.0 - SHARE) * expected / expected.sum() + SHARE / 2)
    before = weights.copy()
    update(tempered, 0, 0.0, weights)
    np.testing.assert_allclose(weights, (1.0 - SHARE) * before + SHARE / 2)


@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_experts_are_tempered_blends_and_the_uniform_distribution(n_classes):
    draw = np.random.default_rng(n_classes)
    blends = draw.dirichlet(np.full(n_classes, 0.3), size=N_BLENDS + 1)
    blends[1] = np.eye(n_classes)[0]
    out = np.empty((N_EXPERTS, n_classes))
    temper(blends, out)
    first_pool = 1 + len(quick.PACES)
    expected = [(first_pool + pool, power, 1e-12) for pool in range(len(pools.STEPS)) for power in (0.6, 1.0, 1.5)]
    expected += [(1 + pace, power, QUICK_FLOOR) for pace in range(len(quick.PACES)) for power in (0.5, 1.0)]
    for answer, (blend, power, floor) in zip(out, expected, strict=False):
        powers = ((1.0 - floor) * blends[blend] + floor / n_classes) ** power
        np.testing.assert_allclose(answer, (1.0 - LEAST) * powers / powers.sum() + LEAST / n_classes, rtol=1e-9)
    np.testing.assert_array_equal(out[-1], 1.0 / n_classes)
    assert len(expected) == N_EXPERTS - 1
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert out.min() >= LEAST / n_classes * 0.999
