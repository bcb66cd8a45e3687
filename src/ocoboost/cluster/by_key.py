"""A model per key, with the keys spread over the workers of a Dask cluster.

Which worker has a key follows from its spelling alone. Every worker has a folder of its own for its models; the tables
since the last ``flush`` are remembered here, in bounded space. If a worker is lost, another one opens its folder as it
was at the last ``flush``, and sees these tables again: the same bits. That needs a folder that workers share.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from distributed import Client, default_client

from ocoboost.data import tables
from ocoboost.data.labels import Label, as_label
from ocoboost.data.rows import NumberRows, Row
from ocoboost.errors import InvalidInputError, LostStageError
from ocoboost.keyed.models import ModelsByKey as LocalModelsByKey
from ocoboost.keyed.scores import KeyScores
from ocoboost.keyed.store import spelled_key
from ocoboost.stream.protocol import StreamClassifier

MOST_ATTEMPTS = 5
_POLL = 1.0  # seconds


class ShardActor:
    """Some of the keys, on a worker."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._models = LocalModelsByKey(**options)

    def call(self, method: str, *args: Any) -> tuple[Any, Exception | None]:
        """What a method returns, or what it raises."""
        models = self._models
        try:
            if method.endswith("_weighted"):
                *told, weights = args
                return getattr(models, method.removesuffix("_weighted"))(*told, w=weights), None
            if method == "worst":
                return models.worst(args[0], least_rows=args[1]), None
            return getattr(models, method)(*args), None
        except Exception as error:
            return None, error

    def ask(self, name: str) -> Any:
        """An attribute."""
        return getattr(self._models, name)

    def count(self) -> int:
        return len(self._models)


class _Call(NamedTuple):
    method: str
    args: tuple[Any, ...]
    n_bytes: int


class _Shard:
    """The far end of one worker's keys."""

    def __init__(self, client: Client, number: int, options: dict[str, Any]) -> None:
        self.client, self.number, self._options = client, number, options
        self.worker = ""
        self.log: list[_Call] = []  # since the last flush
        self.n_restarts = 0
        self._future: Any = None
        self._actor: Any = None
        self._open()

    def _open(self) -> None:
        workers = sorted(self.client.nthreads())
        if not workers:
            raise LostStageError(f"shard {self.number + 1} of the keys", "there is no worker")
        others = [worker for worker in workers if worker != self.worker] or workers
        self.worker = others[self.number % len(others)]
        with self.client.as_current():
            self._future = self.client.submit(ShardActor, self._options, actor=True, workers=[self.worker], pure=False)
            self._actor = self._wait(self._future)

    def begin(self, name: str, *args: Any) -> Any:
        """A call whose result ``end`` waits for."""
        try:
            with self.client.as_current():
                return getattr(self._actor, name)(*args)
        except Exception as error:  # Dask knows already that the worker is gone
            return error

    def end(self, begun: Any, name: str, *args: Any) -> Any:
        """What came of a call; if the worker is lost, the shard is opened elsewhere and the call made again."""
        for attempt in range(MOST_ATTEMPTS + 1):
            try:
                if isinstance(begun, Exception):
                    raise begun
                return self._wait(begun)
            except Exception as error:
                why = error
                time.sleep(0.2 * attempt)
                begun = self._reopened(name, *args)
        raise LostStageError(f"shard {self.number + 1} of the keys", f"{type(why).__name__}: {why}")

    def _reopened(self, name: str, *args: Any) -> Any:
        """Open the shard on another worker, as it was at the last flush; tables since then are learned again."""
        self.n_restarts += 1
        try:
            self._open()
            for call in self.log:
                _, error = self._wait(self.begin("call", call.method, *call.args))
                if error is not None and not isinstance(error, InvalidInputError):  # that one was raised before, too
                    return error
            return self.begin(name, *args)
        except LostStageError:
            raise
        except Exception as error:
            return error

    def _wait(self, future: Any) -> Any:
        if isinstance(future, Exception):
            raise future
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                if self.worker not in self.client.nthreads():
                    raise OSError(f"its worker {self.worker} is gone") from None

    def release(self) -> None:
        if self._future is not None:
            self._actor = None
            self._future.release()


