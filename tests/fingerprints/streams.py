"""Small streams: packaged datasets, and generated ones with text, gaps, weights, and labels that appear late."""

from __future__ import annotations

import math
import random
import string
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from fingerprints.inside import packaged_rows


class Stream(NamedTuple):
    """What is learned, and some more rows to ask about."""

    rows: list[dict[Any, Any]]
    labels: list[Any]
    weights: list[float] | None
    probes: list[dict[Any, Any]]
    as_table: Callable[[list[dict[Any, Any]]], Any] = list  # how blocks of rows are handed over
    best: list[Any] | None = None  # labels without noise, where they are known

    @property
    def classes(self) -> list[Any]:
        """All labels, in an order that has nothing to do with the order of the rows."""
        return sorted(set(self.labels), key=repr)

    def letters(self, labels: Iterable[Any]) -> str:
        """Labels as one letter each, to keep them short; a question mark for none."""
        letters = dict(zip(self.classes, string.ascii_letters, strict=False))
        return "".join(letters.get(label, "?") for label in labels)


N_PROBES = 8


@cache
def stream(name: str) -> Stream:
    """A stream by its name."""
    if name in GENERATED:
        return GENERATED[name]()
    n_rows, seed = PACKAGED[name]
    rows, labels = unzipped(packaged_rows(name, seed)[: n_rows + N_PROBES])
    return Stream(rows[:n_rows], labels[:n_rows], None, rows[n_rows:])


PACKAGED = {"abalone": (200, 1), "balance": (220, 2), "segment": (200, 4), "yeast": (220, 5)}


def unzipped(pairs: list[tuple[dict[Any, Any], Any]]) -> tuple[list[dict[Any, Any]], list[Any]]:
    """Rows, and labels."""
    return [x for x, _ in pairs], [y for _, y in pairs]


def landsat() -> Stream:
    """Landsat in arrays, whose columns have numbers for names."""
    named, labels = unzipped(packaged_rows("landsat", 6)[: 150 + N_PROBES])
    rows = [dict(enumerate(x.values())) for x in named]
    return Stream(rows[:150], labels[:150], None, rows[150:], lambda block: np.array([list(x.values()) for x in block]))


def cars() -> Stream:
    """Cars, all text, in frames."""
    import pandas as pd

    rows, labels = unzipped(packaged_rows("cars", 3)[: 220 + N_PROBES])
    return Stream(rows[:220], labels[:220], None, rows[220:], pd.DataFrame)


def short() -> Stream:
    """A part of Balance, for learners that take long."""
    whole = stream("balance")
    return whole._replace(rows=whole.rows[:90], labels=whole.labels[:90])


def uneven(with_text: bool) -> Stream:
    """Row weights, missing values, and columns, categories and labels that come late; at first there is one label."""
    draws, n_rows = random.Random(7), 220
    rows, labels, weights = [], [], []
    for number in range(n_rows + N_PROBES):
        a, b, c, noise = (draws.random() for _ in range(4))
        x: dict[Any, Any] = {"a": a, "b": None if number % 7 == 3 else 20.0 * b - 5.0}
        if number % 11 != 5:
            x["whole"] = int(4.0 * c)
        if number >= 80:
            x["late"] = a * b if number % 5 else math.nan
        if with_text:
            x["colour"] = ("red", "green", "blue", "violet")[int(c * (3 if number < 150 else 4))]
            if number >= 110:
                x["shape"] = "round" if b > 0.4 else None if b > 0.2 else "square"
        label: Any = "low" if a < 0.35 else "middle" if b < 0.5 else 7
        if number >= 130 and c > 0.6 and a > 0.5:
            label = "late"
        if noise < 0.15:
            label = ("low", "middle", 7)[number % 3]
        rows.append(x)
        labels.append("low" if number < 6 else label)
        weights.append((1.0, 0.5, 2.5, 0.0, 1.0, 1.25)[number % 6])
    return Stream(rows[:n_rows], labels[:n_rows], weights[:n_rows], rows[n_rows:])


def rule(labels: Sequence[Any], noise: float, *, weighted: bool = False, n_rows: int = 220) -> Stream:
    """Thresholds of the first of three features decide, but for the noise."""
    draws = random.Random(8)
    values = [[draws.random() for _ in range(5)] for _ in range(n_rows + N_PROBES)]
    rows = [{"a": a, "b": b, "c": c} for a, b, c, _, _ in values]
    best = [labels[int(a * len(labels))] for a, *_ in values]
    said = [
        labels[int(v * len(labels))] if u < noise else clean for clean, (*_, u, v) in zip(best, values, strict=True)
    ]
    weights = [(1.0, 0.0, 7.5, 0.25)[number % 4] for number in range(n_rows)] if weighted else None
    return Stream(rows[:n_rows], said[:n_rows], weights, rows[n_rows:], best=best[:n_rows])


def points() -> Stream:
    """Points of a line of eight, and on which side of the fourth they lie, right four times out of five."""
    draws, n_rows = random.Random(9), 120
    rows = [{"point": int(8.0 * draws.random())} for _ in range(n_rows + N_PROBES)]
    labels = [int((x["point"] >= 3) != (draws.random() < 0.2)) for x in rows]
    return Stream(rows[:n_rows], labels[:n_rows], None, rows[n_rows:])


GENERATED: dict[str, Callable[[], Stream]] = {
    "landsat": landsat,
    "cars": cars,
    "short": short,
    "uneven": partial(uneven, with_text=True),
    "gaps": partial(uneven, with_text=False),
    "rule": partial(rule, ("L", "M", "H"), 0.2),
    "clean": partial(rule, ("L", "M", "H"), 0.0),
    "weighted": partial(rule, ("L", "M", "H"), 0.3, weighted=True),
    "binary": partial(rule, (False, True), 0.1),
    "long": partial(rule, ("L", "M", "H"), 0.05, n_rows=900),  # trees whose parameters are the defaults are cut too
    "points": points,
}
