"""What the tests of OnlineMBBM and Adaboost.OLM share: a stream, slow twins of its learners, and binary runs."""

from __future__ import annotations

import numpy as np

from ocoboost.bench import datasets
from ocoboost.randomness import derive_seed
from toy_learners import Bins

ROWS = datasets.shuffled(datasets.balance(), 1)[:120]
X, Y = [x for x, _ in ROWS], [y for _, y in ROWS]
CLASSES = ["L", "B", "R"]
# Balance is symmetric: with round weights labels would tie up to rounding, which twins need not do alike.
WEIGHTS = [0.0, 1.0, *np.random.default_rng(1).uniform(0.5, 2.0, len(ROWS) - 2)]
INDEXED = [(x, CLASSES.index(y), w) for x, y, w in zip(X, Y, WEIGHTS, strict=True)]
N_LEARNERS = 7


def every_one_and_all(deviations):
    return [(), *((name,) for name in deviations), tuple(deviations)]


def twins(seed):
    return [Bins(derive_seed(seed, learner)) for learner in range(N_LEARNERS)]


def shares_before_learning(model):
    """Each row's distribution from just before it is learned, row by row."""
    distributions = []
    for x, y, w in zip(X, Y, WEIGHTS, strict=True):
        distributions.append(list(model.predict_proba_one(x).values()))
        model.learn_one(x, y, w=w)
    return np.array(distributions)


class Recorder(Bins):
    """Remembers the weights it was taught with.

    Parameters
    ----------
    seed
        Places the bins.
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        self.lessons = []
        self.votes = []

    def learn_one(self, x, y, *, w=1.0):
        self.lessons.append(w)
        super().learn_one(x, y, w=w)

    def predict_proba_one(self, x, **kwargs):
        shares = super().predict_proba_one(x)
        self.votes.append(max(sorted(shares), key=lambda label: shares[label] / sum(shares.values())) if shares else 0)
        return shares


def binary_run(booster, **options):
    """Lessons and votes, of shape (learners, rows), and signs: +1 where the vote was right."""
    rows = [(x, y == "L") for x, y in ROWS]
    model = booster(Recorder(), n_learners=N_LEARNERS, classes=[False, True], seed=3, **options)
    model.learn_many([x for x, _ in rows], [y for _, y in rows])
    learners = model.state_.engine.cascades[0].ensemble.learners
    votes = np.array([learner.votes for learner in learners])
    right = np.where(votes == np.array([int(y) for _, y in rows]), 1, -1)
    return model, [learner.lessons for learner in learners], right
