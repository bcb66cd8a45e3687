"""Compiled Hoeffding trees: N trees side by side in arrays, axis 0 is always the learner.

A tree is a pool of nodes. A leaf that still learns also owns a slot of statistics:

    moments[slot, class, :, column]     weight, mean, sum of squared deviations, lowest and highest value (numbers)
    tables[slot, class, column, code]   weight of every category (text)

The column is the innermost axis, padded to whole vector registers with missing values: one class of one leaf is a few
contiguous rows, and classes that are not taught are not touched.

Being taught a row of label weights is one event: the adaptive leaf scores its two predictions once, before the
statistics move; then all labels' statistics move; then there is one attempt to split. For a hard label this is what
River's HoeffdingTreeClassifier does, and its rules are followed in every detail that can change a tree.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.splits import (
    GINI,
    HIGH,
    LOW,
    MEAN,
    SQUARES,
    WEIGHT,
    divide_categories,
    divide_numbers,
    list_categories,
    merit_of_split,
    numeric_range,
    total_weight,
)

LEAF = 0
NUMERIC = 1  # value <= threshold goes to the first child, else to the second
EQUAL = 2  # category == threshold goes to the first child, else to the second
MULTIWAY = 3  # one child per category

MAJORITY = 0
NAIVE_BAYES = 1
ADAPTIVE = 2


_DENSITY_SCALE = 1.0 / math.tau
_TINY = 1e-290  # squares below this have no finite inverse
# One logarithm is taken of the product of sixteen precisions, if its four factors are within these limits.
_LOG_EVERY, _SMALLEST, _LARGEST = 16, 1e-70, 1e70


class Rules(NamedTuple):
    """River's parameters of a Hoeffding tree, as numbers."""

    grace_period: float
    max_depth: int
    delta: float
    tau: float
    criterion: int
    leaf: int
    nb_threshold: float
    binary_split: bool
    min_branch_fraction: float
    max_share_to_split: float
    merit_preprune: bool
    n_splits: int
    max_slots: int  # leaves of one tree that may learn at a time
    has_subsets: bool  # whether trees see different columns


# A node of a tree. Branches and leaves share the record: a leaf has kind LEAF and no children.
NODE = np.dtype(
    [
        ("kind", np.int64),  # LEAF, NUMERIC, EQUAL or MULTIWAY
        ("feature", np.int64),  # place in a row of the value that a branch tests
        ("threshold", np.float64),  # number, or category code
        ("parent", np.int64),
        ("first_child", np.int64),
        ("sibling", np.int64),  # next child of the same parent, -1 after the last
        ("category", np.int64),  # code that leads to this child of a MULTIWAY branch
        ("depth", np.int64),
        ("slot", np.int64),  # -1: the leaf no longer learns
        ("last_attempt", np.float64),  # weight seen at the last attempt to split
        ("majority_right", np.float64),  # weight on which each of the adaptive leaf's two predictions was right
        ("bayes_right", np.float64),
    ]
)


class Trees(NamedTuple):
    """All trees; every array has the learner as its axis 0, then the node or the slot."""

    n_nodes: IntArray  # (n_learners,)
    n_free: IntArray  # (n_learners,) free slots, the top of a stack
    free: IntArray  # (n_learners, n_slots)
    nodes: Any  # (n_learners, n_nodes) of NODE
    class_weight: FloatArray  # (n_learners, n_nodes, n_classes)
    class_seen: IntArray  # (n_learners, n_nodes, n_classes)
    moments: FloatArray  # (n_learners, n_slots, n_classes, 5, n_numeric)
    tables: FloatArray  # (n_learners, n_slots, n_classes, n_nominal, n_categories)
    visible: IntArray  # (n_learners, n_places) whether a tree sees a value of a row


class Columns(NamedTuple):
    """Where each column's statistics are; -1 where it has none of the kind.

    A block of rows has the columns of numbers first, padded with NaN to ``n_numeric``, then the columns of text.
    """

    numeric: IntArray  # (n_columns,)
    nominal: IntArray  # (n_columns,)
    n_numeric: int  # with padding
    n_nominal: int


class Scratch(NamedTuple):
    """Memory for one thread to work in, so that nothing is allocated per row."""

    penalty: FloatArray  # (n_numeric,)
    precision: FloatArray  # (n_numeric,)
    scores: FloatArray  # (n_classes,)
    row: FloatArray  # (n_places,) what a tree sees of a row
    taught: FloatArray  # label weights of a row
    vote: FloatArray
    slope: FloatArray  # gradient of a row's loss
    branches: FloatArray  # (n_branches, n_classes) class distributions of a candidate split
    codes: IntArray  # (n_branches,)


