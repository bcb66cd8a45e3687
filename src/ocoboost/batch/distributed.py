"""Shards of a sample on the workers of a Dask cluster.

Every chunk's state is a pure function of its rows and the hypotheses so far. If a worker is lost, Dask computes its
chunks' states again from their rows; a digest makes sure that the rows have not changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import Client, KilledWorker
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.binning import Binning, find_bins, rows_for_bins
from ocoboost.batch.input import check_enough
from ocoboost.batch.rows import Lesson, Players, Rows

_FAN_IN = 8  # histograms added up by one task


class LostRowsError(RuntimeError):
    """Workers were lost and their rows could not be computed again, or came out differently; nothing was learned."""


class Block(NamedTuple):
    """One chunk's features, labels and weights, not yet computed; the latter may be None."""

    X: Any
    y: Any
    weights: Any


class Survey(NamedTuple):
    """What must be known about all chunks before any can be prepared."""

    n_features: int
    digest: str
    classes: NDArray[Any]
    rows_per_class: IntArray  # with a positive weight
    largest_weight: float
    chosen_rows: FloatArray  # rows used to find bins
    chosen_weights: FloatArray


def _read(block: Block, allow_nan: bool) -> tuple[FloatArray, NDArray[Any], FloatArray, str]:
    """A chunk, checked, and a digest of it."""
    finite: Any = "allow-nan" if allow_nan else True
    X = check_array(
        block.X, dtype=np.float64, order="C", ensure_all_finite=finite, ensure_min_samples=0, input_name="X"
    )
    y, weights = read_labels(block, len(X))
    return X, y, weights, chunk_digest(X, y, weights)


def read_labels(block: Block, n_rows: int) -> tuple[NDArray[Any], FloatArray]:
    """The labels and weights of a chunk, checked."""
    y = column_or_1d(check_array(block.y, dtype=None, ensure_2d=False, ensure_min_samples=0, input_name="y"))
    weights = np.ones(n_rows)
    if block.weights is not None:
        weights = check_array(block.weights, dtype=np.float64, ensure_2d=False, ensure_min_samples=0)
    if not n_rows == len(y) == len(weights):
        lengths = [n_rows, len(y), len(weights)]
        raise ValueError(f"Found input variables with inconsistent numbers of samples in a chunk: {lengths}")
    if (weights < 0.0).any():
        raise ValueError("Negative values in data passed to `sample_weight`")
    return y, weights


