"""What a booster predicts for a row: a label distribution, the vote shares behind it, and the label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco.projections import project_onto_simplex


class Answers(NamedTuple):
    """The predictions for the rows of a block; arrays have shape (rows, classes) unless they say otherwise."""

    distributions: FloatArray  # D
    shares: FloatArray  # each label's share of the pooled votes
    priorities: FloatArray | None = None  # decide ties; None: the vote shares do
    probabilities: FloatArray | None = None  # of the labels; None: the distribution D stands for them
    thresholds: FloatArray | None = None  # (rows, levels) labels this probable are in a prediction set; None: no sets

    @classmethod
    def none(cls, n_rows: int) -> Answers:
        """The answers before any label is known: no columns."""
        return cls(np.zeros((n_rows, 0)), np.zeros((n_rows, 0)))

    def set_first(self, answer: Answers) -> None:
        """Replace the first row's answer by one given when fewer labels were known; the new labels get 0."""
        n_known = answer.shares.shape[1]
        for array, row in zip(self[:4], answer[:4], strict=True):  # the thresholds are those that held before
            if array is not None:
                array[0, n_known:] = 0.0
                if row is not None:
                    array[0, :n_known] = row[0]

    def row(self, row: int) -> Answers:
        """One of the rows, as a block."""
        return Answers(*(None if array is None else array[row : row + 1] for array in self))  # type: ignore[arg-type]

    @property
    def label_probabilities(self) -> FloatArray:
        """The probabilities of the labels, or the distribution D that stands for them."""
        return self.distributions if self.probabilities is None else self.probabilities

    @property
    def labels(self) -> IntArray:
        """The most probable label of each row; ties go to the most votes, then to the lowest index."""
        chosen = np.empty(len(self.shares), dtype=np.int64)
        modes(self.distributions, self.shares if self.priorities is None else self.priorities, chosen)
        return chosen


def in_sets(probabilities: FloatArray, thresholds: FloatArray, *, allow_empty: bool) -> NDArray[np.bool_]:
    """Which labels are in the sets of these thresholds, one per row; a label of probability 0 was not known.

    >>> in_sets(np.array([[0.7, 0.3], [0.9, 0.1]]), np.array([0.2, 0.95]), allow_empty=False).tolist()
    [[True, True], [True, False]]
    """
    inside = (probabilities >= thresholds[:, None]) & (probabilities > 0.0)
    if not allow_empty and probabilities.shape[1] > 0:
        rows = np.flatnonzero(~inside.any(axis=1))
        inside[rows, probabilities[rows].argmax(axis=1)] = probabilities[rows].max(axis=1) > 0.0
    return inside


def projected(shares: FloatArray, gamma: float) -> FloatArray:
    """D from the vote shares h / N: scaled by 1 / gamma and projected onto the simplex.

    >>> projected(np.array([[0.5, 0.3, 0.2]]), 0.25).round(2).tolist()
    [[0.9, 0.1, 0.0]]
    """
    distributions = shares / gamma
    project_onto_simplex(distributions, distributions)  # Alg. 1.4, Alg. 4.4: D = Π(h / (γN))
    return distributions


@kernel
def modes(distributions: FloatArray, vote_counts: FloatArray, out: IntArray) -> None:
    """The most probable label of each row; ties go to the most votes, then to the lowest index."""
    for row in range(distributions.shape[0]):
        best = 0
        for j in range(1, distributions.shape[1]):
            more_probable = distributions[row, j] > distributions[row, best]
            as_probable = distributions[row, j] == distributions[row, best]
            if more_probable or (as_probable and vote_counts[row, j] > vote_counts[row, best]):
                best = j
        out[row] = best
