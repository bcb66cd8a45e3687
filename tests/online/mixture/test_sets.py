"""Prediction sets: their twin, and the guarantee on streams made to break it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocoboost.online.mixture.bounds import fewest_misses, most_misses
from ocoboost.online.mixture.issued import Issued
from ocoboost.online.mixture.sets import (
    MEMORY,
    MOST_LOG_ODDS,
    N_BINS,
    NO_LABEL,
    STEP,
    PredictionSets,
    first_sets,
    follow_rows,
    renew,
    settle,
)

pytestmark = pytest.mark.kernels

LEVELS = (0.5, 0.8, 0.9, 0.95)


class Twin:
    """All probabilities that labels had, with weights, and their quantiles by counting."""

    def __init__(self, level):
        self.missed, self.rate = 1.0 - level, 1.0 - level
        self.recent = np.full(N_BINS, 1.0 / N_BINS)

    def threshold(self):
        if not 0.0 < self.rate < 1.0:
            return 0.0 if self.rate <= 0.0 else NO_LABEL
        below = np.concatenate([[0.0], np.cumsum(self.recent)]) / self.recent.sum()
        log_odds = np.interp(self.rate, below, np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, N_BINS + 1))
        return 1.0 / (1.0 + math.exp(-log_odds))

    def learn(self, probability):
        self.rate += STEP * (self.missed - (probability < self.threshold()))
        edges = np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, N_BINS + 1)[1:-1]
        log_odds = math.inf if probability == 1.0 else math.log(probability / (1.0 - probability))
        self.recent *= 1.0 - 1.0 / MEMORY
        self.recent[np.searchsorted(edges, log_odds, side="right")] += 1.0


def test_thresholds_are_quantiles_at_a_rate_that_follows_the_misses():
    draw = np.random.default_rng(1)
    probabilities = np.concatenate([draw.beta(5, 1, 300), draw.beta(1, 5, 200), [1.0, 1e-9]])
    sets, twins = first_sets(LEVELS), [Twin(level) for level in LEVELS]
    for probability in probabilities:
        np.testing.assert_allclose(sets.thresholds, [twin.threshold() for twin in twins], rtol=1e-9)
        settle(probability, sets.thresholds.copy(), sets)
        for twin in twins:
            twin.learn(probability)


def misses(sets, n_rows, choose):
    """How often the label is missed, whoever chooses its probability with the thresholds in view."""
    counts = np.zeros(len(LEVELS))
    for row in range(n_rows):
        probability = choose(row, sets.thresholds)
        counts += probability < sets.thresholds
        settle(probability, sets.thresholds.copy(), sets)
    return counts


def within(counts, n_rows, n_waiting=0):
    for level, count in zip(LEVELS, counts, strict=True):
        assert fewest_misses(n_rows, level, n_waiting) - 1e-6 <= count <= most_misses(n_rows, level, n_waiting) + 1e-6


ADVERSARIES = {
    "always sure": lambda row, thresholds: 0.999,
    "always wrong": lambda row, thresholds: 1e-5,
    "just below the widest": lambda row, thresholds: max(1e-9, thresholds[-1] * (1.0 - 1e-9)),
    "just inside the narrowest": lambda row, thresholds: min(1.0, max(1e-9, thresholds[0])),
    "swapping": lambda row, thresholds: 0.99 if row // 500 % 2 else 0.01,
    "the same for all": lambda row, thresholds: 0.5,
}


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("n_rows", [1, 10, 300, 3000])
def test_nobody_can_break_the_guarantee(name, n_rows):
    within(misses(first_sets(LEVELS), n_rows, ADVERSARIES[name]), n_rows)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.floats(1e-9, 1.0), st.integers(1, 400)), min_size=1, max_size=6),
    st.integers(0, len(LEVELS) - 1),
)
def test_the_guarantee_holds_for_any_probabilities(spans, level):
    """Spans of rows whose label has a probability, or lies just below or at a threshold."""
    choices = [probability for probability, length in spans for _ in range(length)]

    def choose(row, thresholds):
        kind = row % 3
        return choices[row] if kind else min(1.0, max(1e-9, thresholds[level]))

    within(misses(first_sets(LEVELS), len(choices), choose), len(choices))


def test_the_guarantee_is_tight():
    """It is reached from both sides, up to one row: another constant would be wrong, or weaker."""
    n_rows = 4000
    least = misses(first_sets(LEVELS), n_rows, lambda row, thresholds: 1.0)
    most = misses(first_sets(LEVELS), n_rows, lambda row, thresholds: 1e-12)
    for level, few, many in zip(LEVELS, least, most, strict=True):
        assert few <= fewest_misses(n_rows, level) + 2.0
        assert many >= most_misses(n_rows, level) - 2.0


def test_labels_that_wait_cost_no_more_than_the_bound_says():
    sets, counts, n_waiting = first_sets(LEVELS), np.zeros(len(LEVELS)), 40
    waiting = []
    for row in range(3000):
        waiting.append((1e-9 if row < 1000 else 1.0, sets.thresholds.copy()))
        if len(waiting) > n_waiting:
            probability, thresholds = waiting.pop(0)
            counts += probability < thresholds
            settle(probability, thresholds, sets)
    within(counts, 3000 - n_waiting, n_waiting)


def test_rows_without_weight_and_rows_that_bring_their_label_show_nothing():
    probabilities = np.full((4, 2), 0.5)
    labels, sets, out = np.zeros(4, dtype=np.int64), first_sets((0.9,)), np.empty((4, 1))
    follow_rows(probabilities, labels, np.array([1.0, 0.0, 1.0, 1.0]), 1, sets, out)
    other = first_sets((0.9,))
    expected = [other.thresholds[0]] * 3
    settle(0.5, other.thresholds.copy(), other)
    expected.append(other.thresholds[0])
    settle(0.5, other.thresholds.copy(), other)
    np.testing.assert_array_equal(out[:, 0], expected)
    np.testing.assert_array_equal(sets.rates, other.rates)
    np.testing.assert_array_equal(sets.recent, other.recent)


def test_a_block_is_its_rows():
    draw = np.random.default_rng(3)
    probabilities, labels = draw.dirichlet([1.0, 1.0, 1.0], size=50), draw.integers(3, size=50)
    weights = draw.integers(0, 2, size=50).astype(float)
    whole, parts = PredictionSets(LEVELS, 3), PredictionSets(LEVELS, 3)
    expected = whole.follow(probabilities, labels, weights, {})
    cuts = [0, 1, 7, 7, 30, 50]
    found = [
        parts.follow(probabilities[begin:end], labels[begin:end], weights[begin:end], {})
        for begin, end in pairwise(cuts)
        if end > begin
    ]
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_what_was_said_before_counts():
    """The label's probability and the thresholds are those of the entry; a label that was not known then is skipped."""
    sets = PredictionSets((0.9,), 3)
    entry = Issued(b"", np.zeros((1, 2)), np.ones(1, dtype=np.int64), np.full((3, 2), 0.25), np.array([0.3]))
    now = np.array([[0.2, 0.2, 0.6]])
    for label in (2, 1):
        sets.follow(now, np.array([label]), np.ones(1), {0: entry})
    other = first_sets((0.9,))
    settle(0.25, np.array([0.3]), other)
    np.testing.assert_array_equal(sets.sets.rates, other.rates)
    np.testing.assert_array_equal(sets.sets.recent, other.recent)


