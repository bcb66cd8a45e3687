"""The watch for changes: against a twin, on changes that are known, on fair bets, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocoboost.compiling import kernel
from ocoboost.online.mixture import drift
from ocoboost.online.mixture.clock import LEAST_ORDER
from ocoboost.online.mixture.drift import ALARM, LEAST_AGE, MEMORY, MOST_CHANGES, STAKES, Change, check, drift_of

pytestmark = pytest.mark.kernels

N_AGES = 6


class NaiveWatch:
    """What ``look`` does, from the description: plain Python, bets in a dict."""

    def __init__(self, n_ages):
        self.n_ages = n_ages
        self.changes = []
        self.rates = [0.5, 0.5]
        self.stands = True
        self.begun = {}
        self.settle()

    def settle(self):
        self.bets = {(age, stake): 1.0 for age in range(self.n_ages) for stake in STAKES}

    def opponent(self, row, awake):
        """None if nobody bets, else whom the ages bet against."""
        if self.stands:
            return "slow mixture"
        since = row - self.changes[-1].row
        born_after = [age for age in range(self.n_ages) if 2 ** (LEAST_ORDER + age + 1) <= since]
        eldest = max(born_after, default=-1)
        return eldest if eldest >= LEAST_AGE and awake[eldest] else None

    def look(self, row, slow_vote, votes, awake, label):
        opponent = self.opponent(row, awake)
        said, betting = slow_vote, range(self.n_ages)
        if opponent is None:
            betting = range(0)
        elif opponent != "slow mixture":
            said, betting = votes[opponent], range(opponent - 1)
        placed = {}
        for age in betting:
            if awake[age]:
                difference = int(said != label) - int(votes[age] != label)
                for stake in STAKES:
                    if self.bets[age, stake] <= 1.0:
                        self.begun[age, stake] = row
                    self.bets[age, stake] = max(self.bets[age, stake], 1.0) * (1.0 + stake * difference)
                    placed[age, stake] = self.bets[age, stake]
        if sum(placed.values()) / (self.n_ages * len(STAKES)) >= 1.0 / ALARM:
            self.changes.append(Change(self.begun[max(placed, key=placed.get)], row))
            self.stands = False
            self.settle()
        elif awake[-1]:
            for number, vote in enumerate((slow_vote, votes[-1])):
                self.rates[number] += (int(vote != label) - self.rates[number]) / MEMORY
            eldest_is_new = bool(self.changes) and row - self.changes[-1].row > 2 ** (LEAST_ORDER + self.n_ages)
            if not self.stands and eldest_is_new and self.rates[0] <= self.rates[1]:
                self.stands = True
                self.settle()


def stream(seed, n_rows, accuracies, n_classes=3, n_ages=N_AGES):
    """Votes of the slow mixture and of every age that exists, right as often as ``accuracies(row)`` says for each."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(n_classes, size=n_rows)
    chances = np.array([accuracies(row) for row in range(n_rows)])
    is_right = draw.random((n_rows, n_ages + 1)) < chances
    votes = np.where(is_right, labels[:, None], (labels[:, None] + 1) % n_classes)
    awake = np.array([[row >= 2 ** (LEAST_ORDER + age) for age in range(n_ages)] for row in range(n_rows)])
    return labels, votes[:, 0], np.ascontiguousarray(votes[:, 1:]), awake.astype(np.int64)


@kernel
def look_at_all(labels, slow, votes, awake, watch):
    for row in range(labels.size):
        drift.look(row, slow[row], votes[row], awake[row], labels[row], watch)


def watched(rows, n_ages=N_AGES):
    labels, slow, votes, awake = rows
    watch = drift.first_watch(n_ages)
    look_at_all(labels, slow, votes, awake, watch)
    check(watch, len(labels))
    return watch


def swap(*rows_of_change, memory=2000, n_ages=N_AGES):
    """After a change the slow mixture is bad for ``memory`` rows, and an age until it has seen nothing older."""

    def accuracies(row):
        since = row - max((0, *(change for change in rows_of_change if change <= row)))
        is_first = not rows_of_change or row < rows_of_change[0]
        slow = 0.9 if is_first or since >= memory else 0.15
        ages = [0.85 if is_first or since >= 2 ** (LEAST_ORDER + age + 1) else 0.15 for age in range(n_ages)]
        return [slow, *ages]

    return accuracies


CASES = {
    "no change": swap(),
    "a change": swap(1500),
    "many changes": swap(400, 900, 1700, 1900, 3000, 4000),
    "a long memory": swap(1000, memory=10**6),
    "ages that are always better": lambda row: [0.2, *[0.8] * N_AGES],
    "ages that are always worse": lambda row: [0.8, *[0.2] * N_AGES],
    "bets that are fair": lambda row: [0.5] * (N_AGES + 1),
}


