"""Compiled Mondrian trees: vote on a row, and learn it.

A Mondrian tree (Lakshminarayanan, Roy & Teh, 2014) cuts boxes at random, without looking at labels: the further a row
lies outside a node's box, the sooner, and on that side, a cut is put above the node. What is learned is the class
weights of every node on a row's path, and how well each of them predicted: the tree votes with the mean over all its
prunings, weighted by exp(-step * their log loss), which context-tree weighting computes along one path (Mourtada,
Gaïffas & Scornet, 2021; River's AMF).

Being taught a row of label weights is one event: a node's log loss is the weighted sum over the labels.
"""

from __future__ import annotations

import math
from typing import Any

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.learners.mondrian.layout import HIGH, LEAF, LOW, Forest, Rules, Scratch, Trees
from ocoboost.randomness import MONDRIAN, uniform

_FURTHEST = 1e150  # distances are cut here, so that their sums stay finite
_SMALLEST = 1e-300  # shares are cut here, so that their logarithms stay finite


_kernel = kernel(error_model="numpy")
_inlined = kernel(error_model="numpy", inline="always")


@_inlined
def is_full(forest: Forest, tree: int, scratch: Scratch) -> bool:
    """Whether the next row might need more nodes than are left."""
    wanted = forest.trees.n_nodes[tree] + 2
    return bool(forest.trees.nodes.shape[1] < wanted <= forest.rules.max_nodes)


@_inlined
def _next_node(nodes: Any, tree: int, node: int, x: FloatArray) -> int:
    """The child that a row goes to; a missing value follows the heavier branch."""
    value = x[nodes[tree, node].feature]
    left, right = int(nodes[tree, node].left), int(nodes[tree, node].right)
    if value <= nodes[tree, node].threshold:
        return left
    if value == value or nodes[tree, right].total > nodes[tree, left].total:
        return right
    return left


@_inlined
def _predict(
    nodes: Any, class_weight: FloatArray, tree: int, node: int, rules: Rules, n_classes: int, shares: FloatArray
) -> None:
    """Turn what the parent predicts into what a node predicts."""
    if node == 0 or rules.smoothing == 0.0:
        inverse = 1.0 / (nodes[tree, node].total + rules.dirichlet * n_classes)
        for c in range(n_classes):
            shares[c] = (class_weight[tree, node, c] + rules.dirichlet) * inverse
    else:
        inverse = 1.0 / (nodes[tree, node].total + rules.smoothing)
        for c in range(n_classes):
            shares[c] = (class_weight[tree, node, c] + rules.smoothing * shares[c]) * inverse


@_kernel
def vote_row(forest: Forest, tree: int, x: FloatArray, scratch: Scratch, n_classes: int, out: FloatArray) -> None:
    """Vote on one row: the mean over all prunings of the class shares at the leaf that the row falls into."""
    nodes, class_weight, rules = forest.trees.nodes, forest.trees.class_weight, forest.rules
    shares = scratch.shares
    left_over = 1.0  # weight of the prunings that go deeper
    node = 0
    for c in range(n_classes):
        out[c] = 0.0
    while True:
        is_leaf = nodes[tree, node].feature == LEAF
        share = 1.0 if is_leaf else nodes[tree, node].share
        _predict(nodes, class_weight, tree, node, rules, n_classes, shares)
        if share > 0.0:
            for c in range(n_classes):
                out[c] += left_over * share * shares[c]
        if is_leaf:
            return
        left_over *= 1.0 - share
        node = _next_node(nodes, tree, node, x)


@_inlined
def _distance(boxes: FloatArray, scale: FloatArray, tree: int, node: int, x: FloatArray, out: FloatArray) -> float:
    """How far a row lies outside a node's box, per column in ``out`` and in sum.

    Comparisons with NaN are false: what is missing is not outside.
    """
    for column in range(x.size):
        below = boxes[tree, node, LOW, column] - x[column]
        above = x[column] - boxes[tree, node, HIGH, column]
        outside = below if below > above else above
        outside = outside if outside > 0.0 else 0.0
        outside = outside if outside < _FURTHEST else _FURTHEST
        out[column] = outside * scale[tree, column]
    total = 0.0
    for column in range(x.size):
        total += out[column]
    return total


