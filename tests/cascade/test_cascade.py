from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ocoboost.cascade.cascade import PooledVotes, modes, pool_votes
from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, teach

SMALL = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(hnp.arrays(np.float64, (5, 4), elements=SMALL))
def test_label_votes_are_the_first_maxima_and_both_pools_add_up(votes):
    label_votes = np.empty_like(votes)
    pooled = PooledVotes.none(5, 4)
    for _ in range(2):
        pool_votes(votes, label_votes, pooled.labels, pooled.distributions)
    np.testing.assert_array_equal(label_votes, np.eye(4)[votes.argmax(axis=1)])
    np.testing.assert_array_equal(pooled.labels, 2 * label_votes)
    np.testing.assert_array_equal(pooled.distributions, 2 * votes)


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
    teach(AGNOSTIC, plays, labels, weights, True, draws, out)
    np.testing.assert_array_equal(out, [[2.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    teach(REALIZABLE, plays[:, :1].copy(), labels, weights, True, draws, out)
    np.testing.assert_array_equal(out, [[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
