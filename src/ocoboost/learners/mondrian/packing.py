"""Mondrian trees without what follows from the rest.

A branch's box is the smallest that holds its children's, and its class weights are the sum of theirs up to rounding;
siblings were cut off at the same time; a leaf with a single row has a point for a box, which the leaves of other trees
have as well. So boxes become the leaves' corners, every different one once, and in the place of weights and times is
the difference in bits from what was expected, nearly always zero in the high bytes. Boxes that do not follow (where
distances have overflowed, or zeros differ in their signs) are kept as they are: no bit is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import IS_COMPILED, kernel
from ocoboost.learners.mondrian.layout import HIGH, LEAF, LOW, NODE, Trees

# A node in a packed tree. Times are kept beside, as bits; parents follow from the children.
KEPT = np.dtype([(name, NODE[name]) for name in NODE.names or () if name not in ("time", "parent")])


class Packed(NamedTuple):
    """Trees one after another, nodes in use only."""

    n_nodes: IntArray  # (n_learners,)
    n_taught: IntArray  # (n_learners,)
    scale: FloatArray  # (n_learners, n_columns)
    has_gaps: IntArray  # (n_learners,)
    nodes: Any  # (n_nodes,) of KEPT
    times: IntArray  # (n_nodes,) bits, of a right child without those of the left
    class_weight: IntArray  # (n_nodes, n_classes) bits, of a branch without those of the sum of its children's
    corners: FloatArray  # (n_corners, n_columns) distinct
    low_corner: IntArray  # (n_leaves,) of every leaf
    wide: IntArray  # leaves, by their number among the leaves, whose high corner is another one
    high_corner: IntArray  # (n_wide,)
    odd: IntArray  # branches, by their number among the nodes, whose box is not that of their children
    odd_boxes: FloatArray  # (n_odd, 2, n_columns)


def pack(trees: Trees) -> Packed:
    """The nodes in use, without what follows from the others."""
    n_learners, most = trees.nodes.shape
    is_node = np.arange(most) < trees.n_nodes[:, None]
    is_odd, is_wide = np.zeros((2, n_learners, most), dtype=np.bool_)
    times, weights = trees.nodes["time"].copy().view(np.int64), trees.class_weight.copy().view(np.int64)
    own, expected = _scratch()
    bits = trees.boxes.view(np.int64)
    _mark(trees.nodes, trees.n_nodes, trees.boxes, bits, own, expected, is_odd, is_wide)
    _reduce(trees.nodes, trees.n_nodes, trees.class_weight, own, expected, times, weights)
    nodes = np.empty(int(trees.n_nodes.sum()), dtype=KEPT)
    for name in KEPT.names or ():
        nodes[name] = trees.nodes[name][is_node]
    leaves = is_node & (trees.nodes["feature"] == LEAF)
    corners, number = _distinct(np.concatenate([trees.boxes[leaves, LOW], trees.boxes[is_wide, HIGH]]))
    n_leaves = int(leaves.sum())
    return Packed(
        trees.n_nodes.copy(),
        trees.n_taught.copy(),
        trees.scale.copy(),
        trees.has_gaps.copy(),
        nodes,
        times[is_node],
        weights[is_node],
        corners,
        number[:n_leaves],
        np.flatnonzero(is_wide[leaves]),
        number[n_leaves:],
        np.flatnonzero(is_odd[is_node]),
        trees.boxes[is_odd],
    )


def unpack(packed: Packed) -> Trees:
    """Trees in arrays that are full. Their links must be sound: nobody looks at them again."""
    n_learners, most = len(packed.n_nodes), int(packed.n_nodes.max())
    is_node = np.arange(most) < packed.n_nodes[:, None]
    nodes = np.zeros((n_learners, most), dtype=NODE)
    for name in KEPT.names or ():
        nodes[name][is_node] = packed.nodes[name]
    nodes = nodes if IS_COMPILED else nodes.view(np.recarray)
    nodes["time"][is_node] = packed.times.view(np.float64)
    weights = np.zeros((n_learners, most, packed.class_weight.shape[1]))
    weights[is_node] = packed.class_weight.view(np.float64)
    boxes = np.full((n_learners, most, 2, packed.corners.shape[1]), np.nan)
    is_leaf = is_node & (nodes["feature"] == LEAF)
    high_corner = packed.low_corner.copy()
    high_corner[packed.wide] = packed.high_corner
    boxes[is_leaf, LOW] = packed.corners[packed.low_corner]
    boxes[is_leaf, HIGH] = packed.corners[high_corner]
    is_odd = np.zeros((n_learners, most), dtype=np.bool_)
    is_odd[is_node] = np.isin(np.arange(len(packed.nodes)), packed.odd)
    boxes[is_odd] = packed.odd_boxes
    times = np.ascontiguousarray(nodes["time"]).view(np.int64)
    nodes["parent"] = -1
    _expand(nodes, weights, boxes, is_odd, *_scratch(), times, weights.view(np.int64))
    nodes["parent"][~is_node] = 0
    nodes["time"] = times.view(np.float64)
    arrays = packed.n_nodes, packed.n_taught, nodes, weights, boxes, packed.scale, packed.has_gaps
    return Trees(*arrays)


@kernel
def _lowest(first: float, second: float) -> float:
    """One of the two as it is; NaN only if both are."""
    return second if second < first or first != first else first


@kernel
def _highest(first: float, second: float) -> float:
    return second if second > first or first != first else first


@kernel
def _mark(
    nodes: Any,
    n_nodes: IntArray,
    boxes: FloatArray,
    bits: IntArray,
    own: FloatArray,
    expected: IntArray,
    is_odd: Any,
    is_wide: Any,
) -> None:
    """Mark branches whose boxes do not follow from their children's, and leaves whose boxes are no points."""
    for tree in range(n_nodes.size):
        for node in range(n_nodes[tree]):
            left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
            is_leaf = nodes[tree, node].feature == LEAF
            differs = False
            for column in range(boxes.shape[3]):
                if is_leaf:
                    differs |= bits[tree, node, LOW, column] != bits[tree, node, HIGH, column]
                    continue
                own[0] = _lowest(boxes[tree, left, LOW, column], boxes[tree, right, LOW, column])
                differs |= bits[tree, node, LOW, column] != expected[0]
                own[0] = _highest(boxes[tree, left, HIGH, column], boxes[tree, right, HIGH, column])
                differs |= bits[tree, node, HIGH, column] != expected[0]
            is_wide[tree, node] = is_leaf and differs
            is_odd[tree, node] = differs and not is_leaf


