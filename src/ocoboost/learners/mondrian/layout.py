"""Mondrian trees in memory: N trees side by side in arrays, axis 0 is always the learner."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray

LEAF = -1  # in place of a feature
LOW = 0
HIGH = 1


class Rules(NamedTuple):
    """The parameters of a Mondrian tree, as numbers."""

    step: float
    aggregate: bool
    dirichlet: float
    smoothing: float
    split_pure: bool
    is_scaled: bool
    max_nodes: int
    seed: np.uint64
    held_from: int = 0  # the number of the first tree, which is not 0 in a part of an ensemble


# Leaves and branches share the record.
NODE = np.dtype(
    [
        ("time", np.float64),  # at which the node was cut off its parent
        ("threshold", np.float64),  # value <= threshold goes left
        ("gain", np.float64),  # -step * cumulative log loss of the node as a leaf
        ("tree_gain", np.float64),  # log of the mean over all prunings below, of the exponential of their gain
        ("share", np.float64),  # weight of the pruning at this node among those that reach it
        ("total", np.float64),  # weight of all classes
        ("feature", np.int64),  # LEAF, or the column that a branch tests
        ("parent", np.int64),
        ("left", np.int64),
        ("right", np.int64),
    ]
)


class Trees(NamedTuple):
    """All trees; every array has the learner as its axis 0."""

    n_nodes: IntArray  # (n_learners,)
    n_taught: IntArray  # (n_learners,) rows; numbers the draws
    nodes: Any  # (n_learners, n_nodes) of NODE
    class_weight: FloatArray  # (n_learners, n_nodes, n_classes)
    boxes: FloatArray  # (n_learners, n_nodes, 2, n_columns) lowest and highest value, NaN before the first
    scale: FloatArray  # (n_learners, n_columns) what a distance is multiplied by
    has_gaps: IntArray  # (n_learners,) whether a box may lack values: before the first row, or if some were missing


class Scratch(NamedTuple):
    """Memory for one thread to work in, so that nothing is allocated per row."""

    distance: FloatArray  # (n_columns,) from the box to the row
    shares: FloatArray  # (n_classes,) what a node predicts
    taught: FloatArray  # label weights of a row
    vote: FloatArray
    slope: FloatArray  # gradient of a row's loss
    labels: IntArray  # (n_classes,) those that a row teaches
    ways: IntArray  # (n_learners,) how far each tree's way of a row has been looked ahead
    remembers: IntArray  # (1,) see ``cascade.native``; here nothing is, for learning has to go the same way anyway


def make_scratch(n_learners: int, n_columns: int, n_classes: int) -> Scratch:
    """Scratch memory for so many trees of this many columns and classes."""
    return Scratch(
        distance=np.zeros(n_columns),
        shares=np.zeros(n_classes),
        taught=np.zeros(n_classes),
        vote=np.zeros(n_classes),
        slope=np.zeros(n_classes),
        labels=np.zeros(n_classes, dtype=np.int64),
        ways=np.zeros(n_learners, dtype=np.int64),
        remembers=np.zeros(1, dtype=np.int64),
    )


class Forest(NamedTuple):
    """What the kernels need of an ensemble."""

    trees: Trees
    rules: Rules
