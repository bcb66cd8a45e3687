"""Prepare the next item in a thread while the current one is in use."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items in the same order, one ahead; an error is raised where its item would have been.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(maxsize=1)
    is_over = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> None:
        while not is_over.is_set():
            try:
                ready.put((item, error), timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if is_over.is_set():
                    return
            put(_END)
        except BaseException as error:
            put(None, error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        is_over.set()
        thread.join()
