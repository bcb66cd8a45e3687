"""Mondrian trees without what follows from the rest.

A branch's box is the smallest that holds its children's, and its class weights are the sum of theirs up to rounding;
siblings were cut off at the same time; a leaf with a single row has a point for a box, which the leaves of other trees
have as well. So boxes become the leaves' corners, every different one once, and in the place of some numbers is the
difference in bits from what was expected, nearly always zero in the high bytes. Boxes that do not follow (where
distances have overflowed, or zeros differ in their signs) are kept as they are: no bit is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import IS_COMPILED, kernel
from ocoboost.learners.mondrian.layout import HIGH, LEAF, LOW, NODE, Trees

BRANCH_KEPT = np.dtype(
    [(name, NODE[name]) for name in ("threshold", "gain", "tree_gain", "share", "total", "left", "right")]
)
LEAF_KEPT = np.dtype([(name, NODE[name]) for name in ("gain", "tree_gain", "share", "total")])


class Packed(NamedTuple):
    """Trees one after another, nodes in use only; leaves and branches apart, each in the order of the nodes."""

    n_nodes: IntArray  # (n_learners,)
    n_taught: IntArray  # (n_learners,)
    scale: FloatArray  # (n_learners, n_columns)
    has_gaps: IntArray  # (n_learners,)
    feature: IntArray  # (n_nodes,) LEAF, or the column that a branch tests
    leaves: Any  # (n_leaves,) of LEAF_KEPT
    branches: Any  # (n_branches,) of BRANCH_KEPT
    root_times: FloatArray  # (n_learners,)
    left_times: FloatArray  # (n_branches,) of every branch's left child
    right_times: IntArray  # (n_branches,) bits, without those of the left
    leaf_weights: FloatArray  # (n_leaves, n_classes)
    branch_weights: IntArray  # (n_branches, n_classes) bits, without those of the sum of the children's
    corners: FloatArray  # (n_corners, n_columns) distinct
    low_corner: IntArray  # (n_leaves,) of every leaf
    wide: IntArray  # leaves whose high corner is another one
    high_corner: IntArray  # (n_wide,)
    odd: IntArray  # branches whose box is not that of their children
    odd_boxes: FloatArray  # (n_odd, 2, n_columns)


def pack(trees: Trees) -> Packed:
    """The nodes in use, without what follows from the others."""
    nodes, n_classes, n_columns = trees.nodes, trees.class_weight.shape[2], trees.scale.shape[1]
    is_node = np.arange(nodes.shape[1]) < trees.n_nodes[:, None]
    feature = nodes["feature"][is_node]
    n_leaves = int((feature == LEAF).sum())
    n_branches = feature.size - n_leaves
    leaves, branches = np.empty(n_leaves, dtype=LEAF_KEPT), np.empty(n_branches, dtype=BRANCH_KEPT)
    left_times, right_times = np.empty(n_branches), np.empty(n_branches, dtype=np.int64)
    leaf_weights, branch_weights = np.empty((n_leaves, n_classes)), np.empty((n_branches, n_classes), dtype=np.int64)
    low = np.empty((n_leaves, n_columns))
    is_wide, is_odd = np.zeros((2, *nodes.shape), dtype=np.bool_)
    own, expected = _scratch()
    weights, weight_bits, boxes = trees.class_weight, trees.class_weight.view(np.int64), trees.boxes
    box_bits, n_nodes = boxes.view(np.int64), trees.n_nodes
    _keep_leaves(nodes, n_nodes, weights, boxes, box_bits, leaves, leaf_weights, low, is_wide)
    kept = branches, left_times, right_times, branch_weights
    _keep_branches(nodes, n_nodes, weights, weight_bits, own, expected, *kept)
    _find_odd(nodes, n_nodes, boxes, box_bits, own, expected, is_odd)
    corners, number = _distinct(np.concatenate([low, boxes[is_wide, HIGH]]))
    is_leaf, is_branch = is_node & (nodes["feature"] == LEAF), is_node & (nodes["feature"] != LEAF)
    return Packed(
        n_nodes=trees.n_nodes.copy(),
        n_taught=trees.n_taught.copy(),
        scale=trees.scale.copy(),
        has_gaps=trees.has_gaps.copy(),
        feature=feature,
        leaves=leaves,
        branches=branches,
        root_times=nodes["time"][:, 0].copy(),
        left_times=left_times,
        right_times=right_times,
        leaf_weights=leaf_weights,
        branch_weights=branch_weights,
        corners=corners,
        low_corner=number[:n_leaves],
        wide=np.flatnonzero(is_wide[is_leaf]),
        high_corner=number[n_leaves:],
        odd=np.flatnonzero(is_odd[is_branch]),
        odd_boxes=trees.boxes[is_odd],
    )


def unpack(packed: Packed) -> Trees:
    """Trees in arrays that are full. Their links must be sound: nobody looks at them again."""
    shape = len(packed.n_nodes), int(packed.n_nodes.max())
    is_node = np.arange(shape[1]) < packed.n_nodes[:, None]
    nodes = np.zeros(shape, dtype=NODE)
    nodes["feature"][is_node] = packed.feature
    is_leaf, is_branch = is_node & (nodes["feature"] == LEAF), is_node & (nodes["feature"] != LEAF)
    for place, kept in ((is_leaf, packed.leaves), (is_branch, packed.branches)):
        for name in kept.dtype.names:
            nodes[name][place] = kept[name]
    tree, node = np.nonzero(is_branch)
    left, right = (tree, packed.branches["left"]), (tree, packed.branches["right"])
    nodes["parent"][:, 0] = -1
    nodes["parent"][left] = nodes["parent"][right] = node
    nodes["time"][:, 0] = packed.root_times
    nodes["time"][left] = packed.left_times
    nodes["time"][right] = (packed.right_times ^ packed.left_times.view(np.int64)).view(np.float64)
    weights = np.zeros((*shape, packed.leaf_weights.shape[1]))
    weights[is_leaf], weights[is_branch] = packed.leaf_weights, packed.branch_weights.view(np.float64)
    boxes = np.full((*shape, 2, packed.corners.shape[1]), np.nan)
    high_corner = packed.low_corner.copy()
    high_corner[packed.wide] = packed.high_corner
    boxes[is_leaf, LOW], boxes[is_leaf, HIGH] = packed.corners[packed.low_corner], packed.corners[high_corner]
    is_odd = np.zeros(shape, dtype=np.bool_)
    is_odd[tree[packed.odd], node[packed.odd]] = True
    boxes[is_odd] = packed.odd_boxes
    nodes = nodes if IS_COMPILED else nodes.view(np.recarray)
    _expand(nodes, weights, weights.view(np.int64), boxes, is_odd, *_scratch())
    return Trees(packed.n_nodes, packed.n_taught, nodes, weights, boxes, packed.scale, packed.has_gaps)


@kernel
def _lowest(first: float, second: float) -> float:
    """One of the two as it is; NaN only if both are."""
    return second if second < first or first != first else first


@kernel
def _highest(first: float, second: float) -> float:
    return second if second > first or first != first else first


@kernel
def _keep_leaves(
    nodes: Any,
    n_nodes: IntArray,
    class_weight: FloatArray,
    boxes: FloatArray,
    bits: IntArray,
    leaves: Any,
    leaf_weights: FloatArray,
    low: FloatArray,
    is_wide: Any,
) -> None:
    """Copy what is kept of leaves, and mark those whose boxes are no points."""
    leaf = 0
    for tree in range(n_nodes.size):
        for node in range(n_nodes[tree]):
            if nodes[tree, node].feature != LEAF:
                continue
            leaves[leaf]["gain"] = nodes[tree, node].gain
            leaves[leaf]["tree_gain"] = nodes[tree, node].tree_gain
            leaves[leaf]["share"] = nodes[tree, node].share
            leaves[leaf]["total"] = nodes[tree, node].total
            for c in range(class_weight.shape[2]):
                leaf_weights[leaf, c] = class_weight[tree, node, c]
            for column in range(boxes.shape[3]):
                low[leaf, column] = boxes[tree, node, LOW, column]
                is_wide[tree, node] |= bits[tree, node, LOW, column] != bits[tree, node, HIGH, column]
            leaf += 1


@kernel
def _keep_branches(
    nodes: Any,
    n_nodes: IntArray,
    class_weight: FloatArray,
    bits: IntArray,
    own: FloatArray,
    expected: IntArray,
    branches: Any,
    left_times: FloatArray,
    right_times: IntArray,
    branch_weights: IntArray,
) -> None:
    """Copy what is kept of branches, without the bits that are expected."""
    branch = 0
    for tree in range(n_nodes.size):
        for node in range(n_nodes[tree]):
            if nodes[tree, node].feature == LEAF:
                continue
            left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
            branches[branch]["threshold"] = nodes[tree, node].threshold
            branches[branch]["gain"] = nodes[tree, node].gain
            branches[branch]["tree_gain"] = nodes[tree, node].tree_gain
            branches[branch]["share"] = nodes[tree, node].share
            branches[branch]["total"] = nodes[tree, node].total
            branches[branch]["left"] = left
            branches[branch]["right"] = right
            left_times[branch] = own[0] = nodes[tree, left].time
            right_times[branch] = expected[0]
            own[0] = nodes[tree, right].time
            right_times[branch] ^= expected[0]
            for c in range(class_weight.shape[2]):
                own[0] = class_weight[tree, left, c] + class_weight[tree, right, c]
                branch_weights[branch, c] = bits[tree, node, c] ^ expected[0]
            branch += 1


@kernel
def _find_odd(
    nodes: Any, n_nodes: IntArray, boxes: FloatArray, bits: IntArray, own: FloatArray, expected: IntArray, is_odd: Any
) -> None:
    """Mark branches whose boxes do not follow from their children's."""
    for tree in range(n_nodes.size):
        for node in range(n_nodes[tree]):
            if nodes[tree, node].feature == LEAF:
                continue
            left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
            for column in range(boxes.shape[3]):
                own[0] = _lowest(boxes[tree, left, LOW, column], boxes[tree, right, LOW, column])
                is_odd[tree, node] |= bits[tree, node, LOW, column] != expected[0]
                own[0] = _highest(boxes[tree, left, HIGH, column], boxes[tree, right, HIGH, column])
                is_odd[tree, node] |= bits[tree, node, HIGH, column] != expected[0]


@kernel
def _expand(
    nodes: Any,
    class_weight: FloatArray,
    weights: IntArray,
    boxes: FloatArray,
    is_odd: Any,
    own: FloatArray,
    expected: IntArray,
) -> None:
    """The weights (bits in ``weights``) and boxes of branches, from the leaves up.

    The walk comes to every branch three times: from above, from its left child and from its right one.
    """
    for tree in range(nodes.shape[0]):
        node, before = 0, -1
        while node >= 0:
            above = int(nodes[tree, node].parent)
            left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
            if nodes[tree, node].feature == LEAF:
                node, before = above, node
            elif before == above:
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
