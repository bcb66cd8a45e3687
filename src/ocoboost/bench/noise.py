"""Labels that lie: flips at random, the same for every model that is compared."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

KINDS = ("uniform", "class-dependent", "neighbour")
RATES = (0.75, 1.25)  # of a class-dependent flip, relative to the share: at 40 % a class keeps half of its labels


def flip(labels: Sequence[Any], share: float, *, kind: str = "uniform", seed: int) -> list[Any]:
    """The labels, each replaced with probability ``share``.

    "uniform" puts any other label in its place, "neighbour" always the next one, sorted as text. With
    "class-dependent" every label has a rate of its own, and others that it is mistaken for more often than for the
    rest.

    >>> flip(["a", "b", "c"], 1.0, kind="neighbour", seed=1)
    ['b', 'c', 'a']
    """
    generator = random.Random(f"{seed} {kind}")
    known = sorted(set(labels), key=str)
    if kind == "class-dependent":
        return _flip_by_class(labels, known, share, generator)
    flipped = []
    for label in labels:
        # Both are drawn for every row, so that a larger share flips the same rows and more.
        draw, other = generator.random(), generator.randrange(1, max(len(known), 2))
        places = 0 if draw >= share else other if kind == "uniform" else 1
        flipped.append(known[(known.index(label) + places) % len(known)])
    return flipped


def _flip_by_class(labels: Sequence[Any], known: list[Any], share: float, generator: random.Random) -> list[Any]:
    low, high = RATES
    ranks = generator.sample(range(len(known)), len(known))
    rates = {
        label: share * (low + (high - low) * rank / max(len(known) - 1, 1))
        for label, rank in zip(known, ranks, strict=True)
    }
    others = {label: [other for other in known if other != label] or [label] for label in known}
    taste = {label: [generator.expovariate(1.0) for _ in others[label]] for label in known}
    flipped = []
    for label in labels:
        draw, other = generator.random(), generator.choices(others[label], taste[label])[0]
        flipped.append(other if draw < rates[label] else label)
    return flipped
