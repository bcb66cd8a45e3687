"""The games of `BoostClassifier` on the workers of a Dask cluster.

A tree with pure leaves needs all rows of its game in one place. So the sample is gathered as bytes, and each of the 25
games is one task that depends on it: Dask copies the bytes to every worker that plays. What depends on all rows (the
texts of a column, thresholds, label shares, weights) is found from all rows in the order of their numbers, so chunks do
not matter. Every task is a pure function of the chunks; those of a lost worker are computed again, and a digest makes
sure that the rows have not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import Client, as_completed
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import columns, encoding
from ocoboost.batch.binning import Binning, find_bins, rows_for_bins
from ocoboost.batch.boost import BoostClassifier
from ocoboost.batch.columns import RawColumns
from ocoboost.batch.distributed import Block, LostRowsError, all_classes, chunk_digest, gather, itself, read_labels
from ocoboost.batch.encoding import Encoded, Features, Layout
from ocoboost.batch.portfolio import Lengths, Training, make_training


class DaskCrew:
    """The workers of a cluster; see ``ocoboost.batch.crew.Crew``. Results are futures."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def map(
        self, function: Callable[..., Any], *lists: Iterable[Any], tick: Callable[[], None] | None = None
    ) -> list[Any]:
        futures = [self.client.submit(function, *row, pure=False) for row in zip(*lists, strict=True)]
        if tick is not None:
            for _ in as_completed(futures):
                tick()
        return futures

    def send(self, things: list[Any]) -> list[Any]:
        """Each is the argument of a task: of what is scattered, nothing is left when its worker is lost."""
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):  # large they are
            return [self.client.submit(itself, thing, pure=False) for thing in things]

    def fetch(self, results: list[Any]) -> list[Any]:
        return gather(self.client, results)


class Summary(NamedTuple):
    """What this process must know of a chunk."""

    n_features: int
    digest: str
    classes: NDArray[Any]
    texts: dict[int, set[str]]


class Survey(NamedTuple):
    """What must be known of all chunks before any can be encoded."""

    summary: Summary
    y: NDArray[Any]
    weights: FloatArray
    chosen_rows: FloatArray  # rows used to find bins


class AllRows(NamedTuple):
    """The labels and weights of the sample, and what their thresholds are."""

    labels: IntArray
    weights: FloatArray
    binning: Binning


class Gathered(NamedTuple):
    """A sample in one place."""

    training: Training
    features: Features  # without its rows


class SampleOnWorkers(NamedTuple):
    """A sample that a worker has gathered, and what this process knows about it."""

    training: Any  # a future
    features: Features
    classes: NDArray[Any]
    n_rows: int


def gather_sample(
    client: Client,
    X: Any,
    blocks: list[Block],
    lengths: list[int],
    model: BoostClassifier,
    *,
    game_lengths: Lengths,
    seed: int,
) -> SampleOnWorkers:
    """Read every chunk twice (text once more): to find texts, classes and thresholds, and to encode it."""
    first_rows = np.cumsum([0, *lengths]).tolist()
    kept = [number for number, length in enumerate(lengths) if length > 0]
    if not kept:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    places: tuple[int, ...] = ()
    if _may_hold_text(X):
        found = [dask.delayed(columns.text_places, pure=False)(blocks[i].X) for i in kept]
        places = tuple(sorted(set().union(*gather(client, client.compute(found)))))
    survey = dask.delayed(_survey, pure=False)
    surveys = client.compute([survey(blocks[i], places, seed, first_rows[i], first_rows[-1]) for i in kept])
    summaries: list[Summary] = gather(client, client.map(attrgetter("summary"), surveys, pure=False))
    if len({summary.n_features for summary in summaries}) > 1:
        raise ValueError("X has chunks with different numbers of features")
    classes = all_classes([summary.classes for summary in summaries])
    texts = encoding.code_texts(summary.texts for summary in summaries)
    n_features = summaries[0].n_features
    plain = encoding.plain_places(n_features, texts)
    digests = [summary.digest for summary in summaries]
    rows = client.submit(
        _all_rows, surveys, digests, classes, plain, model.class_weight, model.max_bins, seed, pure=False
    )
    [binning] = gather(client, [client.submit(attrgetter("binning"), rows, pure=False)])
    # One task holds the layout, and every chunk's task depends on it.
    layout = client.submit(itself, Layout(n_features, texts, binning), pure=False)
    encode = dask.delayed(_encode, pure=False)
    encoded = client.compute(
        [encode(blocks[i], places, digest, first_rows[i], layout) for i, digest in zip(kept, digests, strict=True)]
    )
    gathered = client.submit(
        _gather, encoded, layout, rows, len(classes), model.max_bins, game_lengths, seed, pure=False
    )
    training, told = (client.submit(attrgetter(name), gathered, pure=False) for name in Gathered._fields)
    [features] = gather(client, [told])
    return SampleOnWorkers(training, features, classes, first_rows[-1])


def _may_hold_text(X: Any) -> bool:
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype]
    return not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)


def _read(block: Block, places: tuple[int, ...]) -> tuple[RawColumns, NDArray[Any], FloatArray, str]:
    """A chunk, checked, and a digest of it."""
    raw = columns.read_columns(BoostClassifier(), block.X, places=places, is_sample=True)
    y, weights = read_labels(block, len(raw.numbers))
    return raw, y, weights, chunk_digest(raw.numbers, y, weights, raw.texts.values())


def _survey(block: Block, places: tuple[int, ...], seed: int, first_row: int, n_rows: int) -> Survey:
    raw, y, weights, digest = _read(block, places)
    summary = Summary(raw.numbers.shape[1], digest, np.unique(y), encoding.known_texts(raw))
    return Survey(summary, y, weights, raw.numbers[rows_for_bins(seed, first_row, len(y), n_rows)])


def _all_rows(
    surveys: list[Survey],
    digests: list[str],
    classes: NDArray[Any],
    plain: list[int],
    class_weight: Any,
    max_bins: int,
    seed: int,
) -> AllRows:
    if [survey.summary.digest for survey in surveys] != digests:
        raise LostRowsError("a chunk changed before it was read again")
    labels = np.searchsorted(classes, np.concatenate([survey.y for survey in surveys])).astype(np.int64)
    weights = np.concatenate([survey.weights for survey in surveys])
    weights = encoding.relative_weights(labels, classes, weights, class_weight)
    chosen = rows_for_bins(seed, 0, len(labels), len(labels))
    X = np.concatenate([survey.chosen_rows for survey in surveys])
    return AllRows(labels, weights, find_bins(X[:, plain], weights[chosen], max_bins))


def _encode(block: Block, places: tuple[int, ...], digest: str, first_row: int, layout: Layout) -> Encoded:
    raw, _, _, new_digest = _read(block, places)
    if new_digest != digest:
        raise LostRowsError(f"the chunk that begins with row {first_row} changed before it was read again")
    return encoding.encode(raw, layout)


def _gather(
    chunks: list[Encoded],
    layout: Layout,
    rows: AllRows,
    n_classes: int,
    max_bins: int,
    game_lengths: Lengths,
    seed: int,
) -> Gathered:
    labels, weights = rows.labels, rows.weights
    features = encoding.put_together(chunks, layout, labels, weights, n_classes, max_bins, seed)
    training = make_training(features.table, labels, weights, n_classes, game_lengths, seed)
    return Gathered(training, features._replace(table=features.table._replace(codes=features.table.codes[:, :0])))
