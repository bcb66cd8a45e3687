"""When the stream changed: as soon as members that know less are right more often.

On a stream that does not change, a member that has seen more is at least as good, in expectation, as a younger one of
its kind. So the difference of their mistakes, d in {-1, 0, 1}, is a bet that cannot be won: every age bets against the
slow mixture with several stakes, and its capital, max(capital, 1) * (1 + stake * d), starts anew when it falls to 1.
Such a detector (Shin, Ramdas & Rinaldo, 2024) raises a false alarm once in 1 / ``ALARM`` rows at most. The row at which
the richest bet started is where the change began.

After a change the long-lived members have something to forget. The eldest member that was born after it stands in for
them until they are as good as the eldest age again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture.clock import LEAST_ORDER

ALARM = 1e-4
STAKES = (0.2, 0.5, 0.9)
MOST_CHANGES = 64  # that are remembered
MEMORY = 1024.0  # rows, of the mistakes by which the long-lived members are let back in
LEAST_AGE = 2  # who stands in for the long-lived ones is of this age at least, so that two younger ones can bet

_STAKES: FloatArray = np.array(STAKES)


class Watch(NamedTuple):
    """What is known about changes."""

    capital: FloatArray  # (ages, stakes)
    begun: IntArray  # (ages, stakes) the row at which a bet started
    mistakes: FloatArray  # (2,) recent rates: of the slow mixture, of the eldest age
    stands: IntArray  # (2,) whether the slow mixture stands, and the row of the latest change
    changes: IntArray  # (changes, 2) rows where they began and were noticed, the latest overwriting the oldest
    n_changes: IntArray  # (1,)


class Change(NamedTuple):
    """A change of the stream."""

    row: int  # where it began, as far as can be told
    noticed: int  # when that was known


class Drift(NamedTuple):
    """Whether the stream is changing, and where it did."""

    score: float  # 0: nothing speaks for a change, 1: it is certain enough to be one
    changes: list[Change]  # the latest ones, oldest first
    n_changes: int  # in all


def first_watch(n_ages: int) -> Watch:
    """Nothing seen yet."""
    return Watch(
        capital=np.ones((n_ages, len(STAKES))),
        begun=np.zeros((n_ages, len(STAKES)), dtype=np.int64),
        mistakes=np.full(2, 0.5),
        stands=np.array([1, 0]),
        changes=np.zeros((MOST_CHANGES, 2), dtype=np.int64),
        n_changes=np.zeros(1, dtype=np.int64),
    )


@kernel
def _as_number(mistake: bool) -> float:
    return 1.0 if mistake else 0.0


@kernel(error_model="numpy")
def _opponent(row: int, awake: IntArray, watch: Watch) -> int:
    """Whom the ages bet against: -1 for the slow mixture, else the eldest age born after the change; -2 for nobody."""
    if watch.stands[0]:
        return -1
    since = row - int(watch.stands[1])
    age = awake.size - 1
    while age >= 0 and (2 << (LEAST_ORDER + age)) > since:
        age -= 1
    return age if age >= LEAST_AGE and awake[age] else -2


@kernel(error_model="numpy")
def look(row: int, slow_vote: int, votes: IntArray, awake: IntArray, label: int, watch: Watch) -> None:
    """Settle the bets on a row; ``votes`` and ``awake`` are those of the ages."""
    n_ages, n_stakes = watch.capital.shape
    if n_ages == 0:
        return
    opponent = _opponent(row, awake, watch)
    n_betting = 0 if opponent == -2 else n_ages if opponent == -1 else opponent - 1
    wrong = label != (slow_vote if opponent < 0 else votes[opponent])
    total, richest, best_age, best_stake = 0.0, 0.0, 0, 0
    for age in range(n_betting):
        if not awake[age]:
            continue
        gained = _as_number(wrong) - _as_number(votes[age] != label)
        for stake in range(n_stakes):
            if watch.capital[age, stake] <= 1.0:
                watch.capital[age, stake] = 1.0
                watch.begun[age, stake] = row
            watch.capital[age, stake] *= 1.0 + _STAKES[stake] * gained
            total += watch.capital[age, stake]
            if watch.capital[age, stake] > richest:
                richest, best_age, best_stake = watch.capital[age, stake], age, stake
    if total >= n_ages * n_stakes / ALARM:
        _remember(row, int(watch.begun[best_age, best_stake]), watch)
    elif awake[n_ages - 1]:
        watch.mistakes[0] += (_as_number(slow_vote != label) - watch.mistakes[0]) / MEMORY
        watch.mistakes[1] += (_as_number(votes[n_ages - 1] != label) - watch.mistakes[1]) / MEMORY
        is_long_ago = row - watch.stands[1] > (2 << (LEAST_ORDER + n_ages - 1))
        if not watch.stands[0] and is_long_ago and watch.mistakes[0] <= watch.mistakes[1]:
            watch.stands[0] = 1
            _settle(watch)


@kernel
def _settle(watch: Watch) -> None:
    for age in range(watch.capital.shape[0]):
        for stake in range(watch.capital.shape[1]):
            watch.capital[age, stake] = 1.0


@kernel
def _remember(row: int, begun: int, watch: Watch) -> None:
    """Note a change, and start all bets anew."""
    place = int(watch.n_changes[0]) % watch.changes.shape[0]
    watch.changes[place, 0] = begun
    watch.changes[place, 1] = row
    watch.n_changes[0] += 1
    watch.stands[0] = 0
    watch.stands[1] = begun
    _settle(watch)


def drift_of(watch: Watch) -> Drift:
    """What a watch knows, for people."""
    n_changes = int(watch.n_changes[0])
    numbers = range(max(0, n_changes - MOST_CHANGES), n_changes)
    changes = [Change(*map(int, watch.changes[number % MOST_CHANGES])) for number in numbers]
    capital = float(watch.capital.mean()) if watch.capital.size else 1.0
    return Drift(max(0.0, float(np.log(capital) / -np.log(ALARM))), changes, n_changes)


def check(watch: Watch, n_rows: int) -> None:
    """Raise ``ValueError`` for a watch that no stream of so many rows can have left."""
    least, most = 1.0 - max(STAKES), watch.capital.size / ALARM  # a bet lost, and a change
    if np.any((watch.capital < least) | (watch.capital >= most)):
        raise ValueError("invalid bets on changes")
    if np.any((watch.begun < 0) | (watch.begun >= max(1, n_rows))):
        raise ValueError("invalid bets on changes")
    n_changes = int(watch.n_changes[0])
    if not 0 <= n_changes <= n_rows:
        raise ValueError(f"invalid number of changes: {n_changes}")
    begun, noticed = watch.changes[: min(n_changes, MOST_CHANGES)].T
    if np.any((begun < 0) | (begun > noticed) | (noticed >= n_rows)) or np.any(watch.changes[n_changes:]):
        raise ValueError("invalid rows of changes")
    if np.any((watch.mistakes < 0.0) | (watch.mistakes > 1.0)) or watch.stands[0] not in (0, 1):
        raise ValueError("invalid state of the watch for changes")
    latest = watch.changes[(n_changes - 1) % MOST_CHANGES, 0] if n_changes else 0
    if watch.stands[1] != latest or (n_changes == 0 and not watch.stands[0]):
        raise ValueError("invalid state of the watch for changes")