def make_scratch(n_numeric: int, n_nominal: int, n_classes: int, n_categories: int) -> Scratch:
    """Scratch memory for trees of this many numbers and classes, whose text has at most this many categories."""
    n_branches = max(n_categories, 2)
    return Scratch(
        penalty=np.zeros(n_numeric),
        precision=np.zeros(n_numeric),
        scores=np.zeros(n_classes),
        row=np.zeros(n_numeric + n_nominal),
        taught=np.zeros(n_classes),
        vote=np.zeros(n_classes),
        slope=np.zeros(n_classes),
        branches=np.zeros((n_branches, n_classes)),
        codes=np.zeros(n_branches, dtype=np.int64),
    )


class Forest(NamedTuple):
    """What the kernels need of an ensemble."""

    trees: Trees
    columns: Columns
    rules: Rules


_kernel = kernel(error_model="numpy")  # divisions by zero are guarded, so loops vectorise
_inlined = kernel(error_model="numpy", inline="always")


@_inlined
def _node_weight(class_weight: FloatArray, tree: int, node: int) -> float:
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
            total += _node_weight(trees.class_weight, tree, node)
        else:
            node = trees.nodes[tree, node].first_child
            continue
        while node != root and trees.nodes[tree, node].sibling < 0:
            node = trees.nodes[tree, node].parent
        if node == root:
            return total
        node = trees.nodes[tree, node].sibling


@_kernel
def _heaviest_child(trees: Trees, tree: int, node: int) -> int:
    best = trees.nodes[tree, node].first_child
    heaviest = _subtree_weight(trees, tree, best)
    child = trees.nodes[tree, best].sibling
    while child >= 0:
        weight = _subtree_weight(trees, tree, child)
        if weight > heaviest:
            best, heaviest = child, weight
        child = trees.nodes[tree, child].sibling
    return best


@_kernel
def _next_node(trees: Trees, tree: int, node: int, x: FloatArray) -> int:
    """The child that a row goes to; -1 if its value is missing or of an unknown category."""
    value = x[trees.nodes[tree, node].feature]
    if value != value:
        return -1
    child = trees.nodes[tree, node].first_child
    kind = trees.nodes[tree, node].kind
    if kind == NUMERIC:
        return child if value <= trees.nodes[tree, node].threshold else trees.nodes[tree, child].sibling
    if kind == EQUAL:
        return child if value == trees.nodes[tree, node].threshold else trees.nodes[tree, child].sibling
    while child >= 0 and trees.nodes[tree, child].category != value:
        child = trees.nodes[tree, child].sibling
    return child


@_kernel
def find_leaf(trees: Trees, tree: int, x: FloatArray) -> int:
    """The leaf that predicts a row; a missing value follows the heaviest branch."""
    node = 0
    while trees.nodes[tree, node].kind != LEAF:
        child = _next_node(trees, tree, node, x)
        node = child if child >= 0 else _heaviest_child(trees, tree, node)
    return node


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
def _drop_slot(trees: Trees, tree: int, node: int) -> None:
    trees.free[tree, trees.n_free[tree]] = trees.nodes[tree, node].slot
    trees.n_free[tree] += 1
    trees.nodes[tree, node].slot = -1


@_kernel
def new_leaf(trees: Trees, tree: int, parent: int, category: int) -> int:
    """A leaf with empty statistics, appended to its parent's children (parent -1: the root)."""
    node = trees.n_nodes[tree]
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


