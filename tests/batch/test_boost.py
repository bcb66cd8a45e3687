"""BoostClassifier: its chains are honest, its choice is bounded, and it is what scikit-learn's users expect."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris, make_classification

from ocoboost import AgnosticBoostClassifier, BoostClassifier
from ocoboost.batch import portfolio
from ocoboost.batch.binning import find_bins
from ocoboost.batch.columns import MOST_PLACES, count_before
from ocoboost.batch.encoding import edges_of, table_of
from ocoboost.batch.forest import GrownTree
from ocoboost.batch.forest_keys import Lesson
from ocoboost.batch.mixing import POWERS, best_power, log_losses, mixing_weights, selection_bound, sharpened
from ocoboost.batch.portfolio import (
    KINDS,
    N_FOLDS,
    STRENGTHS,
    ChainSide,
    Lengths,
    Place,
    make_training,
    play_chain,
    playing_at,
)
from ocoboost.batch.rows import step_rows
from ocoboost.bench import noise


def training(n_rows=240, n_classes=3, n_stages=4, seed=0):
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.2, random_state=seed
    )
    binning = find_bins(X, np.ones(n_rows), 255)
    table = table_of([binning.codes(X).T], 6, binning.n_bins, edges_of(binning, 6))
    return make_training(table, y.astype(np.int64), np.ones(n_rows), n_classes, Lengths(n_stages), seed)


def table_sample(n_rows=1200, share=0.0, seed=0):
    """Three of eight columns decide."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 5, (n_rows, 8)).astype(float)
    y = draw.integers(0, 4, (5, 5, 5))[tuple(X[:, :3].astype(int).T)]
    return X, np.array(noise.flip(y.tolist(), share, seed=seed)), y


@pytest.mark.parametrize(
    "kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])], ids=lambda kind: kind.name
)
def test_a_chain_does_not_depend_on_the_labels_of_its_judges(kind):
    told = training()
    lied = told._replace(labels=np.where(told.folds == 2, (told.labels + 1) % 3, told.labels))
    chain, same = (play_chain(given, Place(kind, 2, 7)) for given in (told, lied))
    assert np.array_equal(chain.judging, np.nonzero(told.folds == 2)[0])
    for tree, other in zip(chain.trees, same.trees, strict=True):
        assert all(map(np.array_equal, tree, other))
        assert tree.weights.sum() <= len(told.labels) - len(chain.judging)
    assert not np.array_equal(chain.hits, same.hits)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_at_gamma_one_no_play_would_move_and_below_it_plays_do(kind):
    told = training()
    side = ChainSide(kind, told, 0, 0)
    for stage in range(told.lengths.n_stages):
        side.move(side.fit_next(stage), stage)
    if kind.gamma < 1.0:
        taught = side.plays[side.is_taught, 0]
        assert len(np.unique(taught)) > 2
        assert np.all(side.plays[~side.is_taught] == 1.0)
        return
    plays, memory = side.plays.copy(), side.memory.copy()
    for stage, votes in enumerate((told.labels, (told.labels + 1) % 3, told.labels)):
        step_rows(playing_at(kind, 3, stage), votes, told.labels, stage, plays, memory)
    assert np.all(plays == 1.0)
    assert np.all(side.plays == 1.0)


def path_of(tree, codes):
    """The nodes that a row passes, from the root to its leaf."""
    path = [0]
    while tree.feature[path[-1]] >= 0:
        is_left = codes[tree.feature[path[-1]]] <= tree.threshold[path[-1]]
        path.append(tree.left[path[-1]] + (not is_left))
    return path


def test_hits_are_those_of_the_leaning_distributions():
    """Against plain walks from the root to the leaf of each judge, and of each row that the tree was grown from."""
    told = training(n_stages=3)
    chain = play_chain(told, Place(KINDS[2], 1, 3))
    side = ChainSide(KINDS[2], told, 1, 3)
    sums = np.zeros((len(STRENGTHS), len(chain.judging), 3))
    for stage, tree in enumerate(chain.trees):
        assert all(map(np.array_equal, tree, side.fit_next(stage)))
        counts = np.zeros((len(tree.feature), 3))
        for row in np.nonzero(side._in_bag)[0]:
            counts[path_of(tree, told.table.codes[:, row]), told.labels[row]] += 1.0
        assert counts[0].sum() < side.is_taught.sum()
        for place, row in enumerate(chain.judging):
            path = path_of(tree, told.table.codes[:, row])
            for number, strength in enumerate(STRENGTHS):
                shares = np.full(3, 1.0 / 3.0)
                for depth, node in enumerate(path):
                    leaning = strength if depth else 1.0
                    shares = (counts[node] + leaning * shares) / (counts[node].sum() + leaning)
                sums[number, place] += shares
    is_right = sums.argmax(axis=2) == told.labels[chain.judging]
    units = portfolio.weight_units(told.weights[chain.judging])
    np.testing.assert_array_equal(chain.hits, is_right.astype(int) @ units)


