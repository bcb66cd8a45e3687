"""Leaves of random trees, compiled: which rows reach them, what they weigh, and how they lean on their parents.

A tree keeps the rows of its nodes and not their label weights, which are quicker counted again than kept. One grown
tree then serves any strength with which a node leans on its parent: a strength of 0 is the leaf's own rows, a large one
a tree with large leaves.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Codes
from ocoboost.batch.forest_keys import SetArray
from ocoboost.batch.forest_splits import goes_left
from ocoboost.compiling import kernel

NodeArray: TypeAlias = NDArray[np.int64] | NDArray[np.int32]  # while a tree is grown, and when it is kept


@kernel
def find_leaf(
    codes: Codes,
    row: int,
    root: int,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: NodeArray,
    left: NodeArray,
    sets: SetArray,
) -> int:
    """The leaf of a row, in the tree that begins at ``root``; ``codes``: (features, rows)."""
    node = root
    while feature[node] >= 0:
        column = feature[node]
        is_left = goes_left(int(codes[column, row]), int(threshold[node]), int(kind[node]), missing[column], sets)
        node = int(left[node]) if is_left else int(left[node]) + 1
    return node


@kernel
def find_leaves(
    codes: Codes,
    rows: IntArray,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: NodeArray,
    left: NodeArray,
    sets: SetArray,
    out: IntArray,
) -> None:
    """The leaves of some rows."""
    for place in range(rows.size):
        out[place] = find_leaf(codes, rows[place], 0, missing, feature, threshold, kind, left, sets)


@kernel
def count_nodes(
    feature: IntArray,
    left: IntArray,
    start: IntArray,
    end: IntArray,
    rows: IntArray,
    labels: IntArray,
    weights: FloatArray,
    out: FloatArray,
) -> None:
    """The label weights of every node, (nodes, classes); children come after their parents."""
    for node in range(feature.size - 1, -1, -1):
        for j in range(out.shape[1]):
            out[node, j] = 0.0 if feature[node] < 0 else out[left[node], j] + out[left[node] + 1, j]
        if feature[node] < 0:
            for i in range(start[node], end[node]):
                out[node, labels[rows[i]]] += weights[rows[i]]


@kernel
def lean(feature: IntArray, left: IntArray, counts: FloatArray, strength: float, out: FloatArray) -> None:
    """Every node's label distribution: its label weights, and its parent's distribution as ``strength`` rows more."""
    n_classes = counts.shape[1]
    total = 1.0
    for j in range(n_classes):
        total += counts[0, j]
    for j in range(n_classes):
        out[0, j] = (counts[0, j] + 1.0 / n_classes) / total
    for node in range(feature.size):
        if feature[node] >= 0:
            for child in range(left[node], left[node] + 2):
                total = strength
                for j in range(n_classes):
                    total += counts[child, j]
                share = 1.0 / total
                for j in range(n_classes):
                    out[child, j] = (counts[child, j] + strength * out[node, j]) * share


@kernel
def add_rows(nodes: FloatArray, leaves: IntArray, scale: float, out: FloatArray) -> None:
    """Add the distributions of leaves to rows."""
    for place in range(leaves.size):
        for j in range(out.shape[1]):
            out[place, j] += scale * nodes[leaves[place], j]


@kernel
def vote_rows(nodes: FloatArray, leaves: IntArray, out: IntArray) -> None:
    """The first of the likeliest labels of each leaf."""
    for place in range(leaves.size):
        best = 0
        for j in range(1, nodes.shape[1]):
            if nodes[leaves[place], j] > nodes[leaves[place], best]:
                best = j
        out[place] = best


@kernel
def predict_rows(
    codes: Codes,
    roots: IntArray,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: NodeArray,
    left: NodeArray,
    sets: SetArray,
    values: NDArray[np.float32],
    out: FloatArray,
) -> None:
    """Add the values of every row's leaves, (rows, classes); a leaf's ``left`` is the place of its value."""
    for tree in range(roots.size):
        for row in range(codes.shape[1]):
            leaf = left[find_leaf(codes, row, roots[tree], missing, feature, threshold, kind, left, sets)]
            for j in range(out.shape[1]):
                out[row, j] += values[leaf, j]
