"""Plain tables of numbers, at the speed at which their bytes can be looked at.

PyArrow, Polars and pandas take about 50 ns for a cell, and a single Hoeffding tree learns 20 of them in about one
microsecond, so that `ocoboost run` would spend half of its time on reading. Here a cell takes 18 ns, 45 if it has all
of a double's digits (PyArrow: 85). Anything out of the ordinary ends it: the chunk is then read in another way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.files.decimals import MOST_DIGITS, MOST_POWER, nearest

NOT_USED, LABEL = -1, -2  # roles of columns; a feature's role is its place in the row
UNUSUAL = -1  # instead of a number of rows
MOST_LABELS = 64  # that one chunk may hold: they are compared one by one

_LINE_FEED, _RETURN, _PLUS, _MINUS, _POINT, _ZERO, _E = (ord(byte) for byte in "\n\r+-.0e")
_LOWER = 32  # the bit that makes a letter small
# Places are unsigned: of a signed one Numba asks whether it counts from the end, for every byte.
_ONE, _TEN = np.uint64(1), np.uint64(10)


@kernel(error_model="numpy")
def read_plain(
    data: np.ndarray[Any, Any],
    delimiter: int,
    roles: IntArray,
    numbers: FloatArray,
    codes: IntArray,
    spans: IntArray,
) -> tuple[int, int]:
    """Numbers of rows and of labels, the former ``UNUSUAL`` if the chunk needs a closer look.

    ``data`` are lines without quotes, the last of them with its line feed. ``numbers`` has shape (rows, features). A
    row's code is the number of its label in ``spans``, of shape (MOST_LABELS, 2): where it first begins and ends.
    """
    size, place = np.uint64(data.size), np.uint64(0)
    row = n_labels = 0
    while place < size:
        for column in range(roles.size):
            role = roles[column]
            start = place
            if role >= 0:
                place, value = _read_number(data, place)
                numbers[row, role] = value
            else:
                while data[place] != delimiter and data[place] > _RETURN:
                    place += _ONE
            end = place
            if column < roles.size - 1:
                if data[place] != delimiter:
                    return UNUSUAL, 0
            else:
                if data[place] == _RETURN:
                    place += _ONE
                if place >= size or data[place] != _LINE_FEED:
                    return UNUSUAL, 0
            place += _ONE
            if role == LABEL:
                code = _find(data, start, end, n_labels, spans)
                if code == MOST_LABELS or start == end:
                    return UNUSUAL, 0
                n_labels = max(n_labels, code + 1)
                codes[row] = code
        row += 1
    return row, n_labels


@kernel(error_model="numpy", forceinline=True)
def _read_number(data: np.ndarray[Any, Any], place: Any) -> tuple[Any, float]:
    """Where a cell ends, and what it says, NaN if it is empty; its own place if it is not plain: no cell ends there."""
    start = place
    power: Any = 0
    is_negative = data[place] == _MINUS
    if is_negative:
        place += _ONE
    first = place
    place, digits = _read_digits(data, first, np.uint64(0))
    n_digits = np.int64(place - first)
    if data[place] == _POINT:
        decimals = place + _ONE
        place, digits = _read_digits(data, decimals, digits)
        power = -np.int64(place - decimals)
        n_digits -= power
    if n_digits == 0:
        return start, np.nan
    if n_digits > MOST_DIGITS:
        n_digits -= _count_zeros(data, first)
    if data[place] | _LOWER == _E:
        first = place + _ONE
        is_small = data[first] == _MINUS
        if is_small or data[first] == _PLUS:
            first += _ONE
        place, exponent = _read_digits(data, first, np.uint64(0))
        if not 0 < np.int64(place - first) < 4:
            return start, 0.0
        power += -np.int64(exponent) if is_small else np.int64(exponent)
    if n_digits > MOST_DIGITS or abs(power) > MOST_POWER:
        return start, 0.0
    value = nearest(digits, power)
    return place, -value if is_negative else value


@kernel(forceinline=True)
def _read_digits(data: np.ndarray[Any, Any], place: Any, number: Any) -> tuple[Any, Any]:
    """Where digits end, and the number that they make behind those of another."""
    digit = np.int64(data[place]) - _ZERO
    while 0 <= digit <= 9:
        number = _TEN * number + np.uint64(digit)
        place += _ONE
        digit = np.int64(data[place]) - _ZERO
    return place, number


@kernel
def _count_zeros(data: np.ndarray[Any, Any], place: Any) -> int:
    """Digits before the first that counts."""
    n_zeros = 0
    while data[place] == _ZERO or data[place] == _POINT:
        n_zeros += data[place] == _ZERO
        place += _ONE
    return n_zeros


@kernel(forceinline=True)
def _find(data: np.ndarray[Any, Any], start: Any, end: Any, n_labels: int, spans: IntArray) -> int:
    """The number of a label, which may be a new one."""
    for code in range(n_labels):
        first = np.uint64(spans[code, 0])
        if np.uint64(spans[code, 1]) - first == end - start:
            n_same = np.uint64(0)
            while start + n_same < end and data[start + n_same] == data[first + n_same]:
                n_same += _ONE
            if start + n_same == end:
                return code
    if n_labels < MOST_LABELS:
        spans[n_labels, 0], spans[n_labels, 1] = start, end
    return n_labels
