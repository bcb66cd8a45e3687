"""Short streams of numbers that change half-way, and the same with all that can be awkward about rows."""

from __future__ import annotations

import numpy as np

N_ROWS = 330  # across many births of the members of every age


def stream(n_rows=N_ROWS, seed=3):
    """Numbers, and a concept that swaps its labels half-way."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, 4)).round(2)
    kinds = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    kinds = np.where(np.arange(n_rows) < n_rows // 2, kinds, 2 - kinds)
    return [(dict(zip("pqrs", map(float, x), strict=True)), f"k{kind}") for x, kind in zip(X, kinds, strict=True)]


def spoiled(rows):
    """With a missing value, a text column, a new column, whole numbers and a late label here and there."""
    rows = [(dict(x), y) for x, y in rows]
    for number in range(40, len(rows), 41):
        rows[number][0]["p"] = float("nan")
    for number in range(120, len(rows)):
        rows[number][0]["q"] = int(rows[number][0]["q"])
    for number in range(200, len(rows), 3):
        rows[number][0]["text"] = "red" if number % 2 else "blue"
    for number in range(250, len(rows)):
        rows[number][0]["late"] = 1.5 * number
    rows[160] = (rows[160][0], "late label")
    return rows
