"""Rows between their prediction and their label."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.run.checkpoint import Place
from ocoboost.stream.state import Answered


class Waiting(NamedTuple):
    """A predicted row whose label has not arrived yet."""

    rows: Sequence[Row]
    label: Label
    place: Place
    prediction: int
    probability: float  # of the label
    confidence: float  # the probability of the prediction
    probabilities: list[float]  # of all labels that were known
    keys: Sequence[Hashable]  # of the row, if it has one
    line: int  # in the file


def probabilities_of(answered: Answered, indices: IntArray) -> FloatArray:
    """The probability that was given to a label of each row; 0 if it was not known."""
    rows = np.flatnonzero((indices >= 0) & (indices < len(answered.classes)))
    probabilities = np.zeros(len(indices))
    probabilities[rows] = np.minimum(answered.probabilities[rows, indices[rows]], 1.0)
    return probabilities
