"""The geometric clock, by counting all that was ever born."""

from __future__ import annotations

import pytest

from ocoboost.online.mixture.ages import AGES, MOST_ORDER, UNBORN, last_birth, slots_for
from ocoboost.online.mixture.clock import LEAST_ORDER, births, is_birth, n_orders

pytestmark = pytest.mark.kernels

ROWS = [*range(300), 511, 512, 513, 1023, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 12287, 12288, 20000, 99999]


@pytest.mark.parametrize("order", [LEAST_ORDER, LEAST_ORDER + 1, 9])
def test_one_of_every_order_is_alive_at_any_row(order):
    born = [row for row in range(3000) if row % 2**order == 0 and row // 2**order % 2 == 1]
    assert born == [row for row in range(3000) if is_birth(row, order)]
    for row in range(2**order, 3000):
        assert sum(birth <= row < birth + 2 ** (order + 1) for birth in born) == 1


def test_orders_begin_with_their_first_birth():
    for row in range(2000):
        assert n_orders(row) == sum(2**order <= row for order in range(LEAST_ORDER, 12))


def test_births_are_those_in_a_range():
    every = range(7, 500, 20)
    for begin in range(0, 120, 3):
        for end in (begin, begin + 1, begin + 19, begin + 60):
            assert list(births(7, 20, begin, end)) == [row for row in every if begin <= row < end]


def test_exactly_one_member_of_every_age():
    """Whoever answers for an age was born that long ago; the youngest member has no age yet."""
    slots = slots_for(lambda number, seed: None, range(len(AGES) + 1))
    for row in ROWS:
        alive = [(row - birth, slot) for slot in slots for birth in _alive(slot, row)]
        for order in AGES:
            ages = [age for age, _ in alive if 2**order <= age < 2 ** (order + 1)]
            assert len(ages) == (row >= 2**order), (row, order)
        assert max((age for age, _ in alive), default=0) < 2 ** (MOST_ORDER + 1)


def _alive(slot, row):
    return [birth for birth in range(slot.first_birth, row + 1, slot.period) if row < birth + slot.period]


def test_the_last_birth_is_the_one_before_the_latest_row():
    for slot in slots_for(lambda number, seed: None, range(len(AGES) + 1)):
        for n_rows in ROWS:
            births_so_far = range(slot.first_birth, n_rows, slot.period)
            assert last_birth(slot, n_rows) == (births_so_far[-1] if births_so_far else UNBORN)
