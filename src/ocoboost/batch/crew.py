"""Who plays the games of `BoostClassifier`: the threads of this process, or the workers of a cluster.

The booster asks only for what ``Crew`` offers. What ``map`` returns may be given to ``map`` again, so that tables and
games stay where they are; only what is fetched travels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol


class Crew(Protocol):
    """Calls functions, and keeps what they return."""

    def map(
        self, function: Callable[..., Any], *lists: Iterable[Any], tick: Callable[[], None] | None = None
    ) -> list[Any]:
        """``function`` of the first items of all lists, of the second ones, ...; ``tick`` is called after each."""

    def send(self, things: list[Any]) -> list[Any]:
        """Things of this process, in the form that ``map`` takes."""

    def fetch(self, results: list[Any]) -> list[Any]:
        """What ``map`` returned, in this process."""


class LocalCrew:
    """Threads of this process."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def map(
        self, function: Callable[..., Any], *lists: Iterable[Any], tick: Callable[[], None] | None = None
    ) -> list[Any]:
        def call(arguments: tuple[Any, ...]) -> Any:
            result = function(*arguments)
            if tick is not None:
                tick()
            return result

        rows = list(zip(*lists, strict=True))
        if self.n_jobs == 1:
            return list(map(call, rows))
        with ThreadPoolExecutor(self.n_jobs) as executor:
            return list(executor.map(call, rows))

    def send(self, things: list[Any]) -> list[Any]:
        return things

    def fetch(self, results: list[Any]) -> list[Any]:
        return results
