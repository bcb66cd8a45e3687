"""A decision tree grown level by level from histograms, wherever these were counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.batch import tree_kernels as kernels
from ocoboost.batch.binning import Codes

# Above this many bytes, a level's histograms are counted in several passes, and both siblings of a pair from rows.
MOST_BYTES = 2**28


class Tree(NamedTuple):
    """Nodes in the order they were made; a right child follows its left sibling."""

    feature: IntArray  # -1 marks a leaf
    threshold: IntArray  # the last bin that goes left
    missing: IntArray  # the bin of missing values
    missing_left: IntArray  # whether that bin goes left
    left: IntArray
    weights: IntArray  # (nodes, classes), in fixed point

    @classmethod
    def leaf(cls, weights: IntArray) -> Tree:
        none = np.full(1, -1, dtype=np.int64)
        return cls(none, none, none, none, none, weights[None, :])

    @property
    def votes(self) -> IntArray:
        """The heaviest label of each node, ties to the lowest."""
        votes: IntArray = self.weights.argmax(axis=1)
        return votes

    def find_leaves(self, codes: Codes) -> IntArray:
        out = np.empty(len(codes), dtype=np.int64)
        kernels.find_leaves(codes, *self[:5], out)
        return out

    def vote(self, codes: Codes) -> IntArray:
        """The label that the tree gives each row."""
        return self.votes[self.find_leaves(codes)]

    def split(self, nodes: IntArray, best: IntArray, left_weights: IntArray, slots: IntArray) -> Tree:
        """Split each of ``nodes`` that has a best split; the others stay leaves."""
        splits = best[:, 0] >= 0
        parents, best, left_weights = nodes[splits], best[splits], left_weights[splits]
        children = len(self.feature) + 2 * np.arange(len(parents))
        tree = Tree(*(np.copy(array) for array in self))
        tree.feature[parents] = best[:, 0]
        tree.threshold[parents] = best[:, 1]
        tree.missing[parents] = np.diff(slots)[best[:, 0]] - 1
        tree.missing_left[parents] = best[:, 2]
        tree.left[parents] = children
        right_weights = tree.weights[parents] - left_weights
        new_weights = np.stack([left_weights, right_weights], axis=1).reshape(-1, tree.weights.shape[1])
        new = np.full(2 * len(parents), -1, dtype=np.int64)
        return Tree._make([*(np.append(array, new) for array in tree[:5]), np.vstack([tree.weights, new_weights])])


def grow(count: Callable[[Tree, IntArray], IntArray], slots: IntArray, n_classes: int, max_depth: int) -> Tree:
    """Grow a tree; ``count(tree, nodes)`` gives the histograms of some of its leaves, (nodes, slots, classes)."""
    tree = Tree.leaf(np.zeros(n_classes, dtype=np.int64))
    nodes = np.zeros(1, dtype=np.int64)
    histograms: IntArray | None = count(tree, nodes)
    assert histograms is not None
    tree.weights[0] = histograms[0, slots[0] : slots[1]].sum(axis=0)
    for depth in range(max_depth):
        best = np.empty((len(nodes), 3), dtype=np.int64)
        left_weights = np.empty((len(nodes), n_classes), dtype=np.int64)
        if histograms is not None:
            kernels.find_splits(histograms, slots, best, left_weights)
        else:
            at_once = max(1, MOST_BYTES // (8 * int(slots[-1]) * n_classes))
            for first in range(0, len(nodes), at_once):
                part = slice(first, first + at_once)
                kernels.find_splits(count(tree, nodes[part]), slots, best[part], left_weights[part])
        n_before = len(tree.feature)
        tree = tree.split(nodes, best, left_weights, slots)
        parents = None if histograms is None else histograms[best[:, 0] >= 0]
        nodes = np.arange(n_before, len(tree.feature))
        if len(nodes) == 0 or depth == max_depth - 1:
            break
        histograms = _children(count, tree, nodes, parents)
    return tree


def _children(
    count: Callable[[Tree, IntArray], IntArray], tree: Tree, nodes: IntArray, parents: IntArray | None
) -> IntArray | None:
    """Histograms of pairs of siblings: the lighter one is counted, the other is the parent minus it."""
    if parents is None or 2 * parents.nbytes > MOST_BYTES:
        return None
    pairs = np.arange(len(parents))
    lighter = tree.weights[nodes].sum(axis=1).reshape(-1, 2).argmin(axis=1)
    both = np.empty((len(parents), 2, *parents.shape[1:]), dtype=np.int64)
    both[pairs, lighter] = count(tree, nodes[2 * pairs + lighter])
    both[pairs, 1 - lighter] = parents - both[pairs, lighter]
    return both.reshape(-1, *parents.shape[1:])
