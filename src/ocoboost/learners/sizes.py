"""Sizes on a coarse scale, for limits on memory that must not change with every new class or category."""

from __future__ import annotations

_DIGITS = 4  # an eighth too much at most


def rounded_up(size: int) -> int:
    """The next number with four binary digits and zeros.

    >>> [rounded_up(size) for size in (0, 7, 15, 17, 36, 1000)]
    [0, 7, 15, 18, 36, 1024]
    """
    shift = max(0, int(size).bit_length() - _DIGITS)
    return -(-size >> shift) << shift