@_inlined
def _enclose(boxes: FloatArray, tree: int, node: int, x: FloatArray) -> None:
    """Make a node's box hold a row."""
    for column in range(x.size):
        value, low, high = x[column], boxes[tree, node, LOW, column], boxes[tree, node, HIGH, column]
        boxes[tree, node, LOW, column] = value if value < low or low != low else low
        boxes[tree, node, HIGH, column] = value if value > high or high != high else high


@_kernel
def _measure(trees: Trees, tree: int, x: FloatArray) -> None:
    """Distances are in units of each column's range so far: widen the root's box, and set the units by it."""
    for column in range(x.size):
        low, high = trees.boxes[tree, 0, LOW, column], trees.boxes[tree, 0, HIGH, column]
        if x[column] < low or x[column] > high:
            width = max(high, x[column]) - min(low, x[column])
            trees.scale[tree, column] = 1.0 / width if width > 1.0 / _FURTHEST else _FURTHEST


@_inlined
def _is_pure(class_weight: FloatArray, tree: int, node: int, weights: FloatArray, n_classes: int) -> bool:
    """Whether a node has seen, and is being taught, one and the same class only."""
    n_present = 0
    for c in range(n_classes):
        if class_weight[tree, node, c] > 0.0 or weights[c] > 0.0:
            n_present += 1
    return n_present <= 1


@_kernel
def _cut(
    trees: Trees, tree: int, node: int, x: FloatArray, distance: FloatArray, time: float, draws: tuple[float, float]
) -> int:
    """Put a branch in a node's place: what the node was goes to one side, a new leaf to the other. Returns the leaf."""
    nodes = trees.nodes
    total = 0.0
    for column in range(x.size):
        total += distance[column]
    feature = -1
    cumulative = 0.0
    for column in range(x.size):
        if distance[column] > 0.0:
            cumulative += distance[column]
            feature = column
            if draws[0] * total < cumulative:
                break
    low, high = trees.boxes[tree, node, LOW, feature], trees.boxes[tree, node, HIGH, feature]
    goes_right = x[feature] > high
    near, far = (high, x[feature]) if goes_right else (x[feature], low)
    threshold = near * (1.0 - draws[1]) + far * draws[1]
    if not near <= threshold < far:  # rounding
        threshold = near

    moved = int(trees.n_nodes[tree])
    leaf = moved + 1
    trees.n_nodes[tree] += 2
    for child in (moved, leaf):
        nodes[tree, child].time = time
        nodes[tree, child].parent = node
    nodes[tree, moved].threshold = nodes[tree, node].threshold
    nodes[tree, moved].gain = nodes[tree, node].gain
    nodes[tree, moved].tree_gain = nodes[tree, node].tree_gain
    nodes[tree, moved].share = nodes[tree, node].share
    nodes[tree, moved].total = nodes[tree, node].total
    nodes[tree, moved].feature = nodes[tree, node].feature
    nodes[tree, moved].left = nodes[tree, node].left
    nodes[tree, moved].right = nodes[tree, node].right
    for c in range(trees.class_weight.shape[2]):
        trees.class_weight[tree, moved, c] = trees.class_weight[tree, node, c]
    for side in range(2):
        for column in range(x.size):
            trees.boxes[tree, moved, side, column] = trees.boxes[tree, node, side, column]
    if nodes[tree, moved].feature != LEAF:
        nodes[tree, nodes[tree, moved].left].parent = moved
        nodes[tree, nodes[tree, moved].right].parent = moved
    nodes[tree, leaf].feature = LEAF
    nodes[tree, node].feature = feature
    nodes[tree, node].threshold = threshold
    nodes[tree, node].left = moved if goes_right else leaf
    nodes[tree, node].right = leaf if goes_right else moved
    return leaf


@_inlined
def _log_loss(shares: FloatArray, weights: FloatArray, n_classes: int) -> float:
    """The weighted sum of the log losses of the labels that are taught."""
    loss = 0.0
    for c in range(n_classes):
        if weights[c] > 0.0:
            loss -= weights[c] * math.log(max(shares[c], _SMALLEST))
    return loss


