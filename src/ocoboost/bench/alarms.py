"""How good alarms are on a stream whose changes are known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

WITHIN = 2000


class Found(NamedTuple):
    """What alarms amount to, on one stream or on several."""

    delays: tuple[int, ...] = ()  # rows from a change to its first alarm
    n_missed: int = 0  # changes without an alarm in time
    n_false: int = 0  # alarms where none was due
    n_quiet: int = 0  # rows on which none was due

    @classmethod
    def sum(cls, parts: Iterable[Found]) -> Found:
        """Over several streams."""
        columns = list(zip(*parts, strict=True))
        return cls(tuple(delay for delays in columns[0] for delay in delays), *map(sum, columns[1:]))

    @property
    def false_per_100_000(self) -> float:
        """False alarms in 100,000 rows on which none was due."""
        return 100_000 * self.n_false / max(self.n_quiet, 1)


def judge(alarms: Sequence[int], changes: Sequence[int], n_rows: int, within: int = WITHIN) -> Found:
    """A change is found by the first alarm from its row on, within ``within`` rows and before the next change.

    Further alarms in that time are about the same change: neither right nor wrong.

    >>> judge([3, 12, 14, 90], changes=[10, 50], n_rows=100, within=20)
    Found(delays=(2,), n_missed=1, n_false=2, n_quiet=60)
    """
    alarms, delays, n_told, n_due = sorted(alarms), list[int](), 0, 0
    for change, following in pairwise((*changes, n_rows)):
        end = min(change + within, following)
        first, last = bisect_left(alarms, change), bisect_left(alarms, end)
        if last > first:
            delays.append(alarms[first] - change)
        n_told += last - first
        n_due += end - change
    return Found(tuple(delays), len(changes) - len(delays), len(alarms) - n_told, n_rows - n_due)