@pytest.mark.parametrize("name", CASES)
def test_bets_are_settled_as_in_the_twin(name):
    labels, slow, votes, awake = rows = stream(1, 6000, CASES[name])
    watch, twin = watched(rows), NaiveWatch(N_AGES)
    for row, label in enumerate(labels):
        twin.look(row, slow[row], votes[row], awake[row], label)
    expected = [[twin.bets[age, stake] for stake in STAKES] for age in range(N_AGES)]
    np.testing.assert_allclose(watch.capital, expected, rtol=1e-9)
    begun = [[twin.begun.get((age, stake), 0) for stake in STAKES] for age in range(N_AGES)]
    np.testing.assert_array_equal(watch.begun, begun)
    np.testing.assert_allclose(watch.mistakes, twin.rates, rtol=1e-9)
    assert bool(watch.stands[0]) == twin.stands
    known = drift_of(watch)
    assert known.changes == twin.changes
    assert known.n_changes == len(twin.changes)
    assert 0.0 <= known.score < 1.0
    assert known.score == pytest.approx(max(0.0, math.log(np.mean(expected)) / math.log(1 / ALARM)), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", [700, 1500, 3333])
def test_an_abrupt_change_is_found_where_it_began(seed, change):
    """An age of 32 to 63 rows is good again after 64 at most, and then most rows win a bet."""
    changes = drift_of(watched(stream(seed, change + 300, swap(change)))).changes
    assert len(changes) == 1
    assert change <= changes[0].row <= change + 80
    assert change + 64 < changes[0].noticed <= change + 140


def test_a_change_that_wins_every_bet_is_noticed_at_the_row_that_follows_from_the_stakes():
    """Up to row 100 nobody errs; then the slow mixture always does, and both ages never do."""
    n_rows, change, n_ages = 140, 100, 2
    labels = np.zeros(n_rows, dtype=np.int64)
    slow = (np.arange(n_rows) >= change).astype(np.int64)
    votes, awake = np.zeros((n_rows, n_ages), dtype=np.int64), np.ones((n_rows, n_ages), dtype=np.int64)
    capital = [np.mean([(1 + stake) ** n_won for stake in STAKES]) for n_won in range(40)]
    n_won = next(n for n in range(40) if capital[n] >= 1 / ALARM)
    known = drift_of(watched((labels, slow, votes, awake), n_ages))
    assert known.changes == [Change(change, change + n_won - 1)]


def test_fair_bets_raise_fewer_false_alarms_than_promised():
    """Everybody errs independently and alike on 300,000 rows: at most one alarm in 1 / ALARM rows."""
    n_rows = 300_000
    rows = stream(0, n_rows, lambda row: [0.6] * (N_AGES + 1))
    rows[3][:] = 1
    watch = watched(rows)
    assert drift_of(watch).n_changes < ALARM * n_rows
    assert watch.begun.min() > n_rows - 20_000  # and the bets went on


def test_ages_that_know_less_and_are_worse_never_raise_an_alarm():
    watch = watched(stream(0, 50_000, lambda row: [0.8, *np.linspace(0.6, 0.78, N_AGES)]))
    assert drift_of(watch).n_changes == 0
    assert watch.stands.tolist() == [1, 0]


def test_after_a_change_the_slow_mixture_stands_again_when_it_is_as_good_as_the_eldest_age():
    change, memory = 3000, 6000
    for n_rows, stands in ((change + memory - 1000, 0), (change + memory + 6000, 1)):
        watch = watched(stream(3, n_rows, swap(change, memory=memory)))
        assert watch.stands[0] == stands
        assert drift_of(watch).n_changes == 1  # it is not noticed twice


def test_a_second_change_is_noticed_while_the_slow_mixture_does_not_stand():
    changes = drift_of(watched(stream(2, 4000, swap(1000, 3000, memory=10**6)))).changes
    assert len(changes) == 2
    assert 3000 <= changes[1].row <= 3080


def test_the_latest_changes_overwrite_the_oldest():
    watch = drift.first_watch(N_AGES)
    for number in range(MOST_CHANGES + 6):
        drift._remember(100 * number + 50, 100 * number, watch)
        n_rows = 100 * number + 51
        check(watch, n_rows)
        known = drift_of(watch)
        assert known.n_changes == number + 1
        first = max(0, number + 1 - MOST_CHANGES)
        assert known.changes == [Change(100 * past, 100 * past + 50) for past in range(first, number + 1)]


def test_without_ages_nothing_is_noticed():
    watch = watched(stream(0, 50, lambda row: [0.5], n_ages=0), n_ages=0)
    assert drift_of(watch) == (0.0, [], 0)
    check(watch, 0)


FORGED = {
    "a bet that lost more than its stake": ("capital", (0, 0), 0.05),
    "a fortune": ("capital", (1, 2), N_AGES * len(STAKES) / ALARM),
    "a bet from before the stream": ("begun", (0, 1), -1),
    "a bet from the future": ("begun", (0, 1), 2000),
    "mistakes below none": ("mistakes", 0, -0.1),
    "mistakes on more than all rows": ("mistakes", 1, 1.1),
    "neither standing nor not": ("stands", 0, 2),
    "another latest change": ("stands", 1, 1499),
    "a change before the stream": ("changes", (0, 0), -1),
    "a change noticed before it began": ("changes", (0, 1), 1400),
    "a change noticed in the future": ("changes", (0, 1), 2000),
    "a change that is not counted": ("changes", (5, 0), 3),
    "fewer changes than none": ("n_changes", 0, -1),
    "changes that are not noted": ("n_changes", 0, 2),
    "no change in spite of one": ("n_changes", 0, 0),
    "more changes than rows": ("n_changes", 0, 2001),
}


@pytest.mark.parametrize("name", FORGED)
def test_watches_that_no_stream_can_have_left_are_refused(name):
    watch = watched(stream(0, 2000, swap(1500)))
    assert drift_of(watch).n_changes == 1
    field, place, value = FORGED[name]
    getattr(watch, field)[place] = value
    with pytest.raises(ValueError, match="invalid"):
        check(watch, 2000)


def test_a_change_needs_an_end_of_standing():
    watch = drift.first_watch(N_AGES)
    watch.stands[0] = 0
    with pytest.raises(ValueError, match="invalid state"):
        check(watch, 10)
