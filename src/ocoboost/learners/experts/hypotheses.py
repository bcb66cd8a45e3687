"""Finite hypothesis classes: how large they are, what their members say, and which of them was best.

    StumpClass            k-way stumps on a grid; exponentially large, searched by dynamic programming
    WeightMatrixClass     argmax of W x over matrices W with entries on a grid; enumerated
    TableClass            functions on a finite domain, written out as a table
    FunctionClass         any list of functions

Labels are indices. ``best_in_class(X, gains)`` takes rows ``X`` and, for every row, the gain of saying each label; it
returns the most that one member gains on all rows, and that member.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.errors import InvalidInputError, InvalidParameterError

# A class of a million members takes 8 MB and some milliseconds per row and learner.
MOST_MEMBERS = 1_000_000


class Best(NamedTuple):
    """The best member of a class in hindsight."""

    value: float  # what it gains in all
    hypothesis: Callable[[Any], IntArray]  # from rows to labels


@contextmanager
def naming_row(number: int) -> Iterator[None]:
    """Put the number of a row in front of what is wrong with it."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"X: row {number} {error}") from error


class HypothesisClass(ABC):
    """A finite set of functions from rows to labels."""

    n_classes: int

    @property
    @abstractmethod
    def log_size(self) -> float:
        """The natural logarithm of the number of members."""

    @abstractmethod
    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        """The member that gains most; ``gains`` has shape (rows, classes). Ties go to the first member."""

    def _checked(self, X: Any, gains: FloatArray) -> FloatArray:
        gains = np.ascontiguousarray(gains, dtype=np.float64)
        if gains.shape != (len(X), self.n_classes):
            raise InvalidInputError(
                f"gains: the shape is {gains.shape}, but {len(X)} rows and {self.n_classes} classes need "
                f"{(len(X), self.n_classes)}; give one gain per row and label."
            )
        return gains


