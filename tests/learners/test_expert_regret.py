"""Exponential weights over classes: their regret against what is promised."""

from __future__ import annotations

import math

import numpy as np
import pytest

from expert_twins import block_of
from ocoboost import StumpExperts
from ocoboost.learners.experts.stumps import StumpClass


def stubborn_labels(votes, rng):
    """Against the vote: the label that has least of it."""
    return int(np.argmin(votes + 1e-9 * rng.random(len(votes))))


def noisy_labels(votes, rng):
    return int(rng.integers(len(votes)))


def shifting_labels(votes, rng):
    return int(rng.integers(2)) if rng.random() < 0.9 else len(votes) - 1


@pytest.mark.parametrize("adversary", [stubborn_labels, noisy_labels, shifting_labels])
@pytest.mark.parametrize("horizon", [None, 400])
@pytest.mark.parametrize("is_soft", [False, True])
def test_the_regret_of_expected_votes_is_below_its_bound(adversary, horizon, is_soft):
    """A statement about every sequence, so there are no false alarms."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n_rows, k = 400, 3
        X = rng.random((n_rows, 2))
        ensemble = StumpExperts(n_cells=6, horizon=horizon).make_ensemble(1, seed)
        block = ensemble.prepare(block_of(X), learning=True)
        taught, gained, vote = np.zeros((n_rows, k)), 0.0, np.empty((1, k))
        for row in range(n_rows):
            ensemble.vote(0, block[row : row + 1], vote)
            taught[row] = np.eye(k)[adversary(vote[0], rng)]
            if is_soft:
                taught[row] = 0.7 * taught[row] + 0.3 * rng.dirichlet(np.ones(k))
            gained += float(vote[0] @ taught[row])
            ensemble.vote_and_learn(0, block[row : row + 1], taught[row : row + 1], vote)
        best = ensemble.hypothesis_class.best_in_class(X, taught).value
        for_all = ensemble.regret_bound(n_rows)
        assert 2.0 * (best - gained) <= for_all
        expected = math.sqrt((2.0 if horizon else 4.0) * n_rows * StumpClass(2, k, 6).log_size)
        assert for_all == pytest.approx(expected)


def test_drawn_votes_gain_what_is_expected():
    """The regret of drawn votes over 40 seeds, against its bound plus what draws may add.

    The gain of a drawn vote differs from its expectation by a martingale with steps of at most 2 in range: it falls
    short by more than sqrt(2 T ln(1/a)) with probability at most a in each run. With a = 1e-6 / 40 a false alarm has
    probability 1e-6, and the seeds are fixed.
    """
    n_rows, k, n_seeds = 300, 3, 40
    slack = math.sqrt(2 * n_rows * math.log(n_seeds / 1e-6))
    shortfalls = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, labels = rng.random((n_rows, 1)), rng.integers(k, size=n_rows)
        labels = np.where(rng.random(n_rows) < 0.7, (X[:, 0] * k).astype(int), labels)
        taught = np.eye(k)[labels]
        drawn, expected = np.empty((n_rows, k)), np.empty((n_rows, k))
        for votes, out in (("random", drawn), ("expected", expected)):
            ensemble = StumpExperts(n_cells=6, votes=votes, horizon=n_rows).make_ensemble(1, seed)
            ensemble.vote_and_learn(0, ensemble.prepare(block_of(X), learning=True), taught, out)
        assert set(np.unique(drawn)) == {0.0, 1.0}
        best = ensemble.hypothesis_class.best_in_class(X, taught).value
        assert 2.0 * (best - float((drawn * taught).sum())) <= ensemble.regret_bound(n_rows) + slack
        shortfalls.append(2.0 * float(((expected - drawn) * taught).sum()))
    # The mean of 40 such differences, each with a variance of at most n_rows: five standard errors.
    assert abs(np.mean(shortfalls)) < 5 * math.sqrt(n_rows / n_seeds)