def purity(labels):
    counts = np.bincount(labels)
    return Fraction(int((counts**2).sum()), len(labels)) if len(labels) else Fraction(0)


@pytest.mark.parametrize("is_random", [False, True])
def test_trees_are_grown_to_pure_leaves_and_greedy_ones_by_the_best_splits(is_random):
    told = training(150)
    lesson = Lesson(told.labels, np.ones(150), 6, is_random, np.uint64(5))
    tree = GrownTree.grow(told.table, lesson, 3)
    n_best = 0
    for node, column in enumerate(tree.feature):
        rows = tree.rows[tree.start[node] : tree.end[node]]
        labels, codes = told.labels[rows], told.table.codes[:, rows]
        if column < 0:
            assert len(np.unique(labels)) == 1
            continue
        scores = {
            (feature, cut): purity(labels[codes[feature] <= cut]) + purity(labels[codes[feature] > cut])
            for feature in range(6)
            for cut in np.unique(codes[feature])[:-1]
        }
        child = tree.left[node]
        found = sum(purity(told.labels[tree.rows[tree.start[c] : tree.end[c]]]) for c in (child, child + 1))
        assert found == scores[column, max(c for f, c in scores if f == column and c <= tree.threshold[node])]
        n_best += found == max(scores.values())
    n_splits = int((tree.feature >= 0).sum())
    assert (n_best < n_splits) if is_random else (n_best == n_splits)


def test_a_counted_tree_has_the_label_weights_of_its_leaves():
    """Weighted rows that no column tells apart leave several labels in a leaf."""
    told = training(150)
    codes = told.table.codes // 64
    weights = np.random.default_rng(1).random(150) * (np.arange(150) % 7 > 0)
    grown = GrownTree.grow(told.table._replace(codes=codes), Lesson(told.labels, weights, 6, True, np.uint64(5)), 3)
    counted = grown.counted(told.labels, 3)
    leaves = np.nonzero(grown.feature < 0)[0]
    n_labels = np.diff(counted.firsts)
    assert len(leaves) == len(n_labels)
    assert n_labels.max() > 1
    for leaf, first, last in zip(leaves, counted.firsts[:-1], counted.firsts[1:], strict=True):
        part = slice(grown.start[leaf], grown.end[leaf])
        expected = np.bincount(told.labels[grown.rows[part]], grown.weights[part], minlength=3)
        found = np.zeros(3)
        found[counted.labels[first:last]] = counted.weights[first:last]
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.integers(0, 500), min_size=2, max_size=25), st.integers(500, 5000))
def test_exponential_weights_lose_little_to_the_best_member(hits, n_rows):
    total = 500
    weights = mixing_weights(np.array([hits]), total, n_rows)[0]
    accuracy = np.array(hits) / total
    best = accuracy.max()
    error = math.sqrt(best * (1.0 - best) / n_rows) + 0.5 / n_rows
    assert weights.sum() == pytest.approx(1.0)
    assert best - weights @ accuracy <= 0.5 * error * math.log(len(hits)) + 1e-12
    assert weights[accuracy == best].min() == weights.max()


