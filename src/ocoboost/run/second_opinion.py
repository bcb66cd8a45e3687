"""A second opinion on the labels of a table: the batch booster, whose games judge the rows that they never saw.

Passes of the online model find most; the batch booster grows its trees on most of the table at once, and finds rules
over text better. How much each is trusted is decided by the given labels, as far as they were foretold.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.boost import BoostClassifier
from ocoboost.batch.portfolio import LEAST_ROWS
from ocoboost.data.rows import NumberRows, Row

SHARES = tuple(tenth / 10 for tenth in range(11))  # of the second opinion, to choose from


def held_out(rows: Sequence[Row], given: IntArray, n_classes: int, seed: int, n_jobs: int) -> FloatArray | None:
    """The probability of every label, (rows, classes), from trees that have not seen the row.

    None if there are too few rows to hold any out, or one label only.
    """
    present = np.unique(given)
    if len(given) < max(LEAST_ROWS, len(present) + 1) or len(present) < 2:
        return None
    model = BoostClassifier(keep_held_out=True, random_state=seed, n_jobs=n_jobs).fit(as_cells(rows), given)
    said: FloatArray = np.zeros((len(given), n_classes))
    said[:, model.classes_] = model.held_out_proba_
    return said


def as_cells(rows: Sequence[Row]) -> FloatArray | NDArray[Any]:
    """Rows as a matrix, of cells if there is text; numbers that are not finite are missing."""
    if isinstance(rows, NumberRows):
        return np.where(np.isfinite(rows.numbers), rows.numbers, np.nan)
    names: dict[Hashable, None] = {name: None for row in rows for name in row}
    cells = np.empty((len(rows), max(1, len(names))), dtype=object)  # one at least, if only of missing ones
    for place, name in enumerate(names):
        cells[:, place] = [_cell(row.get(name)) for row in rows]
    return cells


def _cell(value: Any) -> Any:
    return value if isinstance(value, str) or value is None or np.isfinite(value) else None


def blended(passes: FloatArray, second: FloatArray, given: IntArray) -> FloatArray:
    """The mean of both with the share of the second under which the given labels were most probable.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> blended(unsure, sure, np.array([0, 1])).tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    every = np.arange(len(given))
    one, other = passes[every, given], second[every, given]
    losses = [-np.log(np.maximum((1.0 - share) * one + share * other, 1e-12)).mean() for share in SHARES]
    share = SHARES[int(np.argmin(losses))]
    return (1.0 - share) * passes + share * second
