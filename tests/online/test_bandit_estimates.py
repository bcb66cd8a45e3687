"""OptBandit and AdaBandit: their estimates by enumeration, their loops against slow twins, and the laws of blocks."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest

import naive
import ocoboost
from baseline_runs import CLASSES, N_LEARNERS, X, Y, twins
from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBanditBoostClassifier,
    OnlineMBBMClassifier,
)
from ocoboost.bench import synthetic
from ocoboost.cascade import ada_bandit, opt_bandit
from ocoboost.cascade.estimated import heard
from ocoboost.errors import InvalidParameterError
from ocoboost.randomness import TIES, uniform
from toy_learners import Bins

GAMMA = 0.1
BOOSTERS = {
    "opt": lambda learner=None: OnlineMBBMClassifier(learner or Bins(), n_learners=N_LEARNERS, gamma=GAMMA),
    "ada": lambda learner=None: AdaBoostOLMClassifier(learner or Bins(), n_learners=N_LEARNERS),
}


def bandit(name, **options):
    return OnlineBanditBoostClassifier(BOOSTERS[name](), classes=CLASSES, learn_from="estimate", seed=9, **options)


def every_play(k, rng):
    """Labels, pivots and P; and for each play what is heard."""
    for label, pivot in itertools.product(range(k), range(k)):
        greedy = np.full(k, 0.1 / (k - 1))
        greedy[pivot] = 0.9
        for chances in (greedy, rng.dirichlet(np.ones(k))):
            yield label, [(chances[j], heard(j, chances[j], pivot, j == label, k)) for j in range(k)]


# -- unbiased, by enumeration ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_estimate_is_the_label_on_average(k):
    for label, plays in every_play(k, np.random.default_rng(k)):
        mean = sum(chance * what.estimate for chance, what in plays)
        np.testing.assert_allclose(mean, np.eye(k)[label], atol=1e-12)
        assert [what.revealed for _, what in plays] == [label if j == label else -1 for j in range(k)]
        assert max(what.estimate.max() for _, what in plays) <= 1.0  # estimated losses are never negative


@pytest.mark.parametrize("k", [2, 3, 4])
def test_costs_of_opt_bandit_are_those_of_online_mbbm_on_average(k):
    rng = np.random.default_rng(k)
    cells = opt_bandit.OptBandit(N_LEARNERS, frozenset(), False, 9, gamma=GAMMA)
    choices, scratch = cells.choices(k), cells.scratch(k)
    for label, plays in every_play(k, rng):
        learner = int(rng.integers(N_LEARNERS))
        counts = rng.multinomial(learner, np.full(k, 1 / k))
        n = N_LEARNERS - 1 - learner
        mean = np.zeros(k)
        for chance, what in plays:
            costs = np.empty(k)
            opt_bandit.expected_costs(choices, what.estimate, counts.copy(), scratch, learner, costs)
            mean += chance * costs
        raised = [counts + np.eye(k, dtype=int)[j] for j in range(k)]
        told = [float(naive.potential(n, naive.gaps_of(s, label), Fraction(str(GAMMA)))) for s in raised]
        np.testing.assert_allclose(mean, told, atol=1e-10)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_costs_slopes_and_mistakes_of_ada_bandit_are_those_of_adaboost_olm_on_average(k):
    rng = np.random.default_rng(k)
    for label, plays in every_play(k, rng):
        scores, alpha, vote = rng.normal(size=k), rng.uniform(-2, 2), int(rng.integers(k))
        costs, slope, losses = np.zeros(k), 0.0, np.zeros(k)
        for chance, what in plays:
            out = np.empty(k)
            ada_bandit.expected_costs(what.estimate, scores, out)
            costs += chance * out
            slope += chance * ada_bandit.expected_slope(what.estimate, scores, vote, alpha)
            losses += chance * (1.0 - what.estimate)
        np.testing.assert_allclose(costs, logistic_costs(scores)[label], atol=1e-10)
        raised = scores + alpha * np.eye(k)[vote]
        np.testing.assert_allclose(slope, logistic_costs(raised)[label, vote], atol=1e-10)
        np.testing.assert_allclose(losses, 1.0 - np.eye(k)[label], atol=1e-12)


def logistic_costs(scores):
    """Row r: the gradient of the loss in the scores, if the label is r."""
    k = len(scores)
    costs = np.array([[naive.sigma(scores[j] - scores[r]) for j in range(k)] for r in range(k)])
    for r in range(k):
        costs[r, r] -= costs[r].sum()
    return costs


# -- the loops ---------------------------------------------------------------------------------------------------------


def lesson(costs, revealed, draw):
    tied = np.flatnonzero(np.floor(costs * 2.0**40 + 0.5) == np.floor(costs.min() * 2.0**40 + 0.5))
    label = revealed if revealed in tied else tied[int(draw * len(tied))]
    return int(label), costs.sum() - len(costs) * costs.min()


def opt_twin(stream, learners, seed):
    """OptBandit, written out; yields every row's vote shares."""
    k, n_learners, eye = len(CLASSES), len(learners), np.eye(len(CLASSES), dtype=int)

    def costs_if(label, counts, i):
        n = n_learners - 1 - i
        return np.array(
            [float(naive.potential(n, naive.gaps_of(counts + eye[j], label), Fraction(str(GAMMA)))) for j in range(k)]
        )

    usual = [lesson(costs_if(0, 0 * eye[0], i), 0, 0.0)[1] for i in range(n_learners)]
    for t, (x, what) in enumerate(stream):
        counts = 0 * eye[0]
        for i, learner in enumerate(learners):
            vote = int(np.argmax(naive.vote_shares(learner, x, k)))
            costs = sum(what.estimate[r] * costs_if(r, counts, i) for r in range(k))
            label, weight = lesson(costs, what.revealed, uniform(np.uint64(seed), TIES, t, i))
            if weight > 0.0:
                learner.learn_one(x, label, w=weight / np.mean(usual))
            counts = counts + eye[vote]
        yield counts / n_learners


