"""Carries blocks to a stage on a worker and on to the next stage, and begins the stage again if its worker is lost.

A courier remembers the stage's last checkpoint and every block since: enough to make the same stage again elsewhere,
bit for bit. Its log is bounded: when it is full, the stage is asked for a new checkpoint.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from distributed import Client

from ocoboost.cluster.actor import Checkpoint, StageActor, Taken
from ocoboost.errors import LostStageError, OutputFileError

AHEAD = 2  # blocks that a stage has at a time: one that it works on, and the next
MOST_ATTEMPTS = 5  # to begin a stage again
_POLL = 1.0  # seconds between two looks at whether a worker is still there


class Settings(NamedTuple):
    """How a line deals with lost and slow workers."""

    log_bytes: int  # for the blocks since the last checkpoint of a stage; 0: no checkpoints, no log
    folder: Path  # for checkpoints
    patience: float  # seconds to wait for a worker, if there is none
    slow_after: float  # seconds that a block may take at a stage before something is said


class Standing(NamedTuple):
    """How a stage is doing."""

    name: str
    worker: str
    n_blocks: int  # that it has passed on
    seconds: float  # that it had them
    processor_seconds: float  # that it worked on them
    n_restarts: int
    n_logged_bytes: int


class WorkerLostError(Exception):
    """The worker of a stage is gone."""


class Courier(threading.Thread):
    """A stage's own thread."""

    def __init__(
        self,
        client: Client,
        number: int,
        name: str,
        fresh: bytes,
        checkpoint: Checkpoint | None,
        settings: Settings,
        fail: Callable[[Exception], None],
    ) -> None:
        super().__init__(name=f"ocoboost-stage-{number}", daemon=True)
        self.inbox: queue.Queue[bytes | None] = queue.Queue(AHEAD)
        self.outbox: queue.Queue[Any] = self.inbox  # the next stage's inbox, once it is there
        self.stage_name = f"stage {number + 1} ({name})"
        self.n_passed = self.n_restarts = 0
        self.seconds = self.processor_seconds = 0.0
        self.waiting_since: float | None = None
        self.worker = ""
        self._client, self._number, self._fresh, self._settings, self._fail = client, number, fresh, settings, fail
        self._path = settings.folder / f"stage-{number}.oco"
        self._checkpoint: Checkpoint | None = None  # without its data, which is in the file
        self._first = 0  # the number of the first block after the checkpoint
        self._log: deque[bytes] = deque()
        self._logged = 0  # bytes
        self._n_sent = 0
        self._pending: deque[Any] = deque()  # futures
        self._ready: deque[Taken] = deque()  # results that a restart brought
        self._future: Any = None
        self._actor: Any = None
        self._is_closed = threading.Event()
        if checkpoint is not None:
            self._keep(checkpoint)

    # -- the caller's side ---------------------------------------------------------------------------------------------

    def begin(self, worker: str) -> None:
        """Put the stage on a worker."""
        try:
            self._place(worker)
        except WorkerLostError as error:
            self._restart(error)

    def standing(self) -> Standing:
        worked = self.n_passed, self.seconds, self.processor_seconds
        return Standing(self.stage_name, self.worker, *worked, self.n_restarts, self._logged)

    def stage(self) -> bytes:
        """The stage itself, pickled; nothing is on its way."""
        while True:
            try:
                data: bytes = self._ask(self._actor, "stage")
                return data
            except WorkerLostError as error:
                self._restart(error)

    def close(self) -> None:
        """Stop, and let the worker forget the stage."""
        self._is_closed.set()
        self._actor = None
        if self._future is not None:
            self._future.release()
        self._path.unlink(missing_ok=True)

    # -- the thread ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        try:
            with self._client.as_current():
                while not self._is_closed.is_set():
                    self._step()
        except Exception as error:
            if not self._is_closed.is_set():
                self._fail(error)

    def _step(self) -> None:
        """Send one block to the stage, and pass on what has come of earlier ones."""
        try:
            data = self.inbox.get(timeout=_POLL)
        except queue.Empty:
            return
        assert data is not None
        number, self._n_sent = self._n_sent, self._n_sent + 1
        if self._settings.log_bytes > 0:
            self._log.append(data)
            self._logged += len(data)
        self._send(number, data)
        while self._n_waiting and (self._n_waiting >= AHEAD or self.inbox.empty()):
            self._pass_on()
        if self._logged > self._settings.log_bytes > 0:
            while self._n_waiting:
                self._pass_on()
            self._renew()

    @property
    def _n_waiting(self) -> int:
        return len(self._ready) + len(self._pending)

    def _send(self, number: int, data: bytes) -> None:
        if self.waiting_since is None:
            self.waiting_since = time.monotonic()
        try:
            self._pending.append(self._actor.take(number, data))
        except Exception as error:  # Dask knows already that the worker is gone
            self._restart(error, data)

    def _pass_on(self) -> None:
        """Wait for the oldest block at the stage, and give it to the next."""
        taken = self._oldest()
        if taken.error:
            raise pickle.loads(taken.error)
        self.n_passed += 1
        self.seconds += taken.seconds
        self.processor_seconds += taken.processor_seconds
        self.waiting_since = time.monotonic() if self._n_waiting else None
        while not self._is_closed.is_set():
            try:
                self.outbox.put(taken.passage, timeout=_POLL)
                return
            except queue.Full:
                continue

    def _oldest(self) -> Taken:
        """What came of the oldest block at the stage."""
        while not self._ready:
            try:
                taken: Taken = self._result(self._pending[0])
            except WorkerLostError as error:
                self._restart(error)
                continue
            self._pending.popleft()
            return taken
        return self._ready.popleft()

    def _ask(self, actor: Any, method: str, *args: Any) -> Any:
        """What a method of the actor returns."""
        try:
            future = getattr(actor, method)(*args)
        except Exception as error:  # Dask knows already that the worker is gone
            raise WorkerLostError(f"{type(error).__name__}: {error}") from error
        return self._result(future)

    def _result(self, future: Any) -> Any:
        """What an actor's method returns. Dask may never say that the worker is gone, so we look."""
        while not self._is_closed.is_set():
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                if self.worker not in self._client.nthreads():
                    raise WorkerLostError(f"its worker {self.worker} is gone") from None
            except Exception as error:  # stages catch their own
                raise WorkerLostError(f"{type(error).__name__}: {error}") from error
        raise WorkerLostError("the line was closed")

    # -- checkpoints and restarts --------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """Take a new checkpoint, and forget the blocks before it."""
        try:
            checkpoint = self._ask(self._actor, "checkpoint")
        except WorkerLostError as error:
            self._restart(error)
            return  # the log is a little longer than it should be, until the next block
        self._keep(checkpoint)
        self._first, self._logged = self._n_sent, 0
        self._log.clear()

    def _keep(self, checkpoint: Checkpoint) -> None:
        new = self._path.with_suffix(".new")
        try:
            new.write_bytes(checkpoint.data)
            new.replace(self._path)
        except OSError as error:
            why = f"{self._path}: the checkpoint of {self.stage_name} cannot be written ({error.strerror or error})."
            raise OutputFileError(why) from error
        self._checkpoint = checkpoint._replace(data=b"")

    def _place(self, worker: str) -> None:
        """Make the stage, as it was at its checkpoint, on a worker."""
        with self._client.as_current():
            future = self._client.submit(StageActor, actor=True, workers=[worker], pure=False)
            self.worker = worker
            actor = self._result(future)
            checkpoint = self._checkpoint
            if checkpoint is not None:
                checkpoint = checkpoint._replace(data=self._path.read_bytes())
            self._ask(actor, "begin", self._fresh, self._first, checkpoint)
            self._future, self._actor = future, actor

    def _restart(self, why: Exception, *unlogged: bytes) -> None:
        """Begin the stage again on some worker, and let it see all blocks since its checkpoint."""
        if self._settings.log_bytes == 0 or self._is_closed.is_set():
            raise LostStageError(self.stage_name, f"{why}, and nothing was kept to begin it from (log_size is 0)")
        n_due = self._n_waiting + (1 if unlogged else 0)  # of the latest blocks, what comes of them was not passed on
        for attempt in range(MOST_ATTEMPTS):
            time.sleep(0.2 * attempt)
            self.n_restarts += 1
            try:
                self._place(self._find_worker(why))
                taken = [self._replayed(self._first + place, data) for place, data in enumerate(self._log)]
            except WorkerLostError as error:
                why = error
                continue
            except OSError as error:
                raise LostStageError(self.stage_name, f"its checkpoint cannot be read ({error})") from error
            self._ready = deque(taken[len(taken) - n_due :])
            self._pending.clear()
            return
        raise LostStageError(self.stage_name, f"{MOST_ATTEMPTS} attempts have failed, the last with: {why}")

    def _replayed(self, number: int, data: bytes) -> Taken:
        taken: Taken = self._ask(self._actor, "take", number, data)
        return taken

    def _find_worker(self, why: Exception) -> str:
        """A worker other than the one that was lost, if need be one that is still to come."""
        deadline = time.monotonic() + self._settings.patience
        while True:
            present = set(self._client.nthreads())
            others = sorted(present - {self.worker}) or sorted(present)
            if others:
                chosen: str = others[self._number % len(others)]
                return chosen
            if time.monotonic() > deadline or self._is_closed.is_set():
                seconds = self._settings.patience
                raise LostStageError(self.stage_name, f"{why}, and no other worker has come in {seconds:g} seconds")
            time.sleep(0.2)
