"""The scores against scikit-learn's and River's, however the rows are cut into blocks."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import metrics
from sklearn import metrics as sk

from ocoboost.run.scores import LEAST, MOST_POINTS, Curve, MemberWeights, Scores

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=60)


def scored(rows, cuts=()):
    labels, predictions, shares = (np.array(column) for column in zip(*rows, strict=True))
    scores = Scores()
    edges = sorted({0, len(rows), *(cut % len(rows) for cut in cuts)})
    for first, last in pairwise(edges):
        part = slice(first, last)
        scores.add(labels[part], predictions[part], shares[part], 4)
    return scores


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@given(rows)
def test_scores_are_those_of_scikit_learn_and_river(rows):
    scores = scored(rows)
    labels, predictions, shares = zip(*rows, strict=True)
    assert scores.accuracy == pytest.approx(sk.accuracy_score(labels, predictions))
    assert scores.macro_f1 == pytest.approx(sk.f1_score(labels, predictions, average="macro"))
    assert np.array_equal(scores.counts[:, :-1], sk.confusion_matrix(labels, predictions, labels=range(4)))
    kappa = sk.cohen_kappa_score(labels, predictions)
    assert scores.kappa == pytest.approx(kappa) or (math.isnan(kappa) and math.isnan(scores.kappa))
    river = [metrics.Accuracy(), metrics.BalancedAccuracy(), metrics.MacroF1(), metrics.CohenKappa()]
    for metric in river:
        for label, prediction in zip(labels, predictions, strict=True):
            metric.update(label, prediction)
    assert scores.accuracy == pytest.approx(river[0].get())
    assert scores.macro_f1 == pytest.approx(river[2].get())
    if not math.isnan(scores.kappa):
        assert scores.kappa == pytest.approx(river[3].get())
    recalls = [
        np.mean([p == label for y, p in zip(labels, predictions, strict=True) if y == label]) for label in set(labels)
    ]
    assert scores.balanced_accuracy == pytest.approx(np.mean(recalls))
    if set(predictions) <= set(labels):
        assert scores.balanced_accuracy == pytest.approx(river[1].get())
    assert scores.log_loss == pytest.approx(np.mean([-math.log(max(share, 1e-15)) for share in shares]))
    assert scores.n_clipped == sum(share < LEAST for share in shares)


@given(rows, st.lists(st.integers(0, 60)))
def test_blocks_and_a_save_in_between_change_no_bit(rows, cuts):
    whole, parts = scored(rows), scored(rows, cuts)
    assert whole.summary() == parts.summary()
    assert vars(whole.curve) == vars(parts.curve)
    again = Scores.from_notes(whole.as_notes())
    assert again.summary() == whole.summary()


def test_rows_without_a_prediction_are_wrong():
    scores = Scores()
    scores.add(np.array([0]), np.array([-1]), np.array([0.0]), 1)
    scores.add(np.array([0, 1]), np.array([0, 0]), np.array([1.0, 0.0]), 2)
    assert scores.accuracy == pytest.approx(1 / 3)
    assert scores.counts.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert scores.log_loss == pytest.approx(-math.log(LEAST) / 2)  # of two rows: the other had no prediction
    assert (scores.n_not_predicted, scores.n_clipped) == (1, 1)
    assert scores.summary()["rows_without_prediction"] == 1
    assert Scores().summary()["accuracy"] is None


@given(st.integers(1, 5000), st.integers(1, 700))
def test_the_curve_has_equal_windows_and_few_points(n_rows, n_block):
    right = np.arange(n_rows) % 3 == 0
    curve = Curve()
    for first in range(0, n_rows, n_block):
        curve.add(right[first : first + n_block])
    points = curve.points()
    assert len(points) < MOST_POINTS
    for end, share in points:
        assert share == right[end - curve.window : end].mean()
    assert n_rows - (points[-1][0] if points else 0) == curve.n_open


@given(st.lists(st.integers(1, 1024), min_size=1, max_size=2000))
def test_weights_of_members_are_few_points_spread_over_the_whole_stream(blocks):
    weights = MemberWeights()
    ends = np.cumsum(blocks).tolist()
    for end in ends:
        weights.add(end, [float(end)])
    rows = [n_rows for n_rows, _ in weights.points]
    assert 0 < len(rows) < MOST_POINTS
    assert set(rows) <= set(ends)
    assert all(weight == [n_rows] for n_rows, weight in weights.points)
    gaps = np.diff([0, *rows, ends[-1]])
    assert gaps.max() <= max(blocks) + 4 * (ends[-1] / len(ends)) * max(1, 2 * len(ends) / MOST_POINTS)
