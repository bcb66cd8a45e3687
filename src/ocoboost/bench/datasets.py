"""Datasets that need no download: two made from their rules, one bundled with River, others from a local folder.

A dataset is a list of (x, y) pairs, x a dict. Their file order is systematic, so shuffle before streaming.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import random
import statistics
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeAlias

Stream: TypeAlias = list[tuple[dict[Hashable, Any], str]]

# Car Evaluation, as the hierarchical model of Bohanec & Rajkovic: values from worst to best, then four tables.
_CAR_VALUES = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
_CAR_PRICE = ("0011", "0111", "1123", "1233")  # [buying][maint]
_CAR_COMFORT = (  # [doors][persons][lug_boot]
    ("000", "112", "012"),
    ("000", "112", "122"),
    ("000", "122", "122"),
    ("000", "122", "122"),
)
_CAR_TECH = ("000", "012", "023")  # [comfort][safety]
_CAR_GRADE = ("0000", "0011", "0113", "0123")  # [price][tech]
_CAR_LABELS = ("unacc", "acc", "good", "vgood")


def balance() -> Stream:
    """Balance Scale (Siegler, 1976; UCI): which way a lever tips. 625 rows, 3 classes.

    >>> len(balance()), balance()[0]
    (625, ({'left_weight': 1, 'left_distance': 1, 'right_weight': 1, 'right_distance': 1}, 'B'))
    """
    names = ("left_weight", "left_distance", "right_weight", "right_distance")
    rows: Stream = []
    for values in itertools.product(range(1, 6), repeat=4):
        torque = values[0] * values[1] - values[2] * values[3]
        rows.append((dict(zip(names, values, strict=True)), "L" if torque > 0 else "R" if torque < 0 else "B"))
    return rows


def cars() -> Stream:
    """Car Evaluation (Bohanec, 1988; UCI): six nominal features, 1728 rows, 4 classes.

    >>> len(cars()), cars()[-1][1]
    (1728, 'vgood')
    """
    rows: Stream = []
    for codes in itertools.product(*(range(len(values)) for values in _CAR_VALUES.values())):
        buying, maint, doors, persons, lug_boot, safety = codes
        price = int(_CAR_PRICE[buying][maint])
        comfort = int(_CAR_COMFORT[doors][persons][lug_boot])
        tech = int(_CAR_TECH[comfort][safety])
        x: dict[Hashable, Any] = {
            name: values[code] for (name, values), code in zip(_CAR_VALUES.items(), codes, strict=True)
        }
        rows.append((x, _CAR_LABELS[int(_CAR_GRADE[price][tech])]))
    return rows


def segment() -> Stream:
    """Image Segmentation (UCI), the copy that River bundles: 18 numeric features, 2310 rows, 7 classes."""
    from river.datasets import ImageSegments

    return list(ImageSegments())  # type: ignore[no-untyped-call]


BUILT_IN: dict[str, Callable[[], Stream]] = {"balance": balance, "cars": cars, "segment": segment}
NUMERIC = ("balance", "segment")  # without text features
# Columns that tell the label: Genotype, Treatment and Behavior determine it, and the identifier names the mouse.
_LEAKS = {"mice": ("MouseID", "Genotype", "Treatment", "Behavior")}


def load(name: str, data_dir: Path | None = None) -> Stream:
    """A built-in dataset, or ``data_dir / name.csv.gz`` with a header and the label in the last column."""
    if name in BUILT_IN:
        return BUILT_IN[name]()
    path = None if data_dir is None else data_dir / f"{name}.csv.gz"
    if path is None or not path.exists():
        where = "no data directory was given" if path is None else f"there is no {path}"
        raise FileNotFoundError(f"dataset {name!r} is not one of {', '.join(BUILT_IN)}, and {where}")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        header, *records = csv.reader(lines)
    leaks = _LEAKS.get(name, ())
    return [
        ({key: _as_number(cell) for key, cell in zip(header[:-1], cells, strict=False) if key not in leaks}, cells[-1])
        for cells in records
    ]


def imputed(rows: Stream) -> Stream:
    """Missing cells of a column of numbers replaced by its mean, as the paper does."""
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


def shuffled(rows: Stream, seed: int) -> Stream:
    """The rows in an order fixed by ``seed``."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return rows


def _as_number(cell: str) -> float | str | None:
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell
