"""Exponential weights over all stumps, exactly, in time polynomial in features, cells, pieces and classes.

A stump of one feature is a way to put cells 0, 1, ... into pieces, in order and leaving some empty, with a label for
every piece. Its weight is the product over cells of exp(rate * gain of its label there). So the sum over all stumps
runs over cells like the sum over paths of a hidden Markov chain: what matters of the cells passed so far is the piece
and the label of the last. The vote on a row needs the stumps by their label in the row's cell: the paths that reach
it from the left, and from the right (the same sum in a mirror), multiplied.

The prior weighs the labels of a piece 1/k each, so that empty pieces sum to one; constants that all stumps share are
left out.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import empty, int64

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.learners.experts.wide import NOTHING, wide_add, wide_exp, wide_multiply, wide_ratio


class Paths(NamedTuple):
    """Sums over paths, as wide numbers; axes are the piece and the label of the next cell, before its own weight."""

    mantissas: FloatArray  # (pieces, classes)
    steps: IntArray


class Scratch(NamedTuple):
    """Space for one vote."""

    left: Paths
    right: Paths  # pieces counted from the last one
    cell: Paths  # (1, classes): the weight of each label in the cell at hand
    total: Paths  # (1, classes): the weight of all stumps by their label


def make_scratch(n_pieces: int, n_classes: int) -> Scratch:
    """Space for a vote."""
    shapes = (n_pieces, n_classes), (n_pieces, n_classes), (1, n_classes), (1, n_classes)
    return Scratch(*(Paths(empty(shape), empty(shape, dtype=int64)) for shape in shapes))


@kernel
def vote_by_stumps(gains: FloatArray, cells: IntArray, rate: float, scratch: Scratch, out: FloatArray) -> None:
    """The share of every label in the total weight of all stumps, for a row in these cells.

    ``gains[feature, cell, label]`` is what label has gained in cell so far.
    """
    n_features, n_cells, n_classes = gains.shape
    total = scratch.total
    total.mantissas[:] = 0.0
    total.steps[:] = NOTHING
    for feature in range(n_features):
        here = cells[feature]
        scratch.left.mantissas[:] = 1.0
        scratch.left.steps[:] = 0
        for cell in range(here):
            _weigh(gains[feature, cell], rate, scratch.cell)
            _pass(scratch.cell, scratch.left)
        scratch.right.mantissas[:] = 1.0
        scratch.right.steps[:] = 0
        for cell in range(n_cells - 1, here, -1):
            _weigh(gains[feature, cell], rate, scratch.cell)
            _pass(scratch.cell, scratch.right)
        _weigh(gains[feature, here], rate, scratch.cell)
        _meet(scratch.left, scratch.right, scratch.cell, total)
    whole, whole_steps = 0.0, NOTHING
    for label in range(n_classes):
        whole, whole_steps = wide_add(whole, whole_steps, total.mantissas[0, label], total.steps[0, label])
    for label in range(n_classes):
        out[label] = wide_ratio(total.mantissas[0, label], total.steps[0, label], whole, whole_steps)


@kernel
def _weigh(gains: FloatArray, rate: float, out: Paths) -> None:
    """The weight of every label in one cell."""
    for label in range(gains.size):
        out.mantissas[0, label], out.steps[0, label] = wide_exp(rate * gains[label])


@kernel
def _pass(cell: Paths, paths: Paths) -> None:
    """Take the paths through a cell: the next one is in the same piece, or opens a later one with any label."""
    n_pieces, n_classes = paths.mantissas.shape
    opened, opened_steps = 0.0, NOTHING  # by paths from earlier pieces, for each label
    for piece in range(n_pieces):
        passed, passed_steps = 0.0, NOTHING
        for label in range(n_classes):
            weight, steps = wide_multiply(
                paths.mantissas[piece, label], paths.steps[piece, label], cell.mantissas[0, label], cell.steps[0, label]
            )
            passed, passed_steps = wide_add(passed, passed_steps, weight, steps)
            paths.mantissas[piece, label], paths.steps[piece, label] = wide_add(weight, steps, opened, opened_steps)
        opened, opened_steps = wide_add(opened, opened_steps, passed / n_classes, passed_steps)


@kernel
def _meet(left: Paths, right: Paths, cell: Paths, total: Paths) -> None:
    """Join the paths from both sides in the row's cell, and add them up by its label."""
    n_pieces, n_classes = left.mantissas.shape
    for label in range(n_classes):
        joined, joined_steps = 0.0, NOTHING
        for piece in range(n_pieces):
            mirrored = n_pieces - 1 - piece
            both, both_steps = wide_multiply(
                left.mantissas[piece, label],
                left.steps[piece, label],
                right.mantissas[mirrored, label],
                right.steps[mirrored, label],
            )
            joined, joined_steps = wide_add(joined, joined_steps, both, both_steps)
        joined, joined_steps = wide_multiply(joined, joined_steps, cell.mantissas[0, label], cell.steps[0, label])
        total.mantissas[0, label], total.steps[0, label] = wide_add(
            total.mantissas[0, label], total.steps[0, label], joined, joined_steps
        )
