"""The split of one node of a random tree, compiled.

Columns are drawn, one after the other, until enough of them are not constant at the node. A *greedy* tree takes the
best of all their splits, a *random* one the best of one random split per column (Geurts, Ernst & Wehenkel, 2006),
uniform in the values or, by a coin, in the bins. Missing values are put below or above all others by a coin for each
column and node. Categories are put in random order or, in greedy trees, in the order of a drawn label's share in them,
and a set of them goes left.

A draw is a hash of the tree's seed, the node and a counter.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Codes
from ocoboost.compiling import kernel

SetArray: TypeAlias = NDArray[np.uint64]  # (sets, 4): one bit for each code

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_1 = np.uint64(1)
_ULP = 2.0**-53
N_CODES = 256
_FEW = 40  # so few rows are sorted by insertion
# A split must improve on the best so far by more than rounding can: the first of equal ones wins.
MARGIN = 1e-12
# What a node's threshold is compared with.
PLAIN = 0  # the code
MISSING_LOW = 1  # one more than the code, and 0 for a missing value
SET = 2  # the threshold is the number of a set of codes that go left


class Table(NamedTuple):
    """Rows as trees see them."""

    codes: Codes  # (features, rows)
    missing: IntArray  # the code of each feature's missing values, its largest
    is_category: NDArray[np.bool_]  # features whose codes have no order
    edges: FloatArray  # (features, codes): the value that separates a code from the next; for growing only


class Lesson(NamedTuple):
    """What a tree is taught, and how it is grown."""

    labels: IntArray
    weights: FloatArray
    n_tried: int  # columns at a node
    is_random: bool
    seed: np.uint64


class Scratch(NamedTuple):
    """Arrays that are written over at every node."""

    columns: IntArray  # all of them, in any order
    keys: Codes
    sorted_keys: Codes
    sorted_rows: IntArray
    counts: IntArray  # (codes,)
    shares: FloatArray  # (3, codes)
    ranks: Codes  # (codes,)
    whole: FloatArray  # (classes,): the label weights of the node
    part: FloatArray  # (classes,)
    split: IntArray  # (3,): the feature of the best split (-1: there is none), its threshold, and its kind
    left_set: SetArray  # (1, 4): the codes that go left, if it is a set


@kernel
def hashed(state: np.uint64) -> np.uint64:
    """SplitMix64's finalizer (Steele, Lea & Flood, 2014)."""
    state = (state ^ (state >> _30)) * _MIX_1
    state = (state ^ (state >> _27)) * _MIX_2
    return state ^ (state >> _31)


@kernel
def draw(seed: np.uint64, node: int, counter: int) -> float:
    """A number in [0, 1) for a tree's seed, a node and a counter."""
    bits = hashed(seed + _GOLDEN * np.uint64(node + 1)) + _GOLDEN * np.uint64(counter + 1)
    return np.float64(hashed(bits) >> _11) * _ULP


@kernel
def sort_rows(keys: Codes, rows: IntArray, n: int, counts: IntArray, sorted_keys: Codes, out: IntArray) -> None:
    """Sort ``rows[:n]`` by their keys, stably."""
    if n <= _FEW:
        for i in range(n):
            key = keys[i]
            row = rows[i]
            j = i
            while j > 0 and sorted_keys[j - 1] > key:
                sorted_keys[j] = sorted_keys[j - 1]
                out[j] = out[j - 1]
                j -= 1
            sorted_keys[j] = key
            out[j] = row
        return
    for key in range(N_CODES):
        counts[key] = 0
    for i in range(n):
        counts[keys[i]] += 1
    before = 0
    for key in range(N_CODES):
        here = counts[key]
        counts[key] = before
        before += here
    for i in range(n):
        place = counts[keys[i]]
        counts[keys[i]] = place + 1
        sorted_keys[place] = keys[i]
        out[place] = rows[i]


@kernel
def order_categories(
    codes: Codes, rows: IntArray, lesson: Lesson, label: int, node: int, counter: int, n_codes: int, scratch: Scratch
) -> int:
    """Rank the codes of some rows, those of others last; returns how many there are.

    By the label's share among the rows with a code, or at random if ``label`` is negative.
    """
    shares = scratch.shares
    for code in range(n_codes):
        shares[0, code] = 0.0
        shares[1, code] = 0.0
    for row in rows:
        shares[0, codes[row]] += lesson.weights[row]
        if lesson.labels[row] == label:
            shares[1, codes[row]] += lesson.weights[row]
    n_present = 0
    for code in range(n_codes):
        if shares[0, code] > 0.0:
            n_present += 1
            if label >= 0:
                shares[2, code] = shares[1, code] / shares[0, code]
            else:
                shares[2, code] = draw(lesson.seed, node, counter + code)
    for code in range(n_codes):
        rank = 0
        for other in range(n_codes):
            if shares[0, other] > 0.0 and (
                shares[2, other] < shares[2, code] or (shares[2, other] == shares[2, code] and other < code)
            ):
                rank += 1
        scratch.ranks[code] = rank if shares[0, code] > 0.0 else N_CODES - 1
    return n_present


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
def read_keys(codes: Codes, rows: IntArray, keys: Codes) -> tuple[int, int]:
    """The codes of some rows; returns the smallest and the largest."""
    low, high = N_CODES - 1, 0
    for i in range(rows.size):
        key = int(codes[rows[i]])
        keys[i] = key
        low = min(low, key)
        high = max(high, key)
    return low, high


