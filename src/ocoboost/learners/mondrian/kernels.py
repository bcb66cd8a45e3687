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

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.learners.mondrian.boxes import distance_to_box, enclose, is_inside_box, measure
from ocoboost.learners.mondrian.layout import HIGH, LEAF, LOW, Forest, Rules, Scratch, Trees
from ocoboost.learners.mondrian.prefetch import fetch
from ocoboost.randomness import MONDRIAN, uniform

_SMALLEST = 1e-300  # shares are cut here, so that their logarithms stay finite
_ROUNDED_DOWN = 1.0 - 1e-12  # makes up for the rounding of a logarithm
_VANISHED = 746.0  # exp(-746) is zero
_NEGLIGIBLE = 37.0  # 1 + exp(-37) is 1
_LOG_HALF = math.log(0.5)


_kernel = kernel(error_model="numpy")
_inlined = kernel(error_model="numpy", forceinline=True)


@_inlined
def is_full(forest: Forest, tree: int, scratch: Scratch) -> bool:
    """Whether the next row might need more nodes than are left."""
    wanted = forest.trees.n_nodes[tree] + 2
    return bool(forest.trees.nodes.shape[1] < wanted <= forest.rules.max_nodes)


@_inlined
def _next_node(nodes: Any, node: int, x: FloatArray) -> int:
    """The child that a row goes to; a missing value follows the heavier branch."""
    value = x[nodes[node].feature]
    left, right = int(nodes[node].left), int(nodes[node].right)
    if value <= nodes[node].threshold:
        return left
    if value == value or nodes[right].total > nodes[left].total:
        return right
    return left


@_inlined
def _predict(nodes: Any, class_weight: FloatArray, node: int, rules: Rules, n_classes: int, shares: FloatArray) -> None:
    """Turn what the parent predicts into what a node predicts."""
    if node == 0 or rules.smoothing == 0.0:
        inverse = 1.0 / (nodes[node].total + rules.dirichlet * n_classes)
        for c in range(n_classes):
            shares[c] = (class_weight[node, c] + rules.dirichlet) * inverse
    else:
        inverse = 1.0 / (nodes[node].total + rules.smoothing)
        for c in range(n_classes):
            shares[c] = (class_weight[node, c] + rules.smoothing * shares[c]) * inverse


@_kernel
def look_ahead(forest: Forest, x: FloatArray, scratch: Scratch, is_learned: bool) -> None:
    """Go down all trees side by side, one level at a time, and fetch what voting or learning will read.

    One way after the other waits for memory at every node; here the trees' waits are one.
    """
    trees, ways = forest.trees, scratch.ways
    n_trees = ways.size
    for tree in range(n_trees):
        ways[tree] = 0
        fetch(trees.nodes[tree], 0)
    n_under_way = n_trees
    while n_under_way > 0:
        n_under_way = 0
        for tree in range(n_trees):
            node = ways[tree]
            if node < 0:
                continue
            nodes = trees.nodes[tree]
            fetch(trees.class_weight[tree], node)
            if is_learned:
                fetch(trees.boxes[tree], node)
            if nodes[node].feature == LEAF:
                ways[tree] = -1
                continue
            below = _next_node(nodes, node, x)
            fetch(nodes, below)
            if is_learned:  # what prunings weigh depends on both children
                fetch(nodes, nodes[node].left + nodes[node].right - below)
            ways[tree] = below
            n_under_way += 1


@_kernel
def vote_row(forest: Forest, tree: int, x: FloatArray, scratch: Scratch, n_classes: int, out: FloatArray) -> None:
    """Vote on one row: the mean over all prunings of the class shares at the leaf that the row falls into."""
    for c in range(n_classes):
        out[c] = 0.0
    _vote_below(
        forest.trees.nodes[tree],
        forest.trees.class_weight[tree],
        0,
        1.0,
        x,
        forest.rules,
        scratch.shares,
        n_classes,
        out,
    )


