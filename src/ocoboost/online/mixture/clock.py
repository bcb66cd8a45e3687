"""The geometric clock: at which rows something is born, and how long it lives.

What has order j is born at every odd multiple of 2**j and lives for 2**(j + 1) rows, until the next of its order is
born. So one of every order is alive at any row, and for every i there is exactly one whose age is in
[2**i, 2**(i + 1)): born at the multiple of 2**i in that range, whatever its own order. Where orders end, everything at
multiples of the last 2**j belongs to that order, and two of it are alive. These are the geometric covering intervals of
Daniely, Gonen & Shalev-Shwartz (2015), each continued by the one after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ocoboost.compiling import kernel

LEAST_ORDER = 5  # nothing lives for less than 64 rows


@kernel
def is_birth(row: int, order: int) -> bool:
    """Whether something of this order is born at a row.

    >>> [row for row in range(100) if is_birth(row, 4)]
    [16, 48, 80]
    """
    return (row >> order) << order == row and (row >> order) & 1 == 1


@kernel
def n_orders(row: int) -> int:
    """How many orders, from the least on, have been born by a row.

    >>> [n_orders(row) for row in (0, 31, 32, 63, 64)]
    [0, 0, 1, 1, 2]
    """
    orders = 0
    while (row >> (LEAST_ORDER + orders)) > 0:
        orders += 1
    return orders


def births(first: int, period: int, begin: int, end: int) -> Iterator[int]:
    """The rows in [begin, end) at which something is born that was first born at ``first`` and lives for a period.

    >>> list(births(16, 32, 40, 120))
    [48, 80, 112]
    """
    n_before = max(0, -(-(begin - first) // period))
    return iter(range(first + n_before * period, end, period))