@kernel
def put_missing_low(missing: int, n: int, keys: Codes) -> tuple[int, int]:
    """Let missing values come before all others; returns the smallest key and the largest."""
    low, high = N_CODES - 1, 0
    for i in range(n):
        key = 0 if keys[i] == missing else int(keys[i]) + 1
        keys[i] = key
        low = min(low, key)
        high = max(high, key)
    return low, high


@kernel
def score_cut(rows: IntArray, lesson: Lesson, cut: int, total: float, scratch: Scratch) -> float:
    """The purity of the two sides of a cut, or -1 if rounding leaves a side without a weight."""
    whole, part = scratch.whole, scratch.part
    for j in range(part.size):
        part[j] = 0.0
    for i in range(rows.size):
        if scratch.keys[i] <= cut:
            part[lesson.labels[rows[i]]] += lesson.weights[rows[i]]
    taken, in_part, in_rest = 0.0, 0.0, 0.0
    for j in range(part.size):
        rest = whole[j] - part[j]
        taken += part[j]
        in_part += part[j] * part[j]
        in_rest += rest * rest
    if taken <= 0.0 or total <= taken:
        return -1.0
    return in_part / taken + in_rest / (total - taken)


@kernel
def find_cut(
    rows: IntArray, lesson: Lesson, total: float, squares: float, best: float, is_first: bool, scratch: Scratch
) -> tuple[float, int]:
    """The best of all cuts and its purity, if it improves on ``best`` or is the first of all; else -1."""
    whole, part, keys, ordered = scratch.whole, scratch.part, scratch.sorted_keys, scratch.sorted_rows
    sort_rows(scratch.keys, rows, rows.size, scratch.counts, keys, ordered)
    for j in range(part.size):
        part[j] = 0.0
    found = -1
    taken, in_part, in_rest = 0.0, 0.0, squares
    for i in range(rows.size - 1):
        label = lesson.labels[ordered[i]]
        weight = lesson.weights[ordered[i]]
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
    table: Table, lesson: Lesson, rows: IntArray, node: int, total: float, squares: float, scratch: Scratch
) -> float:
    """Find the split of a node with these rows, and return its purity."""
    seed, split, columns = lesson.seed, scratch.split, scratch.columns
    best = squares / total * (1.0 + MARGIN)
    split[0] = -1
    n_good, n_drawn, counter = 0, 0, 0
    while n_good < lesson.n_tried and n_drawn < columns.size:
        place = n_drawn + int(draw(seed, node, counter) * (columns.size - n_drawn))
        counter += 1
        column = columns[place]
        columns[place], columns[n_drawn] = columns[n_drawn], column
        n_drawn += 1
        missing = table.missing[column]
        low, high = read_keys(table.codes[column], rows, scratch.keys)
        if low == high:
            continue
        n_good += 1
        kind = PLAIN
        if table.is_category[column]:
            kind = SET
            label = -1
            if not lesson.is_random:  # of a drawn row, so that frequent labels are drawn more often
                label = lesson.labels[rows[int(draw(seed, node, counter) * rows.size)]]
                counter += 1
            n_present = order_categories(table.codes[column], rows, lesson, label, node, counter, missing + 1, scratch)
            counter += N_CODES
            for i in range(rows.size):
                scratch.keys[i] = scratch.ranks[scratch.keys[i]]
            low, high = 0, n_present - 1
        elif high == missing:
            if draw(seed, node, counter) < 0.5:
                kind = MISSING_LOW
                low, high = put_missing_low(missing, rows.size, scratch.keys)
            counter += 1
        found = -1
        if lesson.is_random:
            is_by_value = kind == PLAIN and high < missing and draw(seed, node, counter) < 0.5
            chance = draw(seed, node, counter + 1)
            counter += 2
            cut = (
                nearest_edge(table.edges[column], low, high, chance)
                if is_by_value
                else low + int(chance * (high - low))
            )
            score = score_cut(rows, lesson, cut, total, scratch)
            if score > best * (1.0 + MARGIN) or (split[0] < 0 and score > 0.0):
                best = max(score, best)
                found = cut
        else:
            best, found = find_cut(rows, lesson, total, squares, best, split[0] < 0, scratch)
        if found >= 0:
            split[0], split[1], split[2] = column, found, kind
            if kind == SET:
                keep_set(found, total, missing + 1, scratch)
            if best >= total * (1.0 - MARGIN):
                break  # both sides are pure
    return best