def chunk_digest(
    numbers: FloatArray, y: NDArray[Any], weights: FloatArray, texts: Iterable[list[str | None]] = ()
) -> str:
    """By which the same chunk is known again."""
    classes, labels = np.unique(y, return_inverse=True)
    digest = hashlib.blake2b(repr((numbers.shape, classes.tolist())).encode())
    for array in (numbers, weights, labels):
        digest.update(np.ascontiguousarray(array).data)
    for column in texts:
        digest.update(repr(column).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def all_classes(found: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes of all chunks, in order; labels that are no classes are an error."""
    classes = np.unique(np.concatenate(found))
    # scikit-learn takes labels, of which most are different if there are as many as classes: it warns of a regression.
    check_classification_targets(np.repeat(classes, 3))
    return classes


def _survey(block: Block, allow_nan: bool, seed: int, first_row: int, n_rows: int) -> Survey:
    X, y, weights, digest = _read(block, allow_nan)
    classes, labels = np.unique(y, return_inverse=True)
    chosen = rows_for_bins(seed, first_row, len(X), n_rows)
    return Survey(
        X.shape[1],
        digest,
        classes,
        np.bincount(labels[weights > 0.0], minlength=len(classes)),
        float(weights.max()),
        X[chosen],
        weights[chosen],
    )


def _prepare(
    block: Block,
    allow_nan: bool,
    digest: str,
    first_row: int,
    classes: NDArray[Any],
    largest_weight: float,
    binning: Binning | None,
) -> Rows:
    """A chunk in the form that the booster takes; it must not have changed since the survey."""
    X, y, weights, new_digest = _read(block, allow_nan)
    if new_digest != digest:
        raise LostRowsError(f"the chunk that begins with row {first_row} changed before it was read again")
    none = np.empty(0, dtype=np.int64)
    features = X if binning is None else binning.codes(X)
    return Rows(first_row, features, np.searchsorted(classes, y), weights / largest_weight, none, none)


def _advance(function: Callable[..., Players], rows: Rows, players: Players, *args: Any) -> Players:
    """Move a copy of the players: Dask may need the old state again."""
    return function(rows, Players._make(array.copy() for array in players), *args)


def _add(*histograms: IntArray) -> IntArray:
    total = histograms[0].copy()
    for histogram in histograms[1:]:
        total += histogram
    return total


def itself(thing: Any) -> Any:
    return thing


class DaskSample:
    """Shards on a cluster's workers; see ``ocoboost.batch.sample.Sample``."""

    def __init__(self, client: Client, shards: list[Any]) -> None:
        self._client = client
        self._rows = shards
        self._players: list[Any] = []
        self._lessons: list[Any] = []

    def with_rows(self, function: Callable[..., Rows], *args: Any) -> DaskSample:
        return DaskSample(self._client, self._map(function, [self._rows], args))

    def begin(self, function: Callable[..., Players], *args: Any) -> None:
        self._players = self._map(function, [self._rows], args)

    def advance(self, function: Callable[..., Players], *args: Any) -> None:
        # One task holds the hypothesis, and every chunk's task depends on it.
        sent = [self._client.submit(itself, arg, pure=False) for arg in args]
        self._players = [
            self._client.submit(_advance, function, rows, players, *sent, pure=False)
            for rows, players in zip(self._rows, self._players, strict=True)
        ]

    def teach(self, function: Callable[..., Lesson], *args: Any) -> None:
        self._lessons = self._map(function, [self._rows, self._players], args)

    def from_rows(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        return gather(self._client, self._map(function, [self._rows], args))

    def from_players(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        return gather(self._client, self._map(function, [self._rows, self._players], args))

    def from_lessons(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        return gather(self._client, self._map(function, [self._rows, self._players, self._lessons], args))

    def sum_of_lessons(self, function: Callable[..., IntArray], *args: Any) -> IntArray:
        parts = self._map(function, [self._rows, self._players, self._lessons], args)
        while len(parts) > 1:
            few = [parts[first : first + _FAN_IN] for first in range(0, len(parts), _FAN_IN)]
            parts = [self._client.submit(_add, *some, pure=False) for some in few]
        return gather(self._client, parts)[0]  # type: ignore[no-any-return]

    def _map(self, function: Callable[..., Any], shards: list[list[Any]], args: tuple[Any, ...]) -> list[Any]:
        return [self._client.submit(function, *parts, *args, pure=False) for parts in zip(*shards, strict=True)]


def gather(client: Client, futures: list[Any]) -> list[Any]:
    """The results, or an error that names what was lost."""
    try:
        return client.gather(futures)  # type: ignore[no-any-return]
    except (KilledWorker, CancelledError) as error:
        raise LostRowsError(f"workers were lost, and with them rows that cannot be computed again: {error}") from error


class Prepared(NamedTuple):
    """A sample on the workers, and what is known about it as a whole."""

    sample: DaskSample
    classes: NDArray[Any]
    n_features: int
    binning: Binning | None


def prepare(
    client: Client, blocks: list[Block], lengths: list[int], *, max_bins: int | None, allow_nan: bool, seed: int
) -> Prepared:
    """Read every chunk twice: once to check it and to find classes and bins, once to keep it on its worker.

    ``max_bins`` None: the learner is not native and takes the features as they are.
    """
    first_rows = np.cumsum([0, *lengths])
    kept = [number for number, length in enumerate(lengths) if length > 0]
    if not kept:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    survey = dask.delayed(_survey, pure=False)
    planned = [survey(blocks[i], allow_nan, seed, int(first_rows[i]), int(first_rows[-1])) for i in kept]
    surveys: list[Survey] = gather(client, client.compute(planned))
    if len({found.n_features for found in surveys}) > 1:
        raise ValueError("X has chunks with different numbers of features")
    classes = all_classes([found.classes for found in surveys])
    rows_per_class = np.zeros(len(classes), dtype=np.int64)
    for found in surveys:
        rows_per_class[np.searchsorted(classes, found.classes)] += found.rows_per_class
    check_enough(classes, int(first_rows[-1]), rows_per_class)
    largest = max(found.largest_weight for found in surveys)
    binning = None
    if max_bins is not None:
        X = np.concatenate([found.chosen_rows for found in surveys])
        binning = find_bins(X, np.concatenate([found.chosen_weights for found in surveys]) / largest, max_bins)
    prepare_chunk = dask.delayed(_prepare, pure=False)
    shards = [
        prepare_chunk(blocks[i], allow_nan, found.digest, int(first_rows[i]), classes, largest, binning)
        for i, found in zip(kept, surveys, strict=True)
    ]
    return Prepared(DaskSample(client, client.compute(shards)), classes, surveys[0].n_features, binning)
