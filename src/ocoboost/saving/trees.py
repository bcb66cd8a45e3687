"""What native trees have learned, as a dict of numbers and arrays, and back.

Kernels follow the numbers in these arrays without looking: children, siblings, slots, places of features. So what comes
out of a file is checked until nothing in it can lead out of an array or round in a circle.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn

import numpy as np

from ocoboost.encoding import Schema
from ocoboost.weak import _hoeffding_kernels as hoeffding
from ocoboost.weak import _mondrian_kernels as mondrian
from ocoboost.weak.hoeffding import HoeffdingEnsemble, padded
from ocoboost.weak.mondrian import NUMBER, MondrianEnsemble
from ocoboost.weak.native import NativeEnsemble
from ocoboost.weak.nominal import NominalNumbers

Learned = dict[str, Any]


def learned_by(ensemble: NativeEnsemble) -> Learned:
    """All that the trees have learned."""
    common = {"version": ensemble.version, "nominal": _codes(ensemble.nominal), "trees": ensemble.trees._asdict()}
    if isinstance(ensemble, HoeffdingEnsemble):
        columns = ensemble.columns._asdict()
        slots = ensemble.rules.max_slots
        return {**common, "columns": columns, "n_categories": ensemble.n_categories, "max_slots": slots}
    assert isinstance(ensemble, MondrianEnsemble)
    return {**common, "columns": ensemble.columns, "codes": ensemble.codes, "max_nodes": ensemble.rules.max_nodes}


def restore_trees(ensemble: NativeEnsemble, learned: Learned, schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` if these are not what such trees can have learned."""
    ensemble.version = _whole(learned["version"], 0, schema.version, "version")
    _restore_codes(ensemble.nominal, learned["nominal"], schema)
    if isinstance(ensemble, HoeffdingEnsemble):
        _restore_hoeffding(ensemble, learned, schema, n_classes)
    else:
        assert isinstance(ensemble, MondrianEnsemble)
        _restore_mondrian(ensemble, learned, schema, n_classes)


# -- Hoeffding trees ---------------------------------------------------------------------------------------------------


def _restore_hoeffding(ensemble: HoeffdingEnsemble, learned: Learned, schema: Schema, n_classes: int) -> None:
    n_most = max([0, *map(len, schema.categories.values()), *map(len, ensemble.nominal.codes.values())])
    ensemble.n_categories = _whole(learned["n_categories"], n_most, n_most, "n_categories")
    columns = hoeffding.Columns(**learned["columns"])
    for positions in (columns.numeric, columns.nominal):
        _check_array(positions, np.int64, (min(len(positions), len(schema.kinds)),), "columns")
        if sorted(positions[positions >= 0].tolist()) != list(range(int((positions >= 0).sum()))):
            _fail("columns")
    if columns.numeric.shape != columns.nominal.shape or np.any((columns.numeric >= 0) & (columns.nominal >= 0)):
        _fail("columns")
    n_numeric = padded(int((columns.numeric >= 0).sum()))
    _whole(columns.n_numeric, n_numeric, n_numeric, "n_numeric")
    n_nominal = int((columns.nominal >= 0).sum())
    _whole(columns.n_nominal, n_nominal, n_nominal, "n_nominal")
    ensemble.columns = columns
    ensemble.rules = ensemble.rules._replace(max_slots=_whole(learned["max_slots"], 1, 2**31, "max_slots"))
    old, trees = ensemble.trees, _as_trees(hoeffding.Trees, learned)
    n_learners = len(old.n_nodes)
    n_nodes, n_slots = _length(trees.nodes, 1), _length(trees.free, 1)
    n_seen = _length(trees.class_weight, 2)
    _whole(n_seen, 1, max(1, n_classes), "n_classes")
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
        _check_array(getattr(trees, name), getattr(old, name).dtype, (n_learners, *shape), name)
    for learner in range(n_learners):
        _check_hoeffding_tree(trees, learner, columns, ensemble.n_categories)
    ensemble.trees = trees._replace(nodes=trees.nodes.view(type(old.nodes)))


def _check_hoeffding_tree(trees: hoeffding.Trees, learner: int, columns: hoeffding.Columns, n_categories: int) -> None:
    n = _whole(trees.n_nodes[learner], 1, trees.nodes.shape[1], "n_nodes")
    nodes = trees.nodes[learner, :n]
    kind, parent, child, sibling = nodes["kind"], nodes["parent"], nodes["first_child"], nodes["sibling"]
    numbers = np.arange(n)
    is_leaf = kind == hoeffding.LEAF
    _require(np.all((kind >= hoeffding.LEAF) & (kind <= hoeffding.MULTIWAY)), "kind")
    # Nodes are appended: parents come before children, siblings in order. So every walk ends.
    _require(parent[0] == -1 and sibling[0] == -1 and np.all((parent[1:] >= 0) & (parent[1:] < numbers[1:])), "parent")
    _require(np.all(kind[parent[1:]] != hoeffding.LEAF), "parent")
    _require(np.all(child[is_leaf] == -1), "first_child")
    _require(np.all((child[~is_leaf] > numbers[~is_leaf]) & (child[~is_leaf] < n)), "first_child")
    _require(np.all(parent[child[~is_leaf]] == numbers[~is_leaf]), "first_child")
    has_sibling = sibling != -1
    _require(np.all((sibling[has_sibling] > numbers[has_sibling]) & (sibling[has_sibling] < n)), "sibling")
    _require(np.all(parent[sibling[has_sibling]] == parent[has_sibling]), "sibling")
    is_binary = (kind == hoeffding.NUMERIC) | (kind == hoeffding.EQUAL)
    _require(np.all(sibling[child[is_binary]] >= 0), "sibling")
    _require(np.all(nodes["depth"][1:] == nodes["depth"][parent[1:]] + 1) and nodes["depth"][0] == 0, "depth")
    feature, is_number = nodes["feature"], kind == hoeffding.NUMERIC
    _require(np.all((feature[is_number] >= 0) & (feature[is_number] < columns.n_numeric)), "feature")
    is_text = ~is_leaf & ~is_number
    first, end = columns.n_numeric, columns.n_numeric + columns.n_nominal
    _require(np.all((feature[is_text] >= first) & (feature[is_text] < end)), "feature")
    below = np.zeros(n, dtype=bool)
    below[1:] = kind[parent[1:]] == hoeffding.MULTIWAY
    _require(np.all((nodes["category"][below] >= 0) & (nodes["category"][below] < n_categories)), "category")
    n_slots = trees.free.shape[1]
    n_free = _whole(trees.n_free[learner], 0, n_slots, "n_free")
    slots = nodes["slot"]
    _require(np.all(slots[~is_leaf] == -1), "slot")
    taken = np.concatenate([slots[slots != -1], trees.free[learner, :n_free]])
    _require(np.array_equal(np.sort(taken), np.arange(n_slots)), "slot")


