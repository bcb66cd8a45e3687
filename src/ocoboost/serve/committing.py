"""One thread writes, and commits what many requests wait for at once.

A commit waits for the disk, and the requests that come in meanwhile share the next one. Each of them is answered only
after its own commit has returned.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ocoboost.serve.database import Database

MOST = 256  # operations in one transaction


class DiskError(Exception):
    """Nothing can be written at the moment; nothing was changed."""


class _Wanted(NamedTuple):
    operation: Callable[[Database], Any]
    future: asyncio.Future[Any] | None


class Committer(threading.Thread):
    """Runs operations on the database in the order in which they come."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop, on_commit: Callable[[], None]) -> None:
        super().__init__(name="ocoboost-committer", daemon=True)
        self.database = database
        self.n_commits = self.n_failures = 0
        self.failure = ""  # why the last transaction failed; empty if it did not
        self._loop, self._on_commit = loop, on_commit
        self._wanted: queue.SimpleQueue[_Wanted | None] = queue.SimpleQueue()

    def submit(self, operation: Callable[[Database], Any]) -> asyncio.Future[Any]:
        """What an operation returns, once it is committed; called by the event loop."""
        future = self._loop.create_future()
        self._wanted.put(_Wanted(operation, future))
        return future

    def post(self, operation: Callable[[Database], Any]) -> None:
        """The same for an operation that nobody waits for; called by any thread."""
        self._wanted.put(_Wanted(operation, None))

    def stop(self) -> None:
        """Commit what was submitted so far, and end."""
        self._wanted.put(None)
        self.join()

    def run(self) -> None:
        is_open = True
        while is_open:
            group: list[_Wanted] = []
            item = self._wanted.get()
            while item is not None:
                group.append(item)
                if len(group) == MOST or self._wanted.empty():
                    break
                item = self._wanted.get()
            is_open = item is not None
            if group:
                self._do(group)

    def _do(self, group: list[_Wanted]) -> None:
        results = self._committed(group)
        if results is None and len(group) > 1:  # one that fails must not take the others with it
            results = [one for wanted in group for one in (self._committed([wanted]) or [self._error()])]
        elif results is None:
            results = [self._error()]
        answered = [(wanted.future, result) for wanted, result in zip(group, results, strict=True) if wanted.future]
        self._loop.call_soon_threadsafe(_resolve, answered)
        self._on_commit()

    def _error(self) -> DiskError:
        return DiskError(self.failure)

    def _committed(self, group: list[_Wanted]) -> list[Any] | None:
        """The results of a transaction; None if it failed."""
        database = self.database
        try:
            database.begin()
            results = [wanted.operation(database) for wanted in group]
            database.commit()
        except (sqlite3.Error, OSError) as error:
            self.n_failures += 1
            self.failure = str(error)
            try:
                database.roll_back()
            except sqlite3.Error as again:
                self.failure = str(again)
            return None
        self.n_commits += 1
        self.failure = ""
        return results


def _resolve(answered: list[tuple[asyncio.Future[Any], Any]]) -> None:
    """Answer those who still wait."""
    for future, result in answered:
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
