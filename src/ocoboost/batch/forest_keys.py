"""What a node of a random tree sees of its rows, compiled: their labels, and the keys of a column that cuts compare.

Missing values are put below or above all others by a coin for each column and node. Categories are put in random order
or, in greedy trees, in the order of a drawn label's share in them, and a set of them goes left.

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
NodeArray: TypeAlias = NDArray[np.int32]
KindArray: TypeAlias = NDArray[np.int8]  # what a node's threshold is compared with: PLAIN, MISSING_LOW or SET
PlaceArray: TypeAlias = NDArray[np.uint32]  # without a sign: Numba need not ask whether a place counts from the end

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ULP = 2.0**-53
N_CODES = 256
_FEW = 16  # rows whose keys are this many times as far apart are sorted by insertion
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
    """Arrays that are written over at every node; labels are numbered anew at each, so that none is absent."""

    columns: IntArray  # all of them, in any order
    constant_until: IntArray  # (columns,): nodes whose rows start before this place see one code
    rows: PlaceArray  # of the node: label after label in random trees
    labels: PlaceArray  # of these rows
    weights: FloatArray  # of these rows
    keys: Codes  # of these rows
    sorted_keys: Codes  # (rows + 1,)
    sorted_labels: PlaceArray  # (rows + 1,)
    sorted_weights: FloatArray  # (rows + 1,)
    spare: PlaceArray  # (rows,)
    cells: PlaceArray  # (2 rows,)
    counts: PlaceArray  # (codes,)
    shares: FloatArray  # (3, codes)
    ranks: Codes  # (codes,)
    numbers: PlaceArray  # (classes,): of the labels at the node
    ends: PlaceArray  # (classes,): where the rows of each label end
    whole: FloatArray  # (classes,): the label weights of the node
    part: FloatArray  # (classes,)
    split: IntArray  # (3,): the feature of the best split (-1: there is none), its threshold, and its kind
    left_set: SetArray  # (1, 4): the codes that go left, if it is a set
    is_plain: bool  # whether all rows weigh 1


def make_scratch(n_rows: int, n_features: int, n_classes: int, is_plain: bool) -> Scratch:
    """Of the sizes of a tree's sample; not compiled, which would take a second."""
    return Scratch(
        np.arange(n_features),
        np.zeros(n_features, dtype=np.int64),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows),
        np.empty(n_rows, dtype=np.uint8),
        np.empty(n_rows + 1, dtype=np.uint8),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows + 1),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(2 * n_rows, dtype=np.uint32),
        np.empty(N_CODES, dtype=np.uint32),
        np.empty((3, N_CODES)),
        np.empty(N_CODES, dtype=np.uint8),
        np.empty(n_classes, dtype=np.uint32),
        np.empty(n_classes, dtype=np.uint32),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(3, dtype=np.int64),
        np.zeros((1, 4), dtype=np.uint64),
        is_plain,
    )


@kernel
def hashed(state: np.uint64) -> np.uint64:
    """SplitMix64's finalizer (Steele, Lea & Flood, 2014)."""
    state = (state ^ (state >> _30)) * _MIX_1
    state = (state ^ (state >> _27)) * _MIX_2
    return state ^ (state >> _31)


@kernel
def node_state(seed: np.uint64, node: int) -> np.uint64:
    """What the draws of a node begin with."""
    return hashed(seed + _GOLDEN * np.uint64(node + 1))


@kernel
def draw(state: np.uint64, counter: int) -> float:
    """A number in [0, 1) for a node's state and a counter."""
    return np.float64(hashed(state + _GOLDEN * np.uint64(counter + 1)) >> _11) * _ULP


@kernel
def read_labels(rows: PlaceArray, lesson: Lesson, scratch: Scratch) -> tuple[float, float, int]:
    """Read the rows of a node; returns the sum of its label weights, that of their squares, and how many there are."""
    whole, ends, numbers = scratch.whole, scratch.ends, scratch.numbers
    for j in range(whole.size):
        whole[j] = 0.0
        ends[j] = 0
    for row in rows:
        label = lesson.labels[row]
        whole[label] += lesson.weights[row]
        ends[label] += 1
    total, squares, n_labels, before = 0.0, 0.0, 0, 0
    for j in range(whole.size):
        weight, n_here = whole[j], ends[j]
        total += weight
        squares += weight * weight
        numbers[j], whole[n_labels], ends[n_labels] = n_labels, weight, before
        before += n_here
        n_labels += n_here > 0
    if n_labels > 1:
        for i in range(rows.size):
            row = rows[i]
            number = numbers[lesson.labels[row]]
            place = ends[number] if lesson.is_random else i
            ends[number] += 1
            scratch.rows[place] = row
            scratch.labels[place] = number
            scratch.weights[place] = lesson.weights[row]
    return total, squares, n_labels