@_kernel
def _bayes_scores(
    class_weight: FloatArray,
    class_seen: IntArray,
    moments: FloatArray,
    tables: FloatArray,
    tree: int,
    node: int,
    slot: int,
    x: FloatArray,
    penalty: FloatArray,
    precision: FloatArray,
    scores: FloatArray,
) -> bool:
    """Log probabilities up to a constant in ``scores``, -inf for unseen classes; false if nothing is known.

    Arrays are indexed whole: a view would cost two atomic operations, about as much as the arithmetic on its elements.
    """
    n_numeric = moments.shape[4]
    total = 0.0
    for c in range(scores.size):
        total += class_weight[tree, node, c]
    if not total > 0.0:
        return False
    for c in range(scores.size):
        weight = class_weight[tree, node, c]
        if not class_seen[tree, node, c]:
            scores[c] = -np.inf
            continue
        if not weight > 0.0:
            scores[c] = 0.0  # River's rule for a class that is known with weight zero
            continue
        for f in range(n_numeric):
            freedom = moments[tree, slot, c, WEIGHT, f] - 1.0
            squares = moments[tree, slot, c, SQUARES, f]
            difference = x[f] - moments[tree, slot, c, MEAN, f]
            known = (freedom > 0.0) & (squares > _TINY) & (squares < np.inf) & (difference == difference)
            inverse = freedom / squares  # of the variance
            precision[f] = inverse * _DENSITY_SCALE if known else 1.0
            penalty[f] = difference * difference * inverse if known else 0.0
        # Four sums and products side by side: the operations of one would wait for each other.
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        p0, p1, p2, p3 = weight / total, weight / total, 1.0, 1.0
        logs = 0.0
        is_plain = n_numeric > 0
        for first in range(0, n_numeric, _LOG_EVERY):
            for f in range(first, min(first + _LOG_EVERY, n_numeric), 4):
                s0 += penalty[f]
                s1 += penalty[f + 1]
                s2 += penalty[f + 2]
                s3 += penalty[f + 3]
                p0 *= precision[f]
                p1 *= precision[f + 1]
                p2 *= precision[f + 2]
                p3 *= precision[f + 3]
            is_plain &= (min(p0, p1, p2, p3) > _SMALLEST) & (max(p0, p1, p2, p3) < _LARGEST)
            logs += np.log((p0 * p1) * (p2 * p3))
            p0, p1, p2, p3 = 1.0, 1.0, 1.0, 1.0
        if not is_plain:
            logs = 2.0 * np.log(weight / total)
            for f in range(n_numeric):
                logs += np.log(precision[f])
        score = 0.5 * (logs - ((s0 + s1) + (s2 + s3)))
        for f in range(tables.shape[3]):
            value = x[n_numeric + f]
            if value == value and value < tables.shape[4] and tables[tree, slot, c, f, int(value)] > 0.0:
                observed = 0.0
                for category in range(tables.shape[4]):
                    observed += tables[tree, slot, c, f, category]
                score += np.log(tables[tree, slot, c, f, int(value)] / observed)
        scores[c] = score
    return True


@_kernel
def _look(visible: IntArray, tree: int, x: FloatArray, out: FloatArray) -> None:
    """The values of a row that a tree may see; the others are missing to it."""
    for place in range(x.size):
        out[place] = x[place] if visible[tree, place] else np.nan


@_inlined
def _vote(
    trees: Trees,
    tree: int,
    leaf: int,
    rules: Rules,
    has_scores: bool,
    scores: FloatArray,
    n_classes: int,
    out: FloatArray,
) -> None:
    """The leaf's class probabilities, by naive Bayes or by majority; uniform if it knows nothing."""
    class_weight = trees.class_weight
    total = 0.0
    for c in range(n_classes):
        total += class_weight[tree, leaf, c]
    use_bayes = has_scores
    if rules.leaf == NAIVE_BAYES:
        use_bayes &= total >= rules.nb_threshold
    elif rules.leaf == ADAPTIVE:
        use_bayes &= trees.nodes[tree, leaf].bayes_right >= trees.nodes[tree, leaf].majority_right
    highest = -np.inf
    if use_bayes:
        for c in range(n_classes):
            highest = max(highest, scores[c])
    if highest > -np.inf:  # else no density is above zero, which takes values near the limits of floating point
        summed = 0.0
        for c in range(n_classes):
            out[c] = np.exp(scores[c] - highest)
            summed += out[c]
        for c in range(n_classes):
            out[c] /= summed
    else:
        for c in range(n_classes):
            out[c] = class_weight[tree, leaf, c] / total if total > 0.0 else 1.0 / n_classes


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
        if value == value:
            tables[tree, slot, c, f, int(value)] += weight


