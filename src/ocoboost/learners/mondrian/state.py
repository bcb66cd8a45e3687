"""The learned state of Mondrian trees: to a dict of numbers and arrays, and back with every field checked.

A state holds the nodes in use, tree after tree: what the trees know, and not how large their arrays happen to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import MOST_ROWS
from ocoboost.compiling import IS_COMPILED
from ocoboost.data.schema import Schema
from ocoboost.learners.checked import check_array, check_memory, length, require, whole
from ocoboost.learners.mondrian import layout
from ocoboost.learners.mondrian.boxes import Corners, levels_of, links_of, pack_boxes, unpack_boxes
from ocoboost.learners.nominal import NUMBERS, codes_of_columns

if TYPE_CHECKING:
    from ocoboost.learners.mondrian.ensemble import MondrianEnsemble

NUMBER = NUMBERS  # in place of a category code
# What the arrays of ``layout.Trees`` have one of: a tree or a node. Boxes are packed further.
TREE_ARRAYS = ("n_nodes", "n_taught", "scale", "has_gaps")
NODE_ARRAYS = ("nodes", "class_weight")


# -- what is in use ----------------------------------------------------------------------------------------------------


def pack(trees: layout.Trees) -> dict[str, Any]:
    """The nodes in use, and the corners of their boxes."""
    is_node = np.arange(trees.nodes.shape[1]) < trees.n_nodes[:, None]
    packed = {name: getattr(trees, name).copy() for name in TREE_ARRAYS}
    packed |= {name: getattr(trees, name)[is_node] for name in NODE_ARRAYS}
    packed["nodes"] = packed["nodes"].view(np.ndarray)
    links = links_of(packed["nodes"], trees.n_nodes, 0)
    return packed | pack_boxes(trees.boxes[is_node], links)._asdict()


def unpack(packed: dict[str, Any]) -> layout.Trees:
    """Trees in arrays that are full; takes the arrays out of ``packed`` on its way, to hold none of them twice."""
    n_nodes, nodes = packed["n_nodes"], packed["nodes"]
    kept = Corners(**{name: packed.pop(name) for name in Corners._fields})
    n_learners, most = len(n_nodes), int(n_nodes.max())
    is_node = np.arange(most) < n_nodes[:, None]
    boxes = np.full((n_learners, most, 2, kept.corners.shape[1]), np.nan)
    links = links_of(nodes, n_nodes, most)
    kept = kept._replace(odd=np.flatnonzero(is_node)[kept.odd])
    unpack_boxes(kept, links, boxes.reshape(n_learners * most, *boxes.shape[2:]))
    arrays: dict[str, Any] = {name: packed.pop(name) for name in TREE_ARRAYS}
    for name in NODE_ARRAYS:
        used = packed.pop(name)
        arrays[name] = np.zeros((*is_node.shape, *used.shape[1:]), dtype=used.dtype)
        arrays[name][is_node] = used
    if not IS_COMPILED:
        arrays["nodes"] = arrays["nodes"].view(np.recarray)
    return layout.Trees(**arrays, boxes=boxes)


# -- model files -------------------------------------------------------------------------------------------------------


def state_of(ensemble: MondrianEnsemble) -> dict[str, Any]:
    """Everything that the trees have learned."""
    return {
        "version": ensemble.version,
        "nominal": ensemble.nominal.state(),
        "trees": pack(ensemble.trees),
        "columns": ensemble.columns,
        "codes": ensemble.codes,
        "max_nodes": ensemble.rules.max_nodes,
    }


def restore(ensemble: MondrianEnsemble, state: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` for a state that no such trees can have learned."""
    ensemble.version = whole(state["version"], 0, schema.version, "version")
    ensemble.nominal.restore(state["nominal"], schema)
    columns, codes = state["columns"], state["codes"]
    _check_places(columns, codes, codes_of_columns(schema, ensemble.nominal))
    ensemble.columns, ensemble.codes = columns, codes
    ensemble.rules = ensemble.rules._replace(max_nodes=whole(state["max_nodes"], 1, 2**31, "max_nodes"))
    packed = state["trees"]
    _check_shapes(ensemble, packed, n_classes)
    ends = np.cumsum(packed["n_nodes"])
    for first, end in zip(ends - packed["n_nodes"], ends, strict=True):
        _check_tree(packed["nodes"][first:end], columns.size)
    # All nodes are below the roots: those that are not would go round in circles of their own.
    links = links_of(packed["nodes"], packed["n_nodes"], 0)
    n_reached = sum(level.size for level in levels_of(links, len(packed["nodes"])))
    require(n_reached == links.branches.size, "left and right")
    _check_boxes(packed)
    _check_numbers(packed)
    ensemble.trees = unpack(packed)


