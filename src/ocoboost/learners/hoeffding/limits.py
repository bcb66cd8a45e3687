"""How much memory Hoeffding trees take, and what they may hold within a limit.

A tree's memory is that of its nodes and of its slots, the statistics of leaves that learn. A limit is shared out evenly
among the trees, and is a function of the columns, categories and classes known: so it falls when one is added, and the
same rows give the same limits, however they are cut into blocks.
"""

from __future__ import annotations

from typing import NamedTuple

from ocoboost.learners.hoeffding.layout import NODE
from ocoboost.learners.sizes import rounded_up

UNLIMITED = 2**31


class Shape(NamedTuple):
    """What the size of a tree depends on."""

    n_classes: int
    n_numeric: int  # with padding
    n_nominal: int
    n_categories: int

    def rounded_up(self) -> Shape:
        """A larger shape, which changes in steps: trees are cut back now and then, not at every new class."""
        return Shape(*map(rounded_up, self))

    @property
    def n_branches(self) -> int:
        """The most children of a node."""
        return max(self.n_categories, 2)

    @property
    def node_bytes(self) -> int:
        """Of a node with its class weights."""
        return int(NODE.itemsize) + 16 * self.n_classes

    @property
    def slot_bytes(self) -> int:
        """Of a slot of statistics."""
        return 8 * (self.n_classes * (5 * self.n_numeric + self.n_nominal * self.n_categories) + 1)

    @property
    def fixed_bytes(self) -> int:
        """Of a tree without nodes and slots."""
        return 8 * (2 + self.n_numeric + self.n_nominal)

    @property
    def least_bytes(self) -> int:
        """Of a tree that only counts classes: the least that works."""
        return self.fixed_bytes + self.node_bytes


class Limits(NamedTuple):
    """The most that one tree may hold."""

    max_nodes: int
    max_slots: int  # leaves that learn at a time; 0: trees only count classes
    slot_capacity: int  # slots in memory: a split takes its children's before it gives back its own


def limits_for(shape: Shape, bytes_per_tree: float) -> Limits:
    """The most nodes and slots within a tree's memory; for every slot there are two nodes.

    Where no split fits, the root alone learns; where its statistics do not fit either, it only counts classes.

    >>> limits_for(Shape(2, 4, 0, 0), 10_000)
    Limits(max_nodes=33, max_slots=15, slot_capacity=17)
    >>> limits_for(Shape(2, 4, 0, 0), 600)
    Limits(max_nodes=1, max_slots=1, slot_capacity=1)
    >>> limits_for(Shape(2, 4, 0, 0), 300)
    Limits(max_nodes=1, max_slots=0, slot_capacity=0)
    """
    spare = shape.n_branches * shape.slot_bytes + (shape.n_branches + 1) * shape.node_bytes
    left = bytes_per_tree - shape.fixed_bytes - spare
    n_slots = min(int(left // (shape.slot_bytes + 2 * shape.node_bytes)), UNLIMITED)
    if n_slots >= 1:
        return Limits(min(2 * n_slots + shape.n_branches + 1, UNLIMITED), n_slots, n_slots + shape.n_branches)
    has_slot = bytes_per_tree >= shape.least_bytes + shape.slot_bytes
    return Limits(1, int(has_slot), int(has_slot))