@_kernel
def _attempt_split(trees: Trees, tree: int, node: int, columns: Columns, rules: Rules, scratch: Scratch) -> None:
    """River's split attempt: compare the two best columns, split, or forget a leaf that nothing can split."""
    class_weight = trees.class_weight[tree, node]
    seen = trees.class_seen[tree, node]
    n_positive = 0
    n_seen = 0
    heaviest = 0.0
    for c in range(class_weight.size):
        n_positive += class_weight[c] != 0.0
        n_seen += seen[c]
        heaviest = max(heaviest, class_weight[c])
    if n_positive < 2:
        return
    total = total_weight(class_weight)
    slot = trees.nodes[tree, node].slot
    branches, codes = scratch.branches, scratch.codes

    best, second = -np.inf, -np.inf
    best_column, best_kind, best_threshold = -1, LEAF, 0.0
    n_suggestions = 1 if rules.merit_preprune else 0
    if heaviest > 0.0 and heaviest / total > rules.max_share_to_split:
        n_suggestions = 1
    else:
        for column in range(columns.numeric.size):
            merit, kind, threshold = -np.inf, LEAF, 0.0
            if columns.numeric[column] >= 0:
                f = columns.numeric[column]
                moments = trees.moments[tree, slot, :, :, f]
                low, high = numeric_range(moments)
                if low > high:
                    continue  # not observed here
                width = (high - low) / (rules.n_splits + 1.0)
                for split in range(rules.n_splits):
                    candidate = low + width * (split + 1)
                    if low < candidate < high:
                        divide_numbers(moments, candidate, branches)
                        value = merit_of_split(rules.criterion, class_weight, branches, 2, rules.min_branch_fraction)
                        if value > merit:
                            merit, kind, threshold = value, NUMERIC, candidate
            elif columns.nominal[column] >= 0:
                table = trees.tables[tree, slot, :, columns.nominal[column]]
                n_observed = list_categories(table, branches, codes)
                if n_observed == 0:
                    continue
                if not rules.binary_split:
                    merit = merit_of_split(
                        rules.criterion, class_weight, branches, n_observed, rules.min_branch_fraction
                    )
                    kind = MULTIWAY
                for observed in range(n_observed):
                    divide_categories(table, codes[observed], branches)
                    value = merit_of_split(rules.criterion, class_weight, branches, 2, rules.min_branch_fraction)
                    if value > merit:
                        merit, kind, threshold = value, EQUAL, float(codes[observed])
            else:
                continue
            n_suggestions += 1
            if merit >= best:  # of equals the last one wins, as after a stable sort
                second = best
                best, best_column, best_kind, best_threshold = merit, column, kind, threshold
            elif merit > second:
                second = merit

    should_split = n_suggestions == 1
    if n_suggestions > 1:
        span = 1.0 if rules.criterion == GINI else np.log2(float(max(n_seen, 2)))
        bound = np.sqrt(span * span * np.log(1.0 / rules.delta) / (2.0 * total))
        should_split = best - second > bound or bound < rules.tau
    if not should_split:
        return
    if best_column < 0 or best_kind == LEAF:
        clear_slot(trees, tree, slot)  # River switches the leaf off, and on again with nothing known
        return
    n_children = 2
    if best_kind == MULTIWAY:
        n_children = list_categories(trees.tables[tree, slot, :, columns.nominal[best_column]], branches, codes)
    if trees.free.shape[1] - trees.n_free[tree] + n_children - 1 <= rules.max_slots:  # the parent's slot becomes free
        _split(trees, tree, node, best_column, best_kind, best_threshold, columns, scratch)


@_kernel
def _split(
    trees: Trees,
    tree: int,
    node: int,
    column: int,
    kind: int,
    threshold: float,
    columns: Columns,
    scratch: Scratch,
) -> None:
    """Turn a leaf into a branch whose children start from the estimated class distributions."""
    slot = trees.nodes[tree, node].slot
    branches, codes = scratch.branches, scratch.codes
    n_children = 2
    if kind == NUMERIC:
        divide_numbers(trees.moments[tree, slot, :, :, columns.numeric[column]], threshold, branches)
    else:
        table = trees.tables[tree, slot, :, columns.nominal[column]]
        if kind == EQUAL:
            divide_categories(table, int(threshold), branches)
        else:
            n_children = list_categories(table, branches, codes)
    first = trees.n_nodes[tree]
    trees.nodes[tree, node].kind = kind
    place = columns.numeric[column] if kind == NUMERIC else columns.n_numeric + columns.nominal[column]
    trees.nodes[tree, node].feature = place
    trees.nodes[tree, node].threshold = threshold
    for child in range(n_children):
        leaf = new_leaf(trees, tree, node, codes[child] if kind == MULTIWAY else child)
        for c in range(branches.shape[1]):
            trees.class_weight[tree, leaf, c] = branches[child, c]
            trees.class_seen[tree, leaf, c] = branches[child, c] > 0.0
        trees.nodes[tree, leaf].last_attempt = total_weight(trees.class_weight[tree, leaf])
    if kind == NUMERIC:  # a class whose values lie on both sides is known on both, even with weight zero
        moments = trees.moments[tree, slot, :, :, columns.numeric[column]]
        for c in range(branches.shape[1]):
            if moments[c, LOW] <= threshold < moments[c, HIGH]:
                trees.class_seen[tree, first, c] = 1
                trees.class_seen[tree, first + 1, c] = 1
    _drop_slot(trees, tree, node)


