"""Hoeffding trees of River and ours side by side: the same shape to compare them by, and streams to grow them on."""

from __future__ import annotations

import math
import random
from typing import Any

from river.tree.nodes.branch import DTBranch

from ocoboost.learners.hoeffding import layout


def river_structure(node: Any) -> Any:
    """A tree as nested tuples: feature, test, names of the branches, children; "leaf" for a leaf."""
    if not isinstance(node, DTBranch):
        return "leaf"
    test = getattr(node, "threshold", getattr(node, "value", None))
    names = sorted(node._mapping) if test is None else [None, None]
    children = node.children if test is not None else [node.children[node._mapping[name]] for name in names]
    return (node.feature, test, names, [river_structure(child) for child in children])


def our_structure(model: Any, node: int = 0) -> Any:
    """The same of the first tree of a model."""
    ensemble, schema = model.state_.engine.cascades[0].ensemble, model.state_.schema
    trees, columns, names = ensemble.trees, ensemble.columns, list(schema.kinds)
    record = trees.nodes[0, node]
    if record["kind"] == layout.LEAF:
        return "leaf"
    children, child = [], record["first_child"]
    while child >= 0:
        children.append(child)
        child = trees.nodes[0, child]["sibling"]
    if record["kind"] == layout.NUMERIC:
        name = names[list(columns.numeric).index(record["feature"])]
        return (name, record["threshold"], [None, None], [our_structure(model, child) for child in children])
    name = names[list(columns.nominal).index(record["feature"] - columns.n_numeric)]
    values = {code: value for value, code in (schema.categories.get(name) or ensemble.nominal.codes[name]).items()}
    if record["kind"] == layout.EQUAL:
        test = values[record["threshold"]]
        return (name, test, [None, None], [our_structure(model, child) for child in children])
    by_value = {values[trees.nodes[0, child]["category"]]: our_structure(model, child) for child in children}
    return (name, None, sorted(by_value), [by_value[value] for value in sorted(by_value)])


def same_structure(ours: Any, theirs: Any) -> bool:
    """Whether two structures are equal, thresholds up to rounding."""
    if "leaf" in (ours, theirs):
        return ours == theirs
    same_test = (
        ours[1] == theirs[1] if not isinstance(theirs[1], float) else math.isclose(ours[1], theirs[1], rel_tol=1e-9)
    )
    same_node = ours[0] == theirs[0] and same_test and ours[2] == theirs[2]
    return same_node and all(same_structure(*pair) for pair in zip(ours[3], theirs[3], strict=True))


def synthetic(kind: str, n_rows: int = 900, seed: int = 0) -> list[tuple[dict[str, Any], str]]:
    """Three classes; 'mixed' has text, 'late' a category that comes late, 'missing' leaves a third out."""
    draw = random.Random(seed)
    rows: list[tuple[dict[str, Any], str]] = []
    for _ in range(n_rows):
        label = draw.choice("abc")
        centre = "abc".index(label)
        x: dict[str, Any] = {f"n{i}": draw.gauss(centre * (i + 1), 1.5) for i in range(3)}
        if kind in ("nominal", "mixed"):
            x["colour"] = draw.choice(["red", "green", "blue", "red"] + [["red", "green", "blue"][centre]] * 3)
            x["shape"] = draw.choice(["disc", "ring"] if centre else ["ring", "ring", "bar"])
        if kind == "nominal":
            x = {name: value for name, value in x.items() if isinstance(value, str)}
        if kind == "late":
            colours = ["red", "green"] if len(rows) < n_rows / 2 else ["red", "green", "violet"]
            x = {"colour": draw.choice([*colours, *[colours[centre % 2]] * 4]), "n": x["n0"]}
        if kind == "missing":
            x = {name: value for name, value in x.items() if draw.random() > 0.3}
        rows.append((x, label))
    return rows


def wide_with_gaps(
    n_rows: int, n_columns: int = 77, n_classes: int = 8, missing: float = 0.02, seed: int = 1
) -> list[tuple[dict[str, Any], int]]:
    """Many columns of positive numbers of which a few tell the classes apart, now and then missing."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        label = draw.randrange(n_classes)
        shifts = [(label >> (column % 3) & 1) if column % 5 == 0 else 0 for column in range(n_columns)]
        x = {f"p{column}": math.exp(draw.gauss(0.4 * shift, 0.3)) for column, shift in enumerate(shifts)}
        rows.append(({name: None if draw.random() < missing else value for name, value in x.items()}, label))
    return rows
