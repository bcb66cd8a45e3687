"""The two datasets that are rules: every combination of the features, in the order of the UCI files."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

from ocoboost.bench.datasets.streams import Stream

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