@kernel
def read_keys(codes: Codes, n: int, scratch: Scratch) -> tuple[int, int]:
    """The codes of the node's rows; returns the smallest and the largest."""
    for i in range(n):
        scratch.keys[i] = codes[scratch.rows[i]]
    return range_of(scratch.keys, n)


@kernel
def range_of(keys: Codes, n: int) -> tuple[int, int]:
    """The smallest and the largest of the first keys; in a loop of its own, which is quicker."""
    low = high = keys[0]
    for i in range(1, n):
        low = min(low, keys[i])
        high = max(high, keys[i])
    return int(low), int(high)


@kernel
def put_missing_low(missing: int, n: int, keys: Codes) -> tuple[int, int]:
    """Let missing values come before all others; returns the smallest key and the largest."""
    for i in range(n):
        keys[i] = 0 if keys[i] == missing else keys[i] + 1
    return range_of(keys, n)


@kernel
def order_categories(
    codes: Codes,
    rows: PlaceArray,
    lesson: Lesson,
    label: int,
    state: np.uint64,
    counter: int,
    n_codes: int,
    scratch: Scratch,
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
                shares[2, code] = draw(state, counter + code)
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
def order_keys(
    table: Table,
    lesson: Lesson,
    rows: PlaceArray,
    column: int,
    low: int,
    high: int,
    state: np.uint64,
    counter: int,
    scratch: Scratch,
) -> tuple[int, int, int, int]:
    """Make ranks of categories, and put missing values below or above all others.

    Returns the kind of the split, the smallest and the largest key, and the next counter.
    """
    missing = table.missing[column]
    if table.is_category[column]:
        label = -1
        if not lesson.is_random:  # of a drawn row, so that frequent labels are drawn more often
            label = lesson.labels[rows[int(draw(state, counter) * rows.size)]]
            counter += 1
        n_present = order_categories(table.codes[column], rows, lesson, label, state, counter, missing + 1, scratch)
        for i in range(rows.size):
            scratch.keys[i] = scratch.ranks[scratch.keys[i]]
        return SET, 0, n_present - 1, counter + N_CODES
    if high < missing:
        return PLAIN, low, high, counter
    if draw(state, counter) >= 0.5:
        return PLAIN, low, high, counter + 1
    low, high = put_missing_low(missing, rows.size, scratch.keys)
    return MISSING_LOW, low, high, counter + 1


@kernel
def sort_rows(n: int, low: int, high: int, n_labels: int, scratch: Scratch) -> int:
    """Sort the node's rows by their keys, which are in low..high, stably; returns how many there are.

    Rows that weigh 1 become one if they have the same key and label, where that is quicker: sums of whole numbers are
    exact, in any order.
    """
    if n * _FEW <= high - low:
        insert_rows(n, scratch)
        return n
    if scratch.is_plain and (high - low + 1) * n_labels <= 2 * n:
        return merge_rows(n, low, high, n_labels, scratch)
    counts = scratch.counts
    places = counts[low : high + 1]
    for i in range(places.size):
        places[i] = 0
    for i in range(n):
        counts[scratch.keys[i]] += 1
    before = np.uint32(0)
    for i in range(places.size):
        here = places[i]
        places[i] = before
        before += here
    for i in range(n):
        key = scratch.keys[i]
        place = counts[key]
        counts[key] = place + 1
        scratch.sorted_keys[place] = key
        scratch.sorted_labels[place] = scratch.labels[i]
        scratch.sorted_weights[place] = scratch.weights[i]
    return n


@kernel
def insert_rows(n: int, scratch: Scratch) -> None:
    """Sort few rows."""
    keys, labels, weights = scratch.sorted_keys, scratch.sorted_labels, scratch.sorted_weights
    for i in range(n):
        key = scratch.keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], labels[j], weights[j] = keys[j - 1], labels[j - 1], weights[j - 1]
            j -= 1
        keys[j], labels[j], weights[j] = key, scratch.labels[i], scratch.weights[i]


@kernel
def merge_rows(n: int, low: int, high: int, n_labels: int, scratch: Scratch) -> int:
    """Count the rows of every key and label, and make one of them; returns how many there are."""
    cells = scratch.cells
    for cell in range((high - low + 1) * n_labels):
        cells[cell] = 0
    for i in range(n):
        cells[(scratch.keys[i] - low) * n_labels + scratch.labels[i]] += 1
    n_found, cell = 0, 0
    for key in range(low, high + 1):
        for label in range(n_labels):
            scratch.sorted_keys[n_found] = key
            scratch.sorted_labels[n_found] = label
            scratch.sorted_weights[n_found] = cells[cell]
            n_found += cells[cell] > 0
            cell += 1
    return n_found