@_inlined
def is_full(forest: Forest, tree: int, scratch: Scratch) -> bool:
    """Whether the next row might need more nodes or slots than are left."""
    trees = forest.trees
    n_wanted = scratch.codes.size
    return trees.n_nodes[tree] + n_wanted > trees.nodes.shape[1] or trees.n_free[tree] < n_wanted


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
    scores = scratch.scores
    leaf = 0 if trees.nodes[tree, 0].kind == LEAF else find_leaf(trees, tree, x)
    slot = trees.nodes[tree, leaf].slot
    # The adaptive leaf's naive Bayes scores serve the vote and the record of who was right.
    has_scores = False
    if slot >= 0 and rules.leaf != MAJORITY:
        has_scores = _bayes_scores(
            class_weight,
            class_seen,
            trees.moments,
            trees.tables,
            tree,
            leaf,
            slot,
            x,
            scratch.penalty,
            scratch.precision,
            scores,
        )
    _vote(trees, tree, leaf, rules, has_scores, scores, n_classes, vote)
    taught = 0.0
    for c in range(weights.size):
        taught += weights[c]
    if not taught > 0.0:
        return

    node = 0
    astray = False  # a row with a missing value or a new category on its way is learned, but splits nothing
    while trees.nodes[tree, node].kind != LEAF:
        child = _next_node(trees, tree, node, x)
        if child < 0:
            astray = True
            value = x[trees.nodes[tree, node].feature]
            may_grow = trees.free.shape[1] - trees.n_free[tree] < rules.max_slots
            if trees.nodes[tree, node].kind == MULTIWAY and value == value and may_grow:
                child = new_leaf(trees, tree, node, int(value))
            else:
                child = _heaviest_child(trees, tree, node)
        node = child

    if node != leaf:
        slot = trees.nodes[tree, node].slot
        if slot >= 0 and rules.leaf == ADAPTIVE:
            has_scores = _bayes_scores(
                class_weight,
                class_seen,
                trees.moments,
                trees.tables,
                tree,
                node,
                slot,
                x,
                scratch.penalty,
                scratch.precision,
                scores,
            )
    if slot >= 0 and rules.leaf == ADAPTIVE:
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
    for c in range(n_classes):
        if weights[c] > 0.0:
            class_weight[tree, node, c] += weights[c]
            class_seen[tree, node, c] = 1
            if slot >= 0:
                _teach_class(trees.moments, trees.tables, tree, slot, c, x, weights[c])
    if astray or slot < 0:
        return
    if trees.nodes[tree, node].depth >= rules.max_depth:
        _drop_slot(trees, tree, node)
        return
    weight = _node_weight(class_weight, tree, node)
    if weight - trees.nodes[tree, node].last_attempt >= rules.grace_period:
        _attempt_split(trees, tree, node, forest.columns, rules, scratch)
        trees.nodes[tree, node].last_attempt = weight


@_kernel
def vote_row(forest: Forest, tree: int, x: FloatArray, scratch: Scratch, n_classes: int, out: FloatArray) -> None:
    """Vote on one row; nothing is learned."""
    trees, rules = forest.trees, forest.rules
    if rules.has_subsets:
        _look(trees.visible, tree, x, scratch.row)
        x = scratch.row
    leaf = find_leaf(trees, tree, x)
    slot = trees.nodes[tree, leaf].slot
    scores = scratch.scores
    has_scores = False
    if slot >= 0 and rules.leaf != MAJORITY:
        has_scores = _bayes_scores(
            trees.class_weight,
            trees.class_seen,
            trees.moments,
            trees.tables,
            tree,
            leaf,
            slot,
            x,
            scratch.penalty,
            scratch.precision,
            scores,
        )
    _vote(trees, tree, leaf, rules, has_scores, scores, n_classes, out)
