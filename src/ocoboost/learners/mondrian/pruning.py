"""How much memory Mondrian trees take, and trees cut back to a limit that has fallen.

A limit falls when a column or a class is added. Nodes go from the bottom up, two siblings at a time: their parent,
which has the box and the class weights of both, becomes a leaf again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.learners.mondrian.layout import LEAF, NODE, Trees


def node_bytes(n_classes: int, n_columns: int) -> int:
    """Memory of a node with its class weights and its box."""
    return int(NODE.itemsize) + 8 * (n_classes + 2 * n_columns)


def fixed_bytes(n_columns: int) -> int:
    """Memory of a tree without nodes."""
    return 8 * (3 + n_columns)


def prune(old: Trees, learner: int, most: int, new: Trees) -> None:
    """Copy a tree into larger or smaller arrays, without the nodes that are deepest if it has more than ``most``."""
    nodes = old.nodes[learner]
    kept = _shallowest(nodes, most)
    number = np.full(len(nodes), LEAF, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    left = nodes[kept].copy()
    is_branch = left["feature"] != LEAF
    is_cut = is_branch & (number[np.where(is_branch, left["left"], 0)] == LEAF)
    for name in ("parent", "left", "right"):
        is_link = (left["parent"] >= 0) if name == "parent" else is_branch & ~is_cut
        left[name][is_link] = number[left[name][is_link]]
    left["feature"][is_cut] = LEAF
    left["tree_gain"][is_cut] = left["gain"][is_cut]
    for name in ("threshold", "left", "right"):
        left[name][is_cut] = 0
    n_classes, n_columns = old.class_weight.shape[2], old.scale.shape[1]
    new.n_nodes[learner] = len(kept)
    new.n_taught[learner] = old.n_taught[learner]
    new.has_gaps[learner] = old.has_gaps[learner]
    new.nodes[learner, : len(kept)] = left
    new.class_weight[learner, : len(kept), :n_classes] = old.class_weight[learner, kept]
    new.boxes[learner, : len(kept), :, :n_columns] = old.boxes[learner, kept]
    new.scale[learner, :n_columns] = old.scale[learner]


def _shallowest(nodes: Any, most: int) -> IntArray:
    """The root, then pairs of siblings level by level, as many as fit."""
    kept, level = [0], [0]
    while level:
        below = []
        for node in level:
            if nodes["feature"][node] != LEAF and len(kept) + 2 <= most:
                pair = [int(nodes["left"][node]), int(nodes["right"][node])]
                kept += pair
                below += pair
        level = below
    return np.array(kept, dtype=np.int64)
