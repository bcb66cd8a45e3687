"""The regret of the tournament keeps its bounds, whatever the stream does, and the bounds have content."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost.online.mixture.bounds import (
    interval_regret_bound,
    log_loss_bound,
    regret_bound,
    tracking_regret_bound,
)
from tournaments import play

pytestmark = pytest.mark.kernels

N_VOTERS = 5
PRIOR = np.array([0.5, 0.2, 0.15, 0.1, 0.05])


def mistakes_of(kind, n_rows):
    draw = np.random.default_rng(n_rows)
    if kind == "random":
        return (draw.random((n_rows, N_VOTERS)) < 0.5).astype(float)
    if kind == "one is better":
        return (draw.random((n_rows, N_VOTERS)) < [0.5, 0.5, 0.5, 0.5, 0.3]).astype(float)
    if kind == "switching":
        mistakes = np.ones((n_rows, N_VOTERS))
        mistakes[np.arange(n_rows), np.arange(n_rows) * 4 // n_rows] = 0.0
        return mistakes
    if kind == "alternating":
        mistakes = np.zeros((n_rows, N_VOTERS))
        mistakes[np.arange(n_rows), np.arange(n_rows) % N_VOTERS] = 1.0
        return mistakes
    if kind == "adversarial":  # whoever is trusted most is wrong, and nobody else
        return lambda weights: (np.arange(N_VOTERS) == weights.argmax()).astype(float)
    return lambda weights: (weights >= np.median(weights)).astype(float)  # "half": the better half is wrong


def check(weights, made, awake, prior=PRIOR):
    """Every voter on the whole stream and on many intervals, on the rows on which it is awake."""
    n_rows = len(made)
    gained = awake * ((weights * made).sum(axis=1, keepdims=True) - made)  # (rows, voters)
    sums = np.vstack([np.zeros(N_VOTERS), np.cumsum(gained, axis=0)])
    rng = np.random.default_rng(0)
    intervals = [tuple(sorted(pair)) for pair in rng.integers(0, n_rows + 1, size=(60, 2)).tolist()]
    intervals += [(n_rows // 4 * part, n_rows // 4 * (part + 1)) for part in range(4)]
    intervals += [(first, n_rows) for first in (1, 31, 32, 33, 63, 64, n_rows // 2) if first < n_rows]
    for voter in range(N_VOTERS):
        assert sums[-1, voter] <= regret_bound(n_rows, prior[voter]) + 1e-9
        for first, end in intervals:
            if end > first:
                regret = sums[end, voter] - sums[first, voter]
                assert regret <= interval_regret_bound(first, end, prior[voter]) + 1e-9
    for n_switches in (0, 1, 3, 7):
        parts = np.array_split(gained, n_switches + 1)
        tracked = sum(part.sum(axis=0).max(initial=-np.inf) for part in parts if len(part))
        assert tracked <= tracking_regret_bound(n_rows, n_switches, prior.min()) + 1e-9


KINDS = ["random", "one is better", "switching", "alternating", "adversarial", "half"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [1, 40, 700])
def test_the_bounds_hold(kind, n_rows):
    mistakes = mistakes_of(kind, n_rows)
    awake = np.ones((n_rows, N_VOTERS), dtype=np.int64)
    check(*play(mistakes, awake, PRIOR), awake)
    asleep = (np.random.default_rng(1).random((n_rows, N_VOTERS)) < 0.7).astype(np.int64)
    asleep[:, 0] = 1
    check(*play(mistakes, asleep, PRIOR), asleep)


@settings(max_examples=30)
@given(st.lists(st.lists(st.booleans(), min_size=N_VOTERS, max_size=N_VOTERS), min_size=1, max_size=110))
def test_the_bounds_hold_for_any_mistakes(mistakes):
    awake = np.ones((len(mistakes), N_VOTERS), dtype=np.int64)
    check(*play(np.array(mistakes, dtype=float), awake, PRIOR), awake)


def test_the_bound_is_not_far_from_what_an_adversary_achieves():
    n_rows = 3000
    awake = np.ones((n_rows, N_VOTERS), dtype=np.int64)
    weights, made = play(mistakes_of("half", n_rows), awake, PRIOR)
    regret = ((weights * made).sum() - made.sum(axis=0)).max()
    assert regret > 0.1 * regret_bound(n_rows, PRIOR.min())


def test_the_choice_moves_with_the_stream():
    mistakes = np.ones((2000, N_VOTERS))
    mistakes[:1000, 0] = mistakes[1000:, 4] = 0.0
    weights, _ = play(mistakes, None, PRIOR)
    loss = (weights * mistakes).sum(axis=1)
    assert loss[900:1000].mean() < 0.01
    assert loss[1040:].mean() < 0.02


def test_bounds_grow_like_square_roots_and_say_something():
    assert regret_bound(400_000, 0.1) / regret_bound(100_000, 0.1) == pytest.approx(2.0, rel=0.1)
    assert regret_bound(100_000, 0.1) < 0.02 * 100_000
    ratio = interval_regret_bound(2**20, 2**20 + 2**17, 0.1) / interval_regret_bound(2**20, 2**20 + 2**13, 0.1)
    assert 3.0 < ratio < 5.0
    assert interval_regret_bound(2**20, 2**20 + 2**15, 0.1) < 0.1 * 2**15
    assert tracking_regret_bound(1_000_000, 16, 0.1) / tracking_regret_bound(1_000_000, 3, 0.1) == pytest.approx(
        np.sqrt(17 / 4), rel=0.05
    )
    assert tracking_regret_bound(1_000_000, 3, 0.1) < 0.1 * 1_000_000
    for bound in (regret_bound, lambda n_rows, prior: tracking_regret_bound(n_rows, 2, prior)):
        for n_rows in (0, 1, 5):
            assert 0.0 <= bound(n_rows, 0.01) <= n_rows
    assert interval_regret_bound(40, 50, 0.1) == 10.0  # before the next birth all may be lost
    assert regret_bound(1000, 0.5) < regret_bound(1000, 0.05)


def test_the_bound_on_log_loss():
    assert log_loss_bound(0) == 0.0
    assert log_loss_bound(1) == pytest.approx(np.log(18))
    assert log_loss_bound(10_000, 5) - log_loss_bound(10_000, 4) == pytest.approx(np.log(18 / 0.005), rel=0.01)
