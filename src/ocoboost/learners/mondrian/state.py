"""The learned state of Mondrian trees: to a dict of numbers and arrays, and back with every field checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.data.schema import Schema
from ocoboost.learners.checked import as_trees, check_array, length, require, whole
from ocoboost.learners.mondrian import layout
from ocoboost.learners.sizes import rounded_up

if TYPE_CHECKING:
    from ocoboost.learners.mondrian.ensemble import MondrianEnsemble

NUMBER = -1  # in place of a category code


def state_of(ensemble: MondrianEnsemble) -> dict[str, Any]:
    """Everything that the trees have learned."""
    return {
        "version": ensemble.version,
        "nominal": ensemble.nominal.state(),
        "trees": ensemble.trees._asdict(),
        "columns": ensemble.columns,
        "codes": ensemble.codes,
    }


def restore(ensemble: MondrianEnsemble, state: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh trees; raises ``ValueError`` for a state that no such trees can have learned."""
    ensemble.version = whole(state["version"], 0, schema.version, "version")
    ensemble.nominal.restore(state["nominal"], schema)
    columns, codes = state["columns"], state["codes"]
    n_places = length(columns, 0)
    for places in (columns, codes):
        check_array(places, np.int64, (n_places,), "columns")
    require(np.all((columns >= 0) & (columns < len(schema.columns)) & (codes >= NUMBER)), "columns")
    ensemble.columns, ensemble.codes = columns, codes
    old, trees = ensemble.trees, as_trees(layout.Trees, state["trees"])
    n_nodes, n_seen = length(trees.nodes, 1), length(trees.class_weight, 2)
    whole(n_seen, 1, rounded_up(max(1, n_classes)), "n_classes")
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
        check_array(getattr(trees, name), getattr(old, name).dtype, (len(old.n_nodes), *shape), name)
    require(np.all(trees.n_taught >= 0), "n_taught")
    for learner in range(len(old.n_nodes)):
        _check_tree(trees, learner, n_places)
    ensemble.trees = trees._replace(nodes=trees.nodes.view(type(old.nodes)))
    ensemble.limit()
    require(n_nodes <= ensemble.rules.max_nodes, "nodes")


def _check_tree(trees: layout.Trees, learner: int, n_places: int) -> None:
    n = whole(trees.n_nodes[learner], 1, trees.nodes.shape[1], "n_nodes")
    nodes = trees.nodes[learner, :n]
    feature, parent = nodes["feature"], nodes["parent"]
    require(np.all((feature >= layout.LEAF) & (feature < n_places)), "feature")
    branches = np.flatnonzero(feature != layout.LEAF)
    children = np.concatenate([nodes["left"][branches], nodes["right"][branches]])
    # Every node but the root is the child of exactly one: a walk down from the root meets no node twice.
    require(np.array_equal(np.sort(children), np.arange(1, n)), "left and right")
    require(parent[0] == -1 and np.array_equal(parent[children], np.tile(branches, 2)), "parent")
    for name in nodes.dtype.names:  # no walk follows these, but a vote must remain a distribution
        require(not np.any(np.isnan(nodes[name])), name)
