"""Areas and recalls against scikit-learn's, on probabilities that are as coarse as the bins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from ocoboost.stream.ranks import MOST_LABELS, N_BINS, Ranks

rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, N_BINS - 1), st.integers(0, N_BINS - 1)), min_size=2)


def middle(place):
    """The probability in the middle of a bin."""
    return 1.0 / (1.0 + math.exp(16.0 - (place + 0.5) * 32.0 / N_BINS))


def counted(rows, cut=0):
    labels = np.array([label for label, *_ in rows])
    said = np.array([[middle(one), middle(other)] for _, one, other in rows])
    ranks = Ranks()
    for part in (slice(0, cut), slice(cut, None)):
        ranks.add(labels[part], said[part], 2)
    return labels, said, ranks


@given(rows, st.integers(0, 20))
def test_the_area_is_that_of_scikit_learn(rows, cut):
    labels, said, ranks = counted(rows, cut)
    for label in range(2):
        if np.any(labels == label):
            expected = average_precision_score(labels == label, said[:, label])
            assert ranks.average_precision(label) == pytest.approx(expected)
        else:
            assert math.isnan(ranks.average_precision(label))


@given(rows)
def test_recall_counts_the_most_probable_rows(rows):
    labels, said, ranks = counted(rows)
    for label in range(2):
        if not np.any(labels == label):
            continue
        assert ranks.recall(label, 1.0) == pytest.approx(1.0)
        for n_alerts in range(len(rows) + 1):
            least = np.sort(said[:, label])[::-1][n_alerts - 1] if n_alerts else np.inf
            surely, perhaps = said[:, label] > least, said[:, label] >= least
            own = labels == label
            found = ranks.recall(label, n_alerts / len(rows)) * own.sum()
            assert own[surely].sum() - 1e-9 <= found <= own[perhaps].sum() + 1e-9


def test_labels_that_come_late_had_no_probability_before():
    ranks = Ranks()
    ranks.add(np.array([0, 0]), np.array([[1.0], [1.0]]), 1)
    ranks.add(np.array([1]), np.array([[1.0, 0.0]]), 2)
    ranks.add(np.array([1]), np.array([[0.1, 0.9]]), 2)
    assert ranks.average_precision(1) == pytest.approx((1 + 2 / 4) / 2)
    assert ranks.rows.sum(axis=1).tolist() == [4, 4]


def test_only_the_first_labels_are_ranked():
    ranks = Ranks()
    ranks.add(np.array([MOST_LABELS + 3]), np.full((1, MOST_LABELS + 5), 1e-3), MOST_LABELS + 5)
    assert len(ranks.rows) == MOST_LABELS
    assert ranks.summary()["average_precision"] == [None] * MOST_LABELS


def test_notes_come_back_and_forged_ones_do_not():
    _, _, ranks = counted([(0, 5, 9), (1, 7, 200)])
    notes = ranks.as_notes()
    assert Ranks.from_notes(notes, 2).summary() == ranks.summary()
    for forged in ({**notes, "own": notes["own"] + 1}, {**notes, "rows": notes["rows"][:1]}, {**notes, "rows": 1}):
        with pytest.raises((ValueError, TypeError)):
            Ranks.from_notes(forged, 2)
    with pytest.raises(ValueError, match="add up"):
        Ranks.from_notes(notes, 3)
