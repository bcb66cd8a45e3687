"""How much memory Mondrian trees take, and trees cut back to a limit that has fallen.

A limit falls when a column or a class is added. Nodes go from the bottom up, two siblings at a time: their parent,
which has the box and the class weights of both, becomes a leaf again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.learners.mondrian.layout import LEAF, NODE, Trees
from ocoboost.learners.sizes import rounded_up


def most_nodes(max_bytes: float, n_classes: int, n_columns: int) -> int:
    """The nodes that a tree can afford; it falls in steps as classes and columns are added."""
    n_classes, n_columns = rounded_up(n_classes), rounded_up(n_columns)
    return max(1, int((max_bytes - fixed_bytes(n_columns)) // node_bytes(n_classes, n_columns)))


def node_bytes(n_classes: int, n_columns: int) -> int:
    """Memory of a node with its class weights and its box."""
    return int(NODE.itemsize) + 8 * (n_classes + 2 * n_columns)


def fixed_bytes(n_columns: int) -> int:
    """Memory of a tree without nodes."""
    return 8 * (3 + n_columns)


def prune(old: Trees, learner: int, most: int, new: Trees) -> None:
    """Copy a tree into larger or smaller arrays, without the nodes that are deepest if it has more than ``most``."""
    nodes = old.nodes[learner]
    kept = list_shallowest(nodes, most)
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


def list_shallowest(nodes: Any, most: int) -> IntArray:
    """The root, then pairs of siblings level by level, as many as fit.

    No kernel: it is rarely needed, and then a service should not have to wait for it to be compiled.
    """
    kept: list[IntArray] = [np.zeros(1, dtype=np.int64)]
    n_pairs = (most - 1) // 2  # that still fit
    while n_pairs > 0:
        branches = kept[-1][nodes["feature"][kept[-1]] != LEAF][:n_pairs]
        if not len(branches):
            break
        kept.append(np.column_stack((nodes["left"][branches], nodes["right"][branches])).astype(np.int64).ravel())
        n_pairs -= len(branches)
    return np.concatenate(kept)