@kernel
def _reduce(
    nodes: Any,
    n_nodes: IntArray,
    class_weight: FloatArray,
    own: FloatArray,
    expected: IntArray,
    times: IntArray,
    weights: IntArray,
) -> None:
    """Take from the bits of times and weights those that are expected."""
    for tree in range(n_nodes.size):
        for node in range(n_nodes[tree]):
            if nodes[tree, node].feature != LEAF:
                left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
                times[tree, right] ^= times[tree, left]
                for c in range(class_weight.shape[2]):
                    own[0] = class_weight[tree, left, c] + class_weight[tree, right, c]
                    weights[tree, node, c] ^= expected[0]


@kernel
def _expand(
    nodes: Any,
    class_weight: FloatArray,
    boxes: FloatArray,
    is_odd: Any,
    own: FloatArray,
    expected: IntArray,
    times: IntArray,
    weights: IntArray,
) -> None:
    """Undo both, from the leaves up: a walk that comes to every branch from above, from the left and from the right."""
    for tree in range(nodes.shape[0]):
        node, before = 0, -1
        while node >= 0:
            above = int(nodes[tree, node].parent)
            if nodes[tree, node].feature == LEAF:
                node, before = above, node
                continue
            left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
            if before == above:
                nodes[tree, left].parent = node
                nodes[tree, right].parent = node
                times[tree, right] ^= times[tree, left]
                node, before = left, node
            elif before == left:
                node, before = right, node
            else:
                for c in range(class_weight.shape[2]):
                    own[0] = class_weight[tree, left, c] + class_weight[tree, right, c]
                    weights[tree, node, c] ^= expected[0]
                if not is_odd[tree, node]:
                    for column in range(boxes.shape[3]):
                        low = _lowest(boxes[tree, left, LOW, column], boxes[tree, right, LOW, column])
                        high = _highest(boxes[tree, left, HIGH, column], boxes[tree, right, HIGH, column])
                        boxes[tree, node, LOW, column] = low
                        boxes[tree, node, HIGH, column] = high
                node, before = above, node


def _scratch() -> tuple[FloatArray, IntArray]:
    """A number, and its bits."""
    own = np.zeros(1)
    return own, own.view(np.int64)


def _distinct(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows in a fixed order, and which of them each row is."""
    n_columns = rows.shape[1]
    if n_columns == 0:
        return np.zeros((1, 0)), np.zeros(len(rows), dtype=np.int64)
    # Rows are compared by a product with odd numbers first, and whole rows only if that has mixed different ones up.
    bits = np.ascontiguousarray(rows).view(np.uint64)
    factors = np.random.default_rng(0).integers(0, 2**63, n_columns, dtype=np.uint64) * 2 + 1
    _, first, number = np.unique(bits @ factors, return_index=True, return_inverse=True)
    whole = bits.view(np.dtype((np.void, 8 * n_columns))).reshape(-1)
    if not np.array_equal(bits[first[number]], bits):
        _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(whole[first])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return rows[first[order]], place[number].astype(np.int64, copy=False)
