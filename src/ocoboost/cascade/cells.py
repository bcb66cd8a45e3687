"""What a booster does in a cell (row, learner) of the grid: the protocol, and its dispatch inside kernels.

    teach    what the learner is taught, given the votes of earlier learners on this row
    see      how its vote changes the row's state and (in Adaboost.OLM) what is known about the learner
    pool     what its vote adds to the prediction for a row without a label

Any order in which a cell follows the earlier learners of its row and the earlier rows of its learner gives
bit-identical results, so the same three kernels serve the loop by parts (``teach_rows`` and so on, one learner over a
block) and the fused one (``kernel.py``). The type of ``choices``, a named tuple of each kind of cells, selects the
kernels.

A new booster is one subclass of ``Cells`` with its kernels; see CONTRIBUTING.md.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numba.extending import overload

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.parts import PART_OPTIONS

Choices = TypeVar("Choices")
Rows = TypeVar("Rows", bound="Tiled")


class Kernels(NamedTuple):
    """The kernels of a kind of cells; ``number`` is a row's place in the stream, ``row`` its place in the block."""

    choices: type  # the named tuple whose type selects these kernels
    teach: Callable[..., None]  # (choices, rows, scratch, row, number, learner, out)
    see: Callable[..., None]  # (choices, rows, scratch, row, number, learner, n_classes, vote, spare)
    pool: Callable[..., None]  # as ``see``; in both ``vote`` may be overwritten


class Tiled(Protocol):
    """The state of a block's rows: a named tuple of arrays."""

    def tile(self, rows: slice) -> Any:
        """The state of some of the rows, sharing memory."""


class Cells(ABC, Generic[Choices, Rows]):
    """A booster without its learners: its settings, and what it has learned itself."""

    kernels: ClassVar[Kernels]
    n_learners: int

    _choices: tuple[int, Choices] | None = None

    def __init_subclass__(cls) -> None:
        if "kernels" in vars(cls):
            choices = cls.kernels.choices
            if _KERNELS.setdefault(choices, cls.kernels) != cls.kernels:
                raise TypeError(f"{cls.__name__}: {choices.__name__} belongs to other cells; use another named tuple.")

    # -- required ------------------------------------------------------------------------------------------------

    @abstractmethod
    def configure(self, n_classes: int) -> Choices:
        """The choices as a named tuple of numbers and arrays."""

    @abstractmethod
    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Rows:
        """The state of a block before the first learner: a named tuple of arrays whose axis 0 is the row."""

    @abstractmethod
    def answers(self, rows: Rows, n_classes: int, numbers: IntArray) -> Answers:
        """The answers after all votes; ``numbers`` are the rows' places in the stream."""

    # -- optional ------------------------------------------------------------------------------------------------

    def begin_poll(self, n_rows: int, n_classes: int) -> Rows:
        """``begin`` for rows without a label."""
        return self.begin(np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows), n_classes)

    def scratch(self, n_classes: int) -> Any:
        """Memory for one thread to work in, a named tuple of arrays."""
        return ()

    def state(self) -> dict[str, Any]:
        """What the booster itself has learned, apart from its learners, as numbers and arrays."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what ``state`` returned; raises ``ValueError`` if it is invalid."""
        if state:
            raise ValueError(f"invalid state of the booster: {', '.join(map(str, state))}")

    def adopt(self, other: Self, learners: slice) -> None:
        """Take over what another copy of these cells has learned about some of the learners."""
        theirs = other.state()
        for name, own in self.state().items():  # what cells learn is about learners: axis 0 of every array
            own[learners] = theirs[name][learners]

    def settings(self) -> dict[str, Any]:
        """The settings, as numbers and strings; boosters with equal settings and learners learn alike."""
        if not dataclasses.is_dataclass(self):
            raise TypeError(f"{type(self).__name__} must be a dataclass or define settings()")
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    # -- for the driver ------------------------------------------------------------------------------------------

    def choices(self, n_classes: int) -> Choices:
        """The choices, computed again only when the number of classes changes."""
        if self._choices is None or self._choices[0] != n_classes:
            self._choices = n_classes, self.configure(n_classes)
        return self._choices[1]

    def fused(self, n_classes: int) -> Any:
        """The choices for native ensembles; their type may select shorter kernels with the same results."""
        return self.choices(n_classes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_choices"}  # computed again when needed


_KERNELS: dict[type, Kernels] = {}


def register_kernels(kernels: Kernels) -> None:
    """Have choices of another type select other kernels (see ``Cells.fused``)."""
    _KERNELS[kernels.choices] = kernels


def kernels_for(choices: Any) -> Kernels:
    """The kernels for choices, or for Numba's type of them."""
    return _KERNELS[getattr(choices, "instance_class", type(choices))]


# Each function is what the interpreter runs; its overload, further down, is what Numba compiles.


def teach_cell(choices: Any, rows: Any, scratch: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    """Write the label weights that a learner is taught."""
    kernels_for(choices).teach(choices, rows, scratch, row, number, learner, out)


def see_cell(
    choices: Any,
    rows: Any,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    """Process a vote on a row that is learned."""
    kernels_for(choices).see(choices, rows, scratch, row, number, learner, n_classes, vote, spare)


def pool_cell(
    choices: Any,
    rows: Any,
    scratch: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    """Process a vote on a row without a label."""
    kernels_for(choices).pool(choices, rows, scratch, row, number, learner, n_classes, vote, spare)


# ruff: noqa: PLW0108, an overload must be a plain function


@overload(teach_cell, strict=False, inline="always", jit_options=PART_OPTIONS)
def _choose_teach(choices: Any, rows: Any, scratch: Any, row: Any, number: Any, learner: Any, out: Any) -> Any:
    chosen = kernels_for(choices).teach
    return lambda choices, rows, scratch, row, number, learner, out: chosen(
        choices, rows, scratch, row, number, learner, out
    )


@overload(see_cell, strict=False, inline="always", jit_options=PART_OPTIONS)
def _choose_see(
    choices: Any, rows: Any, scratch: Any, row: Any, number: Any, learner: Any, n_classes: Any, vote: Any, spare: Any
) -> Any:
    chosen = kernels_for(choices).see
    return lambda choices, rows, scratch, row, number, learner, n_classes, vote, spare: chosen(
        choices, rows, scratch, row, number, learner, n_classes, vote, spare
    )


@overload(pool_cell, strict=False, inline="always", jit_options=PART_OPTIONS)
def _choose_pool(
    choices: Any, rows: Any, scratch: Any, row: Any, number: Any, learner: Any, n_classes: Any, vote: Any, spare: Any
) -> Any:
    chosen = kernels_for(choices).pool
    return lambda choices, rows, scratch, row, number, learner, n_classes, vote, spare: chosen(
        choices, rows, scratch, row, number, learner, n_classes, vote, spare
    )
