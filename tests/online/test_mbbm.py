"""OnlineMBBM against its slow twin, its binary ancestor, and the published deviations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

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
from ocoboost import OnlineMBBMClassifier
from ocoboost.cascade import potential_tables, potentials
from ocoboost.cascade.weighting import largest
from toy_learners import Bins

# Uncompiled, a hundred draws for every potential take long.
MODES = [
    pytest.param(mode, marks=() if "monte-carlo" in mode else pytest.mark.kernels)
    for mode in every_one_and_all(["constants", "horizon", "monte-carlo", "ties", "min-cost"])
]


@pytest.mark.parametrize("gamma", [0.05, 0.3, 0.95])
@pytest.mark.parametrize("mode", MODES)
def test_it_is_its_slow_twin(mode, gamma):
    tables = potential_tables.make_potentials(
        potential_tables.MONTE_CARLO, gamma=gamma, n_classes=3, n_learners=N_LEARNERS, seed=9
    )
    scratch = potential_tables.make_scratch(3, N_LEARNERS)

    def phi(n, counts, label):
        if "monte-carlo" not in mode:
            return float(naive.potential(n, naive.gaps_of(counts, label), Fraction(str(gamma))))
        tables.values[:] = -1.0  # remembered for one n only
        return potentials.potential(tables, 0, n, counts.copy(), label, scratch)

    counts, lessons = naive.boost_by_majority(
        INDEXED, twins(9), phi=phi, n_classes=3, seed=9, deviations=frozenset(mode)
    )
    model = OnlineMBBMClassifier(Bins(), n_learners=N_LEARNERS, gamma=gamma, classes=CLASSES, mode=mode, seed=9)
    np.testing.assert_allclose(shares_before_learning(model), np.array(counts) / N_LEARNERS, atol=1e-12)
    taught = np.sum(lessons, axis=0)
    learned = [
        sum(learner.counts.get("all", {}).values()) for learner in model.state_.engine.cascades[0].ensemble.learners
    ]
    np.testing.assert_allclose(learned, taught, rtol=1e-10)


@pytest.mark.kernels
@pytest.mark.parametrize("gamma", [0.02, 0.4])
def test_with_two_labels_it_is_boosting_by_majority(gamma):
    _, lessons, right = binary_run(OnlineMBBMClassifier, gamma=gamma)

    def weight(i, margin):  # Beygelzimer, Kale & Luo (2015), with gamma / 2 as their edge
        left = N_LEARNERS - i
        c = (left + 1 - margin) // 2
        if not 0 <= c <= left:
            return 0.0
        return math.comb(left, c) * (0.5 + gamma / 2) ** c * (0.5 - gamma / 2) ** (left - c)

    mean = np.mean([weight(i, 0) for i in range(1, N_LEARNERS + 1)])
    for i, taught in enumerate(lessons, 1):
        margins = right[: i - 1].sum(axis=0)
        expected = [weight(i, int(margin)) / mean for margin in margins]
        np.testing.assert_allclose(taught, [w for w in expected if w > 0.0], atol=1e-12)  # weight 0 teaches nothing


def test_weights_are_one_on_average_before_any_vote():
    for gamma, n_classes, potential in itertools.product([0.01, 0.3, 0.95], [2, 5], ["exact", "fast"]):
        model = OnlineMBBMClassifier(Bins(), n_learners=50, gamma=gamma, potential=potential)
        cells = model.fresh_state(1).engine.cascades[0].cells
        choices, none, scratch = cells.choices(n_classes), np.zeros(n_classes, dtype=np.int64), cells.scratch(n_classes)
        weights = [potentials.importance(choices.potentials, i, 49 - i, none, 0, scratch) for i in range(50)]
        assert np.mean(choices.scales * weights) == pytest.approx(1.0)


@pytest.mark.kernels
def test_ties_are_broken_as_the_draw_says():
    values = np.array([1.0, 3.0, 0.0, 3.0, 3.0])
    assert [largest(values, 5, draw) for draw in (0.0, 0.32, 0.34, 0.66, 0.67, 0.999)] == [1, 1, 3, 3, 4, 4]
    assert largest(values, 1, 0.9) == 0
    chosen = set()
    for seed in range(30):
        model = OnlineMBBMClassifier(Bins(), n_learners=2, classes=CLASSES, mode=["ties"], seed=seed)
        answers = model.fresh_state(seed).answer([{}])
        tied = answers._replace(distributions=np.full((1, 3), 1 / 3))
        chosen.add(int(tied.labels[0]))
    assert chosen == {0, 1, 2}


def test_a_distribution_is_the_shares_of_the_votes():
    model = OnlineMBBMClassifier(Bins(), n_learners=9, seed=1)
    model.learn_many(X, Y)
    assert model.predict_proba_one(X[0]) == model.vote_shares_one(X[0])
    assert all(share * 9 == pytest.approx(round(share * 9)) for share in model.vote_shares_one(X[0]).values())
