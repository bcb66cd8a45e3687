"""Checks of a learned state from a model file, before a kernel follows any of it.

Kernels follow the numbers in a tree's arrays without looking: children, siblings, slots, places of features. So the
state is checked until nothing in it can lead out of an array or round in a circle. Every failure is a ``ValueError``
that names the field: "invalid tree state: slot".
"""

from __future__ import annotations

from typing import Any

import numpy as np


def require(condition: Any, name: str) -> None:
    """Raise unless ``condition`` holds of the field called ``name``."""
    if not condition:
        raise ValueError(f"invalid tree state: {name}")


def whole(value: Any, low: int, high: int, name: str) -> int:
    """A whole number from ``low`` to ``high``, both included."""
    require(isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high, name)
    return int(value)


def length(array: Any, axis: int) -> int:
    """The length of an array along an axis."""
    require(isinstance(array, np.ndarray) and array.ndim > axis, "shape")
    return int(array.shape[axis])


def check_array(array: Any, dtype: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise unless ``array`` is one of this type and shape."""
    require(isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape, name)


def as_trees(kind: Any, arrays: Any) -> Any:
    """The named tuple ``kind`` of the arrays in a dict."""
    require(isinstance(arrays, dict) and set(arrays) == set(kind._fields), "trees")
    require(all(isinstance(array, np.ndarray) for array in arrays.values()), "trees")
    return kind(**arrays)
