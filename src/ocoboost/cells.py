"""One name for what happens in a cell (row, learner) of the grid; the type of the loop says which booster is meant.

    teach_cell    what the learner is taught, from what the learners before it said to this row
    see_cell      what its vote changes: the row's state, and (in Adaboost.OLM) the learner's place in the booster
    pool_cell     the same without a label: what its vote adds to the prediction

A loop is a named tuple of choices and of what belongs to learners; games are what belongs to rows, axis 0 always the
row. Any order of cells in which a cell follows its row's earlier learners and its learner's earlier rows will do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.extending import overload

from ocoboost import games as playing
from ocoboost import logistic, majority
from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel


class Kernels(NamedTuple):
    """What a kind of loop does."""

    teach: Any
    see: Any
    pool: Any


_KERNELS: dict[type, Kernels] = {
    playing.Loop: Kernels(playing.teach_by_play, playing.play_on, None),
    playing.Poll: Kernels(None, None, playing.pool),
    majority.Majority: Kernels(majority.teach, majority.see, majority.pool),
    logistic.Logistic: Kernels(logistic.teach, logistic.see, logistic.pool),
}


def _kernels(loop: Any) -> Kernels:
    """The kernels for a loop, or for Numba's type of it."""
    return _KERNELS[getattr(loop, "instance_class", type(loop))]


def teach_cell(loop: Any, games: Any, room: Any, row: int, number: int, learner: int, out: FloatArray) -> None:
    """The label weights for a learner; ``row`` counts in the block, ``number`` in the stream."""
    _kernels(loop).teach(loop, games, room, row, number, learner, out)


def see_cell(
    loop: Any,
    games: Any,
    room: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    """Take note of a vote; it may be overwritten."""
    _kernels(loop).see(loop, games, room, row, number, learner, n_classes, vote, spare)


def pool_cell(
    loop: Any,
    games: Any,
    room: Any,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    """Take note of a vote on a row without a label."""
    _kernels(loop).pool(loop, games, room, row, number, learner, n_classes, vote, spare)


# ruff: noqa: PLW0108, an overload must be a plain function


@overload(teach_cell, strict=False, inline="always")
def _choose_teach(loop: Any, games: Any, room: Any, row: Any, number: Any, learner: Any, out: Any) -> Any:
    chosen = _kernels(loop).teach
    return lambda loop, games, room, row, number, learner, out: chosen(loop, games, room, row, number, learner, out)


@overload(see_cell, strict=False, inline="always")
def _choose_see(
    loop: Any, games: Any, room: Any, row: Any, number: Any, learner: Any, n_classes: Any, vote: Any, spare: Any
) -> Any:
    chosen = _kernels(loop).see
    return lambda loop, games, room, row, number, learner, n_classes, vote, spare: chosen(
        loop, games, room, row, number, learner, n_classes, vote, spare
    )


@overload(pool_cell, strict=False, inline="always")
def _choose_pool(
    loop: Any, games: Any, room: Any, row: Any, number: Any, learner: Any, n_classes: Any, vote: Any, spare: Any
) -> Any:
    chosen = _kernels(loop).pool
    return lambda loop, games, room, row, number, learner, n_classes, vote, spare: chosen(
        loop, games, room, row, number, learner, n_classes, vote, spare
    )


# Whole blocks of one learner, for ensembles that are not compiled.


@kernel(error_model="numpy")
def teach_rows(loop: Any, games: Any, room: Any, first_row: int, learner: int, out: FloatArray) -> None:
    """``teach_cell`` for every row."""
    for row in range(out.shape[0]):
        teach_cell(loop, games, room, row, first_row + row, learner, out[row])


@kernel(error_model="numpy")
def see_rows(
    loop: Any, games: Any, room: Any, first_row: int, learner: int, votes: FloatArray, spare: FloatArray
) -> None:
    """``see_cell`` for every row."""
    for row in range(votes.shape[0]):
        see_cell(loop, games, room, row, first_row + row, learner, votes.shape[1], votes[row], spare)


@kernel(error_model="numpy")
def pool_rows(
    loop: Any, games: Any, room: Any, first_row: int, learner: int, votes: FloatArray, spare: FloatArray
) -> None:
    """``pool_cell`` for every row; what is drawn is drawn at ``first_row``, the number of rows learned."""
    for row in range(votes.shape[0]):
        pool_cell(loop, games, room, row, first_row, learner, votes.shape[1], votes[row], spare)
