"""The double nearest to a decimal number, ties to even: what ``float`` makes of its text.

A whole number up to 2**53 over or times a power of ten up to 10**22 takes one operation, which rounds as it should,
since both are exact (Clinger, 1990). Else the digits are multiplied with the first 128 bits of the power of five
(Lemire, "Number parsing at a gigabyte per second", 2021); for up to 19 digits that is enough to know how to round.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ocoboost.compiling import kernel

MOST_DIGITS = 19  # those that fit into 64 bits
MOST_POWER = 64  # of ten; so no result is subnormal or infinite

_EXACT_POWER = 22
_TENS = 10.0 ** np.arange(_EXACT_POWER + 1)
_LAST_EXACT = np.uint64(2**53)


def _fives() -> np.ndarray[Any, Any]:
    """The first 128 bits of 5**power in two words each; of fractions rounded up where a number may be a tie."""
    words = []
    for power in range(-MOST_POWER, MOST_POWER + 1):
        five = 5 ** abs(power)
        if power < 0:
            first = (1 << (five.bit_length() + 127)) // five + (power >= -27)
        else:
            n_extra = five.bit_length() - 128
            first = five >> n_extra if n_extra > 0 else five << -n_extra
        words.append((first >> 64, first & (2**64 - 1)))
    return np.array(words, dtype=np.uint64)


_FIVES = _fives()
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
_ZERO, _ONE, _TWO, _THREE, _NINE, _TOP, _WORD = (np.uint64(number) for number in (0, 1, 2, 3, 9, 63, 64))
_UNSURE = np.uint64(0x1FF)  # bits of a product that more digits of the power may carry into


@kernel(forceinline=True)
def _multiply(a: Any, b: Any) -> tuple[Any, Any]:
    """The product of two words, in two words, the higher first."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low = a_low * b_low
    first, second = a_high * b_low + (low >> _HALF), a_low * b_high
    middle = (first & _LOW) + second
    return a_high * b_high + (first >> _HALF) + (middle >> _HALF), (middle << _HALF) | (low & _LOW)


@kernel(error_model="numpy", forceinline=True)
def nearest(digits: Any, power: Any) -> Any:
    """The double nearest to digits * 10**power; of an unsigned integer, and within the limits above."""
    if digits <= _LAST_EXACT and abs(power) <= _EXACT_POWER:
        whole = float(digits)
        return whole / _TENS[-power] if power < 0 else whole * _TENS[power]
    return _round_product(digits, power)


@kernel(error_model="numpy")
def _round_product(digits: Any, power: Any) -> float:
    if digits == _ZERO:
        return 0.0
    n_zeros = _WORD - np.uint64(math.frexp(np.float64(digits))[1])  # in front; one too few if that was rounded up
    if (digits << n_zeros) >> _TOP == _ZERO:
        n_zeros += _ONE
    factor = digits << n_zeros
    high, low = _multiply(factor, _FIVES[power + MOST_POWER, 0])
    if high & _UNSURE == _UNSURE:
        more, _ = _multiply(factor, _FIVES[power + MOST_POWER, 1])
        low += more
        if low < more:
            high += _ONE
    top = high >> _TOP
    n_cut = top + _NINE
    mantissa = high >> n_cut  # 54 bits: the last decides how to round
    is_tie = low <= _ONE and -4 <= power <= 23 and mantissa & _THREE == _ONE and mantissa << n_cut == high
    if not is_tie:
        mantissa += mantissa & _ONE
    log_of_power = 217706 * power >> 16  # 217706 / 2**16 is log2(10), to five digits
    return math.ldexp(float(mantissa >> _ONE), log_of_power + 11 + np.int64(top) - np.int64(n_zeros))
