"""Which nodes a tree keeps when its memory shrinks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.learners.mondrian.layout import LEAF, NODE
from ocoboost.learners.mondrian.pruning import list_shallowest


def tree(splits: list[int]) -> np.ndarray:
    """A tree that was grown by splitting these of its leaves."""
    nodes = np.zeros(2 * len(splits) + 2, dtype=NODE)  # with one that is not used
    nodes["feature"] = LEAF
    leaves, n = [0], 1
    for split in splits:
        node = leaves.pop(split % len(leaves))
        nodes[node]["feature"], nodes[node]["left"], nodes[node]["right"] = split % 3, n, n + 1
        leaves += [n, n + 1]
        n += 2
    return nodes


def one_by_one(nodes: np.ndarray, most: int) -> list[int]:
    """The same by a queue."""
    kept, n_visited = [0], 0
    while n_visited < len(kept):
        node = nodes[kept[n_visited]]
        n_visited += 1
        if node["feature"] != LEAF and len(kept) + 2 <= most:
            kept += [int(node["left"]), int(node["right"])]
    return kept


@given(st.lists(st.integers(0, 50), max_size=25), st.integers(1, 60))
def test_the_shallowest_nodes_are_kept(splits, most):
    nodes = tree(splits)
    kept = list_shallowest(nodes, most)
    assert kept.tolist() == one_by_one(nodes, most)
    assert len(kept) == min(2 * len(splits) + 1, most - (most + 1) % 2)
