"""Prediction sets: from which probability on a label is in, one threshold for every level.

Adaptive conformal inference (Gibbs & Candès, 2021). Let a be the share of rows that a level may miss. A rate follows
the misses,

    rate += STEP (a - 1)    after a row whose label was not in its set,
    rate += STEP a          after any other row,

and the threshold is that quantile of the probabilities which recent labels had, so that the step means the same on
every stream. A rate of 0 or less lets every label in and a rate of 1 or more none, so the rate cannot leave
[-STEP, 1 + STEP], and the misses cannot be far from a share a of the rows, whatever the stream does: see
``bounds.most_misses`` and ``bounds.fewest_misses``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_like, writable
from ocoboost.compiling import kernel
from ocoboost.online.mixture.issued import PROBABILITIES, Issued

# Chosen on the development streams of benchmarks/probabilities.py, for coverage after a change and for small sets.
STEP = 0.01
MEMORY = 200.0  # rows, of the probabilities that labels had
N_BINS = 96  # of their log odds
MOST_LOG_ODDS = 12.0
NO_LABEL = 2.0  # a threshold that nothing reaches


class Sets(NamedTuple):
    """What is known about the probabilities that labels had."""

    misses: FloatArray  # (levels,) the share of rows that a level may miss
    rates: FloatArray  # (levels,)
    recent: FloatArray  # (bins,) how many of the recent labels had such a probability
    thresholds: FloatArray  # (levels,) for the next row; they follow from the rates and from what is recent


def first_sets(levels: Sequence[float]) -> Sets:
    """Nothing known: all probabilities are as likely as any."""
    misses: FloatArray = 1.0 - np.array(levels, dtype=float)
    sets = Sets(misses, misses.copy(), np.full(N_BINS, 1.0 / N_BINS), np.zeros(len(misses)))
    renew(sets)
    return sets


@kernel(error_model="numpy")
def renew(sets: Sets) -> None:
    """The thresholds from the rates and from what is recent."""
    total = 0.0
    for place in range(N_BINS):
        total += sets.recent[place]
    for level in range(sets.rates.size):
        rate = sets.rates[level]
        if rate <= 0.0:
            sets.thresholds[level] = 0.0
        elif rate >= 1.0:
            sets.thresholds[level] = NO_LABEL
        else:
            left, place = rate * total, 0
            while place < N_BINS - 1 and sets.recent[place] < left:
                left -= sets.recent[place]
                place += 1
            within = min(1.0, left / sets.recent[place])
            log_odds = MOST_LOG_ODDS * (2.0 * (place + within) / N_BINS - 1.0)
            sets.thresholds[level] = 1.0 / (1.0 + math.exp(-log_odds))


@kernel(error_model="numpy")
def settle(probability: float, thresholds: FloatArray, sets: Sets) -> None:
    """Learn which probability a label had, and that these were the thresholds when it was said; they may be the own."""
    for level in range(sets.rates.size):
        sets.rates[level] += STEP * (sets.misses[level] - (1.0 if probability < thresholds[level] else 0.0))
    place = N_BINS - 1.0 if probability > 0.5 else 0.0  # where the log odds are infinite
    if 0.0 < probability < 1.0:
        place = (math.log(probability / (1.0 - probability)) / MOST_LOG_ODDS + 1.0) * 0.5 * N_BINS
    for other in range(N_BINS):
        sets.recent[other] *= 1.0 - 1.0 / MEMORY
    sets.recent[int(max(0.0, min(N_BINS - 1.0, place)))] += 1.0
    renew(sets)


@kernel(error_model="numpy")
def follow_rows(
    probabilities: FloatArray,
    labels: IntArray,
    row_weights: FloatArray,
    first: int,
    sets: Sets,
    out: FloatArray,
) -> None:
    """Row by row: the thresholds that hold, of shape (rows, levels), then what the row's label shows.

    Rows before ``first`` show nothing, because their label was in no set before they brought it; nor do those without
    weight.
    """
    for row in range(out.shape[0]):
        for level in range(out.shape[1]):
            out[row, level] = sets.thresholds[level]
        if row >= first and row_weights[row] > 0.0:
            settle(probabilities[row, labels[row]], out[row], sets)


class PredictionSets:
    """The sets of all levels."""

    def __init__(self, coverages: Sequence[float] = (), n_known: int = 0) -> None:
        self.coverages = tuple(coverages)
        self.sets = first_sets(self.coverages)
        self.n_known = n_known  # labels, before the next row

    def __setstate__(self, saved: dict[str, Any]) -> None:
        vars(self).update(saved, sets=writable(saved["sets"]))

    def follow(
        self, probabilities: FloatArray, labels: IntArray, weights: FloatArray, settled: Mapping[int, Issued]
    ) -> FloatArray:
        """The thresholds, row by row; learns from the labels if there are any.

        The rows in ``settled`` teach what was said to them before, and have no thresholds here.
        """
        n_rows, n_classes = probabilities.shape
        out = np.empty((n_rows, len(self.coverages)))
        if labels.size == 0:
            out[:] = self.sets.thresholds
            return out
        brings_label = n_classes > self.n_known  # then it is the first row
        self.n_known = n_classes
        begin = 0
        for place in (*sorted(settled), n_rows):
            part = slice(begin, place)
            first = int(brings_label and begin == 0)
            follow_rows(probabilities[part], labels[part], weights[part], first, self.sets, out[part])
            if place < n_rows:
                label, issued = labels[place], settled[place]
                if label < issued.said.shape[1] and weights[place] > 0.0:
                    settle(issued.said[PROBABILITIES, label], issued.thresholds, self.sets)
            begin = place + 1
        return out

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.sets)

    def settings(self) -> dict[str, Any]:
        return {"coverages": list(self.coverages)}

    def state(self) -> list[FloatArray]:
        return [self.sets.rates, self.sets.recent]

    def restore(self, saved: list[Any], n_classes: int, most_waiting: int) -> None:
        """Take back what ``state`` gave; the rates go on to rise or fall while labels wait."""
        self.n_known = n_classes
        for own, array in zip((self.sets.rates, self.sets.recent), saved, strict=True):
            own[:] = checked_like(array, own, "prediction sets")
        most = (1.0 + MEMORY) * (1.0 + 1e-9)
        if np.any(self.sets.recent <= 0.0) or self.sets.recent.sum() > most:
            raise ValueError("invalid prediction sets: probabilities of recent labels")
        if np.any(np.abs(self.sets.rates - 0.5) > 0.5 + STEP * (1 + most_waiting) + 1e-9):
            raise ValueError("invalid prediction sets: rates")
        renew(self.sets)