# -- Mondrian trees ----------------------------------------------------------------------------------------------------


def _restore_mondrian(ensemble: MondrianEnsemble, learned: Learned, schema: Schema, n_classes: int) -> None:
    columns, codes = learned["columns"], learned["codes"]
    n_places = _length(columns, 0)
    for places in (columns, codes):
        _check_array(places, np.int64, (n_places,), "columns")
    _require(np.all((columns >= 0) & (columns < len(schema.kinds)) & (codes >= NUMBER)), "columns")
    ensemble.columns, ensemble.codes = columns, codes
    ensemble.rules = ensemble.rules._replace(max_nodes=_whole(learned["max_nodes"], 1, 2**31, "max_nodes"))
    old, trees = ensemble.trees, _as_trees(mondrian.Trees, learned)
    n_nodes, n_seen = _length(trees.nodes, 1), _length(trees.class_weight, 2)
    _whole(n_seen, 1, max(1, n_classes), "n_classes")
    shapes: dict[str, tuple[int, ...]] = {
        "n_nodes": (),
        "n_taught": (),
        "nodes": (n_nodes,),
        "class_weight": (n_nodes, n_seen),
        "boxes": (n_nodes, 2, n_places),
        "scale": (n_places,),
        "has_gaps": (),
    }
    for name, shape in shapes.items():
        _check_array(getattr(trees, name), getattr(old, name).dtype, (len(old.n_nodes), *shape), name)
    _require(np.all(trees.n_taught >= 0), "n_taught")
    for learner in range(len(old.n_nodes)):
        _check_mondrian_tree(trees, learner, n_places)
    ensemble.trees = trees._replace(nodes=trees.nodes.view(type(old.nodes)))


def _check_mondrian_tree(trees: mondrian.Trees, learner: int, n_places: int) -> None:
    n = _whole(trees.n_nodes[learner], 1, trees.nodes.shape[1], "n_nodes")
    nodes = trees.nodes[learner, :n]
    feature, parent = nodes["feature"], nodes["parent"]
    _require(np.all((feature >= mondrian.LEAF) & (feature < n_places)), "feature")
    branches = np.flatnonzero(feature != mondrian.LEAF)
    children = np.concatenate([nodes["left"][branches], nodes["right"][branches]])
    # Every node but the root is the child of exactly one: a walk down from the root meets no node twice.
    _require(np.array_equal(np.sort(children), np.arange(1, n)), "left and right")
    _require(parent[0] == -1 and np.array_equal(parent[children], np.tile(branches, 2)), "parent")
    for name in nodes.dtype.names:  # no walk follows these, but a vote must remain a distribution
        _require(not np.any(np.isnan(nodes[name])), name)


# -- both --------------------------------------------------------------------------------------------------------------


def _codes(nominal: NominalNumbers) -> dict[Hashable, list[float]]:
    return {name: [float(value) for value in codes] for name, codes in nominal.codes.items()}


def _restore_codes(nominal: NominalNumbers, saved: dict[Hashable, list[float]], schema: Schema) -> None:
    for name, values in saved.items():
        _require(
            name in nominal.names and name in schema.kinds and all(type(value) is float for value in values), "nominal"
        )
        nominal.codes[name] = {value: code for code, value in enumerate(values)}
        _require(len(nominal.codes[name]) == len(values), "nominal")


def _as_trees(kind: Any, learned: Learned) -> Any:
    arrays = learned["trees"]
    _require(set(arrays) == set(kind._fields) and all(isinstance(a, np.ndarray) for a in arrays.values()), "trees")
    return kind(**arrays)


def _length(array: Any, axis: int) -> int:
    _require(isinstance(array, np.ndarray) and array.ndim > axis, "shape")
    return int(array.shape[axis])


def _check_array(array: Any, dtype: Any, shape: tuple[int, ...], name: str) -> None:
    _require(isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape, name)


def _whole(value: Any, low: int, high: int, name: str) -> int:
    _require(isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high, name)
    return int(value)


def _require(condition: Any, name: str) -> None:
    if not condition:
        _fail(name)


def _fail(name: str) -> NoReturn:
    raise ValueError(f"the trees' {name} cannot be")
