"""The grid of cells in compiled loops.

``learn_block`` and ``poll_block`` carry a block through all learners of a native ensemble in one kernel: votes and
label weights of one cell live in scratch memory and never become matrices. ``teach_rows``, ``see_rows`` and
``pool_rows`` are the same cells for one learner and a whole block, for ensembles that are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ocoboost.announcing import announce_compilation
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.cells import pool_cell, see_cell, teach_cell
from ocoboost.cascade.native import is_full, vote_and_learn_row, vote_row
from ocoboost.compiling import kernel, uncached

announce_compilation()  # what follows takes long to compile, when it is first used

_PACKAGE = __name__.partition(".")[0]


class Span(NamedTuple):
    """Some learners of a cascade, by their numbers; a forest may hold fewer than all of them."""

    first: int
    end: int
    held_from: int  # the number of the first learner that the forest holds


@kernel(error_model="numpy")
def learn_block(
    forest: Any,
    scratch: Any,
    choices: Any,
    rows: Any,
    cell_scratch: Any,
    features: FloatArray,
    n_classes: int,
    first_row: int,
    learners: Span,
    reached: IntArray,
) -> bool:
    """Teach a block to a range of learners, starting from the cell ``reached`` (learner, row).

    Returns false if it stopped because a learner's arrays are full; ``reached`` is then the cell to resume from.
    """
    taught, vote, spare = scratch.taught, scratch.vote, scratch.slope
    for learner in range(reached[0], learners.end):
        held = learner - learners.held_from
        for row in range(reached[1], features.shape[0]):
            if is_full(forest, held, scratch):
                reached[0] = learner
                reached[1] = row
                return False
            teach_cell(choices, rows, cell_scratch, row, first_row + row, learner, taught)
            vote_and_learn_row(forest, held, features[row], taught, scratch, n_classes, vote)
            see_cell(choices, rows, cell_scratch, row, first_row + row, learner, n_classes, vote, spare)
        reached[1] = 0
    reached[0] = learners.end
    return True


@kernel(error_model="numpy")
def poll_block(
    forest: Any,
    scratch: Any,
    choices: Any,
    rows: Any,
    cell_scratch: Any,
    features: FloatArray,
    n_classes: int,
    n_learned: int,
    learners: Span,
) -> None:
    """Pool the votes of a range of learners on every row; nothing is learned."""
    vote, spare = scratch.vote, scratch.slope
    for learner in range(learners.first, learners.end):
        for row in range(features.shape[0]):
            vote_row(forest, learner - learners.held_from, features[row], scratch, n_classes, vote)
            pool_cell(choices, rows, cell_scratch, row, n_learned, learner, n_classes, vote, spare)


@kernel(error_model="numpy")
def teach_rows(choices: Any, rows: Any, cell_scratch: Any, first_row: int, learner: int, out: FloatArray) -> None:
    """``teach_cell`` for every row."""
    for row in range(out.shape[0]):
        teach_cell(choices, rows, cell_scratch, row, first_row + row, learner, out[row])


@kernel(error_model="numpy")
def see_rows(
    choices: Any, rows: Any, cell_scratch: Any, first_row: int, learner: int, votes: FloatArray, spare: FloatArray
) -> None:
    """``see_cell`` for every row."""
    for row in range(votes.shape[0]):
        see_cell(choices, rows, cell_scratch, row, first_row + row, learner, votes.shape[1], votes[row], spare)


@kernel(error_model="numpy")
def pool_rows(
    choices: Any, rows: Any, cell_scratch: Any, n_learned: int, learner: int, votes: FloatArray, spare: FloatArray
) -> None:
    """``pool_cell`` for every row; draws are keyed by the number of rows learned."""
    for row in range(votes.shape[0]):
        pool_cell(choices, rows, cell_scratch, row, n_learned, learner, votes.shape[1], votes[row], spare)


class Grid(NamedTuple):
    """The five kernels above, for one kind of cells."""

    learn_block: Callable[..., bool]
    poll_block: Callable[..., None]
    teach_rows: Callable[..., None]
    see_rows: Callable[..., None]
    pool_rows: Callable[..., None]


_OURS = Grid(learn_block, poll_block, teach_rows, see_rows, pool_rows)


_others: dict[type, Grid] = {}


def grid_for(choices: Any) -> Grid:
    """The kernels for a kind of cells; for cells of other packages they are not cached on disk."""
    kind = type(choices)
    if kind.__module__.partition(".")[0] == _PACKAGE:
        return _OURS
    if kind not in _others:
        _others[kind] = Grid._make(uncached(compiled, error_model="numpy") for compiled in _OURS)
    return _others[kind]