class EnumeratedClass(HypothesisClass):
    """A class small enough to look at every member."""

    may_raise = False  # whether its members are the user's code

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of members."""

    @property
    def log_size(self) -> float:
        return math.log(self.size)

    @abstractmethod
    def labels(self, row: Any) -> IntArray:
        """What each member says to one row."""

    def member(self, number: int) -> Callable[[Any], IntArray]:
        """One member, as a function from rows to labels."""
        return Member(self, number)

    def best_in_class(self, X: Any, gains: FloatArray) -> Best:
        totals = np.zeros(self.size)
        for number, (row, gained) in enumerate(zip(X, self._checked(X, gains), strict=True)):
            with naming_row(number):
                totals += gained[self.labels(row)]
        best = int(np.argmax(totals))
        return Best(float(totals[best]), self.member(best))


@dataclass(frozen=True)
class Member:
    """A member of an enumerated class, by its number."""

    hypothesis_class: EnumeratedClass
    number: int

    def __call__(self, X: Any) -> IntArray:
        return np.array([self.hypothesis_class.labels(row)[self.number] for row in X], dtype=np.int64)


class FunctionClass(EnumeratedClass):
    """Any functions from a row to the index of a label.

    >>> constants = FunctionClass([lambda x: 0, lambda x: 1], n_classes=2)
    >>> value, best = constants.best_in_class([{}, {}, {}], np.eye(2)[[0, 1, 1]])
    >>> value, best([{}])
    (2.0, array([1]))
    """

    may_raise = True

    def __init__(self, hypotheses: Sequence[Callable[[Any], int]], n_classes: int) -> None:
        if len(hypotheses) == 0:
            raise InvalidParameterError("FunctionClass: hypotheses must hold at least one function, got none.")
        self.hypotheses = list(hypotheses)
        self.n_classes = n_classes

    @property
    def size(self) -> int:
        return len(self.hypotheses)

    def labels(self, row: Any) -> IntArray:
        said = np.empty(self.size, dtype=np.int64)
        for number, hypothesis in enumerate(self.hypotheses):
            try:
                said[number] = hypothesis(row)
            except Exception as error:
                raise InvalidInputError(
                    f"makes hypothesis {number} raise {type(error).__name__}: {error}; it must take any row."
                ) from error
            if not 0 <= said[number] < self.n_classes:
                raise InvalidInputError(
                    f"makes hypothesis {number} say {said[number]}, which is not a label index below {self.n_classes}; "
                    "return the index of a label in `classes`."
                )
        return said


class TableClass(EnumeratedClass):
    """Functions on the points 0, 1, ... of a finite domain: ``table[hypothesis, point]`` is a label index.

    >>> TableClass(np.array([[0, 0, 1], [2, 0, 1]])).labels(0)
    array([0, 2])
    """

    def __init__(self, table: Any, n_classes: int | None = None) -> None:
        self.table: IntArray = np.array(table, dtype=np.int64)
        if self.table.ndim != 2 or self.table.size == 0 or self.table.min() < 0:
            raise InvalidParameterError(
                "TableClass: table must have one row per hypothesis, one column per point and label indices from 0, "
                f"got an array of shape {self.table.shape}."
            )
        self.n_classes = int(self.table.max()) + 1 if n_classes is None else n_classes
        if self.table.max() >= self.n_classes:
            raise InvalidParameterError(
                f"TableClass: n_classes must be above every label index in the table, got {self.n_classes} "
                f"(the table holds {self.table.max()})."
            )

    @property
    def size(self) -> int:
        return len(self.table)

    @property
    def n_points(self) -> int:
        """The number of points of the domain."""
        return int(self.table.shape[1])

    def labels(self, row: Any) -> IntArray:
        """What each member says to a point: its number, or an array that holds only its number."""
        return self.table[:, int(np.asarray(row).item())]


class WeightMatrixClass(EnumeratedClass):
    """x to the first argmax of W x, for all W of shape (classes, features) with entries on a grid of [-1, 1].

    ``n_levels`` is the paper's 1 / delta, so there are ``n_levels ** (n_classes * n_features)`` members.

    >>> WeightMatrixClass(n_features=2, n_classes=2, n_levels=3).size
    81
    """

    def __init__(self, n_features: int, n_classes: int, n_levels: int = 3, *, most_members: int = MOST_MEMBERS) -> None:
        n_members: int = n_levels ** (n_classes * n_features)
        if n_members > most_members:
            shown = f"{n_members:,}" if n_members < 10**15 else f"about 1e{math.floor(math.log10(n_members))}"
            raise InvalidParameterError(
                f"WeightMatrixClass: the class of {n_classes} x {n_features} matrices with {n_levels} levels has "
                f"{shown} members, and at most {most_members:,} are enumerated; use fewer levels or features, or "
                "boost stumps, which need no enumeration."
            )
        self.n_features, self.n_classes, self.n_levels = n_features, n_classes, n_levels
        self._n_members = n_members

    @cached_property
    def matrices(self) -> FloatArray:
        """All matrices, of shape (size, classes, features)."""
        levels = np.linspace(-1.0, 1.0, self.n_levels)
        n_entries = self.n_classes * self.n_features
        digits = np.arange(self.size)[:, None] // self.n_levels ** np.arange(n_entries - 1, -1, -1) % self.n_levels
        matrices: FloatArray = levels[digits].reshape(self.size, self.n_classes, self.n_features)
        return matrices

    @property
    def size(self) -> int:
        return self._n_members

    def labels(self, row: Any) -> IntArray:
        said = np.empty(self.size, dtype=np.int64)
        _first_argmax(self.matrices, np.asarray(row, dtype=np.float64), said)
        return said


@kernel
def _first_argmax(matrices: FloatArray, x: FloatArray, out: IntArray) -> None:
    """The first label of highest score, for every matrix. Summed in feature order: no BLAS decides about ties."""
    for number in range(matrices.shape[0]):
        highest = -np.inf
        for label in range(matrices.shape[1]):
            score = 0.0
            for feature in range(matrices.shape[2]):
                score += matrices[number, label, feature] * x[feature]
            if score > highest:
                highest = score
                out[number] = label
