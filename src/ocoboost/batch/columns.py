"""Columns of text and categories, for random trees.

A column with at most ``MOST_PLACES`` texts gives each a code of its own, and trees split them into sets. One with more
gives numbers instead: for the most frequent labels, their share among the rows with the same text, drawn towards their
share among all rows, and how frequent the text is. A row of the sample has the shares among the rows *before* it in an
order that is keyed by row number, so none sees its own label (CatBoost's ordered target statistics). New rows have
those of the whole sample. Texts that were not in the sample count as missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.data.text import category_of
from ocoboost.randomness import CATEGORY_ORDER, draw_rows

MOST_PLACES = 32
MOST_SHARES = 8  # labels whose shares a column of many texts gives
LEANING = 2.0  # weight of the shares among all rows
_TEXT = (nw.String, nw.Categorical, nw.Enum, nw.Object)


class RawColumns(NamedTuple):
    """A table as read: numbers, and texts (None: missing) by their column."""

    numbers: FloatArray  # (rows, features); zero where there is text
    texts: dict[int, list[str | None]]


class TextColumn(NamedTuple):
    """What was learned of a column of text."""

    place: int
    codes: dict[str | None, int]
    shares: FloatArray | None  # (codes + 1, shares + 1) and their logarithmic frequency; None: codes are used

    def encode(self, texts: list[str | None]) -> IntArray:
        """A code for each text; one more than the last for those that are missing or unknown."""
        return np.array([self.codes.get(text, len(self.codes)) for text in texts], dtype=np.int64)


def read_columns(
    estimator: Any, X: Any, *, places: tuple[int, ...] | None = None, is_sample: bool | None = None
) -> RawColumns:
    """Check a table, keeping its text.

    ``places`` are the sample's columns of text, where they are known: for new rows, and for one chunk of the sample.
    """
    is_sample = places is None if is_sample is None else is_sample
    columns = _object_columns(X, places)
    if not any(isinstance(column, list) for column in columns or ()):
        with np.errstate(invalid="ignore"):  # scikit-learn adds all numbers up, and the largest to infinity
            numbers = validate_data(estimator, X, reset=is_sample, dtype=np.float64, ensure_all_finite="allow-nan")
        return RawColumns(numbers, {p: [_text(value) for value in numbers[:, p].tolist()] for p in places or ()})
    assert columns is not None
    validate_data(estimator, X, reset=is_sample, skip_check_array=True)
    texts = {place: column for place, column in enumerate(columns) if isinstance(column, list)}
    as_numbers = [np.zeros(len(c)) if isinstance(c, list) else c for c in columns]
    numbers = check_array(np.column_stack(as_numbers), dtype=np.float64, ensure_all_finite="allow-nan")
    return RawColumns(numbers, texts)


def text_places(X: Any) -> tuple[int, ...]:
    """The columns in which there is text.

    >>> text_places([[1.0, "a"], [2.0, None]])
    (1,)
    """
    return tuple(place for place, column in enumerate(_object_columns(X, None) or ()) if isinstance(column, list))


def _object_columns(X: Any, places: tuple[int, ...] | None) -> list[FloatArray | list[str | None]] | None:
    """Columns of a frame or of an array of objects, those of text as lists; None if it is only numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        for series in frame.iter_columns():
            if series.dtype.is_temporal():
                raise TypeError(
                    f"column {series.name!r} holds dates or times ({series.dtype}); make numbers of them, such as the "
                    "year, the weekday or the seconds since the first, or text"
                )
        if not any(series.dtype in _TEXT for series in frame.iter_columns()) and not places:
            return None
        found = [(series.to_list(), series.dtype in _TEXT) for series in frame.iter_columns()]
    elif isinstance(X, (np.ndarray, list, tuple)):
        array = np.asarray(X, dtype=object) if not isinstance(X, np.ndarray) else X
        if array.ndim != 2 or array.dtype.kind not in "OUS" or not array.size:
            return None
        if not places and not any(isinstance(value, str) for value in array.ravel()):
            return None
        found = [(column.tolist(), True) for column in array.T]
    else:
        return None
    return [_column(values, may_be_text, place in (places or ())) for place, (values, may_be_text) in enumerate(found)]


