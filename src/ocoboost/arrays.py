"""Names for the arrays that travel between shells and kernels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MOST_ROWS = 2**53  # that anything can have learned; kernels double and add to such counts


def writable(arrays: Any) -> Any:
    """A named tuple with copies of its arrays that kernels may write to: joblib maps those of a pickle read-only."""
    return type(arrays)(*(value.copy() if isinstance(value, np.ndarray) else value for value in arrays))


def checked_like(array: Any, other: NDArray[Any], name: str) -> NDArray[Any]:
    """An array from a file, if it has the type and shape of ``other`` and holds finite numbers only."""
    if not isinstance(array, np.ndarray) or array.dtype != other.dtype or array.shape != other.shape:
        raise ValueError(f"invalid {name}: expected {other.dtype} numbers of shape {other.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"invalid {name}: not all numbers are finite")
    return array


def checked_count(value: Any, name: str) -> int:
    """A count from a file."""
    if type(value) is not int or not 0 <= value < MOST_ROWS:
        raise ValueError(f"invalid {name}: {value!r}")
    return value
