"""Slow, obvious twins of the learners over classes: every expert written out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ocoboost.data.rows import NumberRows
from ocoboost.data.schema import Block, Schema
from ocoboost.learners.experts.rates import LearningRate


def block_of(X: np.ndarray) -> Block:
    """A table of numbers in the form that an ensemble takes."""
    rows = NumberRows(list(range(X.shape[1])), X)
    schema = Schema()
    for additions in schema.plan(rows).values():
        schema.apply(additions, n_classes=2)
    return Block(rows, schema)


class Exponential:
    """Exponential weights over a list of functions from a row to a label."""

    def __init__(self, experts: list[Callable[[Any], int]], n_classes: int, rate: LearningRate | None = None) -> None:
        self.experts = experts
        self.n_classes = n_classes
        self.rate = rate or LearningRate()
        self.gains = np.zeros(len(experts))
        self.energy = 0.0

    def vote(self, row: Any) -> np.ndarray:
        rate = self.rate.at(np.log(len(self.experts)), self.energy)
        weights = np.exp(rate * (self.gains - self.gains.max()))
        shares = np.zeros(self.n_classes)
        for expert, weight in zip(self.experts, weights, strict=True):
            shares[expert(row)] += weight
        return shares / weights.sum()

    def learn(self, row: Any, label_weights: np.ndarray) -> None:
        self.gains += [label_weights[expert(row)] for expert in self.experts]
        self.energy += (max(*label_weights, 0.0) - min(*label_weights, 0.0)) ** 2


def stump_functions(stumps: Any) -> list[Callable[[np.ndarray], int]]:
    """The members of a stump class as functions of one row of numbers."""

    def function(stump: Any) -> Callable[[np.ndarray], int]:
        def said(row: np.ndarray) -> int:
            value = row[stump.feature]
            value = -1e308 if np.isnan(value) else value
            return stump.labels[sum(value > threshold for threshold in stump.thresholds)]

        return said

    return [function(stump) for stump in stumps.members()]


def vote_by_logarithms(gains: np.ndarray, cells: np.ndarray, rate: float, n_pieces: int) -> np.ndarray:
    """The vote of all stumps for classes too large to write out: the same sum over paths, in logarithms.

    The row's label is one more gain: minus infinity for all labels but one in the row's cell.
    """
    n_features, n_cells, n_classes = gains.shape
    totals = np.empty((n_features, n_classes))
    for feature, label in itertools.product(range(n_features), range(n_classes)):
        weights = rate * gains[feature]
        kept = weights[cells[feature], label]
        weights[cells[feature]] = -np.inf
        weights[cells[feature], label] = kept
        paths = np.tile(weights[0] - np.log(n_classes), (n_pieces, 1))  # (pieces, labels of the last cell)
        for cell in range(1, n_cells):
            opened = np.logaddexp.accumulate(np.logaddexp.reduce(paths, axis=1) - np.log(n_classes))
            paths[1:] = np.logaddexp(paths[1:], opened[:-1, None])
            paths += weights[cell]
        totals[feature, label] = np.logaddexp.reduce(paths, axis=None)
    votes = np.logaddexp.reduce(totals, axis=0)
    return np.exp(votes - np.logaddexp.reduce(votes))


def shatters(members: frozenset[tuple[int, ...]], depth: int) -> bool:
    """Whether a tree of this depth is shattered: the definition of the Littlestone dimension, word by word."""
    if depth == 0:
        return len(members) > 0
    points = range(len(next(iter(members)))) if members else ()
    for point in points:
        for one, other in itertools.combinations({member[point] for member in members}, 2):
            sides = [frozenset(member for member in members if member[point] == label) for label in (one, other)]
            if all(shatters(side, depth - 1) for side in sides):
                return True
    return False


def littlestone_dimension(members: frozenset[tuple[int, ...]]) -> int:
    depth = -1
    while shatters(members, depth + 1):
        depth += 1
    return depth


def optimal_label(members: frozenset[tuple[int, ...]], point: int, n_classes: int) -> int:
    left = [littlestone_dimension(frozenset(m for m in members if m[point] == label)) for label in range(n_classes)]
    return left.index(max(left))


def littlestone_experts(members: frozenset[tuple[int, ...]], points: list[int], n_classes: int) -> list[list[int]]:
    """What every expert says to the rows: up to ``dimension`` rows where it says another label than the algorithm."""
    dimension = littlestone_dimension(members)
    experts = []
    for used in range(dimension + 1):
        for rows in itertools.combinations(range(len(points)), used):
            for others in itertools.product(range(1, n_classes), repeat=used):
                space, said = members, []
                for row, point in enumerate(points):
                    label = optimal_label(space, point, n_classes)
                    if row in rows:  # the other labels, in the order of their distance from it
                        label = (label + others[rows.index(row)]) % n_classes
                    said.append(label)
                    space = frozenset(member for member in space if member[point] == label)
                experts.append(said)
    return experts
