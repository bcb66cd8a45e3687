"""The learned state of Hoeffding trees: to a dict of numbers and arrays, and back with every field checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.data.schema import Schema
from ocoboost.learners.checked import as_trees, check_array, length, require, whole
from ocoboost.learners.hoeffding import layout
from ocoboost.learners.sizes import rounded_up

if TYPE_CHECKING:
    from ocoboost.learners.hoeffding.ensemble import HoeffdingEnsemble


LANES = 4  # doubles in a vector register: the axis of numeric columns is padded to a multiple of it


def padded(n_columns: int) -> int:
    """The number of columns of numbers that the arrays are made for."""
    return -(-n_columns // LANES) * LANES


def state_of(ensemble: HoeffdingEnsemble) -> dict[str, Any]:
    """Everything that the trees have learned."""
    return {
        "version": ensemble.version,
        "nominal": ensemble.nominal.state(),
        "trees": ensemble.trees._asdict(),
        "columns": ensemble.columns._asdict(),
        "n_categories": ensemble.n_categories,
    }


def restore(ensemble: HoeffdingEnsemble, state: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` for a state that no such trees can have learned."""
    ensemble.version = whole(state["version"], 0, schema.version, "version")
    ensemble.nominal.restore(state["nominal"], schema)
    n_most = max(schema.most_codes, ensemble.nominal.n_codes)
    ensemble.n_categories = whole(state["n_categories"], n_most, n_most, "n_categories")
    columns = layout.Columns(**state["columns"])
    for positions in (columns.numeric, columns.nominal):
        check_array(positions, np.int64, (min(len(positions), len(schema.columns)),), "columns")
        if sorted(positions[positions >= 0].tolist()) != list(range(int((positions >= 0).sum()))):
            require(False, "columns")
    if columns.numeric.shape != columns.nominal.shape or np.any((columns.numeric >= 0) & (columns.nominal >= 0)):
        require(False, "columns")
    n_numeric = padded(int((columns.numeric >= 0).sum()))
    whole(columns.n_numeric, n_numeric, n_numeric, "n_numeric")
    n_nominal = int((columns.nominal >= 0).sum())
    whole(columns.n_nominal, n_nominal, n_nominal, "n_nominal")
    ensemble.columns = columns
    old, trees = ensemble.trees, as_trees(layout.Trees, state["trees"])
    n_learners = len(old.n_nodes)
    n_nodes, n_slots = length(trees.nodes, 1), length(trees.free, 1)
    n_seen = length(trees.class_weight, 2)
    whole(n_seen, 1, rounded_up(max(1, n_classes)), "n_classes")
    shapes: dict[str, tuple[int, ...]] = {
        "n_nodes": (),
        "n_free": (),
        "free": (n_slots,),
        "nodes": (n_nodes,),
        "class_weight": (n_nodes, n_seen),
        "class_seen": (n_nodes, n_seen),
        "moments": (n_slots, n_seen, 5, n_numeric),
        "tables": (n_slots, n_seen, n_nominal, ensemble.n_categories),
        "visible": (n_numeric + n_nominal,),
    }
    for name, shape in shapes.items():
        check_array(getattr(trees, name), getattr(old, name).dtype, (n_learners, *shape), name)
    for learner in range(n_learners):
        _check_tree(trees, learner, columns, ensemble.n_categories)
    ensemble.trees = trees._replace(nodes=trees.nodes.view(type(old.nodes)))
    ensemble.limit()
    require(n_nodes <= ensemble.rules.max_nodes and n_slots <= ensemble.rules.slot_capacity, "nodes")


def _check_tree(trees: layout.Trees, learner: int, columns: layout.Columns, n_categories: int) -> None:
    n = whole(trees.n_nodes[learner], 1, trees.nodes.shape[1], "n_nodes")
    nodes = trees.nodes[learner, :n]
    kind, parent, child, sibling = nodes["kind"], nodes["parent"], nodes["first_child"], nodes["sibling"]
    numbers = np.arange(n)
    is_leaf = kind == layout.LEAF
    require(np.all((kind >= layout.LEAF) & (kind <= layout.MULTIWAY)), "kind")
    # Nodes are appended: parents come before children, siblings in order. So every walk ends.
    require(parent[0] == -1 and sibling[0] == -1 and np.all((parent[1:] >= 0) & (parent[1:] < numbers[1:])), "parent")
    require(np.all(kind[parent[1:]] != layout.LEAF), "parent")
    require(np.all(child[is_leaf] == -1), "first_child")
    require(np.all((child[~is_leaf] > numbers[~is_leaf]) & (child[~is_leaf] < n)), "first_child")
    require(np.all(parent[child[~is_leaf]] == numbers[~is_leaf]), "first_child")
    has_sibling = sibling != -1
    require(np.all((sibling[has_sibling] > numbers[has_sibling]) & (sibling[has_sibling] < n)), "sibling")
    require(np.all(parent[sibling[has_sibling]] == parent[has_sibling]), "sibling")
    is_binary = (kind == layout.NUMERIC) | (kind == layout.EQUAL)
    require(np.all(sibling[child[is_binary]] >= 0), "sibling")
    require(np.all(nodes["depth"][1:] == nodes["depth"][parent[1:]] + 1) and nodes["depth"][0] == 0, "depth")
    feature, is_number = nodes["feature"], kind == layout.NUMERIC
    require(np.all((feature[is_number] >= 0) & (feature[is_number] < columns.n_numeric)), "feature")
    is_text = ~is_leaf & ~is_number
    first, end = columns.n_numeric, columns.n_numeric + columns.n_nominal
    require(np.all((feature[is_text] >= first) & (feature[is_text] < end)), "feature")
    below = np.zeros(n, dtype=bool)
    below[1:] = kind[parent[1:]] == layout.MULTIWAY
    require(np.all((nodes["category"][below] >= 0) & (nodes["category"][below] < n_categories)), "category")
    n_slots = trees.free.shape[1]
    n_free = whole(trees.n_free[learner], 0, n_slots, "n_free")
    slots = nodes["slot"]
    require(np.all(slots[~is_leaf] == -1), "slot")
    taken = np.concatenate([slots[slots != -1], trees.free[learner, :n_free]])
    require(np.array_equal(np.sort(taken), np.arange(n_slots)), "slot")
