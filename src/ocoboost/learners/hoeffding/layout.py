"""Hoeffding trees in memory: N trees side by side in arrays, axis 0 is always the learner.

A tree is a pool of nodes. A leaf that still learns also owns a slot of statistics:

    moments[slot, class, :, column]     weight, mean, sum of squared deviations, lowest and highest value (numbers)
    tables[slot, class, column, code]   weight of every category (text)

The column is the innermost axis, padded to whole vector registers with missing values: one class of one leaf is a few
contiguous rows, and classes that are not taught are not touched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray

# What a node is.
LEAF = 0
NUMERIC = 1  # value <= threshold goes to the first child, else to the second
EQUAL = 2  # category == threshold goes to the first child, else to the second
MULTIWAY = 3  # one child per category

# What a leaf predicts with.
MAJORITY = 0
NAIVE_BAYES = 1
ADAPTIVE = 2

# What a split is measured by.
GINI = 0
INFO_GAIN = 1
HELLINGER = 2

WEIGHT, MEAN, SQUARES, LOW, HIGH = range(5)  # rows of a column's moments


class Rules(NamedTuple):
    """River's parameters of a Hoeffding tree, as numbers."""

    grace_period: float
    max_depth: int
    delta: float
    tau: float
    criterion: int
    leaf: int
    nb_threshold: float
    binary_split: bool
    min_branch_fraction: float
    max_share_to_split: float
    merit_preprune: bool
    n_splits: int
    max_nodes: int  # of one tree
    max_slots: int  # leaves of one tree that may learn at a time
    slot_capacity: int  # slots that a tree may have: a split takes its children's before it gives back its own
    has_subsets: bool  # whether trees see different columns


# A node of a tree. Branches and leaves share the record: a leaf has kind LEAF and no children.
NODE = np.dtype(
    [
        ("kind", np.int64),  # LEAF, NUMERIC, EQUAL or MULTIWAY
        ("feature", np.int64),  # place in a row of the value that a branch tests
        ("threshold", np.float64),  # number, or category code
        ("parent", np.int64),
        ("first_child", np.int64),
        ("sibling", np.int64),  # next child of the same parent, -1 after the last
        ("category", np.int64),  # code that leads to this child of a MULTIWAY branch
        ("depth", np.int64),
        ("slot", np.int64),  # -1: the leaf no longer learns
        ("last_attempt", np.float64),  # weight seen at the last attempt to split
        ("majority_right", np.float64),  # weight on which each of the adaptive leaf's two predictions was right
        ("bayes_right", np.float64),
    ]
)


class Trees(NamedTuple):
    """All trees; every array has the learner as its axis 0, then the node or the slot."""

    n_nodes: IntArray  # (n_learners,)
    n_free: IntArray  # (n_learners,) free slots, the top of a stack
    free: IntArray  # (n_learners, n_slots)
    nodes: Any  # (n_learners, n_nodes) of NODE
    class_weight: FloatArray  # (n_learners, n_nodes, n_classes)
    class_seen: IntArray  # (n_learners, n_nodes, n_classes)
    moments: FloatArray  # (n_learners, n_slots, n_classes, 5, n_numeric)
    tables: FloatArray  # (n_learners, n_slots, n_classes, n_nominal, n_categories)
    visible: IntArray  # (n_learners, n_places) whether a tree sees a value of a row


class Columns(NamedTuple):
    """Where each column's statistics are; -1 where it has none of the kind.

    A block of rows has the columns of numbers first, padded with NaN to ``n_numeric``, then the columns of text.
    """

    numeric: IntArray  # (n_columns,)
    nominal: IntArray  # (n_columns,)
    n_numeric: int  # with padding
    n_nominal: int


class Scratch(NamedTuple):
    """Memory for one thread to work in, so that nothing is allocated per row."""

    penalty: FloatArray  # (n_numeric,)
    precision: FloatArray  # (n_numeric,)
    scores: FloatArray  # (capacity,) one per class that the arrays are made for
    row: FloatArray  # (n_places,) what a tree sees of a row
    taught: FloatArray  # label weights of a row
    vote: FloatArray
    slope: FloatArray  # gradient of a row's loss
    branches: FloatArray  # (n_branches, capacity) class distributions of a candidate split
    codes: IntArray  # (n_branches,)
    remembers: IntArray  # (1,) see ``cascade.native``
    known: IntArray  # (n_learners, 3) what a vote has found out: the leaf, whether it has scores, whether it got lost
    known_scores: FloatArray  # (n_learners, capacity)


def make_scratch(
    n_learners: int, n_numeric: int, n_nominal: int, n_classes: int, capacity: int, n_categories: int
) -> Scratch:
    """Scratch memory for trees of this many columns and classes, whose text has at most this many categories.

    ``capacity`` is the number of classes that the trees' arrays are made for.
    """
    n_branches = max(n_categories, 2)
    return Scratch(
        penalty=np.zeros(n_numeric),
        precision=np.zeros(n_numeric),
        scores=np.zeros(capacity),
        row=np.zeros(n_numeric + n_nominal),
        taught=np.zeros(n_classes),
        vote=np.zeros(n_classes),
        slope=np.zeros(n_classes),
        branches=np.zeros((n_branches, capacity)),
        codes=np.zeros(n_branches, dtype=np.int64),
        remembers=np.zeros(1, dtype=np.int64),
        known=np.zeros((n_learners, 3), dtype=np.int64),
        known_scores=np.zeros((n_learners, capacity)),
    )


class Forest(NamedTuple):
    """What the kernels need of an ensemble."""

    trees: Trees
    columns: Columns
    rules: Rules
