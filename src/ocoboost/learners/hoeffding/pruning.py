"""Trees cut back to a limit that has fallen, because a column, a category or a class was added.

The nodes that were made last go first, with all their siblings: a branch whose children go becomes a leaf with the
class weights of all leaves below it, and fresh statistics. If slots do not suffice, the heaviest leaves keep theirs and
the others stop learning; they go on counting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.learners.hoeffding.layout import LEAF, Trees
from ocoboost.learners.hoeffding.limits import Limits

FRESH = -1  # in place of an old slot


class Pruned(NamedTuple):
    """What is left of a tree; axis 0 is the node."""

    nodes: Any
    class_weight: FloatArray
    class_seen: IntArray
    slots: list[int]  # for every slot, numbered anew, which one it was, or FRESH


def pruned(trees: Trees, learner: int, limits: Limits) -> Pruned:
    """A tree within its limits; if it keeps to them already, only its slots are numbered anew."""
    n = int(trees.n_nodes[learner])
    nodes = trees.nodes[learner, :n]
    kept, is_cut = _kept(nodes, limits.max_nodes)
    weight = np.where(is_cut[:, None], _below(trees.class_weight[learner, :n], nodes), trees.class_weight[learner, :n])
    seen = np.where(is_cut[:, None], _below(trees.class_seen[learner, :n], nodes) > 0, trees.class_seen[learner, :n])
    left, is_cut = _renumbered(nodes, kept, is_cut), is_cut[kept]
    weight, seen = weight[kept], seen[kept]
    left["last_attempt"][is_cut] = weight[is_cut].sum(axis=1)
    # Leaves that learn, and those that were cut back to one; the heaviest first, then the oldest.
    learning = np.flatnonzero((left["slot"] >= 0) | is_cut)
    learning = learning[np.lexsort((learning, -weight[learning].sum(axis=1)))][: limits.max_slots]
    slots = [FRESH if is_cut[node] else int(left["slot"][node]) for node in learning]
    left["slot"] = -1
    left["slot"][learning] = np.arange(len(learning))
    return Pruned(left, weight, seen.astype(np.int64), slots)


def _kept(nodes: Any, most: int) -> tuple[Any, Any]:
    """Which nodes stay, and which branches become leaves; parents come before their children."""
    n, parent, is_leaf = len(nodes), nodes["parent"], nodes["kind"] == LEAF
    n_children = np.bincount(parent[1:], minlength=n)
    kept, is_cut = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    kept[0] = True
    n_kept = 1
    for node in range(n):
        if node > 0:
            kept[node] = kept[parent[node]] and not is_cut[parent[node]]
        if kept[node] and not is_leaf[node]:
            is_cut[node] = n_kept + n_children[node] > most
            n_kept += 0 if is_cut[node] else int(n_children[node])
    return kept, is_cut


def _below(own: Any, nodes: Any) -> Any:
    """For every node, the sum over the leaves below it."""
    total = np.where((nodes["kind"] == LEAF)[:, None], own, 0)
    for node in range(len(nodes) - 1, 0, -1):
        total[nodes["parent"][node]] += total[node]
    return total


def _renumbered(nodes: Any, kept: Any, is_cut: Any) -> Any:
    """The nodes that stay, with links to where they are now."""
    number = np.cumsum(kept) - 1
    left = nodes[kept].copy()
    is_leaf = is_cut[kept]
    left["kind"][is_leaf] = LEAF
    for name in ("feature", "first_child", "slot"):
        left[name][is_leaf] = -1
    for name in ("threshold", "majority_right", "bayes_right"):
        left[name][is_leaf] = 0.0
    for name in ("parent", "first_child", "sibling"):
        is_link = left[name] >= 0
        left[name][is_link] = number[left[name][is_link]]
    return left
