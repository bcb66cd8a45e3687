"""Labels, features and categories as the numbers that games and learners work with.

Both registries grow and never reorder: an index, once given, means the same thing for the life of the model. They
plan before they grow. ``plan`` reads a whole block, raises if anything in it cannot be used, and says at which rows
something new appears; nothing changes until the planned additions are applied. Blocks are cut at those rows, because
a game padded with a label that nobody has seen yet would make other moves.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.errors import InvalidInputError

Label: TypeAlias = Hashable
Value: TypeAlias = float | int | bool | str | None  # None marks a missing value
Row: TypeAlias = dict[Hashable, Value]  # names in sorted order

NUMBER = "numbers"
TEXT = "text"


def as_label(label: object, where: str) -> Label:
    """A label as it will come back: NumPy scalars as Python scalars. ``where`` says whose it is, if it is none."""
    if isinstance(label, np.generic) and not isinstance(label, np.datetime64 | np.timedelta64):
        label = label.item()  # of a date it would be an integer, or not, depending on the unit
    try:
        hash(label)
    except Exception:
        raise InvalidInputError(
            f"{where} is {label!r}, a {type(label).__name__}, which cannot be a dictionary key; "
            "use a number, a string or a tuple."
        ) from None
    if _is_missing(label):
        raise InvalidInputError(f"{where} is missing ({label!r}); drop such rows before learning.")
    return label


def _is_missing(value: object) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124, true of NaN and NaT only
    except (TypeError, ValueError, ArithmeticError):
        return type(value).__name__ == "NAType"  # pandas' NA has no truth value; arrays have none either


class Labels:
    """Labels and their indices. With ``classes`` given the set is closed, as in the paper; else it grows."""

    def __init__(self, classes: Iterable[object] | None = None) -> None:
        self.closed = classes is not None
        self.known: list[Label] = []
        self._index: dict[Label, int] = {}
        for label in () if classes is None else classes:
            self.add(as_label(label, f"label {len(self.known)} of classes"))

    def __len__(self) -> int:
        return len(self.known)

    def add(self, label: Label) -> None:
        self._index[label] = len(self.known)
        self.known.append(label)

    def plan(self, labels: Sequence[Label]) -> dict[int, Label]:
        """New labels by the row that brings them."""
        if self._index.keys() >= set(labels):  # nearly always, and half of the loop's time
            return {}
        new: dict[Label, int] = {}
        for row, label in enumerate(labels):
            if label not in self._index and label not in new:
                if self.closed:
                    raise InvalidInputError(
                        f"y: the label at row {row} is {label!r}, which is not among classes={self.known!r}; "
                        "add it there, or leave classes=None to let the label set grow."
                    )
                new[label] = row
        return {row: label for label, row in new.items()}

    def indices(self, labels: Sequence[Label]) -> IntArray:
        """The index of each label, -1 for those that are not known."""
        # 62 microseconds for a block of 1,024 labels; a comprehension takes 88.
        return np.fromiter(map(self._index.get, labels, repeat(-1)), dtype=np.int64, count=len(labels))


def sorted_names(names: Iterable[Hashable]) -> list[Hashable]:
    """Names in an order that does not depend on how they arrived."""
    names = list(names)
    if all(type(name) is str for name in names) or all(type(name) is int for name in names):
        return sorted(names)  # type: ignore[type-var]
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
    if _is_missing(value):
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


def _mixed(value: object, name: Hashable, row: int, known: str) -> InvalidInputError:
    return InvalidInputError(
        f"X: column {name!r} at row {row} is {value!r}, but the column held {known} before; "
        "convert the whole column to one of the two."
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
            values = values.take([list(names).index(name) for name in order], axis=1)
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


@dataclass(frozen=True)
class Piece:
    """Rows that are learned or voted on together: dicts for whoever asks for them, and once as a matrix of codes."""

    rows: Sequence[Row]
    schema: Schema

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def codes(self) -> FloatArray:
        """One column per known feature (see ``Schema.encode``); shared, so not to be written to."""
        return self.schema.encode(self.rows)


class Additions(NamedTuple):
    """What one row brings that the schema does not hold yet."""

    kinds: dict[Hashable, str | None]  # new columns, and columns whose kind shows for the first time
    categories: list[tuple[Hashable, str]]


class Schema:
    """Columns in order of appearance, whether they hold numbers or text, and the categories of text columns."""

    def __init__(self) -> None:
        self.kinds: dict[Hashable, str | None] = {}  # None: present so far only as a missing value
        self.categories: dict[Hashable, dict[str, int]] = {}
        self.version = 0  # counts what was applied: who has seen this version has seen all

    def plan(self, rows: Sequence[Row]) -> dict[int, Additions]:
        """Additions by the row that brings them; raises if a column mixes numbers and text."""
        if isinstance(rows, NumberRows):
            return self._plan_numbers(rows)
        plan: dict[int, Additions] = {}
        kinds: dict[Hashable, str | None] = {}
        categories: set[tuple[Hashable, str]] = set()
        for number, row in enumerate(rows):
            added = Additions({}, [])
            for name, value in row.items():
                kind = None if value is None else TEXT if isinstance(value, str) else NUMBER
                known = kinds[name] if name in kinds else self.kinds.get(name)
                if known is not None and kind is not None and kind != known:
                    raise _mixed(value, name, number, known)
                if (name not in kinds and name not in self.kinds) or (known is None and kind is not None):
                    kinds[name] = added.kinds[name] = kind
                if isinstance(value, str):
                    category = (name, value)
                    if value not in self.categories.get(name, ()) and category not in categories:
                        categories.add(category)
                        added.categories.append(category)
            if added.kinds or added.categories:
                plan[number] = added
        return plan

    def _plan_numbers(self, rows: NumberRows) -> dict[int, Additions]:
        """The same plan for a matrix, column by column."""
        plan: dict[int, Additions] = {}
        for column, name in enumerate(rows.names):
            known = self.kinds.get(name)
            if known == NUMBER or len(rows) == 0:
                continue
            values = rows.numbers[:, column]
            present = np.flatnonzero(~np.isnan(values))
            if known == TEXT and len(present):
                raise _mixed(float(values[present[0]]), name, int(present[0]), known)
            if name not in self.kinds:
                plan.setdefault(0, Additions({}, [])).kinds[name] = None
            if len(present) and known is None:
                plan.setdefault(int(present[0]), Additions({}, [])).kinds[name] = NUMBER
        return plan

    def apply(self, additions: Additions) -> None:
        self.version += 1
        self.kinds.update(additions.kinds)
        for name, category in additions.categories:
            codes = self.categories.setdefault(name, {})
            codes[category] = len(codes)

    def encode(self, rows: Sequence[Row]) -> FloatArray:
        """A matrix with one column per known feature: numbers as they are, categories by code, NaN for the rest."""
        if isinstance(rows, NumberRows) and list(self.kinds) == rows.names:
            return np.ascontiguousarray(rows.numbers)
        encoded = np.full((len(rows), len(self.kinds)), np.nan)
        columns = [(name, self.categories.get(name, {})) for name in self.kinds]
        for number, row in enumerate(rows):
            for column, (name, codes) in enumerate(columns):
                value = row.get(name)
                if isinstance(value, str):
                    encoded[number, column] = codes.get(value, np.nan)
                elif value is not None:
                    encoded[number, column] = value
        return encoded
