"""Random trees, compiled: grown depth first from sorted bins.

A tree is grown in one place from rows in the order of their numbers, so its bits do not depend on threads. At every
node columns are drawn, one after the other, until enough of them are not constant there. A *greedy* tree takes the best
of all their splits, a *random* one the best of one random split per column (Geurts, Ernst & Wehenkel, 2006), uniform
in the values or, by a coin, in the bins. Missing
values are put below or above all others by a coin for each column and node. Categories are put in random order or, in
greedy trees, in the order of a drawn label's share in them, and a set of them goes left.

A draw is a hash of the tree's seed, the node and a counter.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Codes
from ocoboost.compiling import allocating, kernel

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
    codes: Codes,
    rows: IntArray,
    labels: IntArray,
    weights: FloatArray,
    label: int,
    seed: np.uint64,
    node: int,
    counter: int,
    shares: FloatArray,
    ranks: Codes,
) -> int:
    """Rank the codes of some rows, those of others last; returns how many there are. ``shares``: (3, codes).

    By the label's share among the rows with a code, or at random if ``label`` is negative.
    """
    for code in range(N_CODES):
        shares[0, code] = 0.0
        shares[1, code] = 0.0
    for row in rows:
        code = codes[row]
        shares[0, code] += weights[row]
        if labels[row] == label:
            shares[1, code] += weights[row]
    n_present = 0
    for code in range(N_CODES):
        if shares[0, code] > 0.0:
            n_present += 1
            if label >= 0:
                shares[2, code] = shares[1, code] / shares[0, code]
            else:
                shares[2, code] = draw(seed, node, counter + code)
    for code in range(N_CODES):
        rank = 0
        for other in range(N_CODES):
            if shares[0, other] > 0.0 and (
                shares[2, other] < shares[2, code] or (shares[2, other] == shares[2, code] and other < code)
            ):
                rank += 1
        ranks[code] = rank if shares[0, code] > 0.0 else N_CODES - 1
    return n_present


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


@allocating
def grow_tree(
    codes: Codes,
    missing: IntArray,
    is_category: NDArray[np.bool_],
    edges: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    n_classes: int,
    n_tried: int,
    is_random: bool,
    seed: np.uint64,
) -> tuple[IntArray, IntArray, IntArray, IntArray, SetArray, IntArray, IntArray, IntArray, FloatArray]:
    """Grow a tree until leaves are pure; rows of weight zero are not taught.

    ``codes``: (features, rows). ``edges``: (features, codes) the value that separates a code from the next. Returns each node's feature (-1: a leaf), threshold, kind and left child, the sets, where
    its rows start and end, the rows, and each feature's decrease of the Gini impurity.
    """
    n_features = codes.shape[0]
    rows = np.nonzero(weights)[0]
    most = 2 * rows.size + 1
    feature = np.full(most, -1, dtype=np.int64)
    threshold = np.zeros(most, dtype=np.int64)
    kind = np.zeros(most, dtype=np.int64)
    left = np.zeros(most, dtype=np.int64)
    start = np.zeros(most, dtype=np.int64)
    end = np.zeros(most, dtype=np.int64)
    sets = np.zeros((4, 4), dtype=np.uint64)
    n_sets = 0
    decrease = np.zeros(n_features)
    waiting = np.zeros(most, dtype=np.int64)
    keys = np.empty(rows.size, dtype=np.uint8)
    sorted_keys = np.empty(rows.size, dtype=np.uint8)
    sorted_rows = np.empty(rows.size, dtype=np.int64)
    spare = np.empty(N_CODES, dtype=np.int64)
    shares = np.empty((3, N_CODES))
    ranks = np.empty(N_CODES, dtype=np.uint8)
    best_set = np.zeros(4, dtype=np.uint64)
    whole = np.empty(n_classes)
    part = np.empty(n_classes)
    columns = np.arange(n_features)
    end[0] = rows.size
    n_nodes = 1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        first, last = start[node], end[node]
        here = rows[first:last]
        n = here.size
        whole[:] = 0.0
        for row in here:
            whole[labels[row]] += weights[row]
        total, squares, n_present = 0.0, 0.0, 0
        for j in range(n_classes):
            total += whole[j]
            squares += whole[j] * whole[j]
            n_present += whole[j] > 0.0
        if n_present < 2:
            continue
        best, best_feature, best_threshold, best_kind = squares / total * (1.0 + MARGIN), -1, 0, PLAIN
        n_good, n_drawn, counter = 0, 0, 0
        while n_good < n_tried and n_drawn < n_features:
            place = n_drawn + int(draw(seed, node, counter) * (n_features - n_drawn))
            counter += 1
            column = columns[place]
            columns[place] = columns[n_drawn]
            columns[n_drawn] = column
            n_drawn += 1
            its = codes[column]
            low, high = 255, 0
            for i in range(n):
                key = int(its[here[i]])
                keys[i] = key
                low = min(low, key)
                high = max(high, key)
            if low == high:
                continue
            n_good += 1
            key_kind = PLAIN
            if is_category[column]:
                key_kind = SET
                label = -1
                if not is_random:  # of a drawn row, so that frequent labels are drawn more often
                    label = labels[here[int(draw(seed, node, counter) * n)]]
                    counter += 1
                n_codes = order_categories(its, here, labels, weights, label, seed, node, counter, shares, ranks)
                counter += N_CODES
                for i in range(n):
                    keys[i] = ranks[keys[i]]
                low, high = 0, n_codes - 1
            elif high == missing[column]:
                if draw(seed, node, counter) < 0.5:
                    key_kind = MISSING_LOW
                    low, high = 255, 0
                    for i in range(n):
                        key = 0 if keys[i] == missing[column] else int(keys[i]) + 1
                        keys[i] = key
                        low = min(low, key)
                        high = max(high, key)
                counter += 1
            found = -1
            if is_random:
                is_by_value = key_kind == PLAIN and high < missing[column] and draw(seed, node, counter) < 0.5
                chance = draw(seed, node, counter + 1)
                counter += 2
                cut = (
                    nearest_edge(edges[column], low, high, chance) if is_by_value else low + int(chance * (high - low))
                )
                part[:] = 0.0
                for i in range(n):
                    if keys[i] <= cut:
                        part[labels[here[i]]] += weights[here[i]]
                taken, in_part, in_rest = 0.0, 0.0, 0.0
                for j in range(n_classes):
                    rest = whole[j] - part[j]
                    taken += part[j]
                    in_part += part[j] * part[j]
                    in_rest += rest * rest
                # Rounding may leave a side that holds rows without a weight.
                if taken > 0.0 and total > taken:
                    score = in_part / taken + in_rest / (total - taken)
                    if score > best * (1.0 + MARGIN) or best_feature < 0:
                        best = max(score, best)
                        found = cut
            else:
                sort_rows(keys, here, n, spare, sorted_keys, sorted_rows)
                part[:] = 0.0
                taken, in_part, in_rest = 0.0, 0.0, squares
                for i in range(n - 1):
                    label = labels[sorted_rows[i]]
                    weight = weights[sorted_rows[i]]
                    in_part += weight * (2.0 * part[label] + weight)
                    in_rest -= weight * (2.0 * (whole[label] - part[label]) - weight)
                    part[label] += weight
                    taken += weight
                    if sorted_keys[i] != sorted_keys[i + 1] and total > taken:
                        score = in_part / taken + in_rest / (total - taken)
                        if score > best * (1.0 + MARGIN) or (best_feature < 0 and found < 0):
                            best = max(score, best)
                            found = int(sorted_keys[i])
            if found >= 0:
                best_feature, best_threshold, best_kind = column, found, key_kind
                if key_kind == SET:
                    taken = 0.0
                    for code in range(N_CODES):
                        taken += shares[0, code] if ranks[code] <= found else 0.0
                    # Categories that no row here has go where most rows go.
                    for word in range(4):
                        best_set[word] = np.uint64(0)
                    for code in range(N_CODES):
                        is_left = ranks[code] <= found if shares[0, code] > 0.0 else 2.0 * taken >= total
                        if is_left:
                            best_set[code >> 6] |= _1 << np.uint64(code & 63)
                if best >= total * (1.0 - MARGIN):
                    break  # both sides are pure
        if best_feature < 0:
            continue
        if best_kind == SET:
            if n_sets == sets.shape[0]:
                larger = np.zeros((2 * n_sets, 4), dtype=np.uint64)
                larger[:n_sets] = sets
                sets = larger
            sets[n_sets] = best_set
            best_threshold = n_sets
            n_sets += 1
        its = codes[best_feature]
        n_left, n_right = 0, 0
        for i in range(n):
            row = here[i]
            if goes_left(int(its[row]), best_threshold, best_kind, missing[best_feature], sets):
                here[n_left] = row
                n_left += 1
            else:
                sorted_rows[n_right] = row
                n_right += 1
        for i in range(n_right):
            here[n_left + i] = sorted_rows[i]
        if n_left == 0 or n_right == 0:
            continue
        decrease[best_feature] += best - squares / total
        feature[node], threshold[node], kind[node], left[node] = best_feature, best_threshold, best_kind, n_nodes
        start[n_nodes], end[n_nodes] = first, first + n_left
        start[n_nodes + 1], end[n_nodes + 1] = first + n_left, last
        waiting[n_waiting], waiting[n_waiting + 1] = n_nodes + 1, n_nodes
        n_waiting += 2
        n_nodes += 2
    return (
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        kind[:n_nodes].copy(),
        left[:n_nodes].copy(),
        sets[:n_sets].copy(),
        start[:n_nodes].copy(),
        end[:n_nodes].copy(),
        rows,
        decrease,
    )
