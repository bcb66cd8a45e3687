"""Alarms, judged row by row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ocoboost.bench.alarms import Found, judge

ROWS = st.lists(st.integers(0, 99), unique=True, max_size=12).map(sorted)


def naive(alarms, changes, within):
    """Each row belongs to the last change before it, for a while."""
    delays, n_false, n_quiet = {}, 0, 0
    for row in range(100):
        before = [change for change in changes if change <= row]
        is_due = bool(before) and row < before[-1] + within
        n_quiet += not is_due
        if row in alarms:
            if is_due:
                delays.setdefault(before[-1], row - before[-1])
            else:
                n_false += 1
    return Found(tuple(delays.values()), len(changes) - len(delays), n_false, n_quiet)


@given(ROWS, ROWS, st.integers(1, 60))
def test_alarms_are_judged_as_row_by_row(alarms, changes, within):
    assert judge(alarms, changes, 100, within) == naive(alarms, changes, within)


@given(st.lists(st.tuples(ROWS, ROWS), min_size=1, max_size=3))
def test_streams_add_up(streams):
    parts = [judge(alarms, changes, 100, 10) for alarms, changes in streams]
    total = Found.sum(parts)
    assert len(total.delays) + total.n_missed == sum(len(changes) for _, changes in streams)
    assert total.n_false == sum(part.n_false for part in parts)
    assert total.n_quiet == sum(part.n_quiet for part in parts)
    assert Found((), 0, 3, 50_000).false_per_100_000 == 6.0