def test_rows_that_were_predicted_before_may_be_anywhere_in_a_block():
    draw = np.random.default_rng(4)
    probabilities, labels = draw.dirichlet([1.0, 1.0, 1.0], size=20), draw.integers(3, size=20)
    nobody = np.zeros((1, 2)), np.ones(1, dtype=np.int64)
    settled = {
        place: Issued(b"", *nobody, draw.dirichlet([1.0] * 3, size=3), np.full(len(LEVELS), 0.005 * place))
        for place in (0, 7, 8, 19)
    }
    whole, parts = PredictionSets(LEVELS, 3), PredictionSets(LEVELS, 3)
    expected = whole.follow(probabilities, labels, np.ones(20), settled)
    for row in range(20):
        here = {0: settled[row]} if row in settled else {}
        found = parts.follow(probabilities[row : row + 1], labels[row : row + 1], np.ones(1), here)
        if row not in settled:
            np.testing.assert_array_equal(found[0], expected[row])
    np.testing.assert_array_equal(whole.sets.rates, parts.sets.rates)
    np.testing.assert_array_equal(whole.sets.recent, parts.sets.recent)


def test_the_ends_of_the_rate():
    sets = first_sets((0.9, 0.9))
    sets.rates[:] = 0.0, 1.0
    renew(sets)
    assert sets.thresholds.tolist() == [0.0, NO_LABEL]