@_inlined
def _vote_below(
    nodes: Any,
    class_weight: FloatArray,
    node: int,
    left_over: float,
    x: FloatArray,
    rules: Rules,
    shares: FloatArray,
    n_classes: int,
    out: FloatArray,
) -> None:
    """Add the votes of a node and all below it; ``left_over`` is the weight of the prunings that reach it."""
    while True:
        is_leaf = nodes[node].feature == LEAF
        share = 1.0 if is_leaf else nodes[node].share
        _predict(nodes, class_weight, node, rules, n_classes, shares)
        if share > 0.0:
            for c in range(n_classes):
                out[c] += left_over * share * shares[c]
        if is_leaf:
            return
        left_over *= 1.0 - share
        node = _next_node(nodes, node, x)


@_inlined
def _may_cut(trees: Trees, tree: int, node: int, weights: FloatArray, rules: Rules, n_classes: int) -> bool:
    """Whether the tree may grow, and the node has seen or is being taught several classes, if that is required."""
    if trees.n_nodes[tree] + 2 > rules.max_nodes:
        return False
    n_present = 0
    for c in range(n_classes):
        if trees.class_weight[tree, node, c] > 0.0 or weights[c] > 0.0:
            n_present += 1
    return rules.split_pure or n_present > 1


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
            trees.boxes[tree, leaf, side, column] = x[column]
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
def _list_labels(weights: FloatArray, n_classes: int, labels: IntArray) -> tuple[float, int]:
    """List the labels that a row teaches, often a single one; returns their weight and their number."""
    taught = 0.0
    n_labels = 0
    for c in range(n_classes):
        taught += weights[c]
        if weights[c] > 0.0:
            labels[n_labels] = c
            n_labels += 1
    return taught, n_labels


@_inlined
def _note_gaps(trees: Trees, tree: int, row: int, x: FloatArray) -> None:
    """Note whether a box may lack values, after a row is learned."""
    if row == 0:
        trees.has_gaps[tree] = 0
    for column in range(x.size):
        if x[column] != x[column]:
            trees.has_gaps[tree] = 1


@_inlined
def _log_loss(shares: FloatArray, weights: FloatArray, labels: IntArray, n_labels: int) -> float:
    """The weighted sum of the log losses of the labels that are taught."""
    loss = 0.0
    for place in range(n_labels):
        c = labels[place]
        loss -= weights[c] * math.log(max(shares[c], _SMALLEST))
    return loss


@_inlined
def _add(
    nodes: Any, class_weight: FloatArray, node: int, weights: FloatArray, taught: float, labels: IntArray, n_labels: int
) -> None:
    """Count a row at a node."""
    for place in range(n_labels):
        class_weight[node, labels[place]] += weights[labels[place]]
    nodes[node].total += taught


@_inlined
def _time_of_cut(node: Any, child: Any, is_leaf: bool, draw: float, outside: float) -> float:
    """When a row so far outside cuts a node off its parent; -1 if that is not before its children were.

    Most cuts would be too late, and -log1p(-draw) is no less than the draw: that tells, without a logarithm.
    """
    if not is_leaf and node.time + draw * _ROUNDED_DOWN / outside >= child.time:
        return -1.0
    time = node.time - math.log1p(-draw) / outside
    return -1.0 if not is_leaf and time >= child.time else time


@_inlined
def _cut_if_due(
    trees: Trees,
    tree: int,
    node: int,
    x: FloatArray,
    distance: FloatArray,
    outside: float,
    rules: Rules,
    row: int,
    n_draws: int,
) -> int:
    """Draw when a row that lies outside a node cuts it off, and do so if it is in time. Returns the new leaf or -1."""
    nodes = trees.nodes[tree]
    number = rules.held_from + tree
    draw = uniform(rules.seed, MONDRIAN + 8 * n_draws, row, number)
    is_leaf = nodes[node].feature == LEAF
    time = _time_of_cut(nodes[node], nodes[nodes[node].left], is_leaf, draw, outside)
    if time < 0.0:
        return -1
    draws = (
        uniform(rules.seed, MONDRIAN + 8 * (n_draws + 1), row, number),
        uniform(rules.seed, MONDRIAN + 8 * (n_draws + 2), row, number),
    )
    return _cut(trees, tree, node, x, distance, time, draws)


