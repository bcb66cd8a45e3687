"""The calibration of a run, against its definition, in any blocks and from notes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.run.calibration import N_BINS, Calibration

rows = st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=60)


@given(rows, st.integers(0, 60))
def test_the_error_is_the_mean_gap_between_confidence_and_accuracy(rows, cut):
    confidences, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    whole, parts = Calibration(), Calibration()
    whole.add(confidences, right)
    parts.add(confidences[:cut], right[:cut])
    parts.add(confidences[cut:], right[cut:])
    np.testing.assert_array_equal(whole.counts, parts.counts)
    bins = np.minimum((confidences * N_BINS).astype(int), N_BINS - 1)
    gaps = [
        abs(confidences[bins == place].mean() - right[bins == place].mean()) * np.mean(bins == place)
        for place in set(bins.tolist())
    ]
    assert whole.error == pytest.approx(sum(gaps), abs=1e-6)
    assert sum(one.n_rows for one in whole.bins) == len(rows)
    np.testing.assert_array_equal(Calibration.from_notes(whole.counts.copy()).counts, whole.counts)


def test_nothing_counted_has_no_error_and_forged_counts_are_refused():
    assert Calibration().error is None
    for change in (lambda c: c[:2], lambda c: c - 1, lambda c: c.astype(float)):
        with pytest.raises(ValueError, match="invalid calibration"):
            Calibration.from_notes(change(Calibration().counts))
    more_right_than_rows = Calibration().counts
    more_right_than_rows[1, 0] = 1
    with pytest.raises(ValueError, match="invalid calibration"):
        Calibration.from_notes(more_right_than_rows)
