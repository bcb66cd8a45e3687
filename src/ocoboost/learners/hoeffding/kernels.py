"""Compiled Hoeffding trees: vote on a row, and learn it.

Being taught a row of label weights is one event: the adaptive leaf scores its two predictions once, before the
statistics move; then all labels' statistics move; then there is one attempt to split. For a hard label this is what
River's HoeffdingTreeClassifier does, and its rules are followed in every detail that can change a tree.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.native import RECALL, RECORD
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.layout import (
    ADAPTIVE,
    HIGH,
    LEAF,
    LOW,
    MAJORITY,
    MEAN,
    MULTIWAY,
    SQUARES,
    WEIGHT,
    Forest,
    Rules,
    Scratch,
    Trees,
)
from ocoboost.learners.hoeffding.nodes import drop_slot, find_leaf, heaviest_child, new_leaf, next_node, node_weight
from ocoboost.learners.hoeffding.splitting import attempt_split
from ocoboost.learners.hoeffding.votes import bayes_scores, leaf_vote

_kernel = kernel(error_model="numpy")  # divisions by zero are guarded, so loops vectorise
_inlined = kernel(error_model="numpy", forceinline=True)


@_kernel
def _look(visible: IntArray, tree: int, x: FloatArray, out: FloatArray) -> None:
    """The values of a row that a tree may see; the others are missing to it."""
    for place in range(x.size):
        out[place] = x[place] if visible[tree, place] else np.nan


@_inlined
def _teach_class(
    moments: FloatArray, tables: FloatArray, tree: int, slot: int, c: int, x: FloatArray, weight: float
) -> None:
    """Weighted Welford updates of every column of numbers, and counts of every column of text, for one class."""
    n_numeric = moments.shape[4]
    for f in range(n_numeric):
        value = x[f]
        present = value == value
        before = moments[tree, slot, c, WEIGHT, f]
        grown = before + weight
        mean = moments[tree, slot, c, MEAN, f]
        squares = moments[tree, slot, c, SQUARES, f]
        low = moments[tree, slot, c, LOW, f]
        high = moments[tree, slot, c, HIGH, f]
        difference = value - mean
        moved = mean + weight / grown * difference
        moments[tree, slot, c, WEIGHT, f] = grown if present else before
        moments[tree, slot, c, MEAN, f] = moved if present else mean
        moments[tree, slot, c, SQUARES, f] = squares + weight * difference * (value - moved) if present else squares
        moments[tree, slot, c, LOW, f] = value if value < low else low  # false of NaN
        moments[tree, slot, c, HIGH, f] = value if value > high else high
    for f in range(tables.shape[3]):
        value = x[n_numeric + f]
        if 0.0 <= value < tables.shape[4]:  # false of NaN
            tables[tree, slot, c, f, int(value)] += weight


@_inlined
def is_full(forest: Forest, tree: int, scratch: Scratch) -> bool:
    """Whether the next row might need more nodes or slots than are left."""
    trees, rules = forest.trees, forest.rules
    n_wanted, n_nodes, n_slots = scratch.codes.size, trees.nodes.shape[1], trees.free.shape[1]
    lacks_nodes = trees.n_nodes[tree] + n_wanted > n_nodes and n_nodes < rules.max_nodes
    lacks_slots = trees.n_free[tree] < n_wanted and n_slots < rules.slot_capacity
    return bool(lacks_nodes or lacks_slots)


@_inlined
def _descend(trees: Trees, tree: int, x: FloatArray, rules: Rules) -> tuple[int, bool]:
    """The leaf that learns a row, which may be new, and whether the row went astray on its way there.

    A row with a missing value or a new category on its way is astray: it is learned, but splits nothing.
    """
    node = 0
    astray = False
    while trees.nodes[tree, node].kind != LEAF:
        child = next_node(trees, tree, node, x)
        if child < 0:
            astray = True
            value = x[trees.nodes[tree, node].feature]
            may_grow = trees.free.shape[1] - trees.n_free[tree] < rules.max_slots
            may_grow = may_grow and trees.n_nodes[tree] < rules.max_nodes
            if trees.nodes[tree, node].kind == MULTIWAY and value == value and may_grow:
                child = new_leaf(trees, tree, node, int(value))
            else:
                child = heaviest_child(trees, tree, node)
        node = child
    return node, astray


@_inlined
def _compare_predictions(
    trees: Trees,
    tree: int,
    node: int,
    weights: FloatArray,
    taught: float,
    has_scores: bool,
    scores: FloatArray,
    n_classes: int,
) -> None:
    """Note, for an adaptive leaf, how much of what it is taught each of its two predictions has right."""
    class_weight, class_seen = trees.class_weight, trees.class_seen
    favourite = -1
    best = -1
    for c in range(n_classes):
        if class_seen[tree, node, c]:
            if favourite < 0 or class_weight[tree, node, c] > class_weight[tree, node, favourite]:
                favourite = c
            if best < 0 or scores[c] > scores[best]:
                best = c
    trees.nodes[tree, node].majority_right += taught if favourite < 0 else weights[favourite]
    if has_scores:
        trees.nodes[tree, node].bayes_right += weights[best]


@_inlined
def _look_up(trees: Trees, tree: int, x: FloatArray, rules: Rules, scratch: Scratch) -> tuple[int, bool, bool]:
    """The leaf that predicts a row, whether it has scores, in ``scratch``, and whether the row got lost on its way."""
    known, scores = scratch.known, scratch.known_scores
    if scratch.remembers[0] == RECALL:
        for c in range(scores.shape[1]):
            scratch.scores[c] = scores[tree, c]
        return known[tree, 0], known[tree, 1] != 0, known[tree, 2] != 0
    leaf, is_lost = 0, False
    if trees.nodes[tree, 0].kind != LEAF:
        leaf, is_lost = find_leaf(trees, tree, x)
    slot = trees.nodes[tree, leaf].slot
    has_scores = False
    if slot >= 0 and rules.leaf != MAJORITY:
        has_scores = bayes_scores(trees, tree, leaf, slot, x, scratch)
    if scratch.remembers[0] == RECORD:
        for c in range(scores.shape[1]):
            scores[tree, c] = scratch.scores[c]
        known[tree, 0] = leaf
        known[tree, 1] = has_scores
        known[tree, 2] = is_lost
    return leaf, has_scores, is_lost


@_inlined
def vote_and_learn_row(
    forest: Forest, tree: int, x: FloatArray, weights: FloatArray, scratch: Scratch, n_classes: int, vote: FloatArray
) -> None:
    """Vote on one row with what is known, then learn its label weights."""
    trees, rules = forest.trees, forest.rules
    if rules.has_subsets:
        _look(trees.visible, tree, x, scratch.row)
        x = scratch.row
    class_weight, class_seen = trees.class_weight, trees.class_seen
    # The adaptive leaf's naive Bayes scores serve the vote and the record of who was right.
    leaf, has_scores, is_lost = _look_up(trees, tree, x, rules, scratch)
    slot = trees.nodes[tree, leaf].slot
    leaf_vote(trees, tree, leaf, rules, has_scores, scratch.scores, n_classes, vote)
    taught = 0.0
    for c in range(weights.size):
        taught += weights[c]
    if not taught > 0.0:
        return

    node, astray = _descend(trees, tree, x, rules) if is_lost else (leaf, False)
    if node != leaf:
        slot = trees.nodes[tree, node].slot
        if slot >= 0 and rules.leaf == ADAPTIVE:
            has_scores = bayes_scores(trees, tree, node, slot, x, scratch)
    if slot >= 0 and rules.leaf == ADAPTIVE:
        _compare_predictions(trees, tree, node, weights, taught, has_scores, scratch.scores, n_classes)
    for c in range(n_classes):
        if weights[c] > 0.0:
            class_weight[tree, node, c] += weights[c]
            class_seen[tree, node, c] = 1
            if slot >= 0:
                _teach_class(trees.moments, trees.tables, tree, slot, c, x, weights[c])
    if astray or slot < 0:
        return
    if trees.nodes[tree, node].depth >= rules.max_depth:
        drop_slot(trees, tree, node)
        return
    weight = node_weight(class_weight, tree, node)
    if weight - trees.nodes[tree, node].last_attempt >= rules.grace_period:
        attempt_split(trees, tree, node, forest.columns, rules, scratch)
        trees.nodes[tree, node].last_attempt = weight


@_kernel
def vote_row(forest: Forest, tree: int, x: FloatArray, scratch: Scratch, n_classes: int, out: FloatArray) -> None:
    """Vote on one row; nothing is learned."""
    trees, rules = forest.trees, forest.rules
    if rules.has_subsets:
        _look(trees.visible, tree, x, scratch.row)
        x = scratch.row
    leaf, has_scores, _ = _look_up(trees, tree, x, rules, scratch)
    leaf_vote(trees, tree, leaf, rules, has_scores, scratch.scores, n_classes, out)
