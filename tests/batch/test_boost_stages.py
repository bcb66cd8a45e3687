"""BoostClassifier stage by stage: staged predictions, games that stop, and games that are played on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification

from ocoboost import BoostClassifier
from ocoboost.batch import portfolio
from ocoboost.batch.binning import find_bins
from ocoboost.batch.encoding import edges_of, table_of
from ocoboost.batch.mixing import selection_bound, sharpened
from ocoboost.batch.portfolio import KINDS, N_FOLDS, STRENGTHS, Lengths, Place, playing_at


def sample(n_rows=300, seed=0, flip_y=0.2):
    return make_classification(
        n_rows, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, flip_y=flip_y, random_state=seed
    )


def assert_same(one, other, X):
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert repr(one.members_) == repr(other.members_)  # NaN does not equal itself
    assert one.power_ == other.power_
    np.testing.assert_array_equal(one.held_out_accuracy_, other.held_out_accuracy_)
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    np.testing.assert_array_equal(one.n_stages_, other.n_stages_)


def by_hand(model, X, n_stages):
    """The mixture of the kept games' first trees, each at its final weight, walked from root to leaf."""
    table = model._read_rows(X)
    rows = np.arange(len(X))
    weights = {(member.kind, member.leaning): member.weight for member in model.members_}
    out, total = np.zeros((len(X), len(model.classes_))), 0.0
    for number, chain in enumerate(model._chains):
        for tree in chain.trees[:n_stages]:
            leanings = np.zeros((len(STRENGTHS), *out.shape))
            tree.add_leanings(table, rows, np.array(STRENGTHS), leanings)
            for strength, shares in zip(STRENGTHS, leanings, strict=True):
                weight = weights[KINDS[number // N_FOLDS].name, strength] / (N_FOLDS * len(chain.trees))
                out += weight * shares
                total += weight
    return out / total


def best_accuracies(model, X, y, chain):
    """After each stage: the best held-out accuracy over all leanings."""
    table = model._read_rows(X)
    sums = np.zeros((len(STRENGTHS), len(chain.judging), 3))
    out = []
    for tree in chain.trees:
        tree.add_leanings(table, chain.judging, np.array(STRENGTHS), sums)
        out.append((sums.argmax(axis=2) == y[chain.judging]).mean(axis=1).max())
    return out


def longest_voting(model):
    """The stages of the longest game whose kind has a positive weight."""
    voting = {member.kind for member in model.members_ if member.weight > 0.0}
    return max(model.n_stages_[i].max() for i, kind in enumerate(KINDS) if kind.name in voting)


@pytest.mark.parametrize("patience", [None, 1])
def test_staged_predictions_are_those_of_the_first_trees_and_end_with_the_whole(patience):
    X, y = sample()
    model = BoostClassifier(n_estimators=30, random_state=1, warm_start=True, n_iter_no_change=patience).fit(X, y)
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == longest_voting(model)
    assert (len(np.unique(model.n_stages_)) > 1) == (patience is not None)
    for stage, chances in enumerate(staged, 1):
        expected = sharpened(by_hand(model, X, stage), model.power_)
        np.testing.assert_allclose(chances, expected, rtol=1e-4, atol=1e-6)  # leaves are kept as 32-bit numbers
    np.testing.assert_array_equal(staged[-1], model.predict_proba(X))
    for labels, chances in zip(model.staged_predict(X), staged, strict=True):
        np.testing.assert_array_equal(labels, model.classes_[chances.argmax(axis=1)])


def test_stages_end_with_the_longest_game_that_votes():
    X, y = sample(seed=11)
    model = BoostClassifier(n_estimators=30, random_state=1, n_iter_no_change=1).fit(X, y)
    assert len(list(model.staged_predict_proba(X))) == longest_voting(model) < model.n_stages_.max()


@pytest.mark.parametrize(("first", "then"), [(5, 10), (10, 60), (100, 205), (7, 8)])
def test_two_fits_equal_one(first, then):
    X, y = sample(120)
    model = BoostClassifier(n_estimators=first, random_state=1, warm_start=True).fit(X, y)
    before = model.predict_proba(X)
    pickle.loads(pickle.dumps(model)).set_params(n_estimators=then).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model = pickle.loads(pickle.dumps(model)).set_params(n_estimators=then).fit(X, y)
    assert_same(model, BoostClassifier(n_estimators=then, random_state=1).fit(X, y), X)
    assert_same(model, clone(model).fit(X, y), X)


def test_two_fits_equal_one_without_a_seed_with_text_and_on_tiny_samples(monkeypatch):
    X, y = load_iris(return_X_y=True)
    texts = np.array([[f"{value:.1f}" for value in row] for row in X], dtype=object)
    for rows, labels in ((texts, y), (X[::5], y[::5])):
        model = BoostClassifier(n_estimators=5, warm_start=True).fit(rows, labels)
        model.set_params(n_estimators=10).fit(rows, labels)
        with monkeypatch.context() as patch:
            patch.setattr("ocoboost.batch.boost.seed_from", lambda _, seed=model.seed_: seed)
            assert_same(model, BoostClassifier(n_estimators=10).fit(rows, labels), rows)


def test_stopped_games_stay_stopped_and_two_fits_equal_one():
    X, y = sample()
    parameters = {"random_state": 1, "n_iter_no_change": 2, "warm_start": True}
    whole = BoostClassifier(n_estimators=60, **parameters).fit(X, y)
    model = BoostClassifier(n_estimators=10, **parameters).fit(X, y)
    for n_estimators in (15, 35, 60):
        model.set_params(n_estimators=n_estimators).fit(X, y)
    assert_same(model, whole, X)
    assert whole.n_stages_.min() < whole.n_stages_.max()


def test_patience_that_begins_later_counts_from_the_best_stage():
    X, y = sample()
    model = BoostClassifier(n_estimators=40, random_state=1, tol=0.0, warm_start=True).fit(X, y)
    accuracies = [best_accuracies(model, X, y, chain) for chain in model._chains]
    model.set_params(n_estimators=60, n_iter_no_change=3).fit(X, y)
    goes_on = np.array([8 - (1 + int(np.argmax(found))) < 3 for found in accuracies]).reshape(len(KINDS), N_FOLDS)
    assert 0 < goes_on.sum() < goes_on.size
    np.testing.assert_array_equal(model.n_stages_ > 8, goes_on)


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_a_game_stops_when_its_judges_see_no_gain(tolerance):
    X, y = sample()
    whole = BoostClassifier(n_estimators=75, random_state=2, warm_start=True).fit(X, y)
    model = BoostClassifier(n_estimators=75, random_state=2, n_iter_no_change=3, tol=tolerance).fit(X, y)
    for number, chain in enumerate(whole._chains):
        best, best_stage = -1.0, 0
        for stage, accuracy in enumerate(best_accuracies(whole, X, y, chain), 1):
            if accuracy > best + tolerance + 1e-12:
                best, best_stage = accuracy, stage
            elif stage - best_stage >= 3:
                break
        assert model.n_stages_[divmod(number, N_FOLDS)] == stage
    assert model.selection_bound_ == selection_bound(300, 25 * 15, N_FOLDS) > whole.selection_bound_


def test_early_stopping_costs_little_and_saves_work():
    X, y = load_digits(return_X_y=True)
    whole = BoostClassifier(random_state=0).fit(X[:900], y[:900])
    model = BoostClassifier(random_state=0, n_iter_no_change=4).fit(X[:900], y[:900])
    assert model.n_stages_.mean() < 0.9 * whole.n_stages_.mean()
    assert model.score(X[900:], y[900:]) > whole.score(X[900:], y[900:]) - 0.02


def test_what_cannot_be_played_on_is_said_and_changes_nothing():
    X, y = sample(120)
    model = BoostClassifier(n_estimators=10, random_state=1, warm_start=True).fit(X, y)
    chances = model.predict_proba(X)
    with pytest.raises(ValueError, match="n_estimators must be at least the 10 of the fit before"):
        model.set_params(n_estimators=5).fit(X, y)
    model.set_params(n_estimators=15)
    for rows, labels in ((X + 0.1, y), (X, np.roll(y, 1)), (X[:-1], y[:-1]), (X[:, :3], y)):
        message = "warm_start plays on with the sample of the fit before|X has 3 features, but .* is expecting 6"
        with pytest.raises(ValueError, match=message):
            model.fit(rows, labels)
    np.testing.assert_array_equal(model.predict_proba(X), chances)
    model.set_params(warm_start=False, n_estimators=5).fit(X[:-1], y[:-1])
    assert model._chains == []


def test_steps_shrink_as_horizons_double_and_never_depend_on_the_end():
    kind = KINDS[-1]
    steps = [playing_at(kind, 3, stage).step_size for stage in range(100)]
    for stage, step in enumerate(steps):
        horizon = 20 if stage < 20 else 40 if stage < 40 else 80 if stage < 80 else 160
        assert step == pytest.approx(0.2 / np.sqrt(0.3 * horizon))
    X, y = sample(120)
    bins = find_bins(X, np.ones(120), 255)
    table = table_of([bins.codes(X).T], 6, bins.n_bins, edges_of(bins, 6))
    short, long = (
        portfolio.play_chain(
            portfolio.make_training(table, y, np.ones(120), 3, Lengths(n_stages), 1), Place(kind, 2, 7)
        )
        for n_stages in (3, 24)
    )
    for tree, same in zip(short.trees, long.trees[:3], strict=True):
        assert all(map(np.array_equal, tree, same))
