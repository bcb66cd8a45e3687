"""Random trees in Python's hands: one that was just grown, one while it is judged, and many, ready to predict."""

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
from ocoboost.batch.forest_keys import SET, KindArray, Lesson, NodeArray, PlaceArray, SetArray, Table, make_scratch

ROWS_AT_A_TIME = 4096  # that are predicted by one thread: their sums stay in its cache


class GrownTree(NamedTuple):
    """A tree with the rows that it was grown from; a right child follows its left sibling."""

    feature: NodeArray  # -1 marks a leaf
    threshold: NodeArray
    kind: KindArray
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

    def counted(self, labels: IntArray, n_classes: int) -> CountedTree:
        """The tree without its rows, which take far more memory than what their labels weigh in its leaves."""
        firsts = np.empty(len(self.feature) // 2 + 2, dtype=np.int32)  # every node has two children or none
        own_labels, own_weights = np.empty(len(self.rows), dtype=np.int32), np.empty(len(self.rows))
        of_rows = self.start, self.end, self.rows, self.weights, labels
        n_pairs = leaves.gather_leaves(self.feature, *of_rows, np.zeros(n_classes), firsts, own_labels, own_weights)
        pairs = own_labels[:n_pairs].copy(), own_weights[:n_pairs].copy()
        return CountedTree(*self[:5], firsts, *pairs, self.decrease)


class CountedTree(NamedTuple):
    """A tree with what labels weigh in its leaves."""

    feature: NodeArray  # -1 marks a leaf
    threshold: NodeArray
    kind: KindArray
    left: NodeArray
    sets: SetArray
    firsts: NodeArray  # (leaves + 1,): where a leaf's labels start
    labels: NodeArray  # that are in the leaf
    weights: FloatArray  # of these labels
    decrease: FloatArray  # of the Gini impurity, by feature

    def add_leanings(self, table: Table, rows: IntArray, strengths: FloatArray, out: FloatArray) -> None:
        """Add to rows the distributions of their leaves at every strength; ``out``: (strengths, rows, classes)."""
        counts = self._counts(out.shape[2])
        is_asked = np.empty(len(counts), dtype=bool)
        ends = self.find_leaves(table, rows)
        leaves.add_leanings(self.feature, self.left, counts, strengths, ends, is_asked, np.empty_like(counts), out)

    def mixture(self, n_classes: int, strengths: FloatArray, weights: FloatArray) -> FloatArray:
        """The weighted sum of the leaves' distributions over strengths, (leaves, classes)."""
        counts = self._counts(n_classes)
        is_asked = np.ones(len(counts), dtype=bool)
        out = np.zeros((len(self.firsts) - 1, n_classes))
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

    def _counts(self, n_classes: int) -> FloatArray:
        """The label weights of every node."""
        out = np.empty((len(self.feature), n_classes))
        leaves.count_nodes(self.feature, self.left, self.firsts, self.labels, self.weights, out)
        return out


class KeptTree(NamedTuple):
    """What is left of a tree when it only predicts."""

    feature: NodeArray
    threshold: NodeArray
    kind: KindArray
    left: NodeArray
    sets: SetArray
    values: NDArray[np.float32]  # (leaves, classes): what a leaf adds to a row's score


class Forest(NamedTuple):
    """Trees one after the other, stage by stage, whose leaves hold what they add to a row's score."""

    roots: IntArray
    feature: NodeArray
    threshold: NodeArray
    kind: KindArray
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
