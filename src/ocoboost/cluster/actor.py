"""A stage on a worker, as a Dask actor.

Everything goes in and out as bytes: whatever Dask does with a message, nobody else holds the arrays that a stage
writes to. Calls may overtake each other on the wire, so they are numbered, and each waits for its turn.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from typing import Any, NamedTuple

from ocoboost.errors import ModelFileError
from ocoboost.online.stages import Stage
from ocoboost.saving import container


class Taken(NamedTuple):
    """What comes of a block at a stage."""

    passage: bytes  # pickled; empty if there was an error
    seconds: float  # that it took
    processor_seconds: float  # of these, what the stage's own thread worked
    error: bytes = b""  # pickled


class Checkpoint(NamedTuple):
    """A stage at one moment."""

    data: bytes  # a file in the format of ``saving.container``, or a pickle if the learners are Python objects
    is_pickle: bool
    schema: bytes  # pickled
    n_rows: int  # learned
    n_classes: int


class StageActor:
    """Holds one stage."""

    def __init__(self) -> None:
        self._stage = Stage([])
        self._next = 0  # the number of the next block
        self._n_rows = self._n_classes = 0
        self._change: asyncio.Condition | None = None

    def begin(self, stage: bytes, number: int, checkpoint: Checkpoint | None) -> None:
        """Hold a fresh stage, or one as it was at a checkpoint; ``number`` is that of the next block."""
        self._stage, self._next = pickle.loads(stage), number
        if checkpoint is not None:
            self._stage = restored(self._stage, checkpoint)
            self._n_rows, self._n_classes = checkpoint.n_rows, checkpoint.n_classes

    async def take(self, number: int, passage: bytes) -> Taken:
        """Let the stage see a block, when all blocks before it have been seen."""
        if self._change is None:
            self._change = asyncio.Condition()
        async with self._change:
            await self._change.wait_for(lambda: self._next == number)
            taken = await asyncio.to_thread(self._take, passage)  # the worker goes on to answer others
            self._next += 1
            self._change.notify_all()
        return taken

    def _take(self, data: bytes) -> Taken:
        started, worked = time.perf_counter(), time.thread_time()
        try:
            passage = pickle.loads(data)
            passed = self._stage.take(passage)
            self._n_rows, self._n_classes = passage.first_row + len(passage.labels), passage.n_classes
            data = pickle.dumps(passed)
            return Taken(data, time.perf_counter() - started, time.thread_time() - worked)
        except Exception as error:
            return Taken(b"", time.perf_counter() - started, time.thread_time() - worked, pickled_error(error))

    def checkpoint(self) -> Checkpoint:
        """The stage as it is now."""
        return checkpoint_of(self._stage, self._n_rows, self._n_classes)

    def stage(self) -> bytes:
        """The stage itself, pickled."""
        return pickle.dumps(self._stage)


def pickled_error(error: Exception) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:  # anything may be in a foreign learner's exception
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def checkpoint_of(stage: Stage, n_rows: int, n_classes: int) -> Checkpoint:
    """All that a stage has learned, in our own format if its learners are not Python objects."""
    told = pickle.dumps(stage.schema), n_rows, n_classes
    try:
        state = stage.state()
    except ModelFileError:
        return Checkpoint(pickle.dumps(stage), True, *told)
    return Checkpoint(b"".join(container.encoded({"stage": state})), False, *told)


def restored(fresh: Stage, checkpoint: Checkpoint) -> Stage:
    """A stage as it was at a checkpoint, from one that has learned nothing."""
    if checkpoint.is_pickle:
        stage: Stage = pickle.loads(checkpoint.data)
        return stage
    with container.opened("the checkpoint of a stage", checkpoint.data) as file:
        saved: Any = file.unpacked()
    schema = pickle.loads(checkpoint.schema)
    fresh.restore(saved["stage"], schema, checkpoint.n_rows, checkpoint.n_classes)
    return fresh