def _check_places(columns: Any, codes: Any, n_codes: list[int | None]) -> None:
    """Raise unless every place stands for a column of numbers, or for a category that its column has."""
    n_places = length(columns, 0)
    for places in (columns, codes):
        check_array(places, np.int64, (n_places,), "columns")
    require(np.all((columns >= 0) & (columns < len(n_codes))), "columns")
    for column, code in zip(columns.tolist(), codes.tolist(), strict=True):
        known = n_codes[column]
        require(known is not None and (code == NUMBER if known == NUMBERS else 0 <= code < known), "columns")
    require(len(set(zip(columns.tolist(), codes.tolist(), strict=True))) == n_places, "columns")


def _check_shapes(ensemble: MondrianEnsemble, packed: Any, n_classes: int) -> None:
    """Raise unless all arrays have the sizes that follow from the trees' and the places'."""
    old, n_places = ensemble.trees, ensemble.columns.size
    require(isinstance(packed, dict) and set(packed) == {*TREE_ARRAYS, *NODE_ARRAYS, *Corners._fields}, "trees")
    n_nodes = length(packed["nodes"], 0)
    n_seen = whole(length(packed["class_weight"], 1), 1, max(1, n_classes), "n_classes")
    check_array(packed["n_nodes"], np.int64, old.n_nodes.shape, "n_nodes")
    sizes = packed["n_nodes"].tolist()
    require(min(sizes) >= 1 and sum(sizes) == n_nodes, "n_nodes")
    check_array(packed["nodes"], layout.NODE, (n_nodes,), "nodes")
    check_array(packed["class_weight"], np.float64, (n_nodes, n_seen), "class_weight")
    check_array(packed["scale"], np.float64, (len(sizes), n_places), "scale")
    for name in ("n_taught", "has_gaps"):
        check_array(packed[name], np.int64, (len(sizes),), name)
    n_leaves = int((packed["nodes"]["feature"] == layout.LEAF).sum())
    n_wide, n_odd = length(packed["wide"], 0), length(packed["odd"], 0)
    check_array(packed["corners"], np.float64, (length(packed["corners"], 0), n_places), "corners")
    check_array(packed["odd_boxes"], np.float64, (n_odd, 2, n_places), "odd_boxes")
    for name, size in {"low_corner": n_leaves, "wide": n_wide, "high_corner": n_wide, "odd": n_odd}.items():
        check_array(packed[name], np.int64, (size,), name)
    per_node = layout.NODE.itemsize + 8 * (n_seen + 2 * n_places)
    check_memory(len(sizes) * max(sizes) * per_node, n_nodes * per_node, ensemble.max_bytes)


def _check_tree(nodes: Any, n_places: int) -> None:
    """Raise if anything in a tree's nodes could lead a kernel out of an array, or round in a circle."""
    feature, parent, n = nodes["feature"], nodes["parent"], len(nodes)
    require(np.all((feature >= layout.LEAF) & (feature < n_places)), "feature")
    branches = np.flatnonzero(feature != layout.LEAF)
    children = np.concatenate([nodes["left"][branches], nodes["right"][branches]])
    # Every node but the root is the child of exactly one: a walk down from the root meets no node twice.
    require(np.array_equal(np.sort(children), np.arange(1, n)), "left and right")
    require(parent[0] == -1 and np.array_equal(parent[children], np.tile(branches, 2)), "parent")


def _check_boxes(packed: dict[str, Any]) -> None:
    """Raise unless every corner, leaf and branch that is named exists."""
    n_corners, n_leaves, n_nodes = len(packed["corners"]), len(packed["low_corner"]), len(packed["nodes"])
    for name, most in {"low_corner": n_corners, "high_corner": n_corners, "wide": n_leaves, "odd": n_nodes}.items():
        require(np.all((packed[name] >= 0) & (packed[name] < most)), name)
    for name in ("wide", "odd"):
        require(np.all(np.diff(packed[name]) > 0), name)
    require(np.all(packed["nodes"]["feature"][packed["odd"]] != layout.LEAF), "odd")
    require(not np.any(np.isinf(packed["corners"])) and not np.any(np.isinf(packed["odd_boxes"])), "corners")


def _check_numbers(packed: dict[str, Any]) -> None:
    """Raise for numbers with which a vote would not be a distribution. No index depends on these."""
    nodes = packed["nodes"]
    for name in nodes.dtype.names:
        require(not np.any(np.isnan(nodes[name])), name)
    require(np.all((nodes["share"] >= 0.0) & (nodes["share"] <= 1.0)), "share")
    require(np.all(nodes["total"] >= 0.0) and np.all(packed["class_weight"] >= 0.0), "class_weight")
    require(np.all((packed["scale"] > 0.0) & (packed["scale"] < np.inf)), "scale")
    require(np.all((packed["has_gaps"] == 0) | (packed["has_gaps"] == 1)), "has_gaps")
    require(np.all((packed["n_taught"] >= 0) & (packed["n_taught"] < MOST_ROWS)), "n_taught")
