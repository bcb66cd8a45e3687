"""Rows of features: names in a fixed order, plain Python values, None for what is missing.

A table of nothing but numbers is never taken apart: ``NumberRows`` hands out dicts to whoever asks for one, and the
matrix itself to compiled learners.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.errors import InvalidInputError

Value: TypeAlias = float | int | bool | str | None  # None marks a missing value
Row: TypeAlias = dict[Hashable, Value]  # names in sorted order


def is_missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124, true of NaN and NaT only
    except (TypeError, ValueError, ArithmeticError):
        return type(value).__name__ == "NAType"  # pandas' NA has no truth value; arrays have none either


def holds_nan(value: object) -> bool:
    """Whether a value is NaN, or a tuple with NaN in it: such a key would not be found again in a copy of its dict."""
    if isinstance(value, tuple):
        return any(map(holds_nan, value))
    return value is not None and is_missing(value)


def sorted_names(names: Iterable[Hashable]) -> list[Hashable]:
    """Names in an order that does not depend on how they arrived."""
    names = list(names)
    if all(type(name) is str for name in names) or all(type(name) is int for name in names):
        return sorted(names)  # type: ignore[type-var]
    for name in filter(holds_nan, names):
        raise InvalidInputError(f"X: a column is named {name!r}, and NaN is not equal to itself; rename the column.")
    return sorted(names, key=lambda name: (type(name).__name__, repr(name)))  # sets and NaN have no total order


def as_row(x: Mapping[Any, Any], row: int) -> Row:
    """One row of features: names sorted, NumPy scalars as Python scalars, missing values as None."""
    return {name: _as_value(x[name], name, row) for name in sorted_names(x)}


def _as_value(value: object, name: Hashable, row: int) -> Value:
    if isinstance(value, float):  # most values, and np.float64 is one of them
        if math.isfinite(value):
            return float(value)
        if math.isnan(value):
            return None
        raise _infinite(value, name, row)
    if isinstance(value, np.floating | np.integer | np.bool_ | np.str_):
        return _as_value(float(value) if isinstance(value, np.longdouble) else value.item(), name, row)
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, also of an Enum's member
    if isinstance(value, numbers.Real):
        try:
            float(value)
        except OverflowError:
            raise _infinite(value, name, row) from None
        return value  # type: ignore[return-value]
    if is_missing(value):
        return None
    raise InvalidInputError(
        f"X: column {name!r} at row {row} is {value!r}, a {type(value).__name__}; "
        "features are numbers, text, or missing (NaN, None or left out): convert it first."
    )


def _infinite(value: object, name: Hashable, row: int) -> InvalidInputError:
    return InvalidInputError(
        f"X: column {name!r} at row {row} is {value!r}, which is not a finite number; "
        "clip it, or mark it as missing with NaN."
    )


class NumberRows(Sequence[Row]):
    """Rows of a matrix of numbers: dicts for whoever asks for one, and the matrix itself for compiled learners."""

    def __init__(
        self, names: Sequence[Hashable], values: np.ndarray[Any, Any], numbers: FloatArray | None = None
    ) -> None:
        self.names = names  # sorted
        self.values = values  # (rows, columns), of the caller's type
        # NaN where missing; perhaps the caller's own array, so not to be written to.
        self.numbers = np.ascontiguousarray(values, dtype=np.float64) if numbers is None else numbers

    @classmethod
    def read(cls, names: Sequence[Hashable], values: np.ndarray[Any, Any]) -> NumberRows:
        """Sort the columns by name; raises for an infinite value."""
        order = sorted_names(names)
        if order != list(names):
            places = {name: place for place, name in enumerate(names)}
            values = values.take([places[name] for name in order], axis=1)
        rows = cls(order, values)
        is_infinite = np.isinf(rows.numbers)
        if is_infinite.any():
            row, column = (int(number) for number in np.argwhere(is_infinite)[0])
            raise _infinite(float(rows.numbers[row, column]), order[column], row)
        return rows

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> NumberRows: ...

    def __getitem__(self, index: int | slice) -> Row | NumberRows:
        if isinstance(index, slice):
            return NumberRows(self.names, self.values[index], self.numbers[index])
        return as_row(dict(zip(self.names, self.values[index].tolist(), strict=True)), index)


class CheckedRows(Sequence[Row]):
    """Rows that ``as_row`` or a reader of files has made: nobody needs to check them again."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> CheckedRows: ...

    def __getitem__(self, index: int | slice) -> Row | CheckedRows:
        return CheckedRows(self.rows[index]) if isinstance(index, slice) else self.rows[index]


def require_numbers(rows: Sequence[Row], learner: str) -> None:
    """Raise if a row holds text; ``learner`` says who takes none."""
    if isinstance(rows, NumberRows):
        return
    for number, row in enumerate(rows):
        for name, value in row.items():
            if isinstance(value, str):
                raise InvalidInputError(
                    f"X: column {name!r} at row {number} is the text {value!r}, and {learner} takes numbers "
                    "only; encode it first, or boost a tree that takes text."
                )
