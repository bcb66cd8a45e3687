"""What Algorithms 2 and 5 pass to a learner when they draw: the distributions of the paper, stage by stage.

The frequency of an event among n draws lies within five standard errors of its probability: a false alarm in one of 1.7
million, and seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from naive import project_sorted
from ocoboost import AgnosticBoostClassifier, PairwiseBoostClassifier, RealizableBoostClassifier

N_ROWS, N_CLASSES, N_DRAWN, GAMMA = 12, 3, 40_000, 0.8
LABELS = np.arange(N_ROWS) % N_CLASSES
ROWS = np.arange(N_ROWS, dtype=float)[:, None]  # the one feature is the row's number
LESSONS: list[tuple[np.ndarray, np.ndarray]] = []


class Stubborn(ClassifierMixin, BaseEstimator):
    """Writes down what it is taught, and says by the number of the stage what it likes: right on some rows only."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.stage_ = len(LESSONS)
        LESSONS.append((X[:, 0].astype(int), np.array(y)))
        return self

    def predict(self, X):
        return votes(self.stage_)[X[:, 0].astype(int)]


def votes(stage):
    """Right on every second row in the first stage, on every third in the next."""
    is_right = np.arange(N_ROWS) % (stage + 2) == 0
    return np.where(is_right, LABELS, (LABELS + 1) % N_CLASSES)


def taught(booster):
    """The rows and labels that every stage was taught."""
    LESSONS.clear()
    booster(Stubborn(), n_estimators=3, gamma=GAMMA, start="uniform", n_drawn=N_DRAWN, random_state=4).fit(ROWS, LABELS)
    return list(LESSONS)


def assert_frequencies(found, expected):
    """``found`` counts draws, ``expected`` are probabilities."""
    errors = np.sqrt(expected * (1 - expected) / N_DRAWN)
    np.testing.assert_array_less(np.abs(found / N_DRAWN - expected), 5 * errors + 1e-12)


def test_algorithm_2_draws_rows_alike_and_relabels_them_from_their_plays():
    plays = np.full((N_ROWS, N_CLASSES), 1 / N_CLASSES)
    for stage, (rows, labels) in enumerate(taught(AgnosticBoostClassifier)):
        counts = np.zeros((N_ROWS, N_CLASSES))
        np.add.at(counts, (rows, labels), 1)
        assert_frequencies(counts, plays / N_ROWS)
        gradients = 2 * (np.eye(N_CLASSES)[votes(stage)] / GAMMA - np.eye(N_CLASSES)[LABELS])
        plays = np.array([project_sorted(p) for p in plays - GAMMA / np.sqrt(3) * gradients])


def test_algorithm_5_draws_rows_in_proportion_to_their_plays_and_keeps_their_labels():
    plays = np.full(N_ROWS, 1 / N_ROWS)
    seen = set()
    for stage, (rows, labels) in enumerate(taught(RealizableBoostClassifier)):
        np.testing.assert_array_equal(labels, LABELS[rows])
        assert_frequencies(np.bincount(rows, minlength=N_ROWS).astype(float), plays / plays.sum())
        seen |= set(np.round(plays, 9))
        gains = np.where(votes(stage) == LABELS, 1.0, -1.0)
        plays = np.clip(plays - GAMMA / np.sqrt(3) * (gains / GAMMA - 1), 0.0, 1.0)
    assert len(seen) >= 3  # rows that are drawn alike all the way would prove little


def test_the_pairwise_booster_draws_rows_and_labels_by_what_its_plays_teach():
    plays = np.full((N_ROWS, N_CLASSES), 1 / N_CLASSES)
    skipped = set()
    for stage, (rows, labels) in enumerate(taught(PairwiseBoostClassifier)):
        counts = np.zeros((N_ROWS, N_CLASSES))
        np.add.at(counts, (rows, labels), 1)
        lessons = 1 - plays[np.arange(N_ROWS), LABELS, None] - plays
        lessons[np.arange(N_ROWS), LABELS] = 2 * (1 - plays[np.arange(N_ROWS), LABELS])
        assert_frequencies(counts, lessons / lessons.sum())
        skipped |= set(np.round(plays[np.arange(N_ROWS), LABELS], 9))
        gradients = 2 * (np.eye(N_CLASSES)[LABELS] - np.eye(N_CLASSES)[votes(stage)] / GAMMA)
        plays = np.array([project_sorted(p) for p in plays - GAMMA / np.sqrt(3) * gradients])
    assert len(skipped) >= 3


@pytest.mark.parametrize("booster", [AgnosticBoostClassifier, RealizableBoostClassifier, PairwiseBoostClassifier])
def test_a_stage_is_taught_as_many_rows_as_it_was_told(booster):
    assert [len(rows) for rows, _ in taught(booster)] == [N_DRAWN] * 3
