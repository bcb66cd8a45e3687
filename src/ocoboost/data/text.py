"""Label statistics of texts: what is known of a city, a user or an address, in flat memory.

A column of text with few categories is given to the learners category by category. One with many cannot be: its texts
beyond the first ``MOST_CATEGORIES`` count as one category, and beside them the learners get numbers: the shares of the
labels among the earlier rows with the same text, drawn towards those among all rows. On a stream that leaks nothing,
because a row's shares are from before the row (CatBoost calls them ordered target statistics).

Counts are kept by hash, in tables of fixed size: with more texts than places some share theirs. Labels are counted in
groups, by index modulo the number of groups.
"""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_like
from ocoboost.compiling import kernel

MOST_CATEGORIES = 40  # of a column
MOST_CODES = 2_000  # categories of all columns
MOST_GROUPS = 16  # of labels, for one column
MOST_SHARES = 48  # label shares of all columns
MOST_PLACES = 2**16
LEAST_BYTES = 2 * 8 * MOST_SHARES  # of tables with one place each
LEANING = 2.0  # weight of the shares among all rows
LONGEST = 256  # characters of a category


def n_places(max_bytes: float | None) -> int:
    """Places of a table, a power of two, so that the tables of all columns keep to ``max_bytes``.

    >>> n_places(None), n_places(1e6), n_places(LEAST_BYTES)
    (65536, 2048, 1)
    """
    if max_bytes is None:
        return MOST_PLACES
    affordable = int(max_bytes // (8 * MOST_SHARES)) - 1  # of the totals
    return min(MOST_PLACES, 1 << max(0, affordable.bit_length() - 1))


def category_of(text: str) -> str:
    """What a text is known by: itself, or its beginning and a digest if it is long.

    >>> category_of("Oslo"), len(category_of("x" * 1_000_000))
    ('Oslo', 256)
    """
    if len(text) <= LONGEST:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{text[: LONGEST - len(digest) - 1]}…{digest}"


class TextCounts:
    """Counts of label groups for the texts of one column."""

    def __init__(self, n_places: int) -> None:
        self.counts: FloatArray = np.zeros((0, n_places))  # (groups, places)
        self.totals: FloatArray = np.zeros(0)  # over all rows

    @property
    def n_groups(self) -> int:
        return len(self.totals)

    @property
    def n_bytes(self) -> int:
        return self.counts.nbytes + self.totals.nbytes

    def add_group(self) -> None:
        """Count one more group of labels."""
        self.counts = np.vstack([self.counts, np.zeros((1, self.counts.shape[1]))])
        self.totals = np.append(self.totals, 0.0)

    def place_of(self, text: str) -> int:
        """Where a text's counts are; the same in every process."""
        return zlib.crc32(text.encode("utf-8", "surrogatepass")) % int(self.counts.shape[1])

    def shares(self, texts: list[str | None], labels: IntArray | None, weights: FloatArray | None) -> FloatArray:
        """The label shares of each row's text, of shape (rows, groups); NaN if it is missing.

        With labels, every row is counted after its shares were read.
        """
        places = np.array([-1 if text is None else self.place_of(text) for text in texts], dtype=np.int64)
        out = np.empty((len(places), self.n_groups))
        labels = np.full(len(places), -1, dtype=np.int64) if labels is None else labels
        weights = np.ones(len(places)) if weights is None else weights
        read_and_count(places, labels, weights, self.counts, self.totals, out)
        return out

    def state(self) -> list[FloatArray]:
        """What was counted."""
        return [self.counts, self.totals]

    def restore(self, saved: Any) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for an invalid state."""
        counts, totals = saved
        for own, array in ((self.counts, counts), (self.totals, totals)):
            own[:] = checked_like(array, own, "counts of texts")
            if not np.all((own >= 0.0) & (own < np.inf)):
                raise ValueError("invalid counts of texts")


@kernel(error_model="numpy")
def read_and_count(
    places: IntArray, labels: IntArray, weights: FloatArray, counts: FloatArray, totals: FloatArray, out: FloatArray
) -> None:
    """Row by row: write the label shares of a row's text, then count its label unless that is -1."""
    n_groups = totals.size
    for row in range(places.size):
        place = places[row]
        if place < 0:
            out[row] = np.nan
            continue
        seen, everything = 0.0, 0.0
        for group in range(n_groups):
            everything += totals[group]
            seen += counts[group, place]
        for group in range(n_groups):
            prior = totals[group] / everything if everything > 0.0 else 1.0 / n_groups
            out[row, group] = (counts[group, place] + LEANING * prior) / (seen + LEANING)
        if labels[row] >= 0:
            counts[labels[row] % n_groups, place] += weights[row]
            totals[labels[row] % n_groups] += weights[row]
