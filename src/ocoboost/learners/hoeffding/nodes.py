"""Nodes of Hoeffding trees: which leaf a row falls into, new leaves, and slots of statistics taken and given back."""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.layout import EQUAL, HIGH, LEAF, LOW, NUMERIC, Trees

_kernel = kernel(error_model="numpy")  # divisions by zero are guarded, so loops vectorise
_inlined = kernel(error_model="numpy", forceinline=True)


@_inlined
def node_weight(class_weight: FloatArray, tree: int, node: int) -> float:
    """``total_weight`` of a node, without a view."""
    total = 0.0
    lost = 0.0
    for c in range(class_weight.shape[2]):
        weight = class_weight[tree, node, c]
        grown = total + weight
        lost += (total - grown) + weight if total >= weight else (weight - grown) + total
        total = grown
    return total + lost


@_kernel
def _subtree_weight(trees: Trees, tree: int, root: int) -> float:
    """Weight of all leaves below a node, without recursion."""
    total = 0.0
    node = root
    while True:
        if trees.nodes[tree, node].kind == LEAF:
            total += node_weight(trees.class_weight, tree, node)
        else:
            node = trees.nodes[tree, node].first_child
            continue
        while node != root and trees.nodes[tree, node].sibling < 0:
            node = trees.nodes[tree, node].parent
        if node == root:
            return total
        node = trees.nodes[tree, node].sibling


@_kernel
def heaviest_child(trees: Trees, tree: int, node: int) -> int:
    best: int = trees.nodes[tree, node].first_child
    heaviest = _subtree_weight(trees, tree, best)
    child = trees.nodes[tree, best].sibling
    while child >= 0:
        weight = _subtree_weight(trees, tree, child)
        if weight > heaviest:
            best, heaviest = child, weight
        child = trees.nodes[tree, child].sibling
    return best


@_kernel
def next_node(trees: Trees, tree: int, node: int, x: FloatArray) -> int:
    """The child that a row goes to; -1 if its value is missing or of an unknown category."""
    value = x[trees.nodes[tree, node].feature]
    if value != value:
        return -1
    child: int = trees.nodes[tree, node].first_child
    kind = trees.nodes[tree, node].kind
    if kind == NUMERIC:
        return child if value <= trees.nodes[tree, node].threshold else int(trees.nodes[tree, child].sibling)
    if kind == EQUAL:
        return child if value == trees.nodes[tree, node].threshold else int(trees.nodes[tree, child].sibling)
    while child >= 0 and trees.nodes[tree, child].category != value:
        child = trees.nodes[tree, child].sibling
    return child


@_kernel
def find_leaf(trees: Trees, tree: int, x: FloatArray) -> tuple[int, bool]:
    """The leaf that predicts a row, and whether it got lost: a missing value follows the heaviest branch."""
    node = 0
    is_lost = False
    while trees.nodes[tree, node].kind != LEAF:
        child = next_node(trees, tree, node, x)
        if child < 0:
            is_lost = True
            child = heaviest_child(trees, tree, node)
        node = child
    return node, is_lost


@_kernel
def _take_slot(trees: Trees, tree: int, node: int) -> None:
    trees.n_free[tree] -= 1
    slot = trees.free[tree, trees.n_free[tree]]
    trees.free[tree, trees.n_free[tree]] = 0  # equal trees are equal to the bit
    trees.nodes[tree, node].slot = slot
    clear_slot(trees, tree, slot)


@_kernel
def clear_slot(trees: Trees, tree: int, slot: int) -> None:
    trees.moments[tree, slot] = 0.0
    trees.moments[tree, slot, :, LOW] = np.inf
    trees.moments[tree, slot, :, HIGH] = -np.inf
    trees.tables[tree, slot] = 0.0


@_kernel
def drop_slot(trees: Trees, tree: int, node: int) -> None:
    trees.free[tree, trees.n_free[tree]] = trees.nodes[tree, node].slot
    trees.n_free[tree] += 1
    trees.nodes[tree, node].slot = -1


@_kernel
def new_leaf(trees: Trees, tree: int, parent: int, category: int) -> int:
    """A leaf with empty statistics, appended to its parent's children (parent -1: the root)."""
    node = int(trees.n_nodes[tree])
    trees.n_nodes[tree] += 1
    trees.nodes[tree, node].kind = LEAF
    trees.nodes[tree, node].feature = -1
    trees.nodes[tree, node].parent = parent
    trees.nodes[tree, node].first_child = -1
    trees.nodes[tree, node].sibling = -1
    trees.nodes[tree, node].category = category
    trees.nodes[tree, node].depth = 0 if parent < 0 else trees.nodes[tree, parent].depth + 1
    trees.nodes[tree, node].last_attempt = 0.0
    trees.nodes[tree, node].majority_right = 0.0
    trees.nodes[tree, node].bayes_right = 0.0
    trees.class_weight[tree, node] = 0.0
    trees.class_seen[tree, node] = 0
    _take_slot(trees, tree, node)
    if parent >= 0:
        last = trees.nodes[tree, parent].first_child
        if last < 0:
            trees.nodes[tree, parent].first_child = node
        else:
            while trees.nodes[tree, last].sibling >= 0:
                last = trees.nodes[tree, last].sibling
            trees.nodes[tree, last].sibling = node
    return node