@_inlined
def _add(trees: Trees, tree: int, node: int, weights: FloatArray, taught: float, n_classes: int) -> None:
    """Count a row at a node."""
    for c in range(n_classes):
        trees.class_weight[tree, node, c] += weights[c]
    trees.nodes[tree, node].total += taught


@_kernel
def learn_row(forest: Forest, tree: int, x: FloatArray, weights: FloatArray, scratch: Scratch, n_classes: int) -> None:
    """Learn the label weights of one row."""
    trees, rules = forest.trees, forest.rules
    nodes, distance = trees.nodes, scratch.distance
    taught = 0.0
    for c in range(n_classes):
        taught += weights[c]
    if not taught > 0.0:
        return
    row = trees.n_taught[tree]
    trees.n_taught[tree] += 1
    if rules.is_scaled:
        _measure(trees, tree, x)
    shares = scratch.shares
    node = 0
    n_draws = 0
    while True:
        cut_at = -1.0
        outside = _distance(trees.boxes, trees.scale, tree, node, x, distance)
        is_leaf = nodes[tree, node].feature == LEAF
        if (
            outside > 0.0
            and trees.n_nodes[tree] + 2 <= rules.max_nodes
            and (rules.split_pure or not _is_pure(trees.class_weight, tree, node, weights, n_classes))
        ):
            draw = uniform(rules.seed, MONDRIAN + 8 * n_draws, row, tree)
            n_draws += 1
            cut_at = nodes[tree, node].time - math.log1p(-draw) / outside
            if not is_leaf and cut_at >= nodes[tree, nodes[tree, node].left].time:
                cut_at = -1.0
        leaf = -1
        if cut_at >= 0.0:
            draws = (
                uniform(rules.seed, MONDRIAN + 8 * n_draws, row, tree),
                uniform(rules.seed, MONDRIAN + 8 * (n_draws + 1), row, tree),
            )
            leaf = _cut(trees, tree, node, x, distance, cut_at, draws)
        _predict(nodes, trees.class_weight, tree, node, rules, n_classes, shares)
        if nodes[tree, node].total > 0.0:
            nodes[tree, node].gain -= rules.step * _log_loss(shares, weights, n_classes)
        _add(trees, tree, node, weights, taught, n_classes)
        if outside > 0.0 or trees.has_gaps[tree]:
            _enclose(trees.boxes, tree, node, x)
        if leaf >= 0:
            _add(trees, tree, leaf, weights, taught, n_classes)
            _enclose(trees.boxes, tree, leaf, x)
            node = leaf
            break
        if is_leaf:
            break
        node = _next_node(nodes, tree, node, x)
    if row == 0:
        trees.has_gaps[tree] = 0
    for column in range(x.size):
        if x[column] != x[column]:
            trees.has_gaps[tree] = 1
    if rules.aggregate:
        _weigh_prunings(nodes, tree, node)


@_inlined
def _weigh_prunings(nodes: Any, tree: int, leaf: int) -> None:
    """Context-tree weighting from a leaf up: W(node) = (exp(gain) + W(left) W(right)) / 2, in logarithms."""
    nodes[tree, leaf].tree_gain = nodes[tree, leaf].gain
    node = nodes[tree, leaf].parent
    while node >= 0:
        here = nodes[tree, node].gain
        below = nodes[tree, nodes[tree, node].left].tree_gain + nodes[tree, nodes[tree, node].right].tree_gain
        # share = exp(here) / (exp(here) + exp(below)), without overflow
        ratio = math.exp(-abs(here - below))
        nodes[tree, node].share = (1.0 if here >= below else ratio) / (1.0 + ratio)
        nodes[tree, node].tree_gain = max(here, below) + math.log(0.5 * (1.0 + ratio))
        node = nodes[tree, node].parent


@_inlined
def vote_and_learn_row(
    forest: Forest, tree: int, x: FloatArray, weights: FloatArray, scratch: Scratch, n_classes: int, vote: FloatArray
) -> None:
    """Vote on one row with what is known, then learn its label weights."""
    vote_row(forest, tree, x, scratch, n_classes, vote)
    learn_row(forest, tree, x, weights, scratch, n_classes)
