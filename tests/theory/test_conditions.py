"""Weak-learning conditions: what they ask for, who fails them, and which of them anyone can meet."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import dummy, tree

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import synthetic
from ocoboost.errors import InvalidInputError
from ocoboost.learners.experts.hypotheses import TableClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stumps import StumpClass
from ocoboost.theory import bounds
from ocoboost.theory.checks import check, check_learner, check_run
from ocoboost.theory.classes import Constants
from ocoboost.theory.conditions import (
    ONLINE_CONDITIONS,
    AgnosticBatch,
    Asymmetric,
    Guessing,
    OneVsAll,
    OneVsOne,
    Plain,
    RealizableBatch,
    RealizableOnline,
)

CONDITIONS = [*ONLINE_CONDITIONS, RealizableOnline(), AgnosticBatch(), RealizableBatch()]


def only(demands):
    (demand,) = demands
    return demand


# -- the formulas, against the paper's, label by label ---------------------------------------------------------------


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_gains_are_the_papers_for_labels(k, seed):
    rng = np.random.default_rng(seed)
    n = 6
    votes, labels, others = rng.integers(k, size=n), rng.integers(k, size=n), rng.integers(k, size=n)
    said, taught, h = np.eye(k)[votes], np.eye(k)[labels], np.eye(k)[others]
    rows = np.arange(n)
    plain = only(Plain().demands(said, taught))
    np.testing.assert_allclose(plain.learner_gains, [2 * w @ y - 1 for w, y in zip(said, taught, strict=True)])
    np.testing.assert_allclose(plain.gains[rows, others], [2 * z @ y - 1 for z, y in zip(h, taught, strict=True)])
    uneven = only(Asymmetric().demands(said, taught))
    np.testing.assert_allclose(uneven.learner_gains, plain.learner_gains)
    best = [(k * z @ y - 1) / (k - 1) for z, y in zip(h, taught, strict=True)]
    np.testing.assert_allclose(uneven.gains[rows, others], best, atol=1e-12)
    even = only(Guessing().demands(said, taught))
    np.testing.assert_allclose(even.gains, uneven.gains)
    np.testing.assert_allclose(
        even.learner_gains, [(k * w @ y - 1) / (k - 1) for w, y in zip(said, taught, strict=True)]
    )
    total = sum(demand.learner_gains for demand in OneVsAll().demands(said, taught))
    np.testing.assert_allclose(total, plain.learner_gains)
    of_hypothesis = sum(demand.gains[rows, others] for demand in AgnosticBatch().demands(said, taught))
    np.testing.assert_allclose(of_hypothesis, plain.gains[rows, others])
    for condition in (RealizableOnline(), RealizableBatch()):
        demand = only(condition.demands(said, taught))
        np.testing.assert_allclose(demand.learner_gains, plain.learner_gains)
        assert demand.gains is None
    pairwise = only(OneVsOne().demands(said, taught))
    for row in range(n):
        vote, label = votes[row], labels[row]
        rivals = [vote] if vote != label else [rival for rival in range(k) if rival != label]
        expected = np.mean([h[row] @ (np.eye(k)[label] - np.eye(k)[rival]) for rival in rivals])
        assert pairwise.gains[row, others[row]] == pytest.approx(expected)
        assert pairwise.learner_gains[row] == pytest.approx(2 * (vote == label) - 1)
    rivals = (labels + rng.integers(1, k, size=n)) % k
    fixed = only(OneVsOne(rivals).demands(said, taught))
    np.testing.assert_allclose(fixed.gains, taught - np.eye(k)[rivals])
    np.testing.assert_allclose(fixed.learner_gains, [w @ g for w, g in zip(said, fixed.gains, strict=True)])


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_soft_votes_and_lessons_are_means_over_draws(k, seed):
    rng = np.random.default_rng(seed)
    vote, lesson = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))
    for condition in (OneVsOne(), Plain(), Asymmetric(), Guessing()):
        soft = only(condition.demands(vote[None], lesson[None]))
        gain, gains = 0.0, np.zeros(k)
        for said, label in itertools.product(range(k), range(k)):
            hard = only(condition.demands(np.eye(k)[[said]], np.eye(k)[[label]]))
            gain += vote[said] * lesson[label] * hard.learner_gains[0]
            gains += vote[said] * lesson[label] * hard.gains[0]
        assert soft.learner_gains[0] == pytest.approx(gain)
        np.testing.assert_allclose(soft.gains[0], gains, atol=1e-12)


# -- who fails ---------------------------------------------------------------------------------------------------------


class Shuffled(tree.HoeffdingTreeClassifier):
    """Is taught labels that have nothing to do with the rows."""

    def learn_one(self, x, y, *, w=1.0):
        self.draws = getattr(self, "draws", random.Random(0))
        super().learn_one(x, self.draws.choice(synthetic.RULE_CLASSES), w=w)


class Wrong(tree.HoeffdingTreeClassifier):
    """Knows, and says something else."""

    def predict_one(self, x, **kwargs):
        known = super().predict_one(x)
        return None if known is None else synthetic.RULE_CLASSES[(int(known) + 1) % 3]


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
@pytest.mark.parametrize("seed", range(5))
def test_learners_that_are_not_weak_learners_are_called_that_and_a_good_one_is_not(condition, seed):
    """One false alarm in forty runs is expected of the shuffled learner at most; the seeds are fixed."""
    name = "realizable" if condition.is_realizable else "noisy"
    rows = synthetic.load(name, 1200, seed=seed).rows
    grow = {"grace_period": 30, "delta": 0.1, "tau": 0.2, "leaf_prediction": "mc"}
    hypotheses = StumpClass(n_features=3, n_classes=3, n_cells=synthetic.RULE_CELLS)
    bad = [Wrong(**grow), Shuffled(**grow), dummy.PriorClassifier(), dummy.NoChangeClassifier()]
    for learner in bad:
        result = check_learner(learner, rows, hypotheses, condition=condition)
        assert result.is_weak_learner is False
        assert result.verdict.startswith("Not a weak learner")
        assert "Not a weak learner" in str(result)
    good = check_learner(tree.HoeffdingTreeClassifier(**grow), rows, hypotheses, condition=condition)
    assert good.is_weak_learner
    assert good.verdict == "A weak learner as far as this run shows."
    assert good.slack < 0


def test_a_constant_is_not_a_weak_learner_on_a_lopsided_stream_either():
    rng = np.random.default_rng(1)
    X = rng.random((2000, 2))
    labels = (X[:, 0] > 0.9).astype(int)
    hypotheses = StumpClass(n_features=2, n_classes=2, n_cells=10)
    for condition in CONDITIONS:
        result = check(condition, X, np.zeros(2000, dtype=int), labels, hypotheses)
        assert result.is_weak_learner is False
        assert check(condition, X, labels, labels, hypotheses).is_weak_learner


def test_where_nothing_can_be_learned_nothing_can_be_told():
    rng = np.random.default_rng(1)
    X, labels = rng.random((500, 2)), rng.integers(3, size=500)
    result = check(Guessing(), X, rng.integers(3, size=500), labels, Constants())
    assert result.is_weak_learner is None
    assert "Cannot tell" in result.verdict
    unrealized = check(RealizableOnline(), X, labels, labels)
    assert unrealized.is_weak_learner is None
    assert "does not apply" in unrealized.verdict


def test_an_advantage_below_the_one_asked_for_is_not_enough():
    rng = np.random.default_rng(1)
    X = rng.random((4000, 1))
    labels = (X[:, 0] > 0.5).astype(int)
    votes = np.where(rng.random(4000) < 0.65, labels, 1 - labels)  # gains 0.3
    low = check(Plain(), X, votes, labels, gamma=0.2)
    high = check(Plain(), X, votes, labels, gamma=0.5)
    assert low.is_weak_learner
    assert high.is_weak_learner is False
    assert "not with advantage 0.5" in high.verdict
    assert high.slack_per_row == pytest.approx(0.5 - (2 * np.mean(votes == labels) - 1), abs=0.01)


@pytest.mark.parametrize("condition", [Plain(), Guessing(), OneVsOne()], ids=lambda condition: condition.name)
def test_the_interval_holds_the_true_advantage(condition):
    """95 % intervals over 300 runs: fewer than 270 hits happen with probability 2e-4; the seeds are fixed."""
    k, n, right = 3, 300, 0.75
    truth = {"Plain": 2 * right - 1, "Guessing": (k * right - 1) / (k - 1), "OneVsOne": 2 * right - 1}[condition.name]
    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = rng.random((n, 1))
        labels = (X[:, 0] * k).astype(int)
        votes = np.where(rng.random(n) < right, labels, (labels + rng.integers(1, k, size=n)) % k)
        edge = check(condition, X, votes, labels, TableLike(labels)).estimated_gamma
        hits += edge.low <= truth <= edge.high
    assert hits >= 270


class TableLike:
    """The one hypothesis that says these labels."""

    def __init__(self, labels):
        self.labels = labels

    def best_in_class(self, X, gains):
        from ocoboost.learners.experts.hypotheses import Best

        return Best(float(gains[np.arange(len(X)), self.labels].sum()), lambda X: self.labels)


# -- which of them can be met --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 4, 6])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9])
def test_definition_1_and_the_alternatives_are_failed_by_everyone_on_uniform_labels(k, gamma):
    """Averages over a label drawn uniformly, for every vote and every hypothesis: exact, nothing is sampled."""
    lessons = np.eye(k)
    for vote, hypothesis in itertools.product(range(k), range(k)):
        said = np.eye(k)[np.full(k, vote)]
        for condition in (OneVsOne(), Plain(), Asymmetric()):
            demand = only(condition.demands(said, lessons))
            assert demand.learner_gains.mean() == pytest.approx(-(k - 2) / k)
            regret = gamma * demand.gains[:, hypothesis].mean() - demand.learner_gains.mean()
            assert regret >= (1 - gamma) * (k - 2) / k - 1e-12  # per row: linear in the number of rows
    # One label at a time, the gains of any vote add up to the same; so some label is as bad.
    for vote in range(k):
        demands = list(OneVsAll().demands(np.eye(k)[np.full(k, vote)], lessons))
        assert sum(demand.learner_gains.mean() for demand in demands) == pytest.approx(-(k - 2) / k)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("share_of_rule", [0.0, 0.4])
def test_exponential_weights_meet_definition_1_if_the_rival_is_fixed_before_the_vote(k, share_of_rule):
    """The adversary fixes (y, l) in advance; expected votes, so the bound holds on every run, not on average."""
    rng = np.random.default_rng(k)
    n, n_points = 5000, 5
    table = TableClass(rng.integers(k, size=(12, n_points)), n_classes=k)
    points, labels = rng.integers(n_points, size=n), rng.integers(k, size=n)
    labels = np.where(rng.random(n) < share_of_rule, table.table[3, points], labels)
    rivals = (labels + rng.integers(1, k, size=n)) % k
    rate = LearningRate(horizon=n)
    totals, votes = np.zeros(12), np.empty((n, k))
    for row in range(n):
        weights = np.exp(rate.at(table.log_size, 0.0) * (totals - totals.max()) / 2)
        said = table.table[:, points[row]]
        votes[row] = np.bincount(said, weights=weights, minlength=k) / weights.sum()
        totals += (said == labels[row]) * 1.0 - (said == rivals[row])
    bound = rate.regret_bound(table.log_size, n)
    before = check(OneVsOne(rivals), points[:, None], votes, labels, table, gamma=1.0)
    assert before.slack <= bound
    if share_of_rule == 0.0:  # the rival chosen after the vote: the same votes fail, unless there are two labels
        after = check(OneVsOne(), points[:, None], votes, labels, table, gamma=0.5)
        assert (after.slack > 3 * bound) == (k > 2)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_guessing_implies_the_plain_condition_up_to_its_loss(k, gamma):
    rng = np.random.default_rng(k)
    said, taught = rng.dirichlet(np.ones(k), size=50), rng.dirichlet(np.ones(k), size=50)
    hypothesis = rng.integers(k, size=50)
    rows = np.arange(50)
    plain, guessing = only(Plain().demands(said, taught)), only(Guessing().demands(said, taught))
    plain_slack = gamma * plain.gains[rows, hypothesis].sum() - plain.learner_gains.sum()
    slack = gamma * guessing.gains[rows, hypothesis].sum() - guessing.learner_gains.sum()
    loss = bounds.guessing_loss(gamma=gamma, n_classes=k)
    assert plain_slack == pytest.approx(2 * (k - 1) / k * slack + gamma * 50 * loss)
    ours = bounds.guessing_gain_regret_bound(
        weak_regret=slack, player_regret=3.0, gamma=gamma, n_rounds=50, n_learners=7, n_classes=k
    )
    papers = bounds.agnostic_gain_regret_bound(
        weak_regret=plain_slack, player_regret=3.0, gamma=gamma, n_rounds=50, n_learners=7
    )
    assert ours == pytest.approx(papers - loss + bounds.guessing_price(gamma=gamma, n_classes=k))


def test_the_batch_agnostic_condition_asks_for_slack_if_the_class_holds_constants():
    """Even a learner that is as good as anyone can be fails without slack: the best constant is always right."""
    k, n = 3, 900
    labels = np.arange(n) % k  # nothing to learn
    X = np.zeros((n, 0))
    for votes in (labels * 0, np.full((n, k), 1 / k)):
        result = check(AgnosticBatch(), X, votes, labels, Constants(), gamma=0.1, n_classes=k)
        # Of some label at least the share (k - 1) / k is missed: gamma / k + (1 - 2 / k) / k is needed per row.
        assert result.slack_per_row >= 0.1 / k + (1 - 2 / k) / k - 1e-12
        assert not result.is_weak_learner
    assert check(AgnosticBatch(), X, labels, labels, Constants(), gamma=0.1).slack_per_row < 0  # only by knowing them


# -- a whole run ----------------------------------------------------------------------------------------------------


def test_every_learner_of_a_run_can_be_checked():
    stream = synthetic.load("realizable", 1500, seed=1)
    model = OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=6, gamma=0.5, start="label", seed=1)
    account = model.account()
    model.learn_many([x for x, _ in stream.rows], [y for _, y in stream.rows])
    checks = check_run(account, Guessing())
    assert len(checks) == 6
    assert all(one.n_rows == 1500 and one.gamma == 0.5 for one in checks)
    assert checks[0].is_weak_learner
    assert 0.5 < checks[0].estimated_gamma.estimated_gamma <= 1.1


def test_lengths_and_shapes_are_checked():
    X = np.zeros((3, 1))
    with pytest.raises(InvalidInputError, match="equally many rows, got 3, 2 and 3"):
        check(Plain(), X, np.array([0, 1]), np.array([0, 1, 0]))
    with pytest.raises(InvalidInputError, match="votes must be label indices"):
        check(Plain(), X, np.array([0.5, 1.0, 0.0]), np.array([0, 1, 0]))
