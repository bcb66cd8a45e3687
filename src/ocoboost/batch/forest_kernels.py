"""Random trees, compiled: grown depth first, until leaves are pure.

A tree is grown in one place from rows in the order of their numbers, so its bits do not depend on threads.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.batch.binning import Codes
from ocoboost.batch.forest_keys import SET, KindArray, Lesson, NodeArray, PlaceArray, Scratch, SetArray, Table
from ocoboost.batch.forest_splits import find_split, goes_left
from ocoboost.compiling import allocating, kernel


@kernel
def part_rows(
    codes: Codes, threshold: int, kind: int, missing: int, sets: SetArray, rows: PlaceArray, spare: PlaceArray
) -> int:
    """Put the rows that go left first, stably; returns how many there are."""
    n_left, n_right = 0, 0
    for i in range(rows.size):
        row = rows[i]
        is_left = goes_left(int(codes[row]), threshold, kind, missing, sets)
        rows[n_left], spare[n_right] = row, row  # what is not meant is written over
        n_left += is_left
        n_right += not is_left
    for i in range(n_right):
        rows[n_left + i] = spare[i]
    return n_left


@allocating
def grow_tree(
    table: Table, lesson: Lesson, rows: PlaceArray, scratch: Scratch
) -> tuple[
    NodeArray, NodeArray, KindArray, NodeArray, SetArray, NodeArray, NodeArray, PlaceArray, FloatArray, FloatArray
]:
    """Grow a tree from some rows, which are put in the order of its leaves.

    Returns each node's feature (-1: a leaf), threshold, kind and left child, the sets, where its rows start and end,
    the rows, each feature's decrease of the Gini impurity, and the rows' weights.
    """
    n_features = table.codes.shape[0]
    most = 2 * rows.size + 1
    feature = np.full(most, -1, dtype=np.int32)
    threshold = np.zeros(most, dtype=np.int32)
    kind = np.zeros(most, dtype=np.int8)
    left = np.zeros(most, dtype=np.int32)
    start = np.zeros(most, dtype=np.int32)
    end = np.zeros(most, dtype=np.int32)
    waiting = np.zeros(most, dtype=np.int32)
    sets = np.zeros((4, 4), dtype=np.uint64)
    decrease = np.zeros(n_features)
    end[0] = rows.size
    n_sets, n_nodes, n_waiting = 0, 1, 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        here = rows[start[node] : end[node]]
        best, own = find_split(table, lesson, here, start[node], node, scratch)
        column, cut, cut_kind = scratch.split[0], scratch.split[1], scratch.split[2]
        if column < 0:
            continue
        if cut_kind == SET:
            if n_sets == sets.shape[0]:
                sets = np.concatenate((sets, np.zeros_like(sets)))
            sets[n_sets] = scratch.left_set[0]
            cut = n_sets
            n_sets += 1
        n_left = part_rows(table.codes[column], cut, cut_kind, table.missing[column], sets, here, scratch.spare)
        if n_left in (0, here.size):
            continue
        decrease[column] += best - own
        feature[node], threshold[node], kind[node], left[node] = column, cut, cut_kind, n_nodes
        start[n_nodes], end[n_nodes] = start[node], start[node] + n_left
        start[n_nodes + 1], end[n_nodes + 1] = start[node] + n_left, end[node]
        waiting[n_waiting], waiting[n_waiting + 1] = n_nodes + 1, n_nodes
        n_waiting += 2
        n_nodes += 2
    return (
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        kind[:n_nodes].copy(),
        left[:n_nodes].copy(),
        sets[:n_sets].copy(),
        start[:n_nodes].copy(),
        end[:n_nodes].copy(),
        rows,
        decrease,
        lesson.weights[rows],
    )
