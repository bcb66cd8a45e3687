"""The split of one node of a random tree, compiled.

Columns are drawn, one after the other, until enough of them are not constant at the node. A *greedy* tree takes the
best of all their splits, a *random* one the best of one random split per column (Geurts, Ernst & Wehenkel, 2006),
uniform in the values or, by a coin, in the bins.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.batch.forest_keys import (
    MISSING_LOW,
    PLAIN,
    SET,
    Lesson,
    PlaceArray,
    Scratch,
    SetArray,
    Table,
    draw,
    node_state,
    order_keys,
    read_keys,
    read_labels,
    sort_rows,
)
from ocoboost.compiling import kernel

_1 = np.uint64(1)
# A split must improve on the best so far by more than rounding can: the first of equal ones wins.
MARGIN = 1e-12


@kernel
def keep_set(cut: int, total: float, n_codes: int, scratch: Scratch) -> None:
    """The codes up to a rank; those that no row here has go where most rows go."""
    taken = 0.0
    for code in range(n_codes):
        if scratch.ranks[code] <= cut:
            taken += scratch.shares[0, code]
    for word in range(4):
        scratch.left_set[0, word] = np.uint64(0)
    for code in range(n_codes):
        is_left = scratch.ranks[code] <= cut if scratch.shares[0, code] > 0.0 else 2.0 * taken >= total
        if is_left:
            scratch.left_set[0, code >> 6] |= _1 << np.uint64(code & 63)


@kernel
def goes_left(code: int, threshold: int, kind: int, missing: int, sets: SetArray) -> bool:
    """Where a node sends a code."""
    if kind == PLAIN:
        return code <= threshold
    if kind == MISSING_LOW:
        return code == missing or code < threshold
    return bool((sets[threshold, code >> 6] >> np.uint64(code & 63)) & _1 == _1)


@kernel
def nearest_edge(edges: FloatArray, low: int, high: int, chance: float) -> int:
    """The code in low..high - 1 whose upper edge is nearest to a share of the way from the first edge to the last."""
    first = edges[low]
    target = first + chance * (edges[high - 1] - first)
    last = high - 1
    while low < last:
        middle = (low + last) // 2
        if (edges[middle] + edges[middle + 1]) / 2.0 <= target:
            low = middle + 1
        else:
            last = middle
    return low


@kernel
def score_cut(cut: int, n_labels: int, total: float, scratch: Scratch) -> float:
    """The purity of the two sides of a cut, or -1 if rounding leaves a side without a weight."""
    taken, in_part, in_rest = 0.0, 0.0, 0.0
    first = 0
    for j in range(n_labels):
        last = int(scratch.ends[j])
        part, n_below = 0.0, 0
        if scratch.is_plain:  # whole numbers are added quicker, and to the same sum
            for i in range(first, last):
                n_below += scratch.keys[i] <= cut
            part = np.float64(n_below)
        else:
            for i in range(first, last):  # a product and no branch, which could not be foreseen
                part += scratch.weights[i] * np.float64(scratch.keys[i] <= cut)
        first = last
        rest = scratch.whole[j] - part
        taken += part
        in_part += part * part
        in_rest += rest * rest
    if taken <= 0.0 or total <= taken:
        return -1.0
    return in_part / taken + in_rest / (total - taken)


@kernel
def find_cut(
    n: int,
    low: int,
    high: int,
    n_labels: int,
    total: float,
    squares: float,
    best: float,
    is_first: bool,
    scratch: Scratch,
) -> tuple[float, int]:
    """The best of all cuts and its purity, if it improves on ``best`` or is the first of all; else -1."""
    whole, part, keys = scratch.whole, scratch.part, scratch.sorted_keys
    n = sort_rows(n, low, high, n_labels, scratch)
    for j in range(n_labels):
        part[j] = 0.0
    found = -1
    taken, in_part, in_rest = 0.0, 0.0, squares
    for i in range(n - 1):
        label = scratch.sorted_labels[i]
        weight = scratch.sorted_weights[i]
        in_part += weight * (2.0 * part[label] + weight)
        in_rest -= weight * (2.0 * (whole[label] - part[label]) - weight)
        part[label] += weight
        taken += weight
        if keys[i] != keys[i + 1] and total > taken:
            score = in_part / taken + in_rest / (total - taken)
            if score > best * (1.0 + MARGIN) or (is_first and found < 0):
                best = max(score, best)
                found = int(keys[i])
    return best, found


@kernel
def find_split(
    table: Table, lesson: Lesson, rows: PlaceArray, first: int, node: int, scratch: Scratch
) -> tuple[float, float]:
    """Find the split of a node, whose rows start at ``first``; returns its purity, and the node's own."""
    split, columns, n = scratch.split, scratch.columns, rows.size
    split[0] = -1
    total, squares, n_labels = read_labels(rows, lesson, scratch)
    if n_labels < 2:
        return 0.0, 0.0
    own = squares / total
    best = own * (1.0 + MARGIN)
    state = node_state(lesson.seed, node)
    n_good, n_drawn, counter = 0, 0, 0
    while n_good < lesson.n_tried and n_drawn < columns.size:
        place = n_drawn + int(draw(state, counter) * (columns.size - n_drawn))
        counter += 1
        column = columns[place]
        columns[place], columns[n_drawn] = columns[n_drawn], column
        n_drawn += 1
        if first < scratch.constant_until[column]:
            continue
        missing = table.missing[column]
        low, high = read_keys(table.codes[column], n, scratch)
        if low == high:
            scratch.constant_until[column] = first + n  # nodes are visited in the order of their rows
            continue
        n_good += 1
        kind, low, high, counter = order_keys(table, lesson, rows, column, low, high, state, counter, scratch)
        found = -1
        if lesson.is_random:
            is_by_value = kind == PLAIN and high < missing and draw(state, counter) < 0.5
            chance = draw(state, counter + 1)
            counter += 2
            cut = (
                nearest_edge(table.edges[column], low, high, chance)
                if is_by_value
                else low + int(chance * (high - low))
            )
            score = score_cut(cut, n_labels, total, scratch)
            if score > best * (1.0 + MARGIN) or (split[0] < 0 and score > 0.0):
                best = max(score, best)
                found = cut
        else:
            best, found = find_cut(n, low, high, n_labels, total, squares, best, split[0] < 0, scratch)
        if found >= 0:
            split[0], split[1], split[2] = column, found, kind
            if kind == SET:
                keep_set(found, total, missing + 1, scratch)
            if best >= total * (1.0 - MARGIN):
                break  # both sides are pure
    return best, own
