"""N compiled Hoeffding trees as a weak ensemble: the arrays, and how they grow.

Trees live in arrays that are sized for all learners at once. Kernels never allocate: before a row might need more
nodes or slots than are left they stop and say so, and the arrays grow here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.native import NativeEnsemble, register_forest
from ocoboost.compiling import IS_COMPILED
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.learners.hoeffding import kernels, layout, state
from ocoboost.learners.hoeffding.limits import Limits, Shape, limits_for
from ocoboost.learners.hoeffding.pruning import FRESH, pruned
from ocoboost.learners.hoeffding.state import padded
from ocoboost.learners.nominal import NUMBERS, NominalNumbers, codes_of_columns
from ocoboost.learners.sizes import rounded_up
from ocoboost.randomness import FEATURES, draw_rows


class HoeffdingEnsemble(NativeEnsemble):
    """N Hoeffding trees side by side."""

    name = "HoeffdingTrees"

    def __init__(
        self,
        rules: layout.Rules,
        n_learners: int,
        *,
        seed: int = 0,
        nominal: frozenset[Any] = frozenset(),
        feature_share: float = 1.0,
        max_bytes: float | None = None,
    ) -> None:
        self.rules = rules
        self.seed = seed
        self.nominal = NominalNumbers(nominal)
        self.feature_share = feature_share
        self.max_bytes = max_bytes
        self.n_sharing = n_learners
        self.held_from = 0  # the number of the first tree, which is not 0 in a part of an ensemble
        self.columns = layout.Columns(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0, 0)
        self.n_categories = self.nominal.n_codes
        self.version = 0  # of the schema that the columns were made for
        self.n_classes = 1
        self.trees = _empty_trees(n_learners, self.n_categories)
        if rules.criterion == layout.HELLINGER:
            self.max_classes = 2

    # -- rows ----------------------------------------------------------------------------------------------------

    def prepare(self, block: Block, *, learning: bool) -> FloatArray:
        """The rows as a matrix with one column per feature, after growing the trees to hold them."""
        codes = self.nominal.recode(block, learning=learning)
        if learning and self.version != block.schema.version:
            self.version = block.schema.version
            self._grow_columns(block.schema)
        return self._arranged(codes)

    def _arranged(self, codes: FloatArray) -> FloatArray:
        """Columns of numbers first, padded with missing values, then columns of text; unknown columns are left out."""
        columns = self.columns
        arranged = np.full((len(codes), columns.n_numeric + columns.n_nominal), np.nan)
        known = codes[:, : columns.numeric.size]
        is_numeric, is_nominal = columns.numeric >= 0, columns.nominal >= 0
        arranged[:, columns.numeric[is_numeric]] = known[:, is_numeric]
        arranged[:, columns.n_numeric + columns.nominal[is_nominal]] = known[:, is_nominal]
        return arranged

    @property
    def has_places(self) -> bool:
        return not self.nominal.names

    def places(self) -> tuple[IntArray, IntArray]:
        columns = self.columns
        source = np.full(columns.n_numeric + columns.n_nominal, -1, dtype=np.int64)
        is_numeric, is_nominal = columns.numeric >= 0, columns.nominal >= 0
        source[columns.numeric[is_numeric]] = np.flatnonzero(is_numeric)
        source[columns.n_numeric + columns.nominal[is_nominal]] = np.flatnonzero(is_nominal)
        return source, np.full(source.size, -1, dtype=np.int64)

    # -- growing -------------------------------------------------------------------------------------------------

    def _grow_columns(self, schema: Schema) -> None:
        n_categories = max(schema.most_codes, self.nominal.n_codes)
        numeric, nominal = list(self.columns.numeric), list(self.columns.nominal)
        n_unknown = len(schema.columns) - len(numeric)
        numeric += [-1] * n_unknown
        nominal += [-1] * n_unknown
        # Positions are given once, when a column's kind shows: it takes the next free one of that kind.
        # Of Python's own type, whatever it was before: single rows take the short way only while no type changes.
        n_numeric, n_nominal = int(max(numeric, default=-1)) + 1, int(max(nominal, default=-1)) + 1
        for column, n_codes in enumerate(codes_of_columns(schema, self.nominal)):
            if numeric[column] < 0 and nominal[column] < 0 and n_codes is not None:
                if n_codes == NUMBERS:
                    numeric[column] = n_numeric
                    n_numeric += 1
                else:
                    nominal[column] = n_nominal
                    n_nominal += 1
        is_same = np.array_equal(numeric, self.columns.numeric) and np.array_equal(nominal, self.columns.nominal)
        if is_same and n_categories <= self.n_categories:
            return
        self._shift_nominal_tests(padded(n_numeric) - self.columns.n_numeric)
        self.columns = layout.Columns(
            np.array(numeric, dtype=np.int64), np.array(nominal, dtype=np.int64), padded(n_numeric), n_nominal
        )
        self.n_categories = max(self.n_categories, n_categories)
        self._resize()

    def _shift_nominal_tests(self, n_places: int) -> None:
        """Text comes after numbers in a row, so it moves when columns of numbers are added."""
        nodes = self.trees.nodes
        is_nominal = (nodes["kind"] == layout.EQUAL) | (nodes["kind"] == layout.MULTIWAY)
        nodes["feature"][is_nominal] += n_places

    def grow_classes(self, n_classes: int) -> None:
        """Make the arrays hold more classes; they are made for a few more, which nothing is learned of."""
        self.n_classes = max(self.n_classes, n_classes)
        if n_classes > self.trees.class_weight.shape[2]:
            self._resize(n_classes=rounded_up(n_classes))

    def grow(self) -> None:
        """Double the nodes and slots of every tree, within the limits."""
        n_nodes, n_slots = self.trees.nodes.shape[1], self.trees.free.shape[1]
        n_branches = max(self.n_categories, 2)
        self._resize(
            n_nodes=min(2 * (n_nodes + n_branches), self.rules.max_nodes),
            n_slots=min(2 * (n_slots + n_branches), self.rules.slot_capacity),
        )

    def limit(self, n_classes: int = 0) -> None:
        """Set the most that a tree may hold, which follows from its columns, categories and classes."""
        if self.max_bytes is not None:
            n_classes = max(n_classes, self.trees.class_weight.shape[2])
            shape = Shape(n_classes, self.columns.n_numeric, self.columns.n_nominal, self.n_categories)
            limits = limits_for(shape.rounded_up(), self.max_bytes / self.n_sharing)
            self.rules = self.rules._replace(**limits._asdict())

    def _resize(self, n_nodes: int = 0, n_slots: int = 0, n_classes: int = 0) -> None:
        """Copy the trees into arrays that are at least as large along every axis, or that keep to a lower limit."""
        old = self.trees
        n_classes = max(n_classes, old.class_weight.shape[2])
        self.limit(n_classes)
        n_nodes = max(n_nodes, old.nodes.shape[1])
        n_slots = max(n_slots, old.free.shape[1])
        rules = self.rules
        n_used = old.free.shape[1] - int(old.n_free.min())  # what is cut back follows from what is used, not from sizes
        if n_nodes > rules.max_nodes or n_slots > rules.slot_capacity or n_used > rules.max_slots:
            self._prune(min(n_nodes, rules.max_nodes), min(n_slots, rules.slot_capacity), n_classes)
        else:
            self._widen(n_nodes, n_slots, n_classes)
        if self.feature_share < 1.0:
            self._choose_features()

    def _empty(self, n_nodes: int, n_slots: int, n_classes: int) -> layout.Trees:
        columns, n_learners = self.columns, len(self.trees.n_nodes)
        return _zeros(n_learners, n_nodes, n_slots, n_classes, columns.n_numeric, columns.n_nominal, self.n_categories)

    def _widen(self, n_nodes: int, n_slots: int, n_classes: int) -> None:
        """Every number stays where it is."""
        old, new = self.trees, self._empty(n_nodes, n_slots, n_classes)
        for grown, kept in zip(new, old, strict=True):
            grown[tuple(slice(size) for size in kept.shape)] = kept
        # New slots go below the free ones, so that these are taken first.
        n_added = new.free.shape[1] - old.free.shape[1]
        for learner, n_free in enumerate(old.n_free):
            new.free[learner, :n_added] = np.arange(new.free.shape[1] - 1, old.free.shape[1] - 1, -1)
            new.free[learner, n_added : n_added + n_free] = old.free[learner, :n_free]
        new.n_free[:] = old.n_free + n_added
        self.trees = new

    def _prune(self, n_nodes: int, n_slots: int, n_classes: int) -> None:
        """Every tree keeps what its limits allow."""
        old, new = self.trees, self._empty(n_nodes, n_slots, n_classes)
        limits = Limits(self.rules.max_nodes, self.rules.max_slots, n_slots)
        for learner in range(len(old.n_nodes)):
            left = pruned(old, learner, limits)
            size, n_seen = left.class_weight.shape
            new.n_nodes[learner] = size
            new.nodes[learner, :size] = left.nodes
            new.class_weight[learner, :size, :n_seen] = left.class_weight
            new.class_seen[learner, :size, :n_seen] = left.class_seen
            for slot, was in enumerate(left.slots):
                if was != FRESH:
                    for grown, kept in ((new.moments, old.moments), (new.tables, old.tables)):
                        statistics = kept[learner, was]
                        grown[learner, slot][tuple(slice(size) for size in statistics.shape)] = statistics
            n_free = n_slots - len(left.slots)
            new.n_free[learner] = n_free
            new.free[learner, :n_free] = np.arange(n_slots - 1, len(left.slots) - 1, -1)
            n_visible = old.visible.shape[1]
            new.visible[learner, :n_visible] = old.visible[learner]
        self.trees = new

    def _choose_features(self) -> None:
        """Each tree sees each column or not, by a draw of its own."""
        numeric, nominal = self.columns.numeric, self.columns.nominal
        places = np.where(numeric >= 0, numeric, self.columns.n_numeric + nominal)
        has_place = (numeric >= 0) | (nominal >= 0)
        draws = np.empty(numeric.size)
        for learner, visible in enumerate(self.trees.visible):
            draw_rows(self.seed, FEATURES, 0, self.held_from + learner, draws)
            visible[places[has_place]] = draws[has_place] < self.feature_share

    def least_bytes(self, widths: Widths, n_classes: int) -> int:
        """Memory of trees that only count classes: the least that works."""
        shape = Shape(rounded_up(n_classes), padded(widths.n_numbers), widths.n_texts + len(self.nominal.names), 0)
        return len(self.trees.n_nodes) * shape.least_bytes

    # -- learning ------------------------------------------------------------------------------------------------

    def restart(self, seed: int) -> None:
        """Forget all rows, and draw with another seed from now on; columns and classes stay as they are."""
        self.seed = seed
        n_classes = self.trees.class_weight.shape[2]
        self.trees = _empty_trees(len(self.trees.n_nodes), self.n_categories)
        self._resize(n_classes=n_classes)

    @property
    def forest(self) -> layout.Forest:
        return layout.Forest(self.trees, self.columns, self.rules)

    def scratch(self) -> layout.Scratch:
        """Memory for one thread to work in."""
        capacity = self.trees.class_weight.shape[2]
        columns = self.columns
        return layout.make_scratch(
            len(self.trees.n_nodes),
            columns.n_numeric,
            columns.n_nominal,
            self.n_classes,
            capacity,
            self.n_categories,
        )

    # -- parts ---------------------------------------------------------------------------------------------------

    def part(self, first: int, end: int) -> Self:
        part = super().part(first, end)
        part.held_from = self.held_from + first
        return part

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        whole = parts[0].part(0, len(parts[0].trees.n_nodes))
        packed = [state.pack(part.trees) for part in parts]
        whole.trees = state.unpack({name: np.concatenate([one[name] for one in packed]) for name in packed[0]})
        return whole

    # -- saving --------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        return {
            **super().settings(),
            "feature_share": self.feature_share,
            "nominal": self.nominal.names,
            "max_bytes": self.max_bytes,
        }

    def state(self) -> dict[str, Any]:
        return state.state_of(self)

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        state.restore(self, saved, schema, n_classes)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "trees": state.pack(self.trees)}  # a pickle holds what is in use

    def __setstate__(self, saved: dict[str, Any]) -> None:
        vars(self).update(saved, trees=state.unpack(saved["trees"]))


def _zeros(
    n_learners: int, n_nodes: int, n_slots: int, n_classes: int, n_numeric: int, n_nominal: int, n_categories: int
) -> layout.Trees:
    """Empty arrays, moments without values."""

    def ints(*shape: int) -> IntArray:
        return np.zeros((n_learners, *shape), dtype=np.int64)

    def floats(*shape: int) -> FloatArray:
        return np.zeros((n_learners, *shape))

    moments = floats(n_slots, n_classes, 5, n_numeric)
    moments[:, :, :, layout.LOW] = np.inf
    moments[:, :, :, layout.HIGH] = -np.inf
    return layout.Trees(
        n_nodes=ints(),
        n_free=ints(),
        free=ints(n_slots),
        nodes=_records(n_learners, n_nodes),
        class_weight=floats(n_nodes, n_classes),
        class_seen=ints(n_nodes, n_classes),
        moments=moments,
        tables=floats(n_slots, n_classes, n_nominal, n_categories),
        visible=np.ones((n_learners, n_numeric + n_nominal), dtype=np.int64),
    )


def _records(n_learners: int, n_nodes: int) -> Any:
    nodes = np.zeros((n_learners, n_nodes), dtype=layout.NODE)
    return nodes if IS_COMPILED else nodes.view(np.recarray)  # uncompiled, only these have fields as attributes


def _empty_trees(n_learners: int, n_categories: int) -> layout.Trees:
    """Trees of one leaf each, for no columns and the fewest classes."""
    trees = _zeros(n_learners, 1, 1, 1, 0, 0, n_categories)
    trees.n_nodes[:] = 1  # the root is node 0, with slot 0
    for name in ("feature", "parent", "first_child", "sibling", "category"):
        trees.nodes[name] = -1
    return trees


register_forest(layout.Forest, kernels)
