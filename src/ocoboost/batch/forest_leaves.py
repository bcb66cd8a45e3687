"""Leaves of random trees, compiled: which rows reach them, what they weigh, and how they lean on their parents.

A tree keeps the label weights of its leaves, of the labels alone that a leaf has: nearly always one. Those of all other
nodes are quicker added up again than kept. One tree then serves any strength with which a node leans on its parent: a
strength of 0 is the leaf's own rows, a large one a tree with large leaves.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Codes
from ocoboost.batch.forest_keys import KindArray, NodeArray, PlaceArray, SetArray
from ocoboost.batch.forest_splits import goes_left
from ocoboost.compiling import kernel

Marks: TypeAlias = NDArray[np.bool_]


@kernel
def next_node(
    codes: Codes,
    row: int,
    node: int,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: KindArray,
    left: NodeArray,
    sets: SetArray,
) -> int:
    """The child that a node sends a row to; ``codes``: (features, rows)."""
    column = feature[node]
    is_left = goes_left(int(codes[column, row]), int(threshold[node]), int(kind[node]), missing[column], sets)
    return int(left[node]) + (not is_left)


@kernel
def find_leaves(
    codes: Codes,
    rows: IntArray,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: KindArray,
    left: NodeArray,
    sets: SetArray,
    walking: IntArray,
    out: IntArray,
) -> None:
    """The leaves of some rows, which all walk at once: a step need not wait for the one before.

    ``walking``, one place per row, is written over.
    """
    for place in range(rows.size):
        walking[place] = place
        out[place] = 0
    n_walking = rows.size if feature[0] >= 0 else 0
    while n_walking > 0:
        n_left = 0
        for i in range(n_walking):
            place = walking[i]
            node = next_node(codes, rows[place], out[place], missing, feature, threshold, kind, left, sets)
            out[place] = node
            walking[n_left] = place
            n_left += feature[node] >= 0
        n_walking = n_left


@kernel
def gather_leaves(
    feature: NodeArray,
    start: NodeArray,
    end: NodeArray,
    rows: PlaceArray,
    weights: FloatArray,
    labels: IntArray,
    sums: FloatArray,
    firsts: NodeArray,
    own_labels: NodeArray,
    own_weights: FloatArray,
) -> int:
    """The labels of every leaf and their weights, leaf after leaf, into the last three; returns how many there are.

    A leaf begins at its place in ``firsts``, which has one more. ``sums``, one per label, are zero before and after.
    ``weights`` are those of ``rows``, and positive; ``labels`` are those of the whole sample.
    """
    leaf, n_pairs = 0, 0
    for node in range(feature.size):
        if feature[node] < 0:
            firsts[leaf] = n_pairs
            for i in range(start[node], end[node]):
                label = labels[rows[i]]
                if sums[label] == 0.0:
                    own_labels[n_pairs] = label
                    n_pairs += 1
                sums[label] += weights[i]
            for pair in range(firsts[leaf], n_pairs):
                own_weights[pair] = sums[own_labels[pair]]
                sums[own_labels[pair]] = 0.0
            leaf += 1
    firsts[leaf] = n_pairs
    return n_pairs


@kernel
def count_nodes(
    feature: NodeArray,
    left: NodeArray,
    firsts: NodeArray,
    own_labels: NodeArray,
    own_weights: FloatArray,
    out: FloatArray,
) -> None:
    """The label weights of every node, (nodes, classes); children come after their parents."""
    leaf = firsts.size - 1
    for node in range(feature.size - 1, -1, -1):
        if feature[node] < 0:
            leaf -= 1
            for j in range(out.shape[1]):
                out[node, j] = 0.0
            for pair in range(firsts[leaf], firsts[leaf + 1]):
                out[node, own_labels[pair]] = own_weights[pair]
        else:
            child = left[node]
            for j in range(out.shape[1]):
                out[node, j] = out[child, j] + out[child + 1, j]


@kernel
def mark_paths(feature: NodeArray, left: NodeArray, leaves: IntArray, out: Marks) -> None:
    """Mark the nodes that lead to some leaves, and these."""
    for node in range(feature.size):
        out[node] = False
    for leaf in leaves:
        out[leaf] = True
    for node in range(feature.size - 1, -1, -1):
        if feature[node] >= 0:
            out[node] = out[left[node]] or out[left[node] + 1]


@kernel
def lean(
    feature: NodeArray, left: NodeArray, counts: FloatArray, strength: float, is_asked: Marks, out: FloatArray
) -> None:
    """The label distributions of nodes: their label weights, and their parent's distribution as ``strength`` rows more.

    Of those alone that are asked for; the parent of such a node must be one.
    """
    n_classes = counts.shape[1]
    total = 1.0
    for j in range(n_classes):
        total += counts[0, j]
    for j in range(n_classes):
        out[0, j] = (counts[0, j] + 1.0 / n_classes) / total
    for node in range(feature.size):
        if feature[node] >= 0 and is_asked[node]:
            for child in range(left[node], left[node] + 2):
                if is_asked[child]:
                    total = strength
                    for j in range(n_classes):
                        total += counts[child, j]
                    share = 1.0 / total
                    for j in range(n_classes):
                        out[child, j] = (counts[child, j] + strength * out[node, j]) * share


@kernel
def add_rows(values: FloatArray, places: IntArray, scale: float, out: FloatArray) -> None:
    """Add values to rows, which say where theirs are."""
    for row in range(places.size):
        place = places[row]
        for j in range(out.shape[1]):
            out[row, j] += scale * values[place, j]


@kernel
def add_leanings(
    feature: NodeArray,
    left: NodeArray,
    counts: FloatArray,
    strengths: FloatArray,
    leaves: IntArray,
    is_asked: Marks,
    nodes: FloatArray,
    out: FloatArray,
) -> None:
    """Add to rows the distributions of their leaves at every strength; ``out``: (strengths, rows, classes)."""
    mark_paths(feature, left, leaves, is_asked)
    for number in range(strengths.size):
        lean(feature, left, counts, strengths[number], is_asked, nodes)
        add_rows(nodes, leaves, 1.0, out[number])


@kernel
def mix_leanings(
    feature: NodeArray,
    left: NodeArray,
    counts: FloatArray,
    strengths: FloatArray,
    weights: FloatArray,
    is_asked: Marks,
    nodes: FloatArray,
    out: FloatArray,
) -> None:
    """The weighted sum of the leaves' distributions over strengths, (leaves, classes); every node is asked for."""
    for number in range(strengths.size):
        lean(feature, left, counts, strengths[number], is_asked, nodes)
        place = 0
        for node in range(feature.size):
            if feature[node] < 0:
                for j in range(out.shape[1]):
                    out[place, j] += weights[number] * nodes[node, j]
                place += 1


@kernel
def predict_rows(
    codes: Codes,
    roots: IntArray,
    missing: IntArray,
    feature: NodeArray,
    threshold: NodeArray,
    kind: KindArray,
    left: NodeArray,
    sets: SetArray,
    values: NDArray[np.float32],
    out: FloatArray,
) -> None:
    """Add the values of every row's leaves, (rows, classes); a leaf's ``left`` is the place of its value."""
    for tree in range(roots.size):
        for row in range(codes.shape[1]):
            node = int(roots[tree])
            while feature[node] >= 0:
                node = next_node(codes, row, node, missing, feature, threshold, kind, left, sets)
            leaf = left[node]
            for j in range(out.shape[1]):
                out[row, j] += values[leaf, j]
