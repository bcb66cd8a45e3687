"""Single cells of the grid, and how votes become an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boosters import relabelling
from ocoboost.cascade.answers import modes
from ocoboost.cascade.kernel import pool_rows, see_rows, teach_rows
from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, teach_row
from ocoboost.cascade.relabelling import Relabelling, Seen
from ocoboost.randomness import RELABEL, uniform

pytestmark = pytest.mark.kernels

SMALL = st.sampled_from([0.0, 0.25, 0.5, 1.0])
N_CLASSES, N_LEARNERS = 4, 3


def cells(regime: int = AGNOSTIC, relabel: str = "fractional") -> Relabelling:
    return relabelling(regime, gamma=0.5, n_learners=N_LEARNERS, relabel=relabel, seed=7)


@pytest.mark.parametrize("is_learning", [False, True])
@given(hnp.arrays(np.float64, (N_LEARNERS, 5, N_CLASSES), elements=SMALL))
def test_label_votes_are_the_first_maxima_and_both_pools_add_up(is_learning, votes):
    booster, labels = cells(), np.arange(5) % N_CLASSES
    choices, spare = booster.choices(N_CLASSES), np.empty(N_CLASSES)
    seen = Seen.empty(5, N_LEARNERS, N_CLASSES, "label")
    rows = booster.begin(labels, np.ones(5), N_CLASSES, seen) if is_learning else booster.begin_poll(5, N_CLASSES)
    note = see_rows if is_learning else pool_rows
    for learner in range(N_LEARNERS):
        note(choices, rows, (), 0, learner, votes[learner].copy(), spare)
    label_votes = np.eye(N_CLASSES)[votes.argmax(axis=2)]
    np.testing.assert_array_equal(rows.pooled("label"), label_votes.sum(axis=0))
    np.testing.assert_array_equal(rows.pooled("distribution"), votes.sum(axis=0))
    if is_learning:
        np.testing.assert_array_equal(seen.labels, votes.argmax(axis=2))


@given(hnp.arrays(np.float64, (5, 4), elements=SMALL), hnp.arrays(np.float64, (5, 4), elements=SMALL))
def test_modes_break_ties_by_votes_then_by_index(distributions, counts):
    chosen = np.empty(5, dtype=np.int64)
    modes(distributions, counts, chosen)
    for row in range(5):
        keys = [(distributions[row, j], counts[row, j], -j) for j in range(4)]
        assert chosen[row] == -max(keys)[2]


def test_drawn_labels_carry_the_whole_weight():
    plays = np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])
    labels, weights = np.array([0, 1, 0]), np.array([2.0, 1.0, 0.5])
    out = np.full((3, 2), 9.0)
    draws = np.array([0.1, 0.99, 0.5])
    for row in range(3):
        teach_row(AGNOSTIC, plays[row], labels[row], weights[row], True, draws[row], out[row])
    np.testing.assert_array_equal(out, [[2.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    for row in range(3):
        teach_row(REALIZABLE, plays[row, :1], labels[row], weights[row], True, draws[row], out[row])
    np.testing.assert_array_equal(out, [[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize("regime", [AGNOSTIC, REALIZABLE])
def test_a_cells_draw_is_keyed_by_its_place_in_the_stream_and_its_learner(regime):
    booster, first_row = cells(regime, relabel="random"), 1000
    labels, weights = np.zeros(50, dtype=np.int64), np.full(50, 3.0)
    rows = booster.begin(labels, weights, N_CLASSES)
    taught = np.empty((50, N_CLASSES))
    for learner in (0, 2):
        teach_rows(booster.choices(N_CLASSES), rows, (), first_row, learner, taught)
        draws = [uniform(np.uint64(7), RELABEL, first_row + row, learner) for row in range(50)]
        if regime == AGNOSTIC:  # the first play is uniform
            expected = 3.0 * np.eye(N_CLASSES)[[int(draw * N_CLASSES) for draw in draws]]
        else:  # and one half
            expected = np.outer([3.0 * (draw < 0.5) for draw in draws], np.eye(N_CLASSES)[0])
        np.testing.assert_array_equal(taught, expected)


def test_choices_are_worked_out_once_for_every_number_of_classes(monkeypatch):
    asked = []
    configure = Relabelling.configure
    monkeypatch.setattr(Relabelling, "configure", lambda self, n: asked.append(n) or configure(self, n))
    booster = cells()
    for n_classes in (2, 2, 3, 3, 3):
        assert booster.choices(n_classes).starts.shape == (n_classes, n_classes)
    assert asked == [2, 3]
