"""A progress bar for fits that take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(n_steps: int, is_shown: bool) -> Iterator[Callable[[], None]]:
    """Yields a function to call after each step."""
    if not is_shown:
        yield lambda: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError as error:
        raise ImportError("verbose=True needs Rich for its progress bar: pip install 'ocoboost[cli]'") from error
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns) as progress:
        task = progress.add_task("stages", total=n_steps)
        yield lambda: progress.advance(task)
