"""A model for every key, the latest of them in memory and the rest on disk."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data import tables
from ocoboost.data.labels import Label, as_label
from ocoboost.data.rows import NumberRows, Row
from ocoboost.errors import InvalidInputError, InvalidParameterError, ModelFileError
from ocoboost.keyed.scores import KeyScores
from ocoboost.keyed.store import Store, read_key, spelled_key
from ocoboost.saving.model import describe, model_bytes, read_model
from ocoboost.saving.values import pack, unpack
from ocoboost.stream.protocol import StreamClassifier

OVERHEAD = 16 << 10  # bytes of Python objects that a model in memory takes, beside what it counts itself, about
_FILE = "models.sqlite"


class _Held(NamedTuple):
    """A model in memory."""

    model: StreamClassifier
    scores: KeyScores
    n_bytes: int
    is_changed: bool  # since it was read


class ModelsByKey:
    """A model of its own for every key: a device, a customer, a shop.

    Rows of a key are learned by that key's model alone, in the order in which they come, so that it is bit for bit the
    model that would have been trained on them apart. The models that were used last are in memory; the others lie in
    one file, in the format of `ocoboost.save`, and come back with the same bits.

    Parameters
    ----------
    model
        What the model of a new key is a clone of. With `seed=None` every key draws a seed of its own.
    parent
        A model of the same class and parameters that has learned already; new keys begin with a copy of it. None for
        models that begin with nothing.
    max_size
        MiB for the models in memory, about. At least one is always there.
    folder
        Where the models lie. A folder that has models is taken up where `flush` left it; None for a temporary one.

    Examples
    --------
    >>> from ocoboost import HoeffdingTrees, ModelsByKey
    >>> models = ModelsByKey(HoeffdingTrees(seed=1))
    >>> rows, labels = [{"a": 1.0}, {"a": 2.0}, {"a": 1.0}], ["low", "high", "low"]
    >>> models.predict_learn_many(rows, labels, keys=["north", "south", "north"])
    [None, None, 'low']
    >>> models.predict_one({"a": 1.0}, key="south")
    'high'
    >>> [(key, scores.n_rows, scores.accuracy) for key, scores in models.worst()]
    [('south', 1, 0.0), ('north', 2, 0.5)]
    >>> models.close()

    """

    def __init__(
        self,
        model: StreamClassifier,
        *,
        parent: StreamClassifier | None = None,
        max_size: float = 256.0,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(model, StreamClassifier):
            raise InvalidParameterError(f"ModelsByKey: model must be a model of ocoboost, got {model!r}.")
        model.check_parameters()
        told = describe(model)
        if parent is not None and (parent.state_ is None or describe(parent) != told):
            raise InvalidParameterError(
                "ModelsByKey: parent must be a model with the same class and parameters that has learned something."
            )
        if not max_size > 0:
            raise InvalidParameterError(f"ModelsByKey: max_size must be above 0, got {max_size!r} (MiB).")
        model_bytes(model.clone())  # raises for what no file can hold
        self.model = model
        self.max_size = max_size
        self._temporary = tempfile.TemporaryDirectory(prefix="ocoboost-") if folder is None else None
        self.folder = Path(folder if self._temporary is None else self._temporary.name)  # type: ignore[arg-type]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._store = Store(self.folder / _FILE)
        self._check_about("model", json.dumps(pack(told, [])).encode())
        self._check_about("parent", b"" if parent is None else model_bytes(parent))
        self._parent = None if parent is None else pickle.dumps(parent)
        self._held: OrderedDict[str, _Held] = OrderedDict()  # by the spelling of the key, the latest last
        self._n_bytes = 0
        self._n_rows = self._store.total().n_rows

    def _check_about(self, name: str, value: bytes) -> None:
        """Raise if the folder has models of another kind."""
        known = self._store.about(name)
        if known is None:
            self._store.set_about(name, value)
        elif known != value:
            raise ModelFileError(f"{self._store.path}: its models have another {name}; choose another folder.")

    # -- learning ------------------------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any, key: Hashable, *, w: float = 1.0) -> None:
        """Learn one row with the model of its key."""
        self.learn_many([x], [y], [key], w=[w])

    def learn_many(self, X: Any, y: Any, keys: Any, *, w: Any = None) -> None:
        """Learn a table whose rows have a key each; the same bits as ``learn_one`` on each of them in turn."""
        rows, labels, weights, places = self._read(X, y, keys, w)
        for key, own in places.items():
            with self._taken(key) as held:
                held.model.learn_many(_chosen(rows, own), [labels[row] for row in own], w=weights[own])
            self._put(key, held.model, held.scores)

    def predict_learn_many(self, X: Any, y: Any, keys: Any, *, w: Any = None) -> list[Label | None]:
        """Predict each row with the model of its key, then learn it; counts in the scores.

        Keys are learned one after another: if a row cannot be learned, the error names its key, whose rows in this
        table are not learned; those of keys that came before it are.
        """
        rows, labels, weights, places = self._read(X, y, keys, w)
        said: list[Label | None] = [None] * len(rows)
        for key, own in places.items():
            with self._taken(key) as held:
                told = [labels[row] for row in own]
                answered = list(held.model.prequential(_chosen(rows, own), told, w=weights[own]))
            self._put(key, held.model, held.scores.after(answered, told))
            self._n_rows += len(own)
            for row, label in zip(own, (label for block in answered for label in block.labels), strict=True):
                said[row] = label
        return said

    def _read(
        self, X: Any, y: Any, keys: Any, w: Any
    ) -> tuple[Sequence[Row], list[Label], FloatArray, dict[str, list[int]]]:
        rows = tables.read_rows(X)
        labels, weights = tables.read_labels(y, len(rows)), tables.read_weights(w, len(rows))
        return rows, labels, weights, _places(keys, len(rows))

    # -- predicting ----------------------------------------------------------------------------------------------------

    def predict_one(self, x: dict[Any, Any], key: Hashable) -> Any:
        """The label that the model of a key predicts; a key that is not known is answered as a new one would be."""
        return self.get(key).predict_one(x)

    def predict_proba_one(self, x: dict[Any, Any], key: Hashable) -> dict[Any, float]:
        """The probabilities that the model of a key gives."""
        return self.get(key).predict_proba_one(x)

    def predict_many(self, X: Any, keys: Any) -> list[Label | None]:
        """``predict_one`` of every row."""
        rows = tables.read_rows(X)
        said: list[Label | None] = [None] * len(rows)
        for key, own in _places(keys, len(rows)).items():
            with self._taken(key) as held:
                answered = held.model.answer_many(_chosen(rows, own))
            self._keep_known(key, held)
            for row, label in zip(own, answered.labels, strict=True):
                said[row] = label
        return said

    def get(self, key: Hashable) -> StreamClassifier:
        """The model of a key, as it is; to be asked, not taught. For an unknown key, what it would begin with."""
        spelling = _spelled(key)
        held = self._get(spelling)
        self._keep_known(spelling, held)
        return held.model

    # -- what is known -------------------------------------------------------------------------------------------------

    def __contains__(self, key: Hashable) -> bool:
        spelling = _spelled(key)
        return spelling in self._held or self._store.has(spelling)

    def __len__(self) -> int:
        """The number of keys."""
        self._write_all()
        return len(self._store)

    def __iter__(self) -> Iterator[Hashable]:
        """All keys, in the order of their spelling."""
        self._write_all()
        return self._store.keys()

    @property
    def scores_(self) -> KeyScores:
        """Of all rows that were predicted before they were learned."""
        self._write_all()
        return self._store.total()

    @property
    def n_rows_(self) -> int:
        """The number of rows that were predicted and learned."""
        return self._n_rows

    @property
    def notes(self) -> Any:
        """Numbers and text that belong to the models, kept with them by ``flush``; None if there are none."""
        data = self._store.about("notes")
        return None if data is None else unpack(json.loads(data), [])

    @notes.setter
    def notes(self, notes: Any) -> None:
        self._store.set_about("notes", json.dumps(pack(notes, [])).encode())

    def scores(self, key: Hashable) -> KeyScores:
        """Of the rows of one key."""
        spelling = _spelled(key)
        if spelling in self._held:
            return self._held[spelling].scores
        found = self._store.read(spelling)
        return KeyScores() if found is None else found[1]

    def worst(self, count: int = 10, *, least_rows: int = 1) -> list[tuple[Hashable, KeyScores]]:
        """The keys whose rows were predicted worst, by accuracy, among those with at least so many rows."""
        self._write_all()
        return self._store.worst(count, least_rows)

    @property
    def n_in_memory(self) -> int:
        """How many models are in memory at the moment."""
        return len(self._held)

    # -- memory and disk -----------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write everything to the folder; whoever opens it later, or after a crash, finds this moment."""
        self._write_all()
        self._store.commit()

    def close(self) -> None:
        """Close the folder; what was learned since the last ``flush`` is not kept."""
        self._held.clear()
        self._store.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _fresh(self) -> StreamClassifier:
        if self._parent is not None:
            parent: StreamClassifier = pickle.loads(self._parent)
            return parent
        fresh: StreamClassifier = self.model.clone()
        return fresh

    def _get(self, key: str) -> _Held:
        """The model of a key, which is not held any more until it is put back."""
        held = self._held.pop(key, None)
        if held is not None:
            self._n_bytes -= held.n_bytes
            return held
        found = self._store.read(key)
        if found is None:
            return _Held(self._fresh(), KeyScores(), 0, True)
        data, scores = found
        model, _ = read_model(f"{self._store.path}, key {read_key(key)!r}", data=data)
        return _Held(model, scores, _size(model), False)

    @contextmanager
    def _taken(self, key: str) -> Iterator[_Held]:
        """The model of a key, to be put back; if something is wrong with its rows, it stays as it was."""
        held = self._get(key)
        try:
            yield held
        except BaseException as error:
            self._keep_known(key, held)
            if isinstance(error, InvalidInputError):
                raise InvalidInputError(f"key {read_key(key)!r}: {error}") from None
            raise

    def _keep_known(self, key: str, held: _Held) -> None:
        """Hold a model again that has learned nothing new; one that was only just made is let go."""
        if held.n_bytes > 0:
            self._keep(key, held)

    def _put(self, key: str, model: StreamClassifier, scores: KeyScores) -> None:
        """Hold a model that has learned."""
        self._keep(key, _Held(model, scores, _size(model), True))

    def _keep(self, key: str, held: _Held) -> None:
        """Hold a model as the latest, and write those to disk that were used longest ago, as memory demands."""
        self._held[key] = held
        self._n_bytes += held.n_bytes
        while self._n_bytes > self.max_size * 2**20 and len(self._held) > 1:
            oldest, other = self._held.popitem(last=False)
            self._n_bytes -= other.n_bytes
            self._write(oldest, other)

    def _write(self, key: str, held: _Held) -> None:
        if held.is_changed:
            self._store.write(key, model_bytes(held.model), held.scores)

    def _write_all(self) -> None:
        for key, held in self._held.items():
            self._write(key, held)
            self._held[key] = held._replace(is_changed=False)


def _size(model: StreamClassifier) -> int:
    return model.memory_usage_ + OVERHEAD


def _spelled(key: object, where: str = "the key") -> str:
    return spelled_key(as_label(key, where))


def _places(keys: Any, n_rows: int) -> dict[str, list[int]]:
    """The rows of every key; keys are in the order of their first rows."""
    values = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if isinstance(keys, str | bytes) or len(values) != n_rows:
        raise InvalidInputError(f"keys must hold one key per row: there are {n_rows} rows and {len(values)} keys.")
    places: dict[str, list[int]] = {}
    for row, key in enumerate(values):
        places.setdefault(_spelled(key, f"keys: the key at row {row}"), []).append(row)
    return places


def _chosen(rows: Sequence[Row], own: list[int]) -> Any:
    """Some of the rows of a table."""
    if isinstance(rows, NumberRows):
        return NumberRows(rows.names, rows.values[own], rows.numbers[own])
    return [rows[row] for row in own]
