"""A dataset in memory, and what is done to it before it is streamed."""

from __future__ import annotations

import random
import statistics
from collections.abc import Hashable
from typing import Any, TypeAlias

Stream: TypeAlias = list[tuple[dict[Hashable, Any], str]]


def shuffled(rows: Stream, seed: int) -> Stream:
    """The rows in an order fixed by ``seed``."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows


def imputed(rows: Stream) -> Stream:
    """Missing cells of a column of numbers replaced by its mean, as the paper does.

    >>> imputed([({"a": 1.0}, "x"), ({"a": None}, "y"), ({"a": 2.0}, "x")])[1]
    ({'a': 1.5}, 'y')
    """
    columns: dict[Hashable, list[float]] = {}
    for x, _ in rows:
        for name, value in x.items():
            if isinstance(value, int | float):
                columns.setdefault(name, []).append(value)
    means = {name: statistics.fmean(values) for name, values in columns.items()}
    return [({name: means.get(name) if v is None else v for name, v in x.items()}, y) for x, y in rows]


def ranked(rows: Stream) -> Stream:
    """Text features as ranks, by first appearance; the values of Cars appear from worst to best in file order."""
    ranks: dict[Hashable, dict[str, int]] = {}
    for x, _ in rows:
        for name, value in x.items():
            if isinstance(value, str):
                codes = ranks.setdefault(name, {})
                codes.setdefault(value, len(codes))
    return [({n: ranks[n][v] if isinstance(v, str) else v for n, v in x.items()}, y) for x, y in rows]