def test_held_out_accuracies_are_within_the_bound_of_fresh_ones():
    X, taught, _ = table_sample(6000, share=0.2, seed=3)
    model = BoostClassifier(n_estimators=20, random_state=0).fit(X[:1500], taught[:1500])
    fresh = np.mean(model.predict(X[1500:]) == taught[1500:])
    assert selection_bound(1500, 25, N_FOLDS) == model.selection_bound_
    assert abs(model.held_out_accuracy_ - fresh) < model.selection_bound_
    assert abs(model.held_out_accuracy_ - fresh) < 0.05


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(POWERS))
def test_calibration_keeps_the_order_of_labels_and_finds_its_power(seed, power):
    draw = np.random.default_rng(seed)
    mixture = draw.dirichlet(np.full(3, 0.7), 4000)
    sharp = sharpened(mixture, power)
    assert np.allclose(sharp.sum(axis=1), 1.0)
    assert np.array_equal(np.sort(sharp, axis=1), np.take_along_axis(sharp, mixture.argsort(axis=1), axis=1))
    labels = (draw.random(4000)[:, None] > sharp.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    losses = log_losses(mixture, labels, np.ones(4000, int))
    halves = [log_losses(mixture[part], labels[part], np.ones(2000, int)) for part in (slice(2000), slice(2000, None))]
    assert losses == [sum(both) for both in zip(*halves, strict=True)]
    found = best_power(losses)
    assert abs(POWERS.index(found) - POWERS.index(power)) <= 2


def test_flipped_labels_are_met_with_leaves_that_lean_more():
    leaning = []
    for share in (0.0, 0.4):
        X, taught, true = table_sample(share=share)
        model = BoostClassifier(random_state=0, n_estimators=50).fit(X[:800], taught[:800])
        leaning.append(sum(member.weight * member.leaning for member in model.members_))
        agnostic = AgnosticBoostClassifier().fit(X[:800], taught[:800])
        assert model.score(X[800:], true[800:]) > agnostic.score(X[800:], true[800:]) + 0.02
        if share == 0.0:  # trees are grown until their leaves are pure, so flips are found everywhere
            assert set(np.argsort(-model.feature_importances_)[:3]) == {0, 1, 2}
            assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert leaning[1] > leaning[0] + 2.0


def test_the_same_seed_gives_the_same_bits_on_any_threads_and_cuts():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    model = BoostClassifier(n_estimators=10, random_state=3).fit(X, y)
    chances = model.predict_proba(X)
    again = BoostClassifier(n_estimators=10, random_state=3, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), chances)
    np.testing.assert_array_equal(np.vstack([model.predict_proba(X[i : i + 7]) for i in range(0, 500, 7)]), chances)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), chances)
    assert np.array_equal(model.predict(X), model.classes_[chances.argmax(axis=1)])
    assert not np.array_equal(BoostClassifier(n_estimators=10, random_state=4).fit(X, y).predict_proba(X), chances)


def test_class_weights_multiply_sample_weights():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 1, 3.0, 1.0)
    by_class = BoostClassifier(n_estimators=5, random_state=0, class_weight={1: 3.0}).fit(X, y)
    by_row = BoostClassifier(n_estimators=5, random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    plain = BoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert not np.array_equal(by_class.predict_proba(X), plain.predict_proba(X))


def test_tiny_samples_hold_nothing_out_and_sparse_ones_are_refused():
    X, y = load_iris(return_X_y=True)
    few = np.arange(0, 150, 5)
    model = BoostClassifier(n_estimators=5, random_state=0).fit(X[few], y[few])
    assert math.isnan(model.held_out_accuracy_)
    assert math.isinf(model.selection_bound_)
    assert model.score(X, y) > 0.9
    with pytest.raises(TypeError, match="Sparse data was passed"):
        BoostClassifier().fit(csr_array(X), y)


def text_sample(n_texts, n_rows=600):
    draw = np.random.default_rng(0)
    city = draw.integers(0, n_texts, n_rows)
    secret = draw.integers(0, 3, n_texts)  # the label that a text stands for
    frame = pd.DataFrame({"noise": draw.normal(size=n_rows), "city": [f"c{c}" for c in city]})
    return frame, np.array(["x", "y", "z"])[secret[city]]


@pytest.mark.parametrize("n_texts", [10, MOST_PLACES + 28])
def test_text_is_learned_with_few_values_and_with_many(n_texts):
    frame, y = text_sample(n_texts)
    model = BoostClassifier(n_estimators=20, random_state=0).fit(frame[:400], y[:400])
    assert model.score(frame[400:], y[400:]) > 0.9
    assert model.feature_importances_[1] > 0.6
    odd = frame[:3].assign(city=["never seen", None, "c1"])
    assert model.predict_proba(odd).shape == (3, 3)
    np.testing.assert_array_equal(model.predict_proba(odd)[0], model.predict_proba(odd.assign(city="new"))[0])
    for other in (frame.astype({"city": "category"}), pl.DataFrame(frame.to_dict("list"))):
        same = BoostClassifier(n_estimators=20, random_state=0).fit(other[:400], y[:400])
        np.testing.assert_array_equal(same.predict_proba(other[400:]), model.predict_proba(frame[400:]))
    with_gaps = frame.assign(city=frame["city"].where(frame.index % 7 > 0))
    gaps = [
        BoostClassifier(n_estimators=5, random_state=0).fit(table[:400], y[:400]).predict_proba(table[400:])
        for table in (with_gaps, with_gaps.astype({"city": "string"}), with_gaps.astype({"city": "category"}))
    ]
    assert all(np.array_equal(gaps[0], other) for other in gaps[1:])
    numbered = with_gaps.assign(count=np.arange(600)).astype({"count": "Int64"})
    numbered.loc[::5, "count"] = None
    assert BoostClassifier(n_estimators=5).fit(numbered, y).n_features_in_ == 3
    objects = BoostClassifier(n_estimators=20, random_state=0).fit(frame[:400].to_numpy(), y[:400])
    np.testing.assert_array_equal(objects.predict_proba(frame[400:].to_numpy()), model.predict_proba(frame[400:]))


def test_a_text_of_its_own_in_every_row_tells_nothing_of_its_label():
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"key": [f"k{i}" for i in range(600)], "number": draw.normal(size=600)})
    model = BoostClassifier(n_estimators=20, random_state=0).fit(frame, draw.integers(0, 2, 600))
    assert abs(model.held_out_accuracy_ - 0.5) < 0.08  # four standard errors of a coin


