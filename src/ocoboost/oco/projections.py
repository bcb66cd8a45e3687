"""Euclidean projection onto the probability simplex, row by row.

    argmin_q ||q - point||^2   subject to   q >= 0,  sum(q) = 1

The solution is ``max(point - threshold, 0)`` for one threshold (Chen & Ye, 2011). It is found without sorting by
Michelot's active-set iteration (1986): average over the coordinates still above the threshold, drop those that are
not, repeat. Two or three passes are typical, no scratch memory is needed, and the last sum runs in label order.
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel


@kernel
def project_row(point: FloatArray, out: FloatArray) -> None:
    """Project one point; ``out`` may be ``point`` itself."""
    highest = point[0]
    for j in range(1, point.size):
        highest = max(highest, point[j])
    # Heights are relative to the highest coordinate, so that one stays above the threshold, however large the numbers.
    threshold = -np.inf
    n_active = point.size + 1
    while True:
        total = 0.0
        n_above = 0
        for j in range(point.size):
            height = point[j] - highest
            if height > threshold:
                total += height
                n_above += 1
        if n_above >= n_active:  # equal in exact arithmetic; rounding at a tie may let one back in
            break
        n_active = n_above
        threshold = (total - 1.0) / n_active
    for j in range(point.size):
        out[j] = max(point[j] - highest - threshold, 0.0)


@kernel
def project_onto_simplex(points: FloatArray, out: FloatArray) -> None:
    """Project every row of ``points``; ``out`` may be ``points`` itself."""
    for row in range(points.shape[0]):
        project_row(points[row], out[row])


@kernel
def move_two_and_project(point: FloatArray, first: int, first_change: float, second: int, second_change: float) -> None:
    """Change two different coordinates of a point of the simplex, then project it back, in place.

    This is the step of the cascade after a label vote: one coordinate falls, the other rises by less or stays. The
    common shift is then known without iterating if all coordinates stay above it, or if all positive ones do except
    for the one that falls to zero. These cases need no sum over the row, which makes them fast.
    """
    k = point.size
    shift = (first_change + second_change) / k
    if shift <= 0.0 and point[first] + first_change >= shift and point[second] + second_change >= shift:
        point[first] += first_change
        point[second] += second_change
        if shift < 0.0:
            for j in range(k):
                point[j] -= shift
        return
    if first_change > second_change:
        first, first_change, second, second_change = second, second_change, first, first_change
    surplus = second_change - point[first]  # of the others' mass, if the first coordinate falls to zero
    n_above = k - 1
    if surplus > 0.0:
        n_above = 0
        for j in range(k):
            n_above += point[j] > 0.0
        n_above += int(point[second] <= 0.0) - int(point[first] > 0.0)
    shift = surplus / n_above
    n_below = 0
    if surplus > 0.0:
        for j in range(k):
            n_below += (point[j] > 0.0) & (point[j] < shift)
        n_below -= int(0.0 < point[first] < shift) + int(0.0 < point[second] < shift)
    is_known = second_change >= 0.0 and point[first] + first_change <= min(shift, 0.0)
    is_known = is_known and n_below == 0 and point[second] + second_change >= shift
    point[second] += second_change
    if is_known:
        point[first] = 0.0
        for j in range(k):
            point[j] = max(point[j] - shift, 0.0)
        point[first] = 0.0
    else:
        point[first] += first_change
        project_row(point, point)
