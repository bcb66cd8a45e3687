"""The Littlestone dimension against its definition, and the learner against its experts written out one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expert_twins import Exponential, littlestone_dimension, littlestone_experts
from ocoboost import LittlestoneExperts
from ocoboost.learners.experts.hypotheses import TableClass
from ocoboost.learners.experts.littlestone import Littlestone, StandardOptimalAlgorithm, n_experts
from ocoboost.learners.experts.rates import LearningRate


def tables(max_members=6, max_points=4, n_classes=3):
    row = st.integers(2, max_points).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n), min_size=1, max_size=max_members
        )
    )
    return row.map(lambda members: TableClass(members, n_classes))


def members_of(table):
    return frozenset(map(tuple, table.table.tolist()))


@given(tables())
def test_the_dimension_is_that_of_the_definition(table):
    assert Littlestone(table).dimension() == littlestone_dimension(members_of(table))


@pytest.mark.parametrize(
    ("members", "dimension"),
    [
        ([[0, 1, 2]], 0),
        (list(itertools.product(range(3), repeat=3)), 3),  # all functions
        ([[int(point == one) for point in range(9)] for one in range(9)], 1),  # one point is special
        ([[int(point >= cut) for point in range(15)] for cut in range(16)], 4),  # binary search
        ([[int(point >= cut) for point in range(14)] for cut in range(15)], 3),
        ([[label] * 4 for label in range(5)], 1),  # constants
    ],
)
def test_known_dimensions(members, dimension):
    assert Littlestone(TableClass(members)).dimension() == dimension


@settings(max_examples=40)
@given(tables(max_members=8), st.data())
def test_the_standard_optimal_algorithm_errs_at_most_dimension_times(table, data):
    """Whichever member labels the stream, and whatever points come."""
    points = data.draw(st.lists(st.integers(0, table.n_points - 1), max_size=12))
    for member in table.table:
        learner = StandardOptimalAlgorithm(table)
        mistakes = 0
        for point in points:
            mistakes += learner.predict(point) != member[point]
            learner.learn(point, int(member[point]))
        assert mistakes <= Littlestone(table).dimension()


@settings(max_examples=40)
@given(tables(), st.data())
def test_an_adversary_makes_it_err_dimension_times(table, data):
    """By walking down the shattered tree, away from each prediction: the bound is tight."""
    tree = Littlestone(table)
    learner = StandardOptimalAlgorithm(table)
    mistakes = 0
    while (depth := tree.dimension(learner.space)) > 0:
        point, label = next(
            (point, label)
            for point, label in itertools.product(range(table.n_points), range(table.n_classes))
            if label != learner.predict(point)
            and tree.dimension(tree.agreeing(learner.space, point, label)) >= depth - 1
        )
        mistakes += 1
        learner.learn(point, label)
    assert mistakes >= tree.dimension()


@given(tables(max_points=3), st.data())
def test_every_member_agrees_with_an_expert(table, data):
    points = data.draw(st.lists(st.integers(0, table.n_points - 1), min_size=1, max_size=4))
    experts = littlestone_experts(members_of(table), points, table.n_classes)
    dimension = Littlestone(table).dimension()
    assert len(experts) == n_experts(len(points), dimension, table.n_classes)
    assert len(experts) <= (len(points) * table.n_classes) ** dimension
    for member in table.table:
        assert [int(member[point]) for point in points] in experts


@pytest.mark.parametrize("rate", [None, 1.0])
@settings(max_examples=40)
@given(table=tables(max_points=3), data=st.data())
def test_summed_weights_are_those_of_the_experts_written_out(rate, table, data):
    points = data.draw(st.lists(st.integers(0, table.n_points - 1), min_size=1, max_size=4))
    n_rows, k = len(points), table.n_classes
    label_weights = np.array(
        data.draw(st.lists(st.lists(st.floats(0, 1), min_size=k, max_size=k), min_size=n_rows, max_size=n_rows))
    )
    experts = littlestone_experts(members_of(table), points, k)
    twin = Exponential([lambda row, said=said: said[row] for said in experts], k, LearningRate(rate, n_rows))
    model = LittlestoneExperts(table.table.tolist(), "point", k, learning_rate=rate, horizon=n_rows)
    ensemble = model.make_ensemble(1, seed=0)
    votes = np.empty((n_rows, k))
    ensemble.vote_and_learn(0, points, label_weights, votes)
    for row in range(n_rows):
        np.testing.assert_allclose(votes[row], twin.vote(row), rtol=0, atol=1e-12)
        twin.learn(row, label_weights[row])


@pytest.mark.parametrize("horizon", [None, 150])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_the_regret_is_below_its_bound_across_epochs(horizon, noise):
    """Expected votes and any labels, so there are no false alarms."""
    table = TableClass([[int(point >= cut) + int(point >= 6) for point in range(8)] for cut in range(9)])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        points = rng.integers(8, size=400)
        labels = np.where(rng.random(400) < noise, rng.integers(3, size=400), table.table[3, points])
        taught = np.eye(3)[labels]
        ensemble = LittlestoneExperts(table.table.tolist(), "point", horizon=horizon).make_ensemble(1, seed)
        votes = np.empty((400, 3))
        ensemble.vote_and_learn(0, points.tolist(), taught, votes)
        gains = np.cumsum((votes * taught).sum(axis=1))
        for n_rows in (1, 2, 50, 150, 400):
            best = table.best_in_class(points[:n_rows], taught[:n_rows]).value
            assert 2.0 * (best - gains[n_rows - 1]) <= ensemble.regret_bound(n_rows) + 1e-9
        assert len(ensemble.crowds[0]) <= (table.size + 1) * (ensemble.n_deviations + 1)


def test_the_bound_is_the_papers_within_the_first_epoch():
    thresholds = [[int(point >= cut) for point in range(7)] for cut in range(8)]
    model = LittlestoneExperts(thresholds, "point", horizon=1000)
    papers = math.sqrt(2 * 1000 * 3 * math.log(1000 * 2))
    assert model.regret_bound(1000) <= papers
    assert model.regret_bound(3000) > model.regret_bound(1000) > model.regret_bound(500)
    # Without a horizon, epochs cost at most the factor of a geometric series.
    assert LittlestoneExperts(thresholds, "point").regret_bound(1023) <= papers * math.sqrt(2) / (math.sqrt(2) - 1)
