"""The learned state of Mondrian trees: to a dict of numbers and arrays, and back with every field checked.

A state holds the nodes in use, tree after tree (``packing``): what the trees know, and not how large their arrays
happen to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import MOST_ROWS, IntArray
from ocoboost.data.schema import Schema
from ocoboost.learners.checked import check_array, check_memory, length, require, whole
from ocoboost.learners.mondrian import layout
from ocoboost.learners.mondrian.packing import BRANCH_KEPT, LEAF_KEPT, Packed, pack, unpack
from ocoboost.learners.nominal import NUMBERS, codes_of_columns
from ocoboost.learners.sizes import rounded_up

if TYPE_CHECKING:
    from ocoboost.learners.mondrian.ensemble import MondrianEnsemble

NUMBER = NUMBERS  # in place of a category code


def state_of(ensemble: MondrianEnsemble) -> dict[str, Any]:
    """Everything that the trees have learned."""
    return {
        "version": ensemble.version,
        "nominal": ensemble.nominal.state(),
        "trees": pack(ensemble.trees)._asdict(),
        "columns": ensemble.columns,
        "codes": ensemble.codes,
    }


def restore(ensemble: MondrianEnsemble, state: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` for a state that no such trees can have learned."""
    ensemble.version = whole(state["version"], 0, schema.version, "version")
    ensemble.nominal.restore(state["nominal"], schema)
    columns, codes = state["columns"], state["codes"]
    _check_places(columns, codes, codes_of_columns(schema, ensemble.nominal))
    ensemble.columns, ensemble.codes = columns, codes
    require(isinstance(state["trees"], dict) and set(state["trees"]) == set(Packed._fields), "trees")
    packed = Packed(**state.pop("trees"))
    _check_shapes(ensemble, packed, n_classes)
    nodes, branches = np.cumsum(packed.n_nodes), np.cumsum(packed.feature != layout.LEAF)
    first, first_branch = 0, 0
    for end in nodes.tolist():
        end_branch = int(branches[end - 1])
        _check_tree(packed.feature[first:end], packed.branches[first_branch:end_branch], columns.size)
        first, first_branch = end, end_branch
    _check_corners(packed)
    trees = unpack(packed)
    _check_numbers(trees)
    ensemble.trees = trees
    ensemble.limit()
    require(trees.nodes.shape[1] <= ensemble.rules.max_nodes, "nodes")


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


def _check_shapes(ensemble: MondrianEnsemble, packed: Packed, n_classes: int) -> None:
    """Raise unless all arrays have the sizes that follow from the trees' and the places'."""
    n_learners, n_places = len(ensemble.trees.n_nodes), ensemble.columns.size
    n_nodes = length(packed.feature, 0)
    n_seen = whole(length(packed.leaf_weights, 1), 1, rounded_up(max(1, n_classes)), "n_classes")
    check_array(packed.feature, np.int64, (n_nodes,), "feature")
    check_array(packed.n_nodes, np.int64, (n_learners,), "n_nodes")
    sizes = packed.n_nodes.tolist()
    require(min(sizes) >= 1 and sum(sizes) == n_nodes, "n_nodes")
    n_leaves = int((packed.feature == layout.LEAF).sum())
    n_wide, n_odd = length(packed.wide, 0), length(packed.odd, 0)
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "n_taught": (np.int64, (n_learners,)),
        "has_gaps": (np.int64, (n_learners,)),
        "scale": (np.float64, (n_learners, n_places)),
        "leaves": (LEAF_KEPT, (n_leaves,)),
        "branches": (BRANCH_KEPT, (n_nodes - n_leaves,)),
        "root_times": (np.float64, (n_learners,)),
        "left_times": (np.float64, (n_nodes - n_leaves,)),
        "right_times": (np.int64, (n_nodes - n_leaves,)),
        "leaf_weights": (np.float64, (n_leaves, n_seen)),
        "branch_weights": (np.int64, (n_nodes - n_leaves, n_seen)),
        "corners": (np.float64, (length(packed.corners, 0), n_places)),
        "low_corner": (np.int64, (n_leaves,)),
        "wide": (np.int64, (n_wide,)),
        "high_corner": (np.int64, (n_wide,)),
        "odd": (np.int64, (n_odd,)),
        "odd_boxes": (np.float64, (n_odd, 2, n_places)),
    }
    for name, (kind, shape) in shapes.items():
        check_array(getattr(packed, name), kind, shape, name)
    per_node = layout.NODE.itemsize + 8 * (n_seen + 2 * n_places)
    check_memory(n_learners * max(sizes) * per_node, n_nodes * per_node, ensemble.max_bytes)


def _check_tree(feature: IntArray, branches: Any, n_places: int) -> None:
    """Raise if anything in a tree's nodes could lead a kernel out of an array, or round in a circle."""
    n = len(feature)
    require(np.all((feature >= layout.LEAF) & (feature < n_places)), "feature")
    left, right = branches["left"], branches["right"]
    # Every node but the root is the child of exactly one: a walk down from the root meets no node twice.
    require(np.array_equal(np.sort(np.concatenate([left, right])), np.arange(1, n)), "left and right")
    # And all are below the root: those that are not would go round in circles of their own. Following the parents, two
    # steps at a time, then four, and so on, every node comes to it.
    above: IntArray = np.zeros(n, dtype=np.int64)
    above[left] = above[right] = np.flatnonzero(feature != layout.LEAF)
    for _ in range(n.bit_length()):
        above = above[above]
    require(not np.any(above), "left and right")


def _check_corners(packed: Packed) -> None:
    """Raise unless every corner, leaf and branch that is named exists."""
    n_corners, n_leaves, n_branches = len(packed.corners), len(packed.leaves), len(packed.branches)
    for name, most in {"low_corner": n_corners, "high_corner": n_corners, "wide": n_leaves, "odd": n_branches}.items():
        places = getattr(packed, name)
        require(np.all((places >= 0) & (places < most)), name)
    for name in ("wide", "odd"):
        require(np.all(np.diff(getattr(packed, name)) > 0), name)
    require(not np.any(np.isinf(packed.corners)) and not np.any(np.isinf(packed.odd_boxes)), "corners")


def _check_numbers(trees: layout.Trees) -> None:
    """Raise for numbers with which a vote would not be a distribution. No index depends on these."""
    for name in layout.NODE.names or ():
        require(not np.any(np.isnan(trees.nodes[name])), name)
    require(np.all((trees.nodes["share"] >= 0.0) & (trees.nodes["share"] <= 1.0)), "share")
    require(np.all(trees.nodes["total"] >= 0.0), "total")
    require(np.all(trees.class_weight >= 0.0), "class_weight")
    require(np.all((trees.scale > 0.0) & (trees.scale < np.inf)), "scale")
    require(np.all((trees.has_gaps == 0) | (trees.has_gaps == 1)), "has_gaps")
    require(np.all((trees.n_taught >= 0) & (trees.n_taught < MOST_ROWS)), "n_taught")