@_kernel
def vote_and_learn_row(
    forest: Forest, tree: int, x: FloatArray, weights: FloatArray, scratch: Scratch, n_classes: int, vote: FloatArray
) -> None:
    """Vote on one row with what is known, and learn its label weights, on one way down the tree."""
    trees, rules, shares, labels = forest.trees, forest.rules, scratch.shares, scratch.labels
    nodes, class_weight, boxes, scale = (
        trees.nodes[tree],
        trees.class_weight[tree],
        trees.boxes[tree],
        trees.scale[tree],
    )
    taught, n_labels = _list_labels(weights, n_classes, labels)
    for c in range(n_classes):
        vote[c] = 0.0
    if not taught > 0.0:
        _vote_below(nodes, class_weight, 0, 1.0, x, rules, shares, n_classes, vote)
        return
    row = trees.n_taught[tree]
    trees.n_taught[tree] += 1
    has_gaps = trees.has_gaps[tree] != 0
    if rules.is_scaled:
        measure(boxes, scale, x)
    left_over = 1.0  # weight of the prunings that go deeper
    is_inside = True
    node, leaf, n_draws = 0, -1, 0
    while True:
        is_leaf = nodes[node].feature == LEAF
        below = -1 if is_leaf else _next_node(nodes, node, x)
        if not is_leaf:
            fetch(nodes, below)
            fetch(boxes, below)
            fetch(class_weight, below)
        share = 1.0 if is_leaf else nodes[node].share
        _predict(nodes, class_weight, node, rules, n_classes, shares)
        if share > 0.0:
            for c in range(n_classes):
                vote[c] += left_over * share * shares[c]
        left_over *= 1.0 - share
        outside = 0.0
        is_inside = is_inside and is_inside_box(boxes, node, x)  # outside of a box is outside of those in it
        if not is_inside:
            outside = distance_to_box(boxes, scale, node, x, scratch.distance)
        if outside > 0.0 and _may_cut(trees, tree, node, weights, rules, n_classes):
            leaf = _cut_if_due(trees, tree, node, x, scratch.distance, outside, rules, row, n_draws)
            n_draws += 1
        if nodes[node].total > 0.0:
            nodes[node].gain -= rules.step * _log_loss(shares, weights, labels, n_labels)
        _add(nodes, class_weight, node, weights, taught, labels, n_labels)
        if outside > 0.0 or has_gaps:
            enclose(boxes, node, x)
        if leaf >= 0 or is_leaf:
            break
        node = below
    if leaf >= 0:
        _add(nodes, class_weight, leaf, weights, taught, labels, n_labels)
        node = leaf
        if below >= 0:  # what was moved down still votes
            _vote_below(nodes, class_weight, below, left_over, x, rules, shares, n_classes, vote)
    _note_gaps(trees, tree, row, x)
    if rules.aggregate:
        _weigh_prunings(nodes, node)


@_inlined
def _weigh_prunings(nodes: Any, leaf: int) -> None:
    """Context-tree weighting from a leaf up: W(node) = (exp(gain) + W(left) W(right)) / 2, in logarithms."""
    nodes[leaf].tree_gain = nodes[leaf].gain
    node = nodes[leaf].parent
    while node >= 0:
        here = nodes[node].gain
        below = nodes[nodes[node].left].tree_gain + nodes[nodes[node].right].tree_gain
        # share = exp(here) / (exp(here) + exp(below)), without overflow
        apart = abs(here - below)
        ratio = math.exp(-apart) if apart < _VANISHED else 0.0
        nodes[node].share = (1.0 if here >= below else ratio) / (1.0 + ratio)
        mean = math.log(0.5 * (1.0 + ratio)) if apart < _NEGLIGIBLE else _LOG_HALF
        nodes[node].tree_gain = max(here, below) + mean
        node = nodes[node].parent
