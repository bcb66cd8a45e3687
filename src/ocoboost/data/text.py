"""Label statistics of texts: what is known of a city, a user or an address, in flat memory.

A column of text with few categories is given to the learners category by category. One with many cannot be: its
categories beyond the first ``MOST_CATEGORIES`` count as one, and beside them the learners get numbers, the shares of the
labels among the rows that had the same text before, leaning on those among all rows. On a stream that leaks nothing: a
row's statistics are from before the row (CatBoost calls them ordered target statistics).

Counts are kept for hashed texts, in a table of fixed size. With more texts than places some share theirs. Labels are
counted in at most ``MOST_GROUPS`` groups, by their index.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel

MOST_CATEGORIES = 40  # of a column that is given to the learners category by category
MOST_GROUPS = 16
N_PLACES = 2**16
LEANING = 2.0  # weight of the shares among all rows
SHARE = "label share"  # first of three that name a column of statistics: this, the column of text, and the group


def share_column(name: Hashable, group: int) -> tuple[str, Hashable, int]:
    """What a column of statistics is called in the schema."""
    return (SHARE, name, group)


def is_share_column(name: Hashable) -> bool:
    """Whether a column of the schema holds statistics."""
    return isinstance(name, tuple) and len(name) == 3 and name[0] == SHARE


def place_of(text: str) -> int:
    """Where a text's counts are; the same in every process."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % N_PLACES


class TextCounts:
    """Counts of the label groups for the texts of one column."""

    def __init__(self, n_classes: int) -> None:
        self.counts: FloatArray = np.zeros((N_PLACES, 0))
        self.totals: FloatArray = np.zeros(0)  # over all rows
        self.grow(n_classes)

    @property
    def n_groups(self) -> int:
        return len(self.totals)

    @property
    def n_bytes(self) -> int:
        return self.counts.nbytes + self.totals.nbytes

    def grow(self, n_classes: int) -> None:
        """Count more labels."""
        n_new = min(n_classes, MOST_GROUPS) - self.n_groups
        if n_new > 0:
            self.counts = np.hstack([self.counts, np.zeros((N_PLACES, n_new))])
            self.totals = np.append(self.totals, np.zeros(n_new))

    def shares(self, places: IntArray, labels: IntArray | None, weights: FloatArray | None) -> FloatArray:
        """The statistics of each row, of shape (rows, groups); with labels, each row is counted after it was read.

        A place of -1 stands for a missing text: its statistics are missing too.
        """
        out = np.empty((len(places), self.n_groups))
        nobody = np.full(len(places), -1, dtype=np.int64)
        known = nobody if labels is None else labels
        read_and_count(
            places, known, np.ones(len(places)) if weights is None else weights, self.counts, self.totals, out
        )
        return out


@kernel(error_model="numpy")
def read_and_count(
    places: IntArray, labels: IntArray, weights: FloatArray, counts: FloatArray, totals: FloatArray, out: FloatArray
) -> None:
    """Row by row: write the shares of a row's text, then count its label; a label of -1 is not counted."""
    n_groups = totals.size
    for row in range(places.size):
        place = places[row]
        seen, everything = 0.0, 0.0
        for group in range(n_groups):
            everything += totals[group]
            seen += counts[place, group] if place >= 0 else 0.0
        for group in range(n_groups):
            prior = totals[group] / everything if everything > 0.0 else 1.0 / n_groups
            known = (counts[place, group] + LEANING * prior) / (seen + LEANING) if place >= 0 else np.nan
            out[row, group] = known
        if labels[row] >= 0 and place >= 0:
            counts[place, labels[row] % n_groups] += weights[row]
            totals[labels[row] % n_groups] += weights[row]
