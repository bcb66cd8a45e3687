"""A sample as bytes: every cell becomes the number of a bin or the code of a text.

The rows may come in chunks. What depends on all of them is found first (``Layout``: the texts of each column, and the
thresholds of the numbers); then each chunk is encoded by itself, and at last the chunks are put together. Columns of
many texts wait until then, because their numbers depend on the labels of all rows before a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_sample_weight

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import MOST_BINS, Binning, Codes, find_bins, rows_for_bins
from ocoboost.batch.columns import MOST_PLACES, RawColumns, TextColumn, learn_shares
from ocoboost.batch.forest_keys import Table
from ocoboost.batch.input import check_enough

TextCodes = dict[str | None, int]


class Layout(NamedTuple):
    """What is known of the columns before any cell is encoded."""

    n_features: int
    texts: dict[int, TextCodes]  # by place
    binning: Binning  # of the columns of numbers

    @property
    def plain(self) -> list[int]:
        """The columns of numbers."""
        return plain_places(self.n_features, self.texts)


class Encoded(NamedTuple):
    """The cells of some rows."""

    numbers: Codes  # (columns of numbers, rows)
    texts: dict[int, NDArray[np.int32]]  # the codes of each column of text


class Features(NamedTuple):
    """A sample's table, and what new rows need to become one."""

    n_features: int
    table: Table
    places: IntArray  # the original column of each of the table's
    texts: tuple[TextColumn, ...]
    binning: Binning


def plain_places(n_features: int, texts: Mapping[int, Any]) -> list[int]:
    return [place for place in range(n_features) if place not in texts]


def known_texts(raw: RawColumns) -> dict[int, set[str]]:
    """The texts of each column."""
    return {place: {text for text in texts if text is not None} for place, texts in raw.texts.items()}


def code_texts(chunks: Iterable[Mapping[int, set[str]]]) -> dict[int, TextCodes]:
    """A code for each text of all chunks, in alphabetical order.

    >>> code_texts([{1: {"b"}}, {1: {"a", "b"}}])
    {1: {'a': 0, 'b': 1}}
    """
    every: dict[int, set[str]] = {}
    for chunk in chunks:
        for place, texts in chunk.items():
            every.setdefault(place, set()).update(texts)
    return {place: {text: code for code, text in enumerate(sorted(texts))} for place, texts in sorted(every.items())}


def relative_weights(
    labels: IntArray, classes: NDArray[Any], weights: FloatArray, class_weight: Any = None
) -> FloatArray:
    """Weights whose mean over the rows that have one is 1, so that a strength counts rows."""
    if class_weight is not None:
        weights = weights * compute_sample_weight(class_weight, classes[labels])
    has_weight = weights > 0.0
    check_enough(classes, len(labels), np.bincount(labels[has_weight], minlength=len(classes)))
    return weights / weights[has_weight].mean()  # type: ignore[no-any-return]


def encode(raw: RawColumns, layout: Layout) -> Encoded:
    """The cells of some rows."""
    numbers = layout.binning.codes(raw.numbers[:, layout.plain])
    texts = {
        place: TextColumn(place, codes, None).encode(raw.texts[place]).astype(np.int32)
        for place, codes in layout.texts.items()
    }
    return Encoded(np.ascontiguousarray(numbers.T), texts)


def put_together(
    chunks: Sequence[Encoded],
    layout: Layout,
    labels: IntArray,
    weights: FloatArray,
    n_classes: int,
    max_bins: int,
    seed: int,
) -> Features:
    """The table of all rows: numbers in the order of their columns, then categories in theirs."""
    plain = np.concatenate([chunk.numbers for chunk in chunks], axis=1)
    chosen = rows_for_bins(seed, 0, len(labels), len(labels))
    numbers, categories, thresholds = [], [], []
    places, category_places, learned = [], [], []
    n_plain = 0
    for place in range(layout.n_features):
        if place not in layout.texts:
            first, last = layout.binning.starts[n_plain : n_plain + 2]
            thresholds.append(layout.binning.thresholds[first:last])
            numbers.append(plain[n_plain : n_plain + 1])
            places.append(place)
            n_plain += 1
            continue
        texts = layout.texts[place]
        codes = np.concatenate([chunk.texts[place] for chunk in chunks])
        column = TextColumn(place, texts, None)
        if len(texts) <= MOST_PLACES:
            categories.append(codes.astype(np.uint8)[None, :])
            category_places.append(place)
        else:
            shares, final = learn_shares(codes.astype(np.int64), len(texts), labels, weights, n_classes, seed)
            bins = find_bins(shares[chosen], weights[chosen], max_bins)
            thresholds += [bins.thresholds[first:last] for first, last in itertools.pairwise(bins.starts)]
            numbers.append(bins.codes(shares).T)
            places += [place] * shares.shape[1]
            column = column._replace(shares=final)
        learned.append(column)
    starts = np.cumsum([0, *map(len, thresholds)]).astype(np.int64)
    binning = Binning(np.concatenate([*thresholds, np.empty(0)]), starts)
    sizes = [len(column.codes) for column in learned if column.shares is None]
    missing = np.append(binning.n_bins, sizes).astype(np.int64)
    table = table_of([*numbers, *categories], len(places), missing, edges_of(binning, len(missing)))
    every_place = np.array(places + category_places, dtype=np.int64)
    return Features(layout.n_features, table, every_place, tuple(learned), binning)


def table_of(codes: Sequence[Codes], n_numbers: int, missing: IntArray, edges: FloatArray) -> Table:
    """Parts of (columns, rows), of which the first ``n_numbers`` columns are numbers."""
    every = np.ascontiguousarray(np.vstack(codes))
    return Table(every, missing, np.arange(len(every)) >= n_numbers, edges)


def edges_of(binning: Binning, n_columns: int) -> FloatArray:
    """The thresholds of every column in a row of its own; categories have none."""
    out = np.zeros((n_columns, MOST_BINS + 1))
    for column, (first, last) in enumerate(itertools.pairwise(binning.starts)):
        out[column, : last - first] = binning.thresholds[first:last]
    return out