def _column(values: list[Any], may_be_text: bool, was_text: bool) -> FloatArray | list[str | None]:
    for value in values if may_be_text else ():
        if isinstance(value, (dict, list, set)):
            raise TypeError(f"argument must be a string or a number, not {type(value).__name__!r}")
    is_text = was_text or (may_be_text and any(isinstance(value, str) for value in values))
    if is_text:
        return [_text(value) for value in values]
    return np.array([np.nan if _is_missing(value) else value for value in values], dtype=np.float64)


def _is_missing(value: Any) -> bool:
    """None, NaN, or pandas' NA, which is not even different from itself."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    return category_of(value if isinstance(value, str) else str(value))


def learn_shares(
    codes: IntArray, n_texts: int, labels: IntArray, weights: FloatArray, n_classes: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The numbers of a column of many texts: those of the sample's rows, and those of every text for new rows."""
    order = np.empty(len(labels))
    draw_rows(seed, CATEGORY_ORDER, 0, 0, order)
    counted = np.argsort(-np.bincount(labels, weights, minlength=n_classes), kind="stable")
    shown = counted[: 1 if n_classes == 2 else MOST_SHARES].astype(np.int64)
    before = np.empty((len(codes), len(shown) + 1))
    final = np.empty((n_texts + 1, len(shown) + 1))
    counts = np.zeros((n_texts + 2, n_classes + 1))  # the last row is that of all texts
    count_before(codes, labels, weights, np.argsort(order, kind="stable"), shown, counts, before)
    count_after(counts, shown, final)
    before[:, -1] = final[codes, -1]  # a frequency says nothing about labels
    return before, final


@kernel
def _shares(counts: FloatArray, code: int, shown: IntArray, out: FloatArray) -> None:
    every = counts.shape[0] - 1
    n_classes = counts.shape[1] - 1
    for place in range(shown.size):
        label = shown[place]
        share = (counts[every, label] + 1.0 / n_classes) / (counts[every, n_classes] + 1.0)
        out[place] = (counts[code, label] + LEANING * share) / (counts[code, n_classes] + LEANING)


@kernel
def count_before(
    codes: IntArray,
    labels: IntArray,
    weights: FloatArray,
    order: IntArray,
    shown: IntArray,
    counts: FloatArray,
    out: FloatArray,
) -> None:
    """Each row's label shares among the rows before it; ``counts`` ends with those of all rows."""
    every = counts.shape[0] - 1
    n_classes = counts.shape[1] - 1
    for place in range(order.size):
        row = order[place]
        _shares(counts, codes[row], shown, out[row])
        for where in (codes[row], every):
            counts[where, labels[row]] += weights[row]
            counts[where, n_classes] += weights[row]


@kernel
def count_after(counts: FloatArray, shown: IntArray, out: FloatArray) -> None:
    """Every code's label shares among all rows, and the logarithm of its frequency."""
    for code in range(out.shape[0]):
        _shares(counts, code, shown, out[code])
        out[code, shown.size] = np.log1p(counts[code, counts.shape[1] - 1])


def assemble(raw: RawColumns, learned: Sequence[TextColumn]) -> tuple[FloatArray, list[IntArray]]:
    """Columns of numbers and columns of codes of new rows, each in the order of their places."""
    by_place = {column.place: column for column in learned}
    numbers, codes = [], []
    for place in range(raw.numbers.shape[1]):
        column = by_place.get(place)
        if column is None:
            numbers.append(raw.numbers[:, place : place + 1])
        elif column.shares is None:
            codes.append(column.encode(raw.texts[place]))
        else:
            numbers.append(column.shares[column.encode(raw.texts[place])])
    matrix = np.hstack(numbers) if numbers else np.empty((len(raw.numbers), 0))
    return np.ascontiguousarray(matrix), codes


def original_shares(values: FloatArray, places: IntArray, n_features: int) -> NDArray[np.float64]:
    """What table columns have, added up by original column, as shares of 1 (all zero if there is nothing)."""
    out: FloatArray = np.bincount(places, weights=values, minlength=n_features).astype(np.float64)
    total = out.sum()
    return out / total if total > 0.0 else out
