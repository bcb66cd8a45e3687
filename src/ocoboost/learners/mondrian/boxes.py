"""The boxes of Mondrian trees without what follows from the rest.

A branch's box is the smallest that holds its children's, and that of a leaf with a single row is a point, which the
leaves of other trees have as well. So what is kept is the leaves' corners, every different one once. Boxes that do
not follow (where distances have overflowed, or zeros differ in their signs) are kept as they are: no bit is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.learners.mondrian.layout import HIGH, LEAF, LOW


class Corners(NamedTuple):
    """Boxes as they are kept; nodes are counted over all trees, one tree after another."""

    corners: FloatArray  # (n_corners, n_columns)
    low_corner: IntArray  # (n_leaves,) of every leaf
    wide: IntArray  # leaves, by their number among the leaves, whose high corner is another one
    high_corner: IntArray  # (n_wide,)
    odd: IntArray  # branches, by their number among the nodes, whose box is not that of their children
    odd_boxes: FloatArray  # (n_odd, 2, n_columns)


class Links(NamedTuple):
    """Where the nodes of all trees are, in arrays of ``most`` nodes per tree laid end to end."""

    leaves: IntArray
    branches: IntArray
    left: IntArray  # of the branches
    right: IntArray
    roots: IntArray


def links_of(nodes: Any, n_nodes: IntArray, most: int) -> Links:
    """The links of packed nodes; ``most`` 0 for places among the packed nodes themselves."""
    learner = np.repeat(np.arange(len(n_nodes)), n_nodes)
    first = np.cumsum(n_nodes) - n_nodes  # of every tree, packed
    roots = most * np.arange(len(n_nodes)) if most else first
    offset = roots[learner]
    places = np.arange(len(nodes)) - first[learner] + offset
    is_leaf = nodes["feature"] == LEAF
    left, right = nodes["left"][~is_leaf] + offset[~is_leaf], nodes["right"][~is_leaf] + offset[~is_leaf]
    return Links(places[is_leaf], places[~is_leaf], left, right, roots)


def levels_of(links: Links, n_places: int) -> Iterator[IntArray]:
    """The branches, by their number among the branches, from the roots down, level by level."""
    number = np.full(n_places, -1, dtype=np.int64)
    number[links.branches] = np.arange(links.branches.size)
    level = number[links.roots]
    level = level[level >= 0]
    while level.size:
        yield level
        level = number[np.concatenate([links.left[level], links.right[level]])]
        level = level[level >= 0]


def pack_boxes(boxes: FloatArray, links: Links) -> Corners:
    """Of packed boxes, of shape (nodes, 2, columns)."""
    low, high = np.ascontiguousarray(boxes[links.leaves, LOW]), np.ascontiguousarray(boxes[links.leaves, HIGH])
    wide = np.flatnonzero(_differ(low, high))
    corners, number = _distinct(np.concatenate([low, high[wide]]))
    branches = boxes[links.branches]
    odd = np.flatnonzero(_differ(branches, _union(boxes, links.left, links.right)))
    return Corners(
        corners, number[: len(low)], wide, number[len(low) :], links.branches[odd], np.ascontiguousarray(branches[odd])
    )


def unpack_boxes(kept: Corners, links: Links, out: FloatArray) -> None:
    """Fill ``out``, of shape (places, 2, columns)."""
    out[links.leaves] = kept.corners[kept.low_corner][:, None]
    out[links.leaves[kept.wide], HIGH] = kept.corners[kept.high_corner]
    odd_place = np.sort(kept.odd)
    order = np.argsort(kept.odd)
    for level in reversed(list(levels_of(links, len(out)))):
        places = links.branches[level]
        out[places] = _union(out, links.left[level], links.right[level])
        found = np.searchsorted(odd_place, places)
        is_odd = found < odd_place.size
        is_odd[is_odd] = odd_place[found[is_odd]] == places[is_odd]
        out[places[is_odd]] = kept.odd_boxes[order[found[is_odd]]]


def _union(boxes: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """The smallest boxes that hold two others; what one of them has not seen it leaves to the other."""
    union = np.empty((len(left), *boxes.shape[1:]))
    np.fmin(boxes[left, LOW], boxes[right, LOW], out=union[:, LOW])
    np.fmax(boxes[left, HIGH], boxes[right, HIGH], out=union[:, HIGH])
    return union


def _differ(first: FloatArray, second: FloatArray) -> Any:
    """Which rows differ in any bit."""
    bits, others = np.ascontiguousarray(first).view(np.uint64), np.ascontiguousarray(second).view(np.uint64)
    return np.any(bits != others, axis=tuple(range(1, first.ndim)))


def _distinct(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows, and which of them each row is."""
    n_columns = rows.shape[1]
    if n_columns == 0:
        return np.zeros((1, 0)), np.zeros(len(rows), dtype=np.int64)
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, 8 * n_columns))).reshape(-1)
    distinct, number = np.unique(whole, return_inverse=True)
    return distinct.view(np.float64).reshape(-1, n_columns), number.reshape(-1).astype(np.int64, copy=False)
