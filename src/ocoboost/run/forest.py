"""A second opinion on the labels of a table: scikit-learn's random forest, out of bag.

Every tree of the forest is grown on a sample of the rows, and a row is judged by the trees whose sample it is not in.
Passes of the online model find most, a forest finds rules over text better; how much each is trusted is decided by
the given labels, as far as they were foretold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.rows import NumberRows, Row

N_TREES = 200
MOST_TEXTS = 40  # of a column, that get a column of zeros and ones
FLOOR = 0.02  # of every answer is spread over all labels
SHARES = tuple(tenth / 10 for tenth in range(11))  # of the forest, to choose from


def out_of_bag(rows: Sequence[Row], given: IntArray, n_classes: int, seed: int, n_jobs: int) -> FloatArray:
    """The probability of every label, (rows, classes), from trees that have not seen the row."""
    forest = RandomForestClassifier(N_TREES, oob_score=True, random_state=seed, n_jobs=n_jobs)
    forest.fit(as_numbers(rows), given)
    said: FloatArray = np.full((len(given), n_classes), 1.0 / n_classes)
    known = np.isfinite(forest.oob_decision_function_).all(axis=1)  # some tree has not seen the row
    said[known] = 0.0
    said[np.ix_(known, forest.classes_)] = forest.oob_decision_function_[known]
    return (1.0 - FLOOR) * said + FLOOR / n_classes


def as_numbers(rows: Sequence[Row]) -> FloatArray:
    """Rows as a matrix: NaN for a missing number, and a column of zeros and ones for each frequent text."""
    if isinstance(rows, NumberRows):
        return rows.numbers
    names: dict[Hashable, None] = {name: None for row in rows for name in row}
    columns: list[list[float]] = []
    for name in names:
        cells = [row.get(name) for row in rows]
        texts = Counter(cell for cell in cells if isinstance(cell, str))
        columns += [[float(cell == text) for cell in cells] for text, _ in texts.most_common(MOST_TEXTS)]
        if not texts:
            columns.append([np.nan if cell is None else float(cell) for cell in cells])
    return np.array(columns).T


def blended(passes: FloatArray, forest: FloatArray, given: IntArray) -> FloatArray:
    """The mean of both with the share of the forest under which the given labels were most probable.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> blended(unsure, sure, np.array([0, 1])).tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    every = np.arange(len(given))
    one, other = passes[every, given], forest[every, given]
    losses = [-np.log(np.maximum((1.0 - share) * one + share * other, 1e-12)).mean() for share in SHARES]
    share = SHARES[int(np.argmin(losses))]
    return (1.0 - share) * passes + share * forest
