"""What every compiled ensemble does to a row, under one name; the type of its forest selects the kernel.

A native ensemble has a ``forest`` (its arrays and rules) and scratch memory, and grows its arrays between kernel calls.
Kernels never allocate: they stop before a row for which the arrays might be too small, and report it.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Self

import numpy as np
from numba.extending import overload

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.parts import PART_OPTIONS

_KERNELS: dict[type, ModuleType] = {}

# What ``scratch.remembers`` says: a row that is voted on may be learned next, so that learners may record what they
# find out for their vote; a row that is learned was voted on with nothing learned since, so they may recall it.
FORGET, RECORD, RECALL = range(3)


def register_forest(forest: type, kernels: ModuleType) -> None:
    """Register the kernels for a kind of forest: ``is_full``, ``vote_row``, ``vote_and_learn_row``, ``look_ahead``.

    The last is optional: a row by itself finds most of a large forest out of the processor's cache.
    """
    _KERNELS[forest] = kernels


def _kernels(forest: Any) -> ModuleType:
    """The kernels for a forest, or for Numba's type of it."""
    return _KERNELS[getattr(forest, "instance_class", type(forest))]


# Each function is what the interpreter runs; its overload, further down, is what Numba compiles. An overload must
# return a Python function: hence the lambdas.


def is_full(forest: Any, learner: int, scratch: Any) -> Any:
    """Whether a learner's arrays might be too small for its next row."""
    return _kernels(forest).is_full(forest, learner, scratch)


def vote_row(forest: Any, learner: int, x: FloatArray, scratch: Any, n_classes: int, out: FloatArray) -> None:
    """Vote on one row."""
    _kernels(forest).vote_row(forest, learner, x, scratch, n_classes, out)


def vote_and_learn_row(
    forest: Any, learner: int, x: FloatArray, label_weights: FloatArray, scratch: Any, n_classes: int, out: FloatArray
) -> None:
    """Vote on one row with what is known, then learn its label weights."""
    _kernels(forest).vote_and_learn_row(forest, learner, x, label_weights, scratch, n_classes, out)


def look_ahead(forest: Any, x: FloatArray, scratch: Any, is_learned: bool) -> None:
    """Fetch from memory what all learners need for a row, if their kernels can."""


@overload(look_ahead, strict=False, jit_options=PART_OPTIONS)
def _choose_look_ahead(forest: Any, x: Any, scratch: Any, is_learned: Any) -> Any:
    chosen = getattr(_kernels(forest), "look_ahead", None)
    if chosen is None:
        return lambda forest, x, scratch, is_learned: None
    return lambda forest, x, scratch, is_learned: chosen(forest, x, scratch, is_learned)


@overload(is_full, strict=False, jit_options=PART_OPTIONS)
def _choose_is_full(forest: Any, learner: Any, scratch: Any) -> Any:
    chosen = _kernels(forest).is_full
    return lambda forest, learner, scratch: chosen(forest, learner, scratch)


@overload(vote_row, strict=False, jit_options=PART_OPTIONS)
def _choose_vote_row(forest: Any, learner: Any, x: Any, scratch: Any, n_classes: Any, out: Any) -> Any:
    chosen = _kernels(forest).vote_row
    return lambda forest, learner, x, scratch, n_classes, out: chosen(forest, learner, x, scratch, n_classes, out)


@overload(vote_and_learn_row, strict=False, jit_options=PART_OPTIONS)
def _choose_vote_and_learn_row(
    forest: Any, learner: Any, x: Any, label_weights: Any, scratch: Any, n_classes: Any, out: Any
) -> Any:
    chosen = _kernels(forest).vote_and_learn_row
    return lambda forest, learner, x, label_weights, scratch, n_classes, out: chosen(
        forest, learner, x, label_weights, scratch, n_classes, out
    )


@kernel(error_model="numpy")
def vote_rows(forest: Any, learner: int, block: FloatArray, scratch: Any, out: FloatArray) -> None:
    """Vote on every row."""
    for row in range(block.shape[0]):
        vote_row(forest, learner, block[row], scratch, out.shape[1], out[row])


