"""N compiled Mondrian trees as a weak ensemble: the arrays, how rows are laid out for them, and how they grow.

Trees cut boxes, so text becomes numbers: one place in the row per category, 1 for the row's own and 0 for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.native import NativeEnsemble, register_forest
from ocoboost.compiling import IS_COMPILED
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.learners.growing import LEAST_BYTES, Room
from ocoboost.learners.mondrian import kernels, layout, packing, state
from ocoboost.learners.mondrian.pruning import fixed_bytes, most_nodes, node_bytes, prune
from ocoboost.learners.mondrian.state import NUMBER
from ocoboost.learners.nominal import NUMBERS, NominalNumbers, codes_of_columns
from ocoboost.learners.sizes import rounded_up

FEWEST_NODES = 32  # of a tree that has begun to grow


class MondrianEnsemble(NativeEnsemble):
    """N Mondrian trees side by side."""

    name = "MondrianTrees"

    def __init__(
        self,
        rules: layout.Rules,
        n_learners: int,
        *,
        nominal: frozenset[Any] = frozenset(),
        max_bytes: float | None = None,
    ) -> None:
        self.rules = rules
        self.most_nodes = rules.max_nodes  # whatever the memory
        self.max_bytes = max_bytes
        self.n_sharing = n_learners
        self.nominal = NominalNumbers(nominal)
        self.columns: IntArray = np.empty(0, dtype=np.int64)  # of each place
        self.codes: IntArray = np.empty(0, dtype=np.int64)  # of each place: NUMBER, or the category it stands for
        self.version = 0  # of the schema that the places were made for
        self.n_classes = 1
        self.trees = _empty_trees(n_learners)
        self._rooms = Room(), Room(), Room()  # of nodes, class weights and boxes

    # -- rows ----------------------------------------------------------------------------------------------------

    def prepare(self, block: Block, *, learning: bool) -> FloatArray:
        """The rows as a matrix with one column per place, after growing the trees to hold them."""
        codes = self.nominal.recode(block, learning=learning)
        if learning and self.version != block.schema.version:
            self.version = block.schema.version
            self._grow_places(block.schema)
        places = np.take(codes, self.columns, axis=1)  # row by row in memory: another order is compiled anew
        if self.codes.max(initial=NUMBER) != NUMBER:
            is_code = self.codes != NUMBER
            cells = places[:, is_code]
            places[:, is_code] = np.where(np.isnan(cells), cells, cells == self.codes[is_code])
        return places

    @property
    def has_places(self) -> bool:
        return not self.nominal.names

    def places(self) -> tuple[IntArray, IntArray]:
        return self.columns, self.codes

    # -- growing -------------------------------------------------------------------------------------------------

    def _grow_places(self, schema: Schema) -> None:
        """Places for new columns and categories, behind those that exist."""
        known = set(zip(self.columns.tolist(), self.codes.tolist(), strict=True))
        new = []
        for column, n_codes in enumerate(codes_of_columns(schema, self.nominal)):
            codes: Sequence[int] = [NUMBER] if n_codes == NUMBERS else range(n_codes or 0)
            new += [(column, code) for code in codes if (column, code) not in known]
        if not new:
            return
        first_places = {column: place for place, column in reversed(list(enumerate(self.columns.tolist())))}
        n_old = self.columns.size
        self.columns = np.append(self.columns, [column for column, _ in new])
        self.codes = np.append(self.codes, [code for _, code in new])
        self._resize()
        self.trees.has_gaps[:] = 1
        for place in range(n_old, self.columns.size):
            first = first_places.get(int(self.columns[place]))
            if first is not None:  # a new category: nodes that have seen the column have seen others only
                has_seen = ~np.isnan(self.trees.boxes[..., first])
                self.trees.boxes[..., place][has_seen] = 0.0

    def grow_classes(self, n_classes: int) -> None:
        """Make the arrays hold more classes; they are made for a few more, which nothing is learned of."""
        self.n_classes = max(self.n_classes, n_classes)
        if n_classes > self.trees.class_weight.shape[2]:
            self._resize(n_classes=rounded_up(n_classes))

    def grow(self) -> None:
        """Double the nodes of every tree, or add half if there are many, within the limit."""
        trees, n_nodes = self.trees, self.trees.nodes.shape[1]
        self.limit()
        if self.rules.max_nodes <= n_nodes:
            self._resize()
            return
        wanted = n_nodes + n_nodes // 2 if trees.boxes.nbytes > LEAST_BYTES else 2 * (n_nodes + 2)
        wanted = min(max(wanted, FEWEST_NODES), self.rules.max_nodes)
        arrays = trees.nodes, trees.class_weight, trees.boxes
        sizes = wanted, self.rules.max_nodes
        grown = [room.grown(array, trees.n_nodes, *sizes) for room, array in zip(self._rooms, arrays, strict=True)]
        self.trees = trees._replace(nodes=_with_attributes(grown[0]), class_weight=grown[1], boxes=grown[2])

    def limit(self, n_classes: int = 0) -> None:
        """Set the most nodes that a tree may have, which follows from its columns, categories and classes."""
        if self.max_bytes is not None:
            n_classes = max(n_classes, self.trees.class_weight.shape[2])
            affordable = most_nodes(self.max_bytes / self.n_sharing, n_classes, self.columns.size)
            self.rules = self.rules._replace(max_nodes=min(self.most_nodes, affordable))

    def _resize(self, n_nodes: int = 0, n_classes: int = 0) -> None:
        """Copy the trees into arrays that are at least as large along every axis, or that keep to a lower limit."""
        old = self.trees
        n_classes = max(n_classes, old.class_weight.shape[2])
        self.limit(n_classes)
        n_nodes = min(max(n_nodes, old.nodes.shape[1]), self.rules.max_nodes)
        new = _zeros(len(old.n_nodes), n_nodes, n_classes, self.columns.size)
        copy = _copy if int(old.n_nodes.max()) <= n_nodes else prune
        for learner in range(len(old.n_nodes)):
            copy(old, learner, n_nodes, new)
        new.boxes[..., old.scale.shape[1] :] = np.nan  # no node has seen a new column
        self.trees = new
        self._rooms = Room(), Room(), Room()

    def least_bytes(self, widths: Widths, n_classes: int) -> int:
        """Memory of trees of one node each: the least that works."""
        n_places = widths.n_numbers + widths.n_codes + self.nominal.n_codes * len(self.nominal.names)
        return len(self.trees.n_nodes) * (fixed_bytes(n_places) + node_bytes(rounded_up(n_classes), n_places))

    # -- learning ------------------------------------------------------------------------------------------------

    def restart(self, seed: int) -> None:
        """Forget all rows, and draw with another seed from now on; arrays, columns and classes stay as they are."""
        self.rules = self.rules._replace(seed=np.uint64(seed))
        trees = self.trees
        used = int(trees.n_nodes.max())
        for array, empty in ((trees.nodes, 0), (trees.class_weight, 0.0), (trees.boxes, np.nan)):
            array[:, :used] = empty
        trees.n_nodes[:] = 1
        trees.n_taught[:] = 0
        trees.nodes["feature"][:, 0] = layout.LEAF
        trees.nodes["parent"][:, 0] = -1
        trees.scale[:] = 1.0
        trees.has_gaps[:] = 1

    @property
    def forest(self) -> layout.Forest:
        return layout.Forest(self.trees, self.rules)

    def scratch(self) -> layout.Scratch:
        """Memory for one thread to work in."""
        return layout.make_scratch(len(self.trees.n_nodes), self.columns.size, self.n_classes)

    # -- parts ---------------------------------------------------------------------------------------------------

    def part(self, first: int, end: int) -> Self:
        part = super().part(first, end)
        part.rules = self.rules._replace(held_from=self.rules.held_from + first)
        part._rooms = Room(), Room(), Room()
        return part

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        whole = parts[0].part(0, len(parts[0].trees.n_nodes))
        every = [part.trees for part in parts]
        n_learners, n_nodes = sum(len(trees.n_nodes) for trees in every), max(trees.nodes.shape[1] for trees in every)
        whole.trees = _zeros(n_learners, n_nodes, every[0].class_weight.shape[2], every[0].scale.shape[1])
        first = 0
        for trees in every:
            for learner in range(len(trees.n_nodes)):
                _copy(trees, learner, n_nodes, whole.trees, first + learner)
            first += len(trees.n_nodes)
        return whole

    # -- saving --------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        limits = {"most_nodes": self.most_nodes, "max_bytes": self.max_bytes}
        return {**super().settings(), "nominal": self.nominal.names, **limits}

    def state(self) -> dict[str, Any]:
        return state.state_of(self)

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        state.restore(self, saved, schema, n_classes)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "trees": packing.pack(self.trees)}  # a pickle holds what is in use

    def __setstate__(self, saved: dict[str, Any]) -> None:
        vars(self).update(saved, trees=packing.unpack(saved["trees"]))


def _zeros(n_learners: int, n_nodes: int, n_classes: int, n_columns: int) -> layout.Trees:
    """Arrays without nodes. Memory that is all zeros costs nothing before it is written to."""
    return layout.Trees(
        n_nodes=np.zeros(n_learners, dtype=np.int64),
        n_taught=np.zeros(n_learners, dtype=np.int64),
        nodes=_with_attributes(np.zeros((n_learners, n_nodes), dtype=layout.NODE)),
        class_weight=np.zeros((n_learners, n_nodes, n_classes)),
        boxes=np.zeros((n_learners, n_nodes, 2, n_columns)),
        scale=np.ones((n_learners, n_columns)),
        has_gaps=np.ones(n_learners, dtype=np.int64),
    )


def _with_attributes(nodes: Any) -> Any:
    """Nodes whose fields are attributes in kernels, compiled or not."""
    return nodes if IS_COMPILED else nodes.view(np.recarray)


def _copy(old: layout.Trees, learner: int, most: int, new: layout.Trees, place: int | None = None) -> None:
    """Copy the nodes that a tree has into arrays that are at least as large; to ``place`` if it is given."""
    n_nodes, n_classes, n_columns = old.n_nodes[learner], old.class_weight.shape[2], old.scale.shape[1]
    place = learner if place is None else place
    new.n_nodes[place] = n_nodes
    new.n_taught[place] = old.n_taught[learner]
    new.has_gaps[place] = old.has_gaps[learner]
    new.nodes[place, :n_nodes] = old.nodes[learner, :n_nodes]
    new.class_weight[place, :n_nodes, :n_classes] = old.class_weight[learner, :n_nodes]
    new.boxes[place, :n_nodes, :, :n_columns] = old.boxes[learner, :n_nodes]
    new.scale[place, :n_columns] = old.scale[learner]


def _empty_trees(n_learners: int) -> layout.Trees:
    """Trees of one leaf each, for no columns and the fewest classes."""
    trees = _zeros(n_learners, 1, 1, 0)
    trees.n_nodes[:] = 1  # the root is node 0
    trees.nodes["feature"] = layout.LEAF
    trees.nodes["parent"] = -1
    return trees


register_forest(layout.Forest, kernels)
