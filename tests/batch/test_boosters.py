"""Algorithms 2 and 5 as estimators: against the plain game, the paper's bounds, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import ocoboost
from ocoboost import AgnosticBoostClassifier, HistogramTreeClassifier, RealizableBoostClassifier
from ocoboost.batch.game import AgnosticPayoff, RealizablePayoff, RowPlayers, play
from ocoboost.batch.learners import TreeLearner
from ocoboost.batch.rows import Lesson, Rows, count
from ocoboost.cascade.regimes import REALIZABLE
from ocoboost.oco.players import PLAYERS
from strategies import PLAYER_NAMES

BOOSTERS = [AgnosticBoostClassifier, RealizableBoostClassifier]


def sample(n_rows=300, n_classes=4, seed=0):
    return make_classification(
        n_rows, 6, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )


def start_of(booster, n_rows, n_classes, start, is_entropic):
    on_interval = booster.regime.code == REALIZABLE
    centre = 1 / n_rows if on_interval else 1 / n_classes
    to_label = 0.0 if start == "uniform" else 0.9 if is_entropic else 1.0
    return on_interval, centre, to_label


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("name", PLAYER_NAMES)
@pytest.mark.parametrize("start", ["uniform", "label"])
def test_the_booster_is_an_instance_of_the_game(booster, name, start):
    (X, y), gamma, n_stages, k, player = sample(), 0.2, 12, 4, PLAYERS[name]
    model = booster(HistogramTreeClassifier(2), n_estimators=n_stages, gamma=gamma, player=name, start=start).fit(X, y)
    on_interval, centre, to_label = start_of(booster, len(y), k, start, player.is_entropic)
    starts = np.full((len(y), 1 if on_interval else k), centre)
    starts = (1 - to_label) * starts + to_label * (1.0 if on_interval else np.eye(k)[y])
    game = booster.regime.game(gamma=gamma, n_classes=k, n_learners=n_stages)
    one = starts[0] if on_interval else starts[np.nonzero(y == 0)[0][0]]
    payoff = (RealizablePayoff if on_interval else AgnosticPayoff)(y, k)
    rows = RowPlayers(payoff, player, game, starts, player.default_step(game, one, gamma))
    codes, none, scale = model.binning_.codes(X), np.empty(0, dtype=np.int64), 2.0**40

    def oracle(rows, stage):
        label_weights = rows.plays * np.eye(k)[y] if on_interval else rows.plays
        lesson = Lesson(np.floor(label_weights * scale + 0.5).astype(np.int64), scale)
        share = Rows(0, codes, y, np.ones(len(y)), none, none)
        tree = TreeLearner(model.binning_, k, 2).grow(lambda *args: count(share, None, lesson, *args))
        return np.eye(k)[tree.vote(codes)] / gamma

    averaged = np.mean(list(play(rows, oracle, n_stages)), axis=0)
    np.testing.assert_allclose(averaged, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("n_drawn", [None, 100])
@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_the_same_bits_for_any_number_of_threads_and_after_a_pickle(booster, n_drawn, estimator):
    X, y = sample()
    models = [
        booster(estimator, n_estimators=8, n_drawn=n_drawn, random_state=3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (None, 1, 2, 3)
    ]
    models.append(pickle.loads(pickle.dumps(models[0])))
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))
        np.testing.assert_array_equal(model.sample(X), models[0].sample(X))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_what_predictions_are(booster):
    X, y = sample()
    names = np.array(["a", "b", "c", "d"])
    model = booster(n_estimators=20, random_state=1).fit(X, names[y])
    distributions = model.predict_proba(X)
    np.testing.assert_allclose(distributions.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), names[model.decision_function(X).argmax(axis=1)])
    assert (distributions.max(axis=1) <= distributions[np.arange(300), model.decision_function(X).argmax(axis=1)]).all()
    assert model.correlation(X, names[y]) == pytest.approx(np.mean(2 * distributions[np.arange(300), y] - 1))
    # Draws: every label's frequency within five standard errors of its mean, over 300 * 40 independent draws.
    drawn = [model.sample(X, random_state=seed) == names[y] for seed in range(40)]
    expected = distributions[np.arange(300), y]
    assert abs(np.mean(drawn) - expected.mean()) < 5 * np.sqrt((expected * (1 - expected)).sum() / 40) / 300 + 1e-12
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, distributions)
    assert len(list(model.staged_predict(X))) == model.n_estimators_ == len(model.estimators_) == 20
    votes = np.stack([estimator.predict(X) for estimator in model.estimators_])
    shares = (votes[:, :, None] == names).mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), shares / model.gamma_)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_early_stopping_and_a_chosen_gamma(booster):
    X, y = sample(500)
    model = booster(n_estimators=300, n_iter_no_change=5, validation_fraction=0.3, random_state=0).fit(X, y)
    assert 5 < model.n_estimators_ < 300
    auto = booster(n_estimators=10, gamma="auto", random_state=0).fit(X, y)
    assert auto.gamma_ in auto.gamma_scores_
    assert auto.gamma_scores_[auto.gamma_] == max(auto.gamma_scores_.values())
    again = booster(n_estimators=10, gamma=auto.gamma_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), auto.predict_proba(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("fraction", [1e-9, 1 - 1e-9])
def test_a_split_with_nothing_on_one_side(booster, fraction):
    X, y = sample(100)
    model = booster(n_estimators=2, gamma="auto", validation_fraction=fraction)
    with pytest.raises(ValueError, match=r"With validation_fraction=.* rows are held out and .* taught"):
        model.fit(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_smallest_gamma_predicts_the_plurality(booster):
    X, y = sample(100)
    model = booster(n_estimators=9, gamma=1e-300).fit(X, y)
    assert set(np.unique(model.predict_proba(X))) <= {0.0, 1 / 4, 1 / 3, 1 / 2, 1.0}


def test_progress_is_shown(capsys):
    X, y = sample(60)
    AgnosticBoostClassifier(n_estimators=3, verbose=True).fit(X, y)
    assert "3/3" in capsys.readouterr().out


@pytest.mark.parametrize("booster", BOOSTERS)
def test_weights_of_zero_are_as_good_as_absent(booster):
    X, y = sample()
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 2.0)
    weighted = booster(n_estimators=10).fit(X, y, weights)
    without = booster(n_estimators=10).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_the_rows_does_not_matter_to_foreign_trees(booster, seed):
    """Many columns for few rows, so that many splits divide the rows alike: if sums rounded, rounding would choose."""
    rng = np.random.default_rng(seed)
    X, y, weights = rng.random((15, 30)), np.arange(15) % 3, rng.integers(1, 5, size=15)
    order = rng.permutation(15)
    one, other = (booster(DecisionTreeClassifier(max_depth=2), n_estimators=10, random_state=0) for _ in range(2))
    one.fit(X, y, sample_weight=weights)
    other.fit(X[order], y[order], sample_weight=weights[order])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("estimator", [HistogramTreeClassifier(8), DecisionTreeClassifier()])
@pytest.mark.parametrize("n_drawn", [None, 2000])
@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_algorithm_5_with_a_perfect_learner_ends_cleanly(estimator, n_drawn, start, name):
    X, y = load_iris(return_X_y=True)
    model = RealizableBoostClassifier(
        estimator, n_estimators=30, gamma=0.3, start=start, n_drawn=n_drawn, player=name, random_state=0
    ).fit(X, y)
    assert model.n_estimators_ == len(model.estimators_) == 30
    assert model.score(X, y) > 0.97
    if start == "uniform" and name == "gradient" and n_drawn is None:  # all weights reach zero after one stage
        assert all(hypothesis is model._hypotheses[0] for hypothesis in model._hypotheses)
        assert model.score(X, y) == 1.0


class BestOfFinitelyMany(ClassifierMixin, BaseEstimator):
    """A learner that knows its class: rows are numbers, hypotheses are rows of a table; it takes the best."""

    def __init__(self, table=None):
        self.table = table

    def fit(self, X, y, sample_weight=None):
        hits = self.table[:, X[:, 0].astype(int)] == y
        self.best_ = int((hits * sample_weight).sum(axis=1).argmax())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.table[self.best_, X[:, 0].astype(int)]


def worst_edge(table, labels):
    """The largest gamma for which the best of the table is a realizable weak learner, by linear programming."""
    gains = 2.0 * (table == labels) - 1.0
    n, m = gains.shape
    result = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.hstack([gains, -np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return result.fun


def regret_bound(booster, name, gamma, n_classes, n_stages, n_rows, start):
    player = PLAYERS[name]
    game = booster.regime.game(gamma=gamma, n_classes=n_classes, n_learners=n_stages)
    on_interval, centre, to_label = start_of(booster, n_rows, n_classes, start, player.is_entropic)
    point = np.full(1 if on_interval else n_classes, (1 - to_label) * centre)
    point[0] += to_label
    return player.regret_bound(game, point, player.default_step(game, point, gamma))


@pytest.mark.parametrize("name", PLAYER_NAMES)
@pytest.mark.parametrize("start", ["uniform", "label"])
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_corollary_empirical_agnostic_correlation_bound(name, start, seed):
    """The best of the class is a weak learner with gamma = 1 and no slack, for soft labels too."""
    rng = np.random.default_rng(seed)
    m, k, n_stages = 40, 3, 50
    labels = rng.integers(k, size=m)
    labels[:k] = np.arange(k)
    table = np.where(rng.random((8, m)) < 0.6, labels, rng.integers(k, size=(8, m)))
    X = np.arange(m)[:, None].astype(float)
    learner = BestOfFinitelyMany(table)
    model = AgnosticBoostClassifier(learner, n_estimators=n_stages, gamma=1.0, player=name, start=start).fit(X, labels)
    best = (2.0 * (table == labels).mean(axis=1) - 1.0).max()
    bound = regret_bound(AgnosticBoostClassifier, name, 1.0, k, n_stages, m, start)
    assert model.correlation(X, labels) >= best - bound / n_stages - 1e-9


@pytest.mark.parametrize("name", PLAYER_NAMES)
@pytest.mark.parametrize("start", ["uniform", "label"])
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_corollary_empirical_correlation_bound(name, start, seed):
    """All hypotheses are wrong somewhere, but one is good under every weighting: gamma from a linear program."""
    rng = np.random.default_rng(seed)
    m, k, n_stages = 30, 3, 400
    labels = rng.integers(k, size=m)
    labels[:k] = np.arange(k)
    is_wrong = rng.random((60, m)) < 0.2
    is_wrong[np.arange(60), np.arange(60) % m] = True
    table = np.where(is_wrong, (labels + 1 + rng.integers(k - 1, size=(60, m))) % k, labels)
    gamma = worst_edge(table, labels)
    assert 0.2 < gamma < 1.0
    X = np.arange(m)[:, None].astype(float)
    learner = BestOfFinitelyMany(table)
    model = RealizableBoostClassifier(learner, n_estimators=n_stages, gamma=gamma, player=name, start=start)
    model.fit(X, labels)
    bound = regret_bound(RealizableBoostClassifier, name, gamma, k, n_stages, m, start)
    assert model.correlation(X, labels) >= 1.0 - bound / n_stages - 1e-9


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, w: (X, np.zeros(len(y)), w), r"at least 2 classes in the data, but .* only one class: .*0"),
        (lambda X, y, w: (X, y, np.where(y == 0, 1.0, 0.0)), "at least 2 classes in the data"),
        (lambda X, y, w: (np.where(X > 2, np.inf, X), y, w), "Input X contains infinity"),
        (lambda X, y, w: (X[:5], np.arange(5), None), "number of samples must be more than the number of classes"),
        (lambda X, y, w: (X, y, 0 * w), "at least one non-zero number"),
        (lambda X, y, w: (X, y, -w), "Negative values in data passed to `sample_weight`"),
        (lambda X, y, w: (X, y, w[:-1]), r"sample_weight.shape == .*, expected .*"),
        (lambda X, y, w: (X, y[:-1], None), "inconsistent numbers of samples"),
        (lambda X, y, w: (X, X[:, 0], w), "Unknown label type"),
        (lambda X, y, w: (X[:0], y[:0], None), "minimum of 1 is required"),
        (lambda X, y, w: (X[:, 0], y, w), "Expected 2D array, got 1D array instead"),
    ],
)
def test_bad_samples(booster, change, message):
    X, y = sample()
    with pytest.raises(ValueError, match=message):
        booster(n_estimators=2).fit(*change(X, y, np.ones(len(y))))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_missing_values_are_for_those_who_can_take_them(booster):
    X, y = sample()
    X[::7, 2] = np.nan
    assert booster(n_estimators=10).fit(X, y).score(X, y) > 0.6
    assert booster(DecisionTreeClassifier(max_depth=2), n_estimators=20).fit(X, y).score(X, y) > 0.6
    with pytest.raises(ValueError, match="Input X contains NaN"):
        booster(LogisticRegression(), n_estimators=2).fit(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_bad_rows_to_predict(booster):
    X, y = sample()
    model = booster(n_estimators=2)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.sample(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6 features as input"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match="1d array of length 300"):
        model.correlation(X, y[:5])
    assert model.correlation(X, np.full(300, 99)) == -1.0


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, r"gamma must lie in \(0, 1\], or be one of None, 'auto', got 0.0 \(smaller"),
        ({"gamma": "best"}, "gamma must"),
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ({"start": "middle"}, "start must be one of 'uniform', 'label', None, got 'middle'"),
        ({"n_drawn": 0}, "n_drawn must"),
        ({"player": "chess"}, "player must be one of"),
        ({"validation_fraction": 1.0}, "validation_fraction must"),
        ({"estimator": "tree"}, "estimator must be a scikit-learn classifier, or None for a native tree, got 'tree'"),
        ({"estimator": KNeighborsClassifier()}, r"estimator must take sample_weight in fit, .*\(give n_drawn to"),
        ({"estimator": HistogramTreeClassifier(0)}, "HistogramTreeClassifier: max_depth must"),
        ({"estimator": HistogramTreeClassifier(max_bins=256)}, "max_bins must"),
    ],
)
def test_bad_parameters(booster, parameters, message):
    X, y = sample()
    with pytest.raises(ValueError, match=message):
        booster(**parameters).fit(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_learners_without_weights_are_taught_drawn_rows(booster):
    X, y = sample()
    model = booster(KNeighborsClassifier(1), n_estimators=5, n_drawn=300, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    tiny = booster(LogisticRegression(), n_estimators=5, n_drawn=1, random_state=0).fit(X, y)  # one class at a time
    assert set(tiny.predict(X)) <= set(y)


@pytest.mark.parametrize("other", [None, 3])
@pytest.mark.parametrize("model", [ocoboost.BoostClassifier(), ocoboost.AgnosticBoostClassifier()])
def test_labels_of_several_types_are_refused_with_their_names(model, other):
    with pytest.raises(TypeError, match=f"no order: {', '.join(sorted([type(other).__name__, 'str']))}; make all"):
        model.fit(np.arange(120.0).reshape(60, 2), np.array(["a", other, "b"] * 20, dtype=object))


@pytest.mark.parametrize(
    "model",
    [
        ocoboost.BoostClassifier(n_estimators=5, random_state=1),
        ocoboost.AgnosticBoostClassifier(n_estimators=5, random_state=1),
        ocoboost.RealizableBoostClassifier(n_estimators=5, random_state=1),
        ocoboost.PairwiseBoostClassifier(n_estimators=5, random_state=1),
        ocoboost.HistogramTreeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("reason", ["one class", "labels too few", "weights too few", "no weight", "infinite cell"])
def test_a_refused_fit_leaves_the_model_as_it_was(model, reason):
    draw = np.random.default_rng(1)
    X = pd.DataFrame(draw.normal(size=(80, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] > 0).astype(int)
    fitted = model.fit(X, y)
    before, said = dict(vars(fitted)), fitted.predict_proba(X)
    other, labels, weights = draw.normal(size=(80, 2)), draw.integers(0, 2, 80), np.ones(80)
    if reason == "one class":
        labels[:] = 1
    elif reason == "labels too few":
        labels = labels[:70]
    elif reason == "weights too few":
        weights = weights[:70]
    elif reason == "no weight":
        weights[:] = 0.0
    else:
        other[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"\w"):
        fitted.fit(other, labels, weights)
    assert {name: id(value) for name, value in vars(fitted).items()} == {name: id(v) for name, v in before.items()}
    np.testing.assert_array_equal(fitted.predict_proba(X), said)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(X[["a", "b"]])
