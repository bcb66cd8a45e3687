"""Theorem 1 below gamma 1, in the forms that hold before the run, on learners whose advantage is known.

Two forms: with two labels, under Definition 1 itself; with more, under the guessing condition, at its price. Every
bound here has content: it is smaller than the regret of one of the learners alone, so a booster that did nothing would
break it. A mean over seeds gets five standard errors (see ``test_paper_theorems``).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin

from advantaged import Advantaged, noisy_labels
from boosters import relabelling
from naive import project_sorted
from ocoboost import AgnosticBoostClassifier, RealizableBoostClassifier
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, Regime
from ocoboost.theory import bounds
from test_paper_theorems import assert_mean_at_most

N_ROWS, NOISE = 300, 0.1


def online_regret(regime, *, k, gamma, n_learners, relabel, seed):
    """The booster's regret against the hypothesis, in gains per row, and that of one learner alone."""
    said, labels = noisy_labels(N_ROWS, k, NOISE, seed)
    learners = Advantaged(said, gamma, k, seed)
    cells = relabelling(regime, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
    answers = Cascade(cells, learners).learn(np.arange(N_ROWS), labels, np.ones(N_ROWS), n_classes=k, first_row=0)
    best = 2 * np.mean(said == labels) - 1
    lone = 2 * np.mean(np.array(learners.votes) == labels) - 1
    return best - (2 * answers.distributions[np.arange(N_ROWS), labels].mean() - 1), best - lone


@pytest.mark.parametrize("relabel", ["random", "fractional"])
@pytest.mark.parametrize(("k", "gamma", "n_learners"), [(2, 0.2, 800), (2, 0.5, 400), (3, 0.8, 1000), (4, 0.7, 1500)])
def test_theorem_1_below_gamma_1(k, gamma, n_learners, relabel):
    """Two labels: the paper's own statement. More: with ``guessing_price``, which is zero for two."""
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_learners)
    bound = bounds.guessing_gain_regret_bound(
        weak_regret=0.0,
        player_regret=player_regret,
        gamma=gamma,
        n_rounds=N_ROWS,
        n_learners=n_learners,
        n_classes=k,
    )
    if k == 2:
        assert bound == player_regret / n_learners
    runs = [
        online_regret(AGNOSTIC, k=k, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
        for seed in range(5)
    ]
    assert_mean_at_most([regret for regret, _ in runs], bound)
    assert bound < np.mean([lone for _, lone in runs])  # content


@pytest.mark.parametrize("relabel", ["random", "fractional"])
@pytest.mark.parametrize(("k", "gamma", "n_learners"), [(2, 0.5, 300), (4, 0.3, 500)])
def test_corollary_mistake_bound_of_algorithm_4_below_gamma_1(k, gamma, n_learners, relabel):
    """Learners that are right with probability (1 + gamma) / 2 whatever they are taught: Definition 3 with R_W = 0."""
    player_regret = bounds.player_regret_bound(
        gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(REALIZABLE)
    )
    mistakes = bounds.realizable_mistake_bound(
        weak_regret=0.0, player_regret=player_regret, gamma=gamma, n_rounds=N_ROWS, n_learners=n_learners
    )
    chances = ((1 + gamma) / 2 - 1 / k) / (1 - 1 / k)  # of not guessing
    found = []
    for seed in range(5):
        said, labels = noisy_labels(N_ROWS, k, 0.0, seed)
        learners = Advantaged(said, chances, k, seed)
        cells = relabelling(REALIZABLE, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
        answers = Cascade(cells, learners).learn(np.arange(N_ROWS), labels, np.ones(N_ROWS), n_classes=k, first_row=0)
        found.append(float((1 - answers.distributions[np.arange(N_ROWS), labels]).sum()))
    assert_mean_at_most(found, mistakes)
    assert mistakes < (1 - gamma) / 2 * N_ROWS  # content: one learner makes more


class Glimpse(ClassifierMixin, BaseEstimator):
    """A hypothesis seen through noise, for batch boosters: right about ``said`` with the advantage ``gamma``.

    The first feature is what the hypothesis says. Noise is drawn anew for every fit and every row of the sample, whose
    number is the second feature.
    """

    def __init__(self, gamma=0.5, n_classes=2, n_rows=100, random_state=None):
        self.gamma, self.n_classes, self.n_rows, self.random_state = gamma, n_classes, n_rows, random_state

    def fit(self, X, y, sample_weight=None):
        rng = np.random.default_rng(self.random_state)
        self.knows_ = rng.random(self.n_rows) < self.gamma
        self.guesses_ = rng.integers(self.n_classes, size=self.n_rows)
        self.classes_ = np.arange(self.n_classes)
        return self

    def predict(self, X):
        rows = X[:, 1].astype(int)
        return np.where(self.knows_[rows], X[:, 0].astype(int), self.guesses_[rows])


@pytest.mark.parametrize(("gamma", "n_estimators"), [(0.3, 600), (0.5, 300)])
def test_corollary_agnostic_correlation_bound_of_algorithm_2_with_two_labels(gamma, n_estimators):
    """The condition holds label by label with epsilon_0 = 0: a row's gain is gamma times the hypothesis', always."""
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=2, n_learners=n_estimators)
    excess = []
    for seed in range(5):
        said, labels = noisy_labels(N_ROWS, 2, NOISE, seed)
        X = np.column_stack([said, np.arange(N_ROWS)]).astype(float)
        glimpse = Glimpse(gamma, 2, N_ROWS)
        model = AgnosticBoostClassifier(
            glimpse, n_estimators=n_estimators, gamma=gamma, start="uniform", n_drawn=50, random_state=seed
        ).fit(X, labels)
        best = 2 * np.mean(said == labels) - 1
        bound = bounds.agnostic_correlation_bound(
            best_correlation=best,
            player_regret=player_regret,
            weak_slack=0.0,
            gamma=gamma,
            n_learners=n_estimators,
            n_classes=2,
        )
        lone = np.mean([2 * np.mean(one.predict(X) == labels) - 1 for one in model.estimators_[:50]])
        assert bound > lone + 0.1  # content: better than its learners, and so than guessing
        excess.append(bound - model.correlation(X, labels))
    assert_mean_at_most(excess, 0.0)


def test_corollary_realizable_correlation_bound_of_algorithm_5_below_gamma_1():
    """Correlation gamma under any weights: Definition 4. Starting at 1/m is no farther from the best play than 1 is."""
    gamma, n_estimators = 0.5, 300
    player_regret = bounds.player_regret_bound(
        gamma=gamma, n_classes=2, n_learners=n_estimators, regime=Regime(REALIZABLE), start="label"
    )
    bound = bounds.realizable_correlation_bound(player_regret=player_regret, n_learners=n_estimators)
    assert bound > gamma + 0.1  # content: better than its hypotheses
    lacking = []
    for seed in range(4):
        said, labels = noisy_labels(N_ROWS, 2, 0.0, seed)
        X = np.column_stack([said, np.arange(N_ROWS)]).astype(float)
        model = RealizableBoostClassifier(
            Glimpse(gamma, 2, N_ROWS), n_estimators=n_estimators, gamma=gamma, n_drawn=50, random_state=seed
        ).fit(X, labels)
        lacking.append(bound - model.correlation(X, labels))
    assert_mean_at_most(lacking, 0.0)


# -- the price ---------------------------------------------------------------------------------------------------------


def lost_to_the_lemma(scaled: np.ndarray, label: int) -> float:
    """What the proof of Theorem 1 under the guessing condition leaves over, for votes divided by gamma."""
    k, surplus = len(scaled), scaled.sum() - 1.0  # 1 / gamma - 1
    least = min((scaled - np.eye(k)[label]).min() + 1.0, scaled[label])  # the best fixed play, plus one
    return 2.0 * (least - project_sorted(scaled)[label] - surplus / k)


def greatest_loss(k: int, gamma: float) -> float:
    """The maximum over all votes, by one linear program for every support of D; the label is 0.

    Unknowns are the scaled votes g, the threshold mu of the projection, and the best fixed play's value.
    """
    total = 1.0 / gamma
    best = -np.inf
    for size, holds_label in itertools.product(range(1, k + 1), [True, False]):
        if size == k and not holds_label:
            continue
        first = 0 if holds_label else 1
        inside = range(first, first + size)  # the game is symmetric in the other labels
        above, equal = [], [np.r_[np.ones(k), 0.0, 0.0]]
        equal.append(np.array([float(j in inside) for j in range(k)] + [-size, 0.0]))  # sum over D = 1
        for j in range(k):
            sign = -1.0 if j in inside else 1.0
            above.append(np.r_[sign * np.eye(k)[j], -sign, 0.0])  # g_j >= mu inside, g_j <= mu outside
            above.append(np.r_[-np.eye(k)[j], 0.0, 1.0])  # value <= g_j + 1, and g_y for the label
        limits = [0.0, 1.0] * k
        limits[1] = 0.0
        objective = np.r_[np.zeros(k), 0.0, -1.0]
        if holds_label:
            objective[0], objective[k] = 1.0, -1.0  # D_y = g_y - mu
        found = linprog(objective, above, limits, equal, [total, 1.0], [(0, None)] * k + [(None, None)] * 2)
        if found.status == 0:
            best = max(best, 2.0 * (-found.fun - (total - 1.0) / k))
    return best


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.3, 1 / 3, 0.5, 0.9, 1.0])
def test_the_price_of_guessing_is_exact(k, gamma):
    """Linear programs over all votes; a search over votes on a grid finds nothing larger, and the maximiser is one."""
    price = bounds.guessing_price(gamma=gamma, n_classes=k)
    assert greatest_loss(k, gamma) == pytest.approx(price, abs=1e-8)
    rng = np.random.default_rng(k)
    for votes in rng.dirichlet(np.full(k, 0.5), size=200):
        assert lost_to_the_lemma(votes / gamma, 0) <= price + 1e-9
    surplus = 1.0 / gamma - 1.0  # the maximiser of the proof: the label just below the leader, the others alike
    level = min(surplus / 2, (surplus + k - 2) / k)
    worst = np.r_[level, level + 1.0, np.full(k - 2, (surplus - 2 * level) / max(k - 2, 1))]
    assert lost_to_the_lemma(worst, 0) == pytest.approx(price, abs=1e-9)
    assert price < 2.0
