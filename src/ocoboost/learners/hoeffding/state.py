"""The learned state of Hoeffding trees: to a dict of numbers and arrays, and back with every field checked.

A state holds the nodes and slots in use, tree after tree, and slots in the order of the leaves they belong to: what the
trees know, and not how large their arrays happen to be or which slots are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.compiling import IS_COMPILED
from ocoboost.data.schema import Schema
from ocoboost.learners.checked import check_array, check_memory, length, require, whole
from ocoboost.learners.hoeffding import layout
from ocoboost.learners.nominal import NUMBERS, codes_of_columns
from ocoboost.learners.sizes import rounded_up

if TYPE_CHECKING:
    from ocoboost.learners.hoeffding.ensemble import HoeffdingEnsemble


LANES = 4  # doubles in a vector register: the axis of numeric columns is padded to a multiple of it
# What the arrays of ``layout.Trees`` have one of: a tree, a node, or a slot. The rest follows from these.
TREE_ARRAYS = ("n_nodes", "visible")
NODE_ARRAYS = ("nodes", "class_weight", "class_seen")
SLOT_ARRAYS = ("moments", "tables")


def padded(n_columns: int) -> int:
    """The number of columns of numbers that the arrays are made for."""
    return -(-n_columns // LANES) * LANES


# -- what is in use ----------------------------------------------------------------------------------------------------


def pack(trees: layout.Trees) -> dict[str, Any]:
    """The nodes and slots in use."""
    is_node = _first(trees.n_nodes, trees.nodes.shape[1])
    packed = {name: getattr(trees, name).copy() for name in TREE_ARRAYS}
    packed |= {name: getattr(trees, name)[is_node] for name in NODE_ARRAYS}
    packed["nodes"] = packed["nodes"].view(np.ndarray)
    learner, node = np.nonzero(is_node & (trees.nodes["slot"] >= 0))
    slot = trees.nodes["slot"][learner, node]
    packed |= {name: getattr(trees, name)[learner, slot] for name in SLOT_ARRAYS}
    packed["nodes"]["slot"][packed["nodes"]["slot"] >= 0] = _numbered(np.bincount(learner, minlength=len(is_node)))
    return packed


def unpack(packed: dict[str, Any]) -> layout.Trees:
    """Trees in arrays that are full; takes the arrays out of ``packed`` on its way, to hold none of them twice."""
    n_nodes, nodes = packed["n_nodes"], packed["nodes"]
    learner = np.repeat(np.arange(len(n_nodes)), n_nodes)
    n_slots = np.bincount(learner[nodes["slot"] >= 0], minlength=len(n_nodes))
    most = int(n_slots.max())
    free = np.arange(most - 1, -1, -1) * _first(most - n_slots, most)
    arrays: dict[str, Any] = {"n_free": most - n_slots, "free": free}
    is_node, is_slot = _first(n_nodes, int(n_nodes.max())), _first(n_slots, most)
    arrays |= {name: packed.pop(name) for name in TREE_ARRAYS}
    arrays |= {name: _spread(packed.pop(name), is_node) for name in NODE_ARRAYS}
    arrays |= {name: _spread(packed.pop(name), is_slot) for name in SLOT_ARRAYS}
    if not IS_COMPILED:
        arrays["nodes"] = arrays["nodes"].view(np.recarray)
    return layout.Trees(**arrays)


def _first(counts: IntArray, most: int) -> Any:
    """Which of so many places of every tree are its first ones, of shape (n_learners, most)."""
    return np.arange(most) < counts[:, None]


def _numbered(counts: IntArray) -> IntArray:
    """0, 1, ... for every tree."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _spread(array: Any, places: Any) -> Any:
    spread = np.zeros((*places.shape, *array.shape[1:]), dtype=array.dtype)
    spread[places] = array
    return spread


# -- model files -------------------------------------------------------------------------------------------------------


def state_of(ensemble: HoeffdingEnsemble) -> dict[str, Any]:
    """Everything that the trees have learned."""
    return {
        "version": ensemble.version,
        "nominal": ensemble.nominal.state(),
        "trees": pack(ensemble.trees),
        "columns": ensemble.columns._asdict(),
        "n_categories": ensemble.n_categories,
    }


