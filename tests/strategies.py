"""Hypothesis strategies: points, votes, short streams with surprises."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ocoboost.oco.players import PLAYERS


def points(max_size: int = 6, magnitude: float = 10.0) -> st.SearchStrategy[np.ndarray]:
    """Vectors with many ties: multiples of an eighth, or any floats."""
    coarse = st.integers(-16, 16).map(lambda n: n / 8.0)
    fine = st.floats(-magnitude, magnitude, allow_nan=False)
    return hnp.arrays(np.float64, st.integers(1, max_size), elements=st.one_of(coarse, fine))


@st.composite
def streams(draw: Any, max_rows: int = 14) -> list[tuple[dict[str, Any], Any, float]]:
    """Rows whose labels, features and categories appear and vanish as they like."""
    value = st.one_of(st.integers(-3, 3), st.floats(-3, 3), st.just(float("nan")), st.none())
    row = st.fixed_dictionaries(
        {}, optional={"a": value, "b": value, "c": st.sampled_from(["red", "green", "blue"]), "d": value}
    )
    label = st.sampled_from(["x", "y", "z", 7])
    weight = st.sampled_from([1.0, 1.0, 0.0, 0.5, 2.0])
    return draw(st.lists(st.tuples(row, label, weight), min_size=1, max_size=max_rows))


@st.composite
def cuts(draw: Any, n_rows: int) -> list[tuple[int, int]]:
    """A way of cutting ``n_rows`` into consecutive blocks."""
    inner = draw(st.sets(st.integers(1, max(n_rows - 1, 1)), max_size=n_rows))
    edges = sorted({0, n_rows, *(edge for edge in inner if edge < n_rows)})
    return list(itertools.pairwise(edges))


def settings() -> st.SearchStrategy[dict[str, Any]]:
    """What a booster may be told besides its learner, regime, player, relabelling and start."""
    return st.fixed_dictionaries(
        {
            "n_learners": st.integers(1, 4),
            "gamma": st.sampled_from([0.05, 0.3, 0.7, 1.0]),
            "votes": st.sampled_from(["label", "distribution"]),
            "pool": st.sampled_from(["label", "distribution"]),
            "classes": st.sampled_from([None, ["z", "y", "x", 7]]),
            "n_jobs": st.sampled_from([1, 2]),
            "seed": st.integers(0, 2**64 - 1),
        }
    )


PLAYER_NAMES = sorted(PLAYERS)
