"""The pairwise booster: its lemma, its theorem below gamma 1, what two labels make of it, and why it has a factor.

A mean over seeds gets five standard errors (see ``test_paper_theorems``); all else holds on every run.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advantaged import Advantaged, noisy_labels
from boosters import relabelling
from naive import project_sorted
from ocoboost import (
    HoeffdingTrees,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
    PairwiseBoostClassifier,
    StumpExperts,
)
from ocoboost.bench import datasets, synthetic
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import PAIRWISE, Regime, teach_row
from ocoboost.learners.experts.stumps import StumpClass
from ocoboost.theory import bounds
from test_below_gamma_one import Glimpse
from test_paper_theorems import assert_mean_at_most
from toy_learners import Witness


def hinge(shares: np.ndarray, labels: np.ndarray, gamma: float) -> np.ndarray:
    """max(0, 1 - margin / gamma) of every row: what the best fixed play gains from the votes."""
    rows = np.arange(len(labels))
    others = shares.copy()
    others[rows, labels] = -np.inf
    return np.maximum(0.0, 1.0 - (shares[rows, labels] - others.max(axis=1)) / gamma)


@given(st.integers(2, 7), st.sampled_from([0.03, 0.2, 0.5, 0.9, 1.0]), st.integers(0, 2**32 - 1))
def test_the_chance_of_a_mistake_is_at_most_a_share_of_the_hinge(k, gamma, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(k, rng.choice([0.1, 1.0, 20.0])))
    if rng.random() < 0.5:  # ties, and votes that fall just short
        shares = rng.multinomial(12, shares) / 12
    label = int(rng.integers(k))
    lost = hinge(shares[None], np.array([label]), gamma)[0]
    assert 1.0 - project_sorted(shares / gamma)[label] <= (1.0 - 1.0 / k) * lost + 1e-9
    assert float(np.argmax(shares) != label) <= lost + 1e-9


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_a_lesson_is_the_pairwise_gain_up_to_scale_and_a_shift(k, seed):
    rng = np.random.default_rng(seed)
    play, label, weight = rng.dirichlet(np.ones(k)), int(rng.integers(k)), rng.choice([0.5, 1.0, 3.0])
    lesson = np.empty(k)
    teach_row(PAIRWISE, play, label, weight, False, 0.0, lesson)
    gains = -play.copy()
    gains[label] = 1.0 - play[label]  # every rival's weight
    np.testing.assert_allclose(k * lesson / weight - (1.0 - play[label]), gains, atol=1e-12)
    assert lesson.min() >= 0.0
    assert lesson.sum() == pytest.approx(weight * (1.0 - play[label]))
    drawn, grid = np.zeros(k), 4000
    for draw in (np.arange(grid) + 0.5) / grid:  # exact up to the grid: the mean over draws is the lesson
        out = np.empty(k)
        teach_row(PAIRWISE, play, label, weight, True, draw, out)
        assert sorted(set(out)) in ([0.0], [0.0, weight], [weight])
        drawn += out / grid
    np.testing.assert_allclose(drawn, lesson, atol=2 * weight / grid)


@pytest.mark.parametrize("relabel", ["random", "fractional"])
def test_with_two_labels_it_is_algorithm_4(relabel):
    rows = datasets.shuffled(datasets.load("segment"), 1)[:300]
    kinds = sorted({y for _, y in rows})[:3]
    X, y = [x for x, _ in rows], ["one" if y in kinds else "else" for _, y in rows]
    told = {"n_learners": 12, "gamma": 0.3, "relabel": relabel, "classes": ["else", "one"], "seed": 2}
    told |= {"votes": "distribution", "pool": "distribution"}  # label votes may tie, and rounding would decide
    learner = HoeffdingTrees(max_depth=1, leaf_prediction="mc", grace_period=17.5)
    pairwise, realizable = (
        OnlinePairwiseBoostClassifier(learner, **told),
        OnlineRealizableBoostClassifier(learner, **told),
    )
    assert 50 < y.count("else") < 250
    for one, other in zip(pairwise.prequential(X, y), realizable.prequential(X, y), strict=True):
        np.testing.assert_allclose(one.distributions, other.distributions, atol=1e-9)


def run(learners, labels, k, *, gamma, n_learners, relabel, seed):
    cells = relabelling(PAIRWISE, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
    n_rows = len(labels)
    return Cascade(cells, learners).learn(np.arange(n_rows), labels, np.ones(n_rows), n_classes=k, first_row=0)


@pytest.mark.parametrize("relabel", ["random", "fractional"])
@pytest.mark.parametrize(("k", "gamma", "n_learners"), [(2, 0.3, 500), (3, 0.3, 500), (5, 0.5, 400), (10, 0.4, 400)])
def test_theorem_below_gamma_1(k, gamma, n_learners, relabel):
    """Learners of known advantage, R_W = 0. The bounds are smaller than the mistakes of a learner alone."""
    n_rows, noise = 300, 0.1
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(PAIRWISE))
    known = {"best_mistakes": noise, "weak_regret": 0.0, "player_regret": player_regret, "gamma": gamma}
    bound, of_plurality = (
        bounds.pairwise_mistake_bound(
            **known, n_rounds=1, n_learners=n_learners, n_classes=k, of_plurality=of_plurality
        )
        for of_plurality in (False, True)
    )
    drawn, plurality, alone = [], [], []
    for seed in range(5):
        said, labels = noisy_labels(n_rows, k, noise, seed)
        learners = Advantaged(said, gamma, k, seed)
        answers = run(learners, labels, k, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
        drawn.append(1.0 - answers.distributions[np.arange(n_rows), labels].mean())
        plurality.append(np.mean(answers.shares.argmax(axis=1) != labels))
        alone.append(np.mean(np.array(learners.votes) != labels))
    assert_mean_at_most(drawn, bound)
    assert_mean_at_most(plurality, of_plurality)
    assert max(bound, of_plurality) < np.mean(alone)  # content


@pytest.mark.parametrize("learner", [HoeffdingTrees(grace_period=20), StumpExperts(n_cells=8)], ids=["trees", "stumps"])
@pytest.mark.parametrize("gamma", [0.1, 0.4, 1.0])
def test_the_theorem_holds_on_every_run_with_the_learners_regret_as_measured(learner, gamma):
    """Fractional lessons, so nothing is drawn: no tolerance. The comparator is the best stump, or the rule."""
    k, n_rows, n_learners = 3, 250, 30
    stumps = StumpClass(n_features=3, n_classes=k, n_cells=8)
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(PAIRWISE))
    for seed, stream in enumerate(["noisy", "class noise", "oblivious"]):
        rows = synthetic.load(stream, n_rows, seed)
        model = OnlinePairwiseBoostClassifier(
            learner, gamma=gamma, n_learners=n_learners, classes=synthetic.RULE_CLASSES, seed=seed
        )
        model.state_ = model.fresh_state(seed)
        cascade = model.state_.engine.cascades[0]
        cascade.ensemble = witness = Witness(cascade.ensemble)
        X = np.array([list(x.values()) for x, _ in rows.rows])
        answered = list(model.prequential([x for x, _ in rows.rows], [y for _, y in rows.rows]))
        labels = np.array([synthetic.RULE_CLASSES.index(y) for _, y in rows.rows])
        shares = np.concatenate([one.vote_shares for one in answered])
        best = stumps.best_in_class(X, np.eye(k)[labels]).hypothesis(X)
        for said in (best, np.array([synthetic.RULE_CLASSES.index(y) for y in rows.best_labels])):
            regrets = []
            for taught, votes in zip(witness.taught.values(), witness.votes.values(), strict=True):
                gains = k * np.array(taught) - np.array(taught).sum(axis=1, keepdims=True)  # of saying each label
                said_aloud = np.array(votes).argmax(axis=1)
                of_learner = gains[np.arange(n_rows), said_aloud].sum()
                regrets.append(gamma * gains[np.arange(n_rows), said].sum() - of_learner)
            bound = bounds.pairwise_mistake_bound(
                best_mistakes=int((said != labels).sum()),
                weak_regret=float(np.mean(regrets)),
                player_regret=player_regret,
                gamma=gamma,
                n_rounds=n_rows,
                n_learners=n_learners,
                n_classes=k,
                of_plurality=True,
            )
            assert hinge(shares, labels, gamma).sum() <= bound + 1e-9


@pytest.mark.parametrize("n_drawn", [None, 100])
def test_the_batch_booster_keeps_the_bound_below_gamma_1(n_drawn):
    """On a sample, with drawn lessons or weights: the same bound, T rows being the sample and N the stages."""
    k, gamma, n_stages, n_rows, noise = 4, 0.5, 300, 200, 0.1
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=k, n_learners=n_stages, regime=Regime(PAIRWISE))
    bound = bounds.pairwise_mistake_bound(
        best_mistakes=noise,
        weak_regret=0.0,
        player_regret=player_regret,
        gamma=gamma,
        n_rounds=1,
        n_learners=n_stages,
        n_classes=k,
    )
    wrong, alone = [], []
    for seed in range(4):
        said, labels = noisy_labels(n_rows, k, noise, seed)
        X = np.column_stack([said, np.arange(n_rows)]).astype(float)
        model = PairwiseBoostClassifier(
            Glimpse(gamma, k, n_rows),
            n_estimators=n_stages,
            gamma=gamma,
            start="uniform",
            n_drawn=n_drawn,
            random_state=seed,
        ).fit(X, labels)
        wrong.append((1 - model.correlation(X, labels)) / 2)
        alone.append(np.mean([np.mean(one.predict(X) != labels) for one in model.estimators_[:50]]))
    assert_mean_at_most(wrong, bound)
    assert bound < np.mean(alone)


# -- the factor --------------------------------------------------------------------------------------------------------


class Spender:
    """Learners that keep Definition 1 with the rival fixed before the vote, and do no more than they must.

    The hypothesis always says 0. As long as a learner's credit, what it has gained beyond gamma times the hypothesis'
    gain, is not negative (on rows of mark 2: below -1), it says 0, too, except on marked rows: there it says any label.
    Otherwise it says 0 with the advantage gamma, which costs nothing. So its regret is at most 2 + gamma, whatever it
    is taught. Where the hypothesis is wrong, a lesson against it is a credit that the learner may spend.
    """

    name, takes_weights, max_classes, n_bytes = "spender", True, None, 0

    def __init__(self, marks: np.ndarray, k: int, gamma: float, n_learners: int, seed: int) -> None:
        self.marks, self.k, self.gamma = marks, k, gamma
        self.credit = np.zeros(n_learners)
        self.rng = np.random.default_rng(seed)

    def prepare(self, block, *, learning):
        return np.asarray(block)

    def vote_and_learn(self, learner, block, label_weights, out):
        for place, row in enumerate(block):
            # On rows of mark 2 there are a few more votes for 0, enough to be the rival that the player sees.
            may_spend = self.credit[learner] >= (-1.0 if self.marks[row] == 2 else 0.0)
            edge = [1.0, 0.0, 0.05][self.marks[row]] if may_spend else self.gamma
            said = 0 if self.rng.random() < edge else int(self.rng.integers(self.k))
            out[place] = 0.0
            out[place, said] = 1.0
            gain = self.k * label_weights[place, 0] - label_weights[place].sum()  # the hypothesis'; a guess gains 0
            self.credit[learner] += (edge - self.gamma) * gain


@given(st.integers(2, 5), st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_spenders_keep_definition_1_whatever_they_are_taught(k, gamma, seed):
    rng = np.random.default_rng(seed)
    learners = Spender(rng.integers(3, size=80), k, gamma, 1, seed)
    for row in range(80):
        lesson, out = np.empty((1, k)), np.empty((1, k))
        label = 1 if learners.credit[0] > 0.0 and rng.random() < 0.5 else int(rng.integers(k))
        teach_row(PAIRWISE, np.eye(k)[rng.integers(k)], label, 1.0, False, 0.0, lesson[0])
        learners.vote_and_learn(0, [row], lesson, out)
        assert learners.credit[0] >= -(2.0 + gamma)


@pytest.mark.parametrize("k", [3, 6])
def test_the_factor_is_reached(k):
    """A fifth of the rows has label 1, against the hypothesis; in as many the learners spend what that earns them."""
    gamma, n_learners, n_rows = 0.5, 4000, 60
    marks = np.tile([2, 1, 0, 0, 0], n_rows // 5)
    labels = np.where(marks == 2, 1, 0)
    learners = Spender(marks, k, gamma, n_learners, seed=1)
    answers = run(learners, labels, k, gamma=gamma, n_learners=n_learners, relabel="fractional", seed=1)
    best = int((labels != 0).sum())
    mistakes = float((1.0 - answers.distributions[np.arange(n_rows), labels]).sum())
    factor = 2.0 * (1.0 - 1.0 / k)
    assert mistakes >= (1.0 + 0.6 * (factor - 1.0)) * best  # with more learners, and fewer votes for 0, all of it
    bound = bounds.pairwise_mistake_bound(
        best_mistakes=best,
        weak_regret=2.0 + gamma,
        player_regret=bounds.player_regret_bound(
            gamma=gamma, n_classes=k, n_learners=n_learners, regime=Regime(PAIRWISE)
        ),
        gamma=gamma,
        n_rounds=n_rows,
        n_learners=n_learners,
        n_classes=k,
    )
    assert mistakes <= bound