@kernel(error_model="numpy")
def vote_and_learn_rows(
    forest: Any,
    learner: int,
    block: FloatArray,
    first_row: int,
    label_weights: FloatArray,
    scratch: Any,
    out: FloatArray,
) -> int:
    """Vote on each row, then learn it; returns the row at which the learner's arrays were full, or the end."""
    for row in range(first_row, block.shape[0]):
        if is_full(forest, learner, scratch):
            return row
        for j in range(label_weights.shape[1]):
            scratch.taught[j] = label_weights[row, j]
        vote_and_learn_row(forest, learner, block[row], scratch.taught, scratch, out.shape[1], out[row])
    return int(block.shape[0])


class NativeEnsemble(ABC):
    """Weak learners held side by side in arrays (see ``contract.WeakEnsemble``)."""

    name: str
    takes_weights = True
    max_classes: int | None = None
    forest: Any  # the learners and their rules, for kernels
    rules: Any  # a named tuple of numbers
    trees: Any  # a named tuple of arrays
    version: int  # of the schema that the trees have grown to
    nominal: Any  # the columns of numbers that are read as categories
    max_bytes: float | None  # the most that the learners may take
    n_sharing: int  # learners that divide it among them: those of the whole ensemble, also in a part of it

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:  # noqa: B027
        """Trees take any row."""

    @abstractmethod
    def prepare(self, block: Block, *, learning: bool) -> FloatArray:
        """The rows as a matrix, after growing the learners to hold them."""

    @property
    def has_places(self) -> bool:
        """Whether ``places`` says how a row is laid out."""
        return False

    def places(self) -> tuple[IntArray, IntArray]:
        """For every place of a row, the column that it comes from, and the category that it stands for.

        Columns are those of the schema, -1 for none; in place of a category, -1 is the column's number itself.
        """
        raise TypeError(f"{self.name} lays rows out in a way of its own")

    @abstractmethod
    def scratch(self) -> Any:
        """Memory for one thread to work in."""

    @abstractmethod
    def grow_classes(self, n_classes: int) -> None:
        """Make the arrays hold more classes."""

    @abstractmethod
    def grow(self) -> None:
        """Make every learner's arrays larger."""

    @abstractmethod
    def least_bytes(self, widths: Widths, n_classes: int) -> int:
        """The least memory in which the learners can work, with so many columns, categories and classes."""

    @property
    def n_bytes(self) -> int:
        """Memory used by the learners."""
        return sum(array.nbytes for array in self.forest.trees)

    def is_full(self, learner: int) -> bool:
        """Whether a learner's arrays might be too small for its next row."""
        compiled: Any = _kernels(self.forest).is_full  # for other kernels: asked so seldom, it is not worth compiling
        return bool(getattr(compiled, "py_func", compiled)(self.forest, learner, self.scratch()))

    def vote(self, learner: int, rows: FloatArray, out: FloatArray) -> None:
        self.grow_classes(out.shape[1])
        vote_rows(self.forest, learner, rows, self.scratch(), out)

    def vote_and_learn(self, learner: int, rows: FloatArray, label_weights: FloatArray, out: FloatArray) -> None:
        self.grow_classes(out.shape[1])
        row = 0
        while row < len(rows):
            row = vote_and_learn_rows(self.forest, learner, rows, row, label_weights, self.scratch(), out)
            if row < len(rows):
                self.grow()

    def part(self, first: int, end: int) -> Self:
        """Some of the learners as an ensemble of their own, in which they learn and draw as they do here."""
        part = object.__new__(type(self))
        vars(part).update(vars(self), nominal=copy.deepcopy(self.nominal))
        part.trees = type(self.trees)(*(array[first:end].copy() for array in self.trees))
        return part

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The whole ensemble again, from its parts in order."""

    def settings(self) -> dict[str, Any]:
        others = ("max_nodes", "max_slots", "slot_capacity", "held_from")  # the limits change with the memory of a leaf
        rules = {key: value for key, value in self.rules._asdict().items() if key not in others}
        return {key: value.item() if isinstance(value, np.generic) else value for key, value in rules.items()}

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What the learners have learned, as numbers, strings and arrays."""

    @abstractmethod
    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        """Restore what ``state`` returned in new learners; raises ``ValueError`` if it is invalid."""
