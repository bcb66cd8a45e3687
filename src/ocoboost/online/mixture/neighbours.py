"""A memory of the latest rows, and the labels of the nearest of them.

Trees need some dozens of rows to find the shape of a concept; a row that was seen a moment ago shows it at once. The
nearest rows among the latest 64, 256 and 1024 vote, each with a weight of one over its distance. A distance is
Euclidean, in units of each column's range so far; texts are 0 or 1 apart, and so is a missing value from any other.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count, writable
from ocoboost.compiling import kernel
from ocoboost.data.schema import TEXT, Block, Schema

WINDOWS = (64, 256, 1024)
N_NEAREST = 5
_CLOSEST = 1e-9  # added to every distance, so that equal rows have a finite weight
_UNSEEN = -1.0  # in place of a scale

_WINDOWS: IntArray = np.array(WINDOWS)


class Memory(NamedTuple):
    """The latest rows, oldest first from ``next`` on once it is full."""

    rows: FloatArray  # (capacity, columns)
    labels: IntArray  # (capacity,)
    weights: FloatArray  # (capacity,)
    low: FloatArray  # (columns,) the least value so far
    high: FloatArray  # (columns,)
    is_text: IntArray  # (columns,)
    counts: IntArray  # (2,) rows held, and the place of the next one


@kernel(error_model="numpy")
def find_nearest(memory: Memory, x: FloatArray, scale: FloatArray, nearest: FloatArray, out: FloatArray) -> None:
    """Write the votes of the nearest rows in every window to ``out``, of shape (windows, classes).

    ``scale`` has a place for every column, ``nearest`` is (2, neighbours): their distances and their places.
    """
    for column in range(x.size):
        low, high = memory.low[column], memory.high[column]
        if low > high:  # nobody had a value there yet, so that it tells no row from another
            scale[column] = _UNSEEN
            continue
        if x[column] == x[column]:
            low, high = min(low, x[column]), max(high, x[column])
        scale[column] = 1.0 / (high - low) if high > low else 0.0
    for place in range(nearest.shape[1]):
        nearest[0, place] = np.inf
    capacity, n_held = memory.rows.shape[0], int(memory.counts[0])
    n_seen, last = 0, nearest.shape[1] - 1
    for window in range(out.shape[0]):
        while n_seen < min(n_held, _WINDOWS[window]):
            n_seen += 1
            row = (int(memory.counts[1]) - n_seen + capacity) % capacity  # from the latest one back
            distance = _square_distance(memory, row, x, scale, nearest[0, last])
            if distance < nearest[0, last]:
                place = last
                while place > 0 and nearest[0, place - 1] > distance:
                    nearest[0, place] = nearest[0, place - 1]
                    nearest[1, place] = nearest[1, place - 1]
                    place -= 1
                nearest[0, place] = distance
                nearest[1, place] = row
        _take_votes(memory, nearest, out[window])


@kernel(error_model="numpy")
def _square_distance(memory: Memory, row: int, x: FloatArray, scale: FloatArray, most: float) -> float:
    """The squared distance of a row, or at least ``most`` if it is no less."""
    distance = 0.0
    for column in range(x.size):
        value, other = x[column], memory.rows[row, column]
        if value == other or scale[column] == _UNSEEN:
            continue
        if value != value or other != other:
            distance += 0.0 if value != value and other != other else 1.0
        elif memory.is_text[column]:
            distance += 1.0
        else:
            apart = (value - other) * scale[column]
            distance += apart * apart
        if distance >= most:
            break
    return distance


@kernel(error_model="numpy")
def _take_votes(memory: Memory, nearest: FloatArray, out: FloatArray) -> None:
    """The shares of the labels of the nearest rows, whose weights count relative to the heaviest: any may be huge."""
    heaviest, total = 0.0, 0.0
    for place in range(nearest.shape[1]):
        if nearest[0, place] < np.inf:
            heaviest = max(heaviest, memory.weights[int(nearest[1, place])])
    for j in range(out.size):
        out[j] = 0.0
    for place in range(nearest.shape[1]):
        if nearest[0, place] < np.inf:
            row = int(nearest[1, place])
            weight = memory.weights[row] / heaviest / (math.sqrt(nearest[0, place]) + _CLOSEST)
            out[memory.labels[row]] += weight
            total += weight
    for j in range(out.size):
        out[j] = out[j] / total if total > 0.0 else 1.0 / out.size


@kernel(error_model="numpy")
def keep_row(memory: Memory, x: FloatArray, label: int, weight: float) -> None:
    """Put a row into the place of the oldest."""
    place, capacity = int(memory.counts[1]), memory.rows.shape[0]
    for column in range(x.size):
        memory.rows[place, column] = x[column]
        if x[column] == x[column]:
            memory.low[column] = min(memory.low[column], x[column])
            memory.high[column] = max(memory.high[column], x[column])
    memory.labels[place] = label
    memory.weights[place] = weight
    memory.counts[1] = (place + 1) % capacity
    memory.counts[0] = min(int(memory.counts[0]) + 1, capacity)


@kernel(error_model="numpy")
def ask_row(
    memory: Memory,
    x: FloatArray,
    row: int,
    scale: FloatArray,
    nearest: FloatArray,
    answers: FloatArray,
    awake: IntArray,
) -> None:
    """Answer one row of a block, if there is anything to remember."""
    if memory.counts[0] > 0:
        find_nearest(memory, x, scale, nearest, answers[:, row])
        for window in range(awake.shape[0]):
            awake[window, row] = 1


@kernel(error_model="numpy")
def ask_rows(
    memory: Memory,
    rows: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    scale: FloatArray,
    nearest: FloatArray,
    answers: FloatArray,
    awake: IntArray,
) -> None:
    """Row by row: answer, then keep the row with its label, if there are labels and its weight is not zero.

    ``answers`` has shape (windows, rows, classes), ``awake`` (windows, rows).
    """
    for row in range(rows.shape[0]):
        ask_row(memory, rows[row], row, scale, nearest, answers, awake)
        if labels.size > 0 and weights[row] > 0.0:
            keep_row(memory, rows[row], labels[row], weights[row])


class Neighbours:
    """The latest rows of a stream, as many as memory allows."""

    def __init__(self, max_bytes: float | None) -> None:
        self.max_bytes = max_bytes
        self.memory = no_memory()
        self.version = 0  # of the schema that the memory was made for

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.memory)

    def ask(self, block: Block, labels: IntArray, weights: FloatArray, answers: FloatArray, awake: IntArray) -> None:
        """Answer every row of a block; with labels, keep each row after it was answered."""
        if labels.size > 0:
            self.fit(block.schema)
        self.ask_codes(block.codes, labels, weights, answers, awake)

    def ask_codes(
        self, codes: FloatArray, labels: IntArray, weights: FloatArray, answers: FloatArray, awake: IntArray
    ) -> None:
        """``ask``, for rows as codes, when no column is new."""
        n_columns = self.memory.low.size
        if self.memory.rows.shape[0] > 0:
            rows = codes[:, :n_columns].copy()  # row by row, and writable: others are compiled anew
            scale, nearest = np.empty(n_columns), np.empty((2, N_NEAREST))
            ask_rows(self.memory, rows, labels, weights, scale, nearest, answers, awake)

    def fit(self, schema: Schema) -> None:
        """Make the memory hold the columns of a schema; it follows from these alone how many rows fit."""
        if self.version == schema.version:
            return
        self.version = schema.version
        old, new = self.memory, self._made_for(_text_columns(schema))
        if new.rows.shape[0] == 0:
            self.memory = new
            return
        n_old, n_held = old.low.size, min(int(old.counts[0]), new.rows.shape[0])
        latest = (int(old.counts[1]) - n_held + np.arange(n_held)) % max(1, old.rows.shape[0])
        new.rows[:n_held, :n_old] = old.rows[latest]
        new.labels[:n_held] = old.labels[latest]
        new.weights[:n_held] = old.weights[latest]
        new.low[:n_old], new.high[:n_old] = old.low, old.high
        new.counts[:] = n_held, n_held % max(1, new.rows.shape[0])
        self.memory = new

    def _made_for(self, is_text: IntArray) -> Memory:
        """An empty memory for these columns; for none, and no rows, if there is too little memory for one row."""
        n_columns = is_text.size
        capacity = float(WINDOWS[-1])
        if self.max_bytes is not None:
            capacity = min(capacity, (self.max_bytes - 24 * n_columns - 16) // (8 * (n_columns + 2)))
        return _empty(int(capacity), is_text) if capacity > 0 and n_columns > 0 else _empty(0, is_text[:0])

    def __setstate__(self, saved: dict[str, Any]) -> None:
        vars(self).update(saved, memory=writable(saved["memory"]))

    def state(self) -> dict[str, Any]:
        """The rows held, oldest first, and the ranges of the columns."""
        n_held = int(self.memory.counts[0])
        order = (int(self.memory.counts[1]) - n_held + np.arange(n_held)) % max(1, self.memory.rows.shape[0])
        kept = {name: getattr(self.memory, name)[order] for name in ("rows", "labels", "weights")}
        return {"version": self.version, "low": self.memory.low, "high": self.memory.high, **kept}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for what cannot have been learned."""
        version = checked_count(saved["version"], "version of the neighbours' columns")
        low, high, rows = (_floats(saved[name], n) for name, n in (("low", 1), ("high", 1), ("rows", 2)))
        labels, weights = saved["labels"], _floats(saved["weights"], 1)
        n_columns, n_held = len(low), len(rows)
        is_text = _text_columns(schema)
        if version > schema.version or n_columns > len(is_text) or len(high) != n_columns:
            raise ValueError("invalid columns of the neighbours")
        if version == schema.version and n_columns != self._made_for(is_text).low.size:
            raise ValueError("invalid columns of the neighbours")
        memory = self._made_for(is_text[:n_columns])
        if memory.low.size != n_columns:
            raise ValueError("invalid columns of the neighbours")
        if rows.shape != (n_held, n_columns) or len(weights) != n_held or n_held > memory.rows.shape[0]:
            raise ValueError("invalid rows of the neighbours")
        if not isinstance(labels, np.ndarray) or labels.dtype != np.int64 or labels.shape != (n_held,):
            raise ValueError("invalid labels of the neighbours")
        if np.any((labels < 0) | (labels >= n_classes)) or not np.all((weights > 0.0) & (weights < np.inf)):
            raise ValueError("invalid labels of the neighbours")
        if np.any(np.isinf(rows)) or np.any(np.isnan(low)) or np.any(np.isnan(high)):
            raise ValueError("invalid rows of the neighbours")
        for name, array in (("rows", rows), ("labels", labels), ("weights", weights)):
            getattr(memory, name)[:n_held] = array
        memory.low[:], memory.high[:] = low, high
        memory.counts[:] = n_held, n_held % max(1, memory.rows.shape[0])
        self.memory, self.version = memory, version


def no_memory() -> Memory:
    """A memory of no rows and no columns."""
    return _empty(0, np.empty(0, dtype=np.int64))


def _empty(capacity: int, is_text: IntArray) -> Memory:
    n_columns = is_text.size
    return Memory(
        rows=np.full((capacity, n_columns), np.nan),
        labels=np.zeros(capacity, dtype=np.int64),
        weights=np.zeros(capacity),
        low=np.full(n_columns, np.inf),
        high=np.full(n_columns, -np.inf),
        is_text=is_text,
        counts=np.zeros(2, dtype=np.int64),
    )


def _text_columns(schema: Schema) -> IntArray:
    """Whether each column of the matrix holds codes of text."""
    return np.array([schema.kind_of(column) == TEXT for column in schema.columns], dtype=np.int64)


def _floats(array: Any, n_axes: int) -> FloatArray:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != n_axes:
        raise ValueError("invalid numbers of the neighbours")
    return array
