"""Random trees in Python's hands: one while it is grown and judged, and many of them, ready to predict."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import forest_leaves as leaves
from ocoboost.batch.forest_kernels import grow_tree
from ocoboost.batch.forest_keys import SET, Lesson, PlaceArray, SetArray, Table

ROWS_AT_A_TIME = 4096  # that are predicted by one thread: their sums stay in its cache


class GrownTree(NamedTuple):
    """A tree with the rows that it was grown from; a right child follows its left sibling."""

    feature: IntArray  # -1 marks a leaf
    threshold: IntArray
    kind: IntArray  # what the threshold is compared with
    left: IntArray
    sets: SetArray
    start: IntArray  # where a node's rows start and end in ``rows``
    end: IntArray
    rows: PlaceArray
    decrease: FloatArray  # of the Gini impurity, by feature
    weights: FloatArray  # of ``rows``

    @classmethod
    def grow(cls, table: Table, lesson: Lesson, n_classes: int) -> GrownTree:
        """Grow a tree from the rows that have a weight."""
        grown = grow_tree(table, lesson, n_classes)
        return cls(*grown, lesson.weights[grown[7]])

    def counts(self, labels: IntArray, n_classes: int) -> FloatArray:
        """The label weights of every node."""
        out = np.empty((len(self.feature), n_classes))
        own = labels[self.rows]
        places = np.arange(len(own))
        leaves.count_nodes(self.feature, self.left, self.start, self.end, places, own, self.weights, out)
        return out

    def leaning(self, counts: FloatArray, strength: float) -> FloatArray:
        """Every node's label distribution, which leans on its parent's."""
        out = np.empty_like(counts)
        leaves.lean(self.feature, self.left, counts, strength, out)
        return out

    def find_leaves(self, table: Table, rows: IntArray) -> IntArray:
        """The leaves that rows end in."""
        out = np.empty(len(rows), dtype=np.int64)
        leaves.find_leaves(table.codes, rows, table.missing, *self[:5], out)
        return out


class KeptTree(NamedTuple):
    """What is left of a tree when it only predicts."""

    feature: IntArray
    threshold: IntArray
    kind: IntArray
    left: IntArray
    sets: SetArray
    values: NDArray[np.float32]  # (leaves, classes): what a leaf adds to a row's score

    @classmethod
    def of(cls, tree: GrownTree, nodes: FloatArray) -> KeptTree:
        """Of a tree and the values of all its nodes."""
        return cls(*tree[:5], nodes[tree.feature < 0].astype(np.float32))


class Forest(NamedTuple):
    """Trees one after the other, stage by stage, whose leaves hold what they add to a row's score."""

    roots: IntArray
    feature: NDArray[np.int32]
    threshold: NDArray[np.int32]
    kind: NDArray[np.int32]
    left: NDArray[np.int32]  # the left child, or the place of a leaf's value
    sets: SetArray
    values: NDArray[np.float32]  # (leaves, classes)
    ends: IntArray  # (stages,): how many trees there are after each stage

    @classmethod
    def of(cls, stages: Sequence[Sequence[KeptTree]]) -> Forest:
        """Of the trees of every stage."""
        n_nodes = n_sets = n_leaves = 0
        parts = []
        for tree in itertools.chain.from_iterable(stages):
            is_leaf = tree.feature < 0
            left = np.where(is_leaf, n_leaves + np.cumsum(is_leaf) - 1, tree.left + n_nodes)
            threshold = tree.threshold + np.where(tree.kind == SET, n_sets, 0)
            parts.append((np.array([n_nodes]), tree.feature, threshold, tree.kind, left, tree.sets, tree.values))
            n_nodes += len(tree.feature)
            n_sets += len(tree.sets)
            n_leaves += int(is_leaf.sum())
        roots, *nodes, sets, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        ends = np.cumsum([len(stage) for stage in stages])
        return cls._make([roots, *(column.astype(np.int32) for column in nodes), sets, values, ends])

    def predict(self, table: Table, n_jobs: int = 1) -> FloatArray:
        """The sum of the values of every row's leaves; trees are added in order, whatever the number of threads."""
        out = np.zeros((table.codes.shape[1], self.values.shape[1]))
        self._add(table, self.roots, n_jobs, out)
        return out

    def staged_predict(self, table: Table, n_jobs: int = 1) -> Iterator[FloatArray]:
        """The sums after each stage, in an array that is written over."""
        out = np.zeros((table.codes.shape[1], self.values.shape[1]))
        for first, last in itertools.pairwise([0, *self.ends.tolist()]):
            self._add(table, self.roots[first:last], n_jobs, out)
            yield out

    def _add(self, table: Table, roots: IntArray, n_jobs: int, out: FloatArray) -> None:
        def predict_some(first: int) -> None:
            some = slice(first, first + ROWS_AT_A_TIME)
            codes = np.ascontiguousarray(table.codes[:, some])
            leaves.predict_rows(codes, roots, table.missing, *self[1:6], self.values, out[some])

        firsts = range(0, len(out), ROWS_AT_A_TIME)
        if n_jobs == 1 or len(firsts) < 2:
            for first in firsts:
                predict_some(first)
        else:
            with ThreadPoolExecutor(n_jobs) as executor:
                list(executor.map(predict_some, firsts))
