"""River's attempt to split a leaf: compare the two best columns, and turn the leaf into a branch if one is better."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.learners.hoeffding.layout import (
    EQUAL,
    GINI,
    HIGH,
    LEAF,
    LOW,
    MULTIWAY,
    NUMERIC,
    Columns,
    Rules,
    Scratch,
    Trees,
)
from ocoboost.learners.hoeffding.merits import (
    divide_categories,
    divide_numbers,
    list_categories,
    merit_of_split,
    numeric_range,
    total_weight,
)
from ocoboost.learners.hoeffding.nodes import clear_slot, drop_slot, new_leaf

_kernel = kernel(error_model="numpy")  # divisions by zero are guarded, so loops vectorise
_inlined = kernel(error_model="numpy", forceinline=True)


class Candidate(NamedTuple):
    """The best way to split one column."""

    is_observed: bool  # whether the leaf has seen values of the column
    merit: float
    kind: int  # LEAF if no split has two branches that are large enough
    threshold: float


@_inlined
def _best_number(moments: FloatArray, class_weight: FloatArray, rules: Rules, branches: FloatArray) -> Candidate:
    """The best threshold for a column of numbers."""
    merit, kind, threshold = -np.inf, LEAF, 0.0
    low, high = numeric_range(moments)
    if low > high:
        return Candidate(False, merit, kind, threshold)
    width = (high - low) / (rules.n_splits + 1.0)
    for split in range(rules.n_splits):
        candidate = low + width * (split + 1)
        if low < candidate < high:
            divide_numbers(moments, candidate, branches)
            value = merit_of_split(rules.criterion, class_weight, branches, 2, rules.min_branch_fraction)
            if value > merit:
                merit, kind, threshold = value, NUMERIC, candidate
    return Candidate(True, merit, kind, threshold)


@_inlined
def _best_categories(table: FloatArray, class_weight: FloatArray, rules: Rules, scratch: Scratch) -> Candidate:
    """The best way to split a column of text: by every category, or one against the rest."""
    branches, codes = scratch.branches, scratch.codes
    merit, kind, threshold = -np.inf, LEAF, 0.0
    n_observed = list_categories(table, branches, codes)
    if not rules.binary_split:
        merit = merit_of_split(rules.criterion, class_weight, branches, n_observed, rules.min_branch_fraction)
        kind = MULTIWAY
    for observed in range(n_observed):
        divide_categories(table, codes[observed], branches)
        value = merit_of_split(rules.criterion, class_weight, branches, 2, rules.min_branch_fraction)
        if value > merit:
            merit, kind, threshold = value, EQUAL, float(codes[observed])
    return Candidate(n_observed > 0, merit, kind, threshold)


@_kernel
def attempt_split(trees: Trees, tree: int, node: int, columns: Columns, rules: Rules, scratch: Scratch) -> None:
    """Compare the two best columns, split, or forget a leaf that nothing can split."""
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

    best, second = -np.inf, -np.inf
    best_column, best_kind, best_threshold = -1, LEAF, 0.0
    n_suggestions = 1 if rules.merit_preprune else 0
    if heaviest > 0.0 and heaviest / total > rules.max_share_to_split:
        n_suggestions = 1
    else:
        for column in range(columns.numeric.size):
            found = Candidate(False, -np.inf, LEAF, 0.0)
            if columns.numeric[column] >= 0:
                moments = trees.moments[tree, slot, :, :, columns.numeric[column]]
                found = _best_number(moments, class_weight, rules, scratch.branches)
            elif columns.nominal[column] >= 0:
                table = trees.tables[tree, slot, :, columns.nominal[column]]
                found = _best_categories(table, class_weight, rules, scratch)
            if not found.is_observed:
                continue
            n_suggestions += 1
            if found.merit >= best:  # of equals the last one wins, as after a stable sort
                second = best
                best, best_column, best_kind, best_threshold = found.merit, column, found.kind, found.threshold
            elif found.merit > second:
                second = found.merit

    should_split = n_suggestions == 1
    if n_suggestions > 1:
        span = 1.0 if rules.criterion == GINI else np.log2(float(max(n_seen, 2)))
        bound = np.sqrt(span * span * np.log(1.0 / rules.delta) / (2.0 * total))
        should_split = best - second > bound or bound < rules.tau
    if not should_split:
        return
    if best_column < 0 or best_kind == LEAF:
        clear_slot(trees, tree, slot)  # River switches the leaf off, and on again with nothing known
    else:
        _split_within_limit(trees, tree, node, best_column, best_kind, best_threshold, columns, rules, scratch)


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
    drop_slot(trees, tree, node)


@_kernel
def _split_within_limit(
    trees: Trees,
    tree: int,
    node: int,
    column: int,
    kind: int,
    threshold: float,
    columns: Columns,
    rules: Rules,
    scratch: Scratch,
) -> None:
    """Split a leaf, unless its children would need more nodes or slots than a tree may have."""
    n_children = 2
    if kind == MULTIWAY:
        slot = trees.nodes[tree, node].slot
        table = trees.tables[tree, slot, :, columns.nominal[column]]
        n_children = list_categories(table, scratch.branches, scratch.codes)
    n_slots = trees.free.shape[1] - trees.n_free[tree] + n_children - 1  # the parent's becomes free
    if n_slots <= rules.max_slots and trees.n_nodes[tree] + n_children <= rules.max_nodes:
        _split(trees, tree, node, column, kind, threshold, columns, scratch)
