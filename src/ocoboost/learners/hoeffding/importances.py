"""What Hoeffding trees know about the labels, by places in a row: their splits, and the naive Bayes of their leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray
from ocoboost.learners.evidence import add_by_place, categories_evidence, log_evidence, numbers_evidence
from ocoboost.learners.hoeffding.layout import ADAPTIVE, LEAF, MAJORITY, MEAN, SQUARES, WEIGHT, Rules, Trees


def split_evidence(trees: Trees, rules: Rules, n_classes: int) -> FloatArray:
    """The evidence for all splits, and for the columns of leaves that vote by naive Bayes."""
    n_numeric, n_nominal = trees.moments.shape[4], trees.tables.shape[3]
    out: FloatArray = np.zeros(n_numeric + n_nominal)
    is_there = np.arange(trees.nodes.shape[1]) < trees.n_nodes[:, None]
    counts = np.where((is_there & (trees.nodes["kind"] == LEAF))[..., None], trees.class_weight, 0.0)
    depth = np.where(is_there, trees.nodes["depth"], -1)
    for level in range(int(depth.max(initial=0)), 0, -1):  # what is below a branch, from the leaves up
        tree, node = np.nonzero(depth == level)
        np.add.at(counts, (tree, trees.nodes["parent"][tree, node]), counts[tree, node])
    known = log_evidence(counts, n_classes)
    tree, node = np.nonzero(is_there & (depth > 0))
    parent = trees.nodes["parent"][tree, node]
    add_by_place(trees.nodes["feature"][tree, parent], known[tree, node], out)
    tree, node = np.nonzero(is_there & (trees.nodes["kind"] != LEAF))
    add_by_place(trees.nodes["feature"][tree, node], -known[tree, node], out)
    tree, node = np.nonzero(is_there & _uses_bayes(trees, rules))
    slot = trees.nodes["slot"][tree, node]
    moments, tables = trees.moments[tree, slot], trees.tables[tree, slot]
    seen = numbers_evidence(moments[:, :, WEIGHT], moments[:, :, MEAN], moments[:, :, SQUARES])
    out[:n_numeric] += np.maximum(seen, 0.0).sum(axis=0)
    if n_nominal:
        out[n_numeric:] += np.maximum(categories_evidence(tables, n_classes), 0.0).sum(axis=0)
    return out


def _uses_bayes(trees: Trees, rules: Rules) -> NDArray[np.bool_]:
    """Which leaves vote by naive Bayes."""
    nodes = trees.nodes
    learns: NDArray[np.bool_] = (nodes["kind"] == LEAF) & (nodes["slot"] >= 0)
    if rules.leaf == MAJORITY:
        return np.zeros_like(learns)
    is_better = nodes["bayes_right"] >= nodes["majority_right"]
    uses: NDArray[np.bool_] = (
        is_better if rules.leaf == ADAPTIVE else trees.class_weight.sum(axis=2) >= rules.nb_threshold
    )
    return learns & uses
