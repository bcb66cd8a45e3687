"""What the splits of Mondrian trees tell about the labels, by the places in a row that they test."""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.learners.evidence import LEAST_WEIGHT, add_by_place, log_evidence
from ocoboost.learners.mondrian.layout import LEAF, Trees


def split_evidence(trees: Trees, n_classes: int) -> FloatArray:
    """The evidence for all splits, each weighted by the prunings that use it: what is pruned away does not vote."""
    out: FloatArray = np.zeros(trees.scale.shape[1])
    tree = np.arange(len(trees.n_nodes))
    node, reaching = np.zeros_like(tree), np.ones(len(tree))
    while len(tree):
        nodes = trees.nodes[tree, node]
        splits = (nodes["feature"] != LEAF) & (nodes["total"] >= LEAST_WEIGHT)
        tree, node, nodes = tree[splits], node[splits], nodes[splits]
        reaching = reaching[splits] * (1.0 - nodes["share"])
        worth = -log_evidence(trees.class_weight[tree, node], n_classes)
        for side in ("left", "right"):
            worth += log_evidence(trees.class_weight[tree, nodes[side]], n_classes)
        add_by_place(nodes["feature"], reaching * worth, out)
        node = np.concatenate([nodes["left"], nodes["right"]])
        tree, reaching = np.tile(tree, 2), np.tile(reaching, 2)
    return out
