"""Threads that are kept between calls: a pool for every number of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache


@cache
def pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads for whoever asks; they wait when there is nothing to do."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="ocoboost")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # a fork has none of its parent's threads


def run_all(tasks: Sequence[Callable[[], None]], n_threads: int) -> None:
    """Run all tasks, in this order as threads become free; returns, or raises the first error, when none is running."""
    if n_threads <= 1 or len(tasks) <= 1:
        for task in tasks:
            task()
        return
    threads = pool(n_threads)
    futures = [threads.submit(task) for task in tasks]
    try:
        wait(futures)
    except BaseException:  # Ctrl-C: what has begun must end before anybody looks at the members
        for future in futures:
            future.cancel()
        wait(futures)
        raise
    for future in futures:
        future.result()
