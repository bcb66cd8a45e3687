"""The boxes of a Mondrian tree's nodes: the lowest and the highest value of every column, NaN before the first.

Comparisons with NaN are false: what is missing is not outside.
"""

from __future__ import annotations

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.learners.mondrian.layout import HIGH, LOW

_FURTHEST = 1e150  # distances are cut here, so that their sums stay finite

_inlined = kernel(error_model="numpy", forceinline=True)


@_inlined
def is_inside_box(boxes: FloatArray, node: int, x: FloatArray) -> bool:
    """Whether a row lies in a node's box."""
    n_outside = 0
    for column in range(x.size):
        n_outside += (x[column] < boxes[node, LOW, column]) | (x[column] > boxes[node, HIGH, column])
    return n_outside == 0


@_inlined
def distance_to_box(boxes: FloatArray, scale: FloatArray, node: int, x: FloatArray, out: FloatArray) -> float:
    """How far a row lies outside a node's box, per column in ``out`` and in sum."""
    for column in range(x.size):
        below = boxes[node, LOW, column] - x[column]
        above = x[column] - boxes[node, HIGH, column]
        outside = below if below > above else above
        outside = outside if outside > 0.0 else 0.0
        outside = outside if outside < _FURTHEST else _FURTHEST
        out[column] = outside * scale[column]
    total = 0.0
    for column in range(x.size):
        total += out[column]
    return total


@_inlined
def enclose(boxes: FloatArray, node: int, x: FloatArray) -> None:
    """Make a node's box hold a row."""
    for column in range(x.size):
        value, low, high = x[column], boxes[node, LOW, column], boxes[node, HIGH, column]
        boxes[node, LOW, column] = value if value < low or low != low else low
        boxes[node, HIGH, column] = value if value > high or high != high else high


@_inlined
def measure(boxes: FloatArray, scale: FloatArray, x: FloatArray) -> None:
    """Distances are in units of each column's range so far: widen the root's box, and set the units by it."""
    for column in range(x.size):
        low, high = boxes[0, LOW, column], boxes[0, HIGH, column]
        if x[column] < low or x[column] > high:
            width = max(high, x[column]) - min(low, x[column])
            scale[column] = 1.0 / width if width > 1.0 / _FURTHEST else _FURTHEST
