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

from ocoboost.run.curves import MOST_POINTS, Baselines, Curve
from ocoboost.run.scores import LEAST, MemberWeights, Scores

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


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(rows)
def test_scores_by_label_are_those_of_scikit_learn(rows):
    labels, predictions, _ = zip(*rows, strict=True)
    theirs = sk.precision_recall_fscore_support(labels, predictions, labels=range(4), zero_division=0)
    for ours, precision, recall, f1, n_rows in zip(scored(rows).by_label, *theirs, strict=True):
        assert ours.n_rows == n_rows
        assert (ours.precision or 0.0, ours.recall or 0.0, ours.f1 or 0.0) == pytest.approx((precision, recall, f1))
        assert (ours.recall is None) == (n_rows == 0)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 5), st.integers(1, 20))
def test_baselines_know_the_labels_that_have_arrived_and_no_others(labels, delay, n_block):
    baselines = Baselines(delay)
    for first in range(0, len(labels), n_block):
        baselines.add(np.array(labels[first : first + n_block]))
        baselines = Baselines.from_notes(baselines.as_notes(), delay, 4)
    last = frequent = 0
    for row, label in enumerate(labels):
        arrived = labels[: max(0, row - delay)]
        last += arrived[-1:] == [label]
        reached = {known: [i for i, one in enumerate(arrived) if one == known] for known in set(arrived)}
        best = min(reached, key=lambda known: (-len(reached[known]), reached[known][-1])) if reached else None
        frequent += label == best  # of equally frequent labels the first that was so frequent
    assert (baselines.last_label.n_right, baselines.most_frequent.n_right) == (last, frequent)


@pytest.mark.parametrize(
    "lie", [{"best": 9}, {"last": -2}, {"counts": [-1]}, {"counts": [1] * 9}, {"waiting": [0]}, {"best": "0"}]
)
def test_notes_that_no_baseline_gave_are_refused(lie):
    baselines = Baselines()
    baselines.add(np.array([0, 1, 1]))
    with pytest.raises(ValueError, match=r"baseline|count|wait"):
        Baselines.from_notes({**baselines.as_notes(), **lie}, 0, 2)


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
    assert rows[0] == ends[0]
    gaps = np.diff([0, *rows, ends[-1]])
    assert gaps.max() <= max(blocks) + 4 * (ends[-1] / len(ends)) * max(1, 2 * len(ends) / MOST_POINTS)
