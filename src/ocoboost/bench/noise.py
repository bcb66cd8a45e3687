"""Labels that lie: flips at random, the same for every model that is compared."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

KINDS = ("uniform", "neighbour")


def flip(labels: Sequence[Any], share: float, *, kind: str = "uniform", seed: int) -> list[Any]:
    """The labels, each replaced with probability ``share``.

    "uniform" puts any other label in its place; "neighbour" depends on the class: always the next one, sorted as text.

    >>> flip(["a", "b", "c"], 1.0, kind="neighbour", seed=1)
    ['b', 'c', 'a']
    """
    generator = random.Random(f"{seed} {kind}")
    known = sorted(set(labels), key=str)
    flipped = []
    for label in labels:
        # Both are drawn for every row, so that a larger share flips the same rows and more.
        draw, other = generator.random(), generator.randrange(1, max(len(known), 2))
        places = 0 if draw >= share else other if kind == "uniform" else 1
        flipped.append(known[(known.index(label) + places) % len(known)])
    return flipped
