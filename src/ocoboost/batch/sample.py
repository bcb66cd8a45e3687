"""All rows of a sample in shards, and functions applied to each of them.

A booster asks only for what ``Sample`` offers, so it does not know whether the shards lie in one array, are worked on
by threads, or live on a cluster (``ocoboost.dask``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, Self

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch.rows import Lesson, Players, Rows


class Sample(Protocol):
    """Shards of rows, their players, and the lesson of the current stage. Functions are those of ``rows``."""

    def with_rows(self, function: Callable[..., Rows], *args: Any) -> Self:
        """Another sample, whose shards are ``function(rows, *args)``; players and lessons are not kept."""

    def begin(self, function: Callable[..., Players], *args: Any) -> None:
        """Set every shard's players to ``function(rows, *args)``."""

    def advance(self, function: Callable[..., Players], *args: Any) -> None:
        """Set every shard's players to ``function(rows, players, *args)``."""

    def teach(self, function: Callable[..., Lesson], *args: Any) -> None:
        """Set every shard's lesson to ``function(rows, players, *args)``."""

    def from_rows(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """``function(rows, *args)`` of every shard, in row order."""

    def from_players(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """``function(rows, players, *args)`` of every shard, in row order."""

    def from_lessons(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """``function(rows, players, lesson, *args)`` of every shard, in row order."""

    def sum_of_lessons(self, function: Callable[..., IntArray], *args: Any) -> IntArray:
        """The sum of ``function(rows, players, lesson, *args)`` over all shards."""


class LocalSample:
    """Shards in this process, each worked on by its own thread."""

    def __init__(self, shards: list[Rows], executor: ThreadPoolExecutor | None = None) -> None:
        self._rows = shards
        self._players: list[Players] = []
        self._lessons: list[Lesson] = []
        self._executor = executor

    @classmethod
    @contextmanager
    def cut(cls, X: Any, labels: IntArray, weights: FloatArray, n_jobs: int) -> Iterator[LocalSample]:
        """Shards of nearly equal length, one for each thread."""
        none = np.empty(0, dtype=np.int64)
        edges = np.linspace(0, len(labels), max(1, min(n_jobs, len(labels))) + 1).astype(int)
        shards = [
            Rows(int(first), X[first:last], labels[first:last], weights[first:last], none, none)
            for first, last in itertools.pairwise(edges)
        ]
        if len(shards) == 1:
            yield cls(shards)
        else:
            with ThreadPoolExecutor(len(shards)) as executor:
                yield cls(shards, executor)

    def with_rows(self, function: Callable[..., Rows], *args: Any) -> LocalSample:
        return LocalSample(self.from_rows(function, *args), self._executor)

    def begin(self, function: Callable[..., Players], *args: Any) -> None:
        self._players = self.from_rows(function, *args)

    def advance(self, function: Callable[..., Players], *args: Any) -> None:
        self._players = self.from_players(function, *args)

    def teach(self, function: Callable[..., Lesson], *args: Any) -> None:
        self._lessons = self.from_players(function, *args)

    def from_rows(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        return self._map(lambda rows: function(rows, *args), self._rows)

    def from_players(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        return self._map(lambda rows, players: function(rows, players, *args), self._rows, self._players)

    def from_lessons(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        shards = self._rows, self._players, self._lessons
        return self._map(lambda rows, players, lesson: function(rows, players, lesson, *args), *shards)

    def sum_of_lessons(self, function: Callable[..., IntArray], *args: Any) -> IntArray:
        total, *others = self.from_lessons(function, *args)
        for other in others:
            total += other
        return total  # type: ignore[no-any-return]

    def _map(self, function: Callable[..., Any], *shards: list[Any]) -> list[Any]:
        return list((map if self._executor is None else self._executor.map)(function, *shards))