def restore(ensemble: HoeffdingEnsemble, state: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` for a state that no such trees can have learned."""
    ensemble.version = whole(state["version"], 0, schema.version, "version")
    ensemble.nominal.restore(state["nominal"], schema)
    n_codes = codes_of_columns(schema, ensemble.nominal)
    n_most = max(schema.most_codes, ensemble.nominal.n_codes)
    ensemble.n_categories = whole(state["n_categories"], n_most, n_most, "n_categories")
    ensemble.columns = _checked_columns(state["columns"], n_codes)
    packed = state["trees"]
    _check_shapes(ensemble, packed, n_classes)
    ends = np.cumsum(packed["n_nodes"])
    for first, end in zip(ends - packed["n_nodes"], ends, strict=True):
        _check_tree(packed["nodes"][first:end], ensemble.columns, ensemble.n_categories)
    _check_numbers(packed)
    ensemble.trees = unpack(packed)
    ensemble.limit()
    n_nodes, n_slots = ensemble.trees.nodes.shape[1], ensemble.trees.free.shape[1]
    require(n_nodes <= ensemble.rules.max_nodes and n_slots <= ensemble.rules.slot_capacity, "nodes")


def _checked_columns(saved: Any, n_codes: list[int | None]) -> layout.Columns:
    """The columns, if each of them is what the schema says: a number, or text."""
    require(isinstance(saved, dict) and set(saved) == set(layout.Columns._fields), "columns")
    columns = layout.Columns(**saved)
    n_columns = whole(length(columns.numeric, 0), 0, len(n_codes), "columns")
    for positions in (columns.numeric, columns.nominal):
        check_array(positions, np.int64, (n_columns,), "columns")
        given = np.sort(positions[positions >= 0])
        require(np.array_equal(given, np.arange(given.size)) and np.all(positions >= -1), "columns")
    for numeric, nominal, codes in zip(columns.numeric, columns.nominal, n_codes, strict=False):
        require(numeric < 0 or codes == NUMBERS, "columns: text where the trees have numbers")
        require(nominal < 0 or codes not in (None, NUMBERS), "columns: numbers where the trees have text")
    n_numeric, n_nominal = padded(int((columns.numeric >= 0).sum())), int((columns.nominal >= 0).sum())
    whole(columns.n_numeric, n_numeric, n_numeric, "n_numeric")
    whole(columns.n_nominal, n_nominal, n_nominal, "n_nominal")
    return columns


def _check_shapes(ensemble: HoeffdingEnsemble, packed: Any, n_classes: int) -> None:
    """Raise unless all arrays have the sizes that follow from the trees' and the columns'."""
    old, columns = ensemble.trees, ensemble.columns
    require(isinstance(packed, dict) and set(packed) == {*TREE_ARRAYS, *NODE_ARRAYS, *SLOT_ARRAYS}, "trees")
    n_nodes = length(packed["nodes"], 0)
    n_seen = whole(length(packed["class_weight"], 1), 1, rounded_up(max(1, n_classes)), "n_classes")
    check_array(packed["n_nodes"], np.int64, old.n_nodes.shape, "n_nodes")
    sizes = packed["n_nodes"].tolist()
    require(min(sizes) >= 1 and sum(sizes) == n_nodes, "n_nodes")
    check_array(packed["nodes"], layout.NODE, (n_nodes,), "nodes")
    slots = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[packed["nodes"]["slot"] >= 0], minlength=len(sizes))
    n_slots, n_places = int(slots.sum()), columns.n_numeric + columns.n_nominal
    shapes: dict[str, tuple[int, ...]] = {
        "visible": (len(sizes), n_places),
        "class_weight": (n_nodes, n_seen),
        "class_seen": (n_nodes, n_seen),
        "moments": (n_slots, n_seen, 5, columns.n_numeric),
        "tables": (n_slots, n_seen, columns.n_nominal, ensemble.n_categories),
    }
    for name, shape in shapes.items():
        check_array(packed[name], getattr(old, name).dtype, shape, name)
    per_node = layout.NODE.itemsize + 16 * n_seen
    per_slot = 8 * (1 + n_seen * (5 * columns.n_numeric + columns.n_nominal * ensemble.n_categories))
    n_bytes = len(sizes) * (max(sizes) * per_node + int(slots.max()) * per_slot)
    check_memory(n_bytes, n_nodes * per_node + n_slots * per_slot, ensemble.max_bytes)


def _check_tree(nodes: Any, columns: layout.Columns, n_categories: int) -> None:
    """Raise if anything in a tree's nodes could lead a kernel out of an array, or round in a circle."""
    kind, parent, child, sibling = nodes["kind"], nodes["parent"], nodes["first_child"], nodes["sibling"]
    n = len(nodes)
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
    # Every node but the root is a first child or one sibling's next: none is lost, none has two ways to it.
    reached = np.concatenate([child[~is_leaf], sibling[has_sibling]])
    require(np.array_equal(np.sort(reached), numbers[1:]), "sibling")
    is_binary = (kind == layout.NUMERIC) | (kind == layout.EQUAL)
    require(np.all(np.bincount(parent[1:], minlength=n)[is_binary] == 2), "sibling")
    require(np.all(nodes["depth"][1:] == nodes["depth"][parent[1:]] + 1) and nodes["depth"][0] == 0, "depth")
    feature, is_number = nodes["feature"], kind == layout.NUMERIC
    require(np.all((feature[is_number] >= 0) & (feature[is_number] < columns.n_numeric)), "feature")
    is_text = ~is_leaf & ~is_number
    first, end = columns.n_numeric, columns.n_numeric + columns.n_nominal
    require(np.all((feature[is_text] >= first) & (feature[is_text] < end)), "feature")
    require(np.all(np.isfinite(nodes["threshold"])), "threshold")
    below = np.zeros(n, dtype=bool)
    below[1:] = kind[parent[1:]] == layout.MULTIWAY
    require(np.all((nodes["category"][below] >= 0) & (nodes["category"][below] < n_categories)), "category")
    slots = nodes["slot"]
    require(np.all(slots[~is_leaf] == -1), "slot")
    require(np.array_equal(slots[slots != -1], np.arange((slots != -1).sum())), "slot")


def _check_numbers(packed: dict[str, Any]) -> None:
    """Raise for weights that no rows can have had. No index depends on these."""
    for name in ("class_weight", "tables"):
        require(np.all(packed[name] >= 0.0), name)
    for name in ("class_seen", "visible"):
        require(np.all((packed[name] == 0) | (packed[name] == 1)), name)
    require(np.all(packed["class_seen"][packed["class_weight"] > 0.0] == 1), "class_seen")
    require(not np.any(packed["moments"][:, :, layout.WEIGHT] < 0.0), "moments")
    for name in ("last_attempt", "majority_right", "bayes_right"):
        require(np.all(packed["nodes"][name] >= 0.0), name)