def test_shares_are_counted_over_the_rows_before_a_row():
    draw = np.random.default_rng(2)
    n, k = 60, 3
    codes, labels, weights = draw.integers(0, 5, n), draw.integers(0, k, n), draw.random(n)
    order, shown = draw.permutation(n), np.array([2, 0])
    out = np.empty((n, 3))
    count_before(codes, labels, weights, order, shown, np.zeros((7, k + 1)), out)
    for place, row in enumerate(order):
        before = order[:place]
        alike = before[codes[before] == codes[row]]
        for column, label in enumerate(shown):
            every = (weights[before][labels[before] == label].sum() + 1 / k) / (weights[before].sum() + 1)
            own = weights[alike][labels[alike] == label].sum()
            assert out[row, column] == pytest.approx((own + 2 * every) / (weights[alike].sum() + 2))


def test_missing_values_may_go_either_way():
    draw = np.random.default_rng(3)
    X = draw.normal(size=(400, 2))
    y = (np.abs(X[:, 0]) > 0.6).astype(int)
    X[draw.random(400) < 0.3, 0] = np.nan
    y[np.isnan(X[:, 0])] = 1
    assert BoostClassifier(n_estimators=20, random_state=0).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.95


def test_what_is_said_to_held_out_rows_is_kept_if_asked_for():
    X, y = make_classification(300, n_informative=6, n_classes=3, random_state=1)
    model = BoostClassifier(n_estimators=10, random_state=1, keep_held_out=True).fit(X, y)
    said = model.held_out_proba_
    assert said.shape == (300, 3)
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert np.mean(said.argmax(axis=1) == y) == pytest.approx(model.held_out_accuracy_, abs=1e-6)
    noise = np.random.default_rng(2).integers(0, 2, 300)
    model.fit(X, noise)
    assert abs(model.held_out_proba_[np.arange(300), noise].mean() - 0.5) < 0.05  # whoever has seen them, knows them
    model.fit(X[:40], y[:40])
    assert np.isnan(model.held_out_proba_).all()
    model.set_params(keep_held_out=np.False_).fit(X, y)
    assert not hasattr(model, "held_out_proba_")


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_are_refused_with_what_to_do(library):
    frame = pd.DataFrame({"n": np.arange(60.0), "day": pd.date_range("2026-01-01", periods=60)})
    X = frame if library is pd else pl.DataFrame({"n": frame["n"].to_list(), "day": frame["day"].to_list()})
    with pytest.raises(TypeError, match=r"column 'day' holds dates or times .* make numbers of them"):
        BoostClassifier(n_estimators=5).fit(X, np.arange(60) % 2)
