"""The best stump for given gains, by dynamic programming over cells.

``table[feature, cell, label]`` is what saying ``label`` in ``cell`` of ``feature`` gains. A stump cuts the cells of one
feature into at most ``n_pieces`` runs and gives each run a label.
"""

from __future__ import annotations

from numpy import argmax, empty, int64

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import allocating, kernel

STAY = -1


@kernel
def add_to_table(cells: IntArray, gains: FloatArray, table: FloatArray) -> None:
    """Add the gains of every row to its cell of every feature."""
    for row in range(cells.shape[0]):
        for feature in range(cells.shape[1]):
            for label in range(gains.shape[1]):
                table[feature, cells[row, feature], label] += gains[row, label]


@allocating
def best_runs(table: FloatArray, n_pieces: int, out: IntArray) -> float:
    """The most that labels in at most ``n_pieces`` runs can gain on one feature; ``out`` is each cell's label.

    Ties go to fewer runs, then to the lower label.
    """
    n_cells, n_classes = table.shape
    values = empty((n_pieces, n_classes))  # the best up to this cell, which has this label and is in this run at most
    came_from = empty((n_cells, n_pieces, n_classes), dtype=int64)  # the label of the run before, or STAY
    for label in range(n_classes):
        values[:, label] = table[0, label]
    for cell in range(1, n_cells):
        for piece in range(n_pieces - 1, -1, -1):  # downwards: the run before is still that of the cell before
            before = argmax(values[piece - 1]) if piece > 0 else STAY
            for label in range(n_classes):
                came_from[cell, piece, label] = STAY
                if piece > 0 and values[piece - 1, before] > values[piece, label]:
                    values[piece, label] = values[piece - 1, before]
                    came_from[cell, piece, label] = before
                values[piece, label] += table[cell, label]
    piece = n_pieces - 1
    label = int(argmax(values[piece]))
    best = values[piece, label]
    for cell in range(n_cells - 1, -1, -1):
        out[cell] = label
        if cell > 0 and came_from[cell, piece, label] != STAY:
            label = came_from[cell, piece, label]
            piece -= 1
    return float(best)
