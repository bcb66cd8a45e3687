"""AdaNormalHedge on the clock: the lemma it rests on, and the kernels against a twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocoboost.online.mixture.tournament import N_COPIES, begin_copies, copy_weight, count_mistakes, weigh_voters
from tournaments import naive_play, play

pytestmark = pytest.mark.kernels


def potential(regret, travelled):
    return np.where(travelled > 0.0, np.exp(np.maximum(regret, 0.0) ** 2 / (3.0 * np.maximum(travelled, 1e-300))), 1.0)


def test_the_potential_lemma_of_luo_and_schapire():
    """Phi(R + r, C + |r|) <= Phi(R, C) + w(R, C) r + 3 |r| / (2 (C + 1)) wherever |R| <= C, |r| <= 1."""
    travelled, share, step = np.meshgrid(
        [0.0, 1e-3, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 5.0, 20.0, 100.0, 300.0],
        np.linspace(-1.0, 1.0, 61),
        np.linspace(-1.0, 1.0, 41),
        indexing="ij",
    )
    regret = share * travelled
    weights = np.array([copy_weight(*pair) for pair in zip(regret.flat, travelled.flat, strict=True)])
    weights = weights.reshape(regret.shape)
    after = potential(regret + step, travelled + np.abs(step))
    before = potential(regret, travelled) + weights * step + 1.5 * np.abs(step) / (travelled + 1.0)
    assert np.all(after <= before * (1.0 + 1e-12))


def test_the_weight_of_a_copy():
    for regret, travelled in ((0.0, 0.0), (3.5, 7.0), (-0.5, 2.0), (-4.0, 9.0), (20.0, 30.0)):
        terms = [math.exp(max(regret + side, 0.0) ** 2 / (3.0 * (travelled + 1.0))) for side in (1.0, -1.0)]
        assert copy_weight(regret, travelled) == pytest.approx((terms[0] - terms[1]) / 2.0, abs=1e-15)
    assert copy_weight(-1.0, 5.0) == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_the_kernels_are_their_twin(seed):
    draw = np.random.default_rng(seed)
    n_rows, n_voters = 260, 4  # births of order 5, 6 and 7
    mistakes = (draw.random((n_rows, n_voters)) < np.linspace(0.2, 0.8, n_voters)).astype(float)
    mistakes[130:] = mistakes[130:, ::-1]
    awake = (draw.random((n_rows, n_voters)) < 0.8).astype(np.int64)
    awake[:, 0] = 1
    prior = draw.dirichlet(np.ones(n_voters))
    row_weights = draw.choice([0.0, 0.3, 1.0], size=n_rows)
    weights, _ = play(mistakes, awake, prior, row_weights)
    np.testing.assert_allclose(weights, naive_play(mistakes, awake, prior, row_weights), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert not np.any(weights[awake == 0])


def test_when_everyone_is_behind_priors_decide():
    regret, travelled = np.full((N_COPIES, 3), -2.0), np.full((N_COPIES, 3), 2.0)
    out = np.empty(3)
    weigh_voters(7, np.array([0.5, 0.3, 0.2]), np.array([1, 0, 1]), regret, travelled, out)
    np.testing.assert_allclose(out, [5 / 7, 0.0, 2 / 7])


def test_a_copy_is_begun_at_its_row_and_at_no_other():
    for row in (31, 32, 33, 64, 96, 2048, 2080):
        regret, travelled = np.full((N_COPIES, 2), 0.5), np.full((N_COPIES, 2), 0.5)
        begin_copies(row, regret, travelled)
        begun = np.flatnonzero(regret[:, 0] == 0.0).tolist()
        valuation = (row & -row).bit_length() - 1
        assert begun == ([valuation - 4] if valuation >= 5 else [])
        np.testing.assert_array_equal(regret, travelled)


@pytest.mark.parametrize("row", [2**52, 2**53 - 1, 2**53, 2**53 + 1])
def test_there_are_copies_enough_for_the_longest_stream(row):
    """A model file may claim to have learned 2**53 - 1 rows, and a kernel would not notice a place too many."""
    regret, travelled = np.zeros((N_COPIES, 2)), np.zeros((N_COPIES, 2))
    out = np.empty(2)
    weigh_voters(row, np.array([0.5, 0.5]), np.array([1, 1]), regret, travelled, out)
    count_mistakes(row, np.array([0, 1]), np.array([1, 1]), 0, 0.5, 1.0, regret, travelled)
    orders = sum(2**order <= row for order in range(5, 60))
    assert np.count_nonzero(regret[:, 0]) == 1 + orders <= N_COPIES