class ModelsByKey:
    """``ocoboost.ModelsByKey`` with the keys spread over the workers of a Dask cluster, and the same bits.

    Parameters
    ----------
    model, parent
        As there.
    max_size
        MiB for the models in memory on every worker, about.
    folder
        Where the models lie; if workers are lost it has to be one that all of them can reach. None for a temporary one
        on this machine.
    client
        The cluster's client; None for the current one.
    n_shards
        Into how many parts the keys are divided, each with a worker; None for the number of workers. A folder keeps the
        number that it was made with.
    log_size
        MiB for the tables since the last `flush`, which comes by itself when they are more.

    Examples
    --------
    >>> from distributed import Client
    >>> from ocoboost import HoeffdingTrees
    >>> from ocoboost.dask import ModelsByKey
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     with ModelsByKey(HoeffdingTrees(seed=1), client=client, n_shards=2) as models:
    ...         rows, labels = [{"a": 1.0}, {"a": 2.0}, {"a": 1.0}], ["low", "high", "low"]
    ...         models.predict_learn_many(rows, labels, keys=["north", "south", "north"])
    [None, None, 'low']

    """

    def __init__(
        self,
        model: StreamClassifier,
        *,
        parent: StreamClassifier | None = None,
        max_size: float = 256.0,
        folder: str | os.PathLike[str] | None = None,
        client: Client | None = None,
        n_shards: int | None = None,
        log_size: float = 64.0,
    ) -> None:
        client = default_client() if client is None else client
        self._temporary = tempfile.TemporaryDirectory(prefix="ocoboost-") if folder is None else None
        self.folder = Path(folder if self._temporary is None else self._temporary.name)  # type: ignore[arg-type]
        count = len(list(self.folder.glob("shard-*"))) or n_shards or max(1, len(client.nthreads()))
        if n_shards is not None and n_shards != count:
            raise InvalidInputError(f"{self.folder}: its keys are divided into {count} shards, not {n_shards}.")
        self.log_size = log_size
        self._shards = [
            _Shard(
                client,
                number,
                {"model": model, "parent": parent, "max_size": max_size, "folder": self.folder / f"shard-{number}"},
            )
            for number in range(count)
        ]

    def learn_many(self, X: Any, y: Any, keys: Any, *, w: Any = None) -> None:
        """Learn a table whose rows have a key each."""
        self._learn("learn_many", X, y, keys, w)

    def predict_learn_many(self, X: Any, y: Any, keys: Any, *, w: Any = None) -> list[Label | None]:
        """Predict each row with the model of its key, then learn it; counts in the scores."""
        return self._learn("predict_learn_many", X, y, keys, w)

    def predict_many(self, X: Any, keys: Any) -> list[Label | None]:
        """The label that the model of its key predicts for each row."""
        rows = tables.read_rows(X)
        calls = {
            number: ("predict_many", _chosen(rows, own), [values[row] for row in own])
            for number, own, values in self._places(keys, len(rows))
        }
        return self._scattered(len(rows), keys, self._call(calls))

    @property
    def scores_(self) -> KeyScores:
        """Of all rows that were predicted before they were learned."""
        found: list[KeyScores] = self._ask("ask", "scores_")
        totals = zip(*found, strict=True)
        n_rows, n_right, losses = (sum(column) for column in totals)
        return KeyScores(int(n_rows), int(n_right), float(losses))

    def worst(self, count: int = 10, *, least_rows: int = 1) -> list[tuple[Hashable, KeyScores]]:
        """The keys whose rows were predicted worst, by accuracy, among those with at least so many rows."""
        calls = dict.fromkeys(range(len(self._shards)), ("worst", count, least_rows))
        every = [one for said in self._call(calls).values() for one in said]
        every.sort(key=lambda one: (one[1].accuracy, -one[1].n_rows, spelled_key(one[0])))
        return every[:count]

    def __len__(self) -> int:
        """The number of keys."""
        return sum(self._ask("count"))

    @property
    def n_restarts(self) -> int:
        """How often a shard was opened again because its worker was lost."""
        return sum(shard.n_restarts for shard in self._shards)

    def flush(self) -> None:
        """Write everything to the folder."""
        self._call(dict.fromkeys(range(len(self._shards)), ("flush",)))
        for shard in self._shards:
            shard.log.clear()

    def close(self) -> None:
        """Let the workers forget the models; what was learned since the last ``flush`` is not kept."""
        for shard in self._shards:
            shard.begin("call", "close")
            shard.release()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _learn(self, method: str, X: Any, y: Any, keys: Any, w: Any) -> list[Label | None]:
        rows = tables.read_rows(X)
        labels, weights = tables.read_labels(y, len(rows)), tables.read_weights(w, len(rows))
        calls = {}
        for number, own, values in self._places(keys, len(rows)):
            told = [labels[row] for row in own], [values[row] for row in own]
            calls[number] = (f"{method}_weighted", _chosen(rows, own), *told, weights[own])
        said = self._call(calls, is_logged=True)
        if sum(call.n_bytes for shard in self._shards for call in shard.log) > self.log_size * 2**20:
            self.flush()
        return self._scattered(len(rows), keys, said) if method == "predict_learn_many" else []

    def _places(self, keys: Any, n_rows: int) -> list[tuple[int, list[int], list[Any]]]:
        """The rows of every shard, and all keys."""
        values = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
        if len(values) != n_rows:
            raise InvalidInputError(f"keys must hold one key per row: there are {n_rows} rows and {len(values)} keys.")
        places: dict[int, list[int]] = {}
        for row, key in enumerate(values):
            spelling = spelled_key(as_label(key, f"keys: the key at row {row}"))
            places.setdefault(shard_of(spelling, len(self._shards)), []).append(row)
        return [(number, own, values) for number, own in sorted(places.items())]

    def _call(self, calls: dict[int, tuple[Any, ...]], *, is_logged: bool = False) -> dict[int, Any]:
        """Make calls on several shards at once; raises the first error, when all are done."""
        begun = {number: self._shards[number].begin("call", *call) for number, call in calls.items()}
        said, errors = {}, []
        for number, call in calls.items():
            shard = self._shards[number]
            said[number], error = shard.end(begun[number], "call", *call)
            errors += [] if error is None else [error]
            if is_logged:
                shard.log.append(_Call(call[0], call[1:], _size(call[1])))
        if errors:
            raise errors[0]
        return said

    def _ask(self, name: str, *args: Any) -> list[Any]:
        begun = [shard.begin(name, *args) for shard in self._shards]
        return [shard.end(future, name, *args) for shard, future in zip(self._shards, begun, strict=True)]

    def _scattered(self, n_rows: int, keys: Any, said: dict[int, Any]) -> list[Label | None]:
        """What the shards said, in the order of the rows."""
        labels: list[Label | None] = [None] * n_rows
        for number, own, _ in self._places(keys, n_rows):
            for row, label in zip(own, said[number], strict=True):
                labels[row] = label
        return labels


def shard_of(spelling: str, n_shards: int) -> int:
    """Which shard has a key.

    >>> [shard_of(f'"{letter}"', 4) for letter in "abcdef"]
    [2, 3, 3, 0, 1, 3]
    """
    digest = hashlib.blake2b(spelling.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % n_shards


def _chosen(rows: Sequence[Row], own: list[int]) -> Any:
    if isinstance(rows, NumberRows):
        return NumberRows(rows.names, rows.values[own], rows.numbers[own])
    return [rows[row] for row in own]


def _size(rows: Any) -> int:
    """Bytes of a table, about."""
    if isinstance(rows, NumberRows):
        return 2 * int(rows.numbers.nbytes)
    return sum(200 + 100 * len(row) for row in rows)
