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
from ocoboost.batch.forest_keys import SET, Lesson, NodeArray, PlaceArray, SetArray, Table, make_scratch

ROWS_AT_A_TIME = 4096  # that are predicted by one thread: their sums stay in its cache


class GrownTree(NamedTuple):
    """A tree with the rows that it was grown from; a right child follows its left sibling."""

    feature: NodeArray  # -1 marks a leaf
    threshold: NodeArray
    kind: NodeArray  # what the threshold is compared with
    left: NodeArray
    sets: SetArray
    start: NodeArray  # where a node's rows start and end in ``rows``
    end: NodeArray
    rows: PlaceArray
    decrease: FloatArray  # of the Gini impurity, by feature
    weights: FloatArray  # of ``rows``

    @classmethod
    def grow(cls, table: Table, lesson: Lesson, n_classes: int) -> GrownTree:
        """Grow a tree from the rows that have a weight."""
        rows = np.flatnonzero(lesson.weights).astype(np.uint32)
        is_plain = bool((lesson.weights[rows] == 1.0).all())
        scratch = make_scratch(len(rows), len(table.codes), n_classes, is_plain)
        return cls(*grow_tree(table, lesson, rows, scratch))

    def add_leanings(
        self, table: Table, labels: IntArray, rows: IntArray, strengths: FloatArray, out: FloatArray
    ) -> None:
        """Add to rows the distributions of their leaves at every strength; ``out``: (strengths, rows, classes)."""
        counts = self._counts(labels, out.shape[2])
        is_asked = np.empty(len(counts), dtype=bool)
        ends = self.find_leaves(table, rows)
        leaves.add_leanings(self.feature, self.left, counts, strengths, ends, is_asked, np.empty_like(counts), out)

    def mixture(self, labels: IntArray, n_classes: int, strengths: FloatArray, weights: FloatArray) -> FloatArray:
        """The weighted sum of the leaves' distributions over strengths, (leaves, classes)."""
        counts = self._counts(labels, n_classes)
        is_asked = np.ones(len(counts), dtype=bool)
        out = np.zeros((len(counts) // 2 + 1, n_classes))  # every node has two children or none
        leaves.mix_leanings(self.feature, self.left, counts, strengths, weights, is_asked, np.empty_like(counts), out)
        return out

    def find_leaves(self, table: Table, rows: IntArray) -> IntArray:
        """The leaves that rows end in."""
        out = np.empty(len(rows), dtype=np.int64)
        leaves.find_leaves(table.codes, rows, table.missing, *self[:5], np.empty_like(out), out)
        return out

    def leaf_places(self) -> IntArray:
        """The place of every leaf among the leaves."""
        return np.cumsum(self.feature < 0) - 1

    def _counts(self, labels: IntArray, n_classes: int) -> FloatArray:
        """The label weights of every node."""
        out = np.empty((len(self.feature), n_classes))
        leaves.count_nodes(self.feature, self.left, self.start, self.end, self.rows, self.weights, labels, out)
        return out


class KeptTree(NamedTuple):
    """What is left of a tree when it only predicts."""

    feature: NodeArray
    threshold: NodeArray
    kind: NodeArray
    left: NodeArray
    sets: SetArray
    values: NDArray[np.float32]  # (leaves, classes): what a leaf adds to a row's score


class Forest(NamedTuple):
    """Trees one after the other, stage by stage, whose leaves hold what they add to a row's score."""

    roots: IntArray
    feature: NodeArray
    threshold: NodeArray
    kind: NodeArray
    left: NodeArray  # the left child, or the place of a leaf's value
    sets: SetArray
    values: NDArray[np.float32]  # (leaves, classes)
    ends: IntArray  # (stages,): how many trees there are after each stage

    @classmethod
    def of(cls, stages: Sequence[Sequence[KeptTree]]) -> Forest:
        """Of the trees of every stage."""
        trees = list(itertools.chain.from_iterable(stages))
        sizes, n_sets = (np.array([len(tree[i]) for tree in trees]) for i in (0, 4))
        roots, first_sets = (np.cumsum(ns) - ns for ns in (sizes, n_sets))
        feature, threshold, kind, left, sets, values = (np.concatenate(column) for column in zip(*trees, strict=True))
        is_leaf = feature < 0
        left += np.repeat(roots.astype(np.int32), sizes)
        left[is_leaf] = np.arange(len(values))
        threshold += np.where(kind == SET, np.repeat(first_sets.astype(np.int32), sizes), np.int32(0))
        ends = np.cumsum([len(stage) for stage in stages])
        return cls(roots, feature, threshold, kind, left, sets, values, ends)

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