def ada_twin(stream, learners, seed):
    """AdaBandit, written out; yields every row's shares of the experts' weights."""
    k, n_learners = len(CLASSES), len(learners)
    alphas, squares, losses = np.zeros(n_learners), np.zeros(n_learners), np.zeros(n_learners)
    for t, (x, what) in enumerate(stream):
        scores, shares, weights = np.zeros(k), np.zeros(k), np.exp(losses.min() - losses)
        for i, learner in enumerate(learners):
            vote = int(np.argmax(naive.vote_shares(learner, x, k)))
            label, weight = lesson(
                what.estimate @ logistic_costs(scores), what.revealed, uniform(np.uint64(seed), TIES, t, i)
            )
            if weight > 0.0:
                learner.learn_one(x, label, w=weight / k * 2 / (k - 1))
            scores = scores + alphas[i] * np.eye(k)[vote]
            slope = what.estimate @ logistic_costs(scores)[:, vote]
            squares[i] += slope**2
            expert = int(np.argmax(scores))
            shares[expert] += weights[i]
            losses[i] += 1.0 - what.estimate[expert]
            if slope != 0.0:
                alphas[i] = np.clip(alphas[i] - 4.0 * slope / np.sqrt(2.0 * squares[i]), -2, 2)
        yield shares / shares.sum()


@pytest.mark.parametrize(("name", "twin"), [("opt", opt_twin), ("ada", ada_twin)])
def test_it_is_its_slow_twin(name, twin):
    model, said, stream = bandit(name), [], []
    for x, y in zip(X, Y, strict=True):
        said.append(list(model.predict_proba_one(x).values()))
        play = model.act_one(x)
        model.learn_feedback_one(x, play.label, play.probability, play.label == y)
        played, pivot = CLASSES.index(play.label), CLASSES.index(play.greedy)
        stream.append((x, heard(played, play.probability, pivot, play.label == y, len(CLASSES))))
    assert model.n_rows_ == len(X)  # every row teaches something
    np.testing.assert_allclose(said, list(twin(stream, twins(9), 9)), atol=1e-9)


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_label_that_is_known_is_learned_as_with_full_information(name):
    model, told = bandit(name), BOOSTERS[name]().clone({"classes": CLASSES, "seed": 9})
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    if name == "ada":  # its steps differ, and with them all that follows
        model.learn_one(X[0], Y[0], w=weights[0])
        told.learn_one(X[0], Y[0], w=weights[0])
    else:
        model.learn_many(X, Y, w=weights)
        told.learn_many(X, Y, w=weights)
        assert model.predict_proba_many(X) == told.predict_proba_many(X)
    ours, theirs = (one.state_.engine.cascades[0].ensemble.learners for one in (model, told))
    for a, b in zip(ours, theirs, strict=True):
        for place, counts in b.counts.items():
            assert a.counts[place] == pytest.approx(counts, rel=1e-9, abs=1e-12)


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_pickle_goes_on_as_before_and_feedback_may_be_late(name):
    whole, cut = bandit(name), bandit(name)
    played = whole.act_learn_many(X[:60], Y[:60])
    assert cut.act_learn_many(X[:30], Y[:30]) == played[:30]
    other = pickle.loads(pickle.dumps(cut))
    assert other.act_learn_many(X[30:60], Y[30:60]) == played[30:]
    assert other.predict_proba_many(X) == whole.predict_proba_many(X)
    play = other.act_one(X[60], key="late")
    other.learn_one(X[61], Y[61])
    other.learn_feedback_one(key="late", is_right=play.label == Y[60])
    assert other.n_rows_ == 62


@pytest.mark.slow  # both kinds of cells are compiled over trees
@pytest.mark.parametrize("name", BOOSTERS)
def test_native_trees_and_a_model_file(name, tmp_path):
    def fresh():
        booster = BOOSTERS[name](HoeffdingTrees(max_depth=1, grace_period=20))
        return OnlineBanditBoostClassifier(booster, classes=CLASSES, learn_from="estimate", seed=9)

    whole, cut = fresh(), fresh()
    played = whole.act_learn_many(X, Y)
    assert cut.act_learn_many(X[:50], Y[:50]) == played[:50]
    ocoboost.save(cut, tmp_path / "bandit.oco")
    other = ocoboost.load(tmp_path / "bandit.oco")
    assert other.act_learn_many(X[50:], Y[50:]) == played[50:]
    assert other.predict_proba_many(X) == whole.predict_proba_many(X)


def test_boosters_that_cannot_learn_from_estimates_are_refused():
    for booster in (OnlineAgnosticBoostClassifier(), None, OnlineMBBMClassifier(mode="paper")):
        model = OnlineBanditBoostClassifier(booster, classes=CLASSES, learn_from="estimate")
        with pytest.raises(
            InvalidParameterError, match="booster must be OnlineMBBMClassifier or AdaBoostOLMClassifier"
        ):
            model.act_one(X[0])


@pytest.mark.parametrize("name", BOOSTERS)
def test_it_learns(name):
    rows = synthetic.load("realizable", 600, seed=1).rows
    model = OnlineBanditBoostClassifier(
        BOOSTERS[name](), classes=synthetic.RULE_CLASSES, exploration=0.3, learn_from="estimate", seed=1
    )
    plays = model.act_learn_many([{n: 8 * v for n, v in x.items()} for x, _ in rows], [y for _, y in rows])
    assert np.mean([play.greedy == y for play, (_, y) in zip(plays[300:], rows[300:], strict=True)]) > 0.55
