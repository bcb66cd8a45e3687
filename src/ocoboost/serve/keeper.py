"""One thread owns all models: it answers, and between answers learns the log in blocks.

So no model is ever asked while it learns, and nobody waits for longer than one block of one model takes: after every
block, whoever waits is answered. How blocks are cut changes no bit. Long ones take less time a row, so labels are
gathered for ``LINGER`` seconds, or until there are ``ENOUGH``; and a block is no longer than ``BLOCK_SECONDS`` allow.
Models are saved by another thread: a model may answer meanwhile, and learns when that is done; the others go on.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from ocoboost.errors import InvalidInputError
from ocoboost.serve.database import Reader
from ocoboost.serve.memory import give_back
from ocoboost.serve.reading import Asked, Features, Known, RequestError
from ocoboost.serve.served import Served, part_of
from ocoboost.stream.state import Answered

BLOCK_SECONDS = 0.05
MOST_ROWS = 256  # in a block
ENOUGH = 64  # rows that are learned at once
LINGER = 0.2  # seconds that fewer wait for more
MOST_ANSWERS = 256  # at once
STATUS_EVERY = 1.0  # seconds
SHARE_OF_TIME = 0.05  # at most, for saving large models

logger = logging.getLogger("ocoboost.serve")


class Said(NamedTuple):
    """What a model said to some rows."""

    model: str
    position: int
    answered: Answered
    issued: list[bytes | None]  # what it wants back with each label


class _Waiting(NamedTuple):
    rows: list[Features]
    future: asyncio.Future[Said]


class Keeper(threading.Thread):
    """Answers and learns."""

    def __init__(
        self,
        models: dict[str, Served],
        champion: str,
        reader: Reader,
        last_number: Callable[[], int],
        loop: asyncio.AbstractEventLoop,
        *,
        save: Callable[[Served], None],
        on_saved: Callable[[], None],
        save_every: float,
    ) -> None:
        super().__init__(name="ocoboost-keeper", daemon=True)
        self.models, self.champion = models, champion
        self.known: Known = models[champion].known()
        self.status: dict[str, Any] = {}
        self.n_rows_waiting = 0
        self.save_failure = ""
        self.failure = ""  # why this thread ended, if it was not stopped
        self.is_closed = False
        self.longest_block = 0.0  # seconds since the last status
        self._reader, self._last_number, self._loop = reader, last_number, loop
        self._save, self._on_saved, self._save_every = save, on_saved, save_every
        self._waiting: deque[_Waiting] = deque()
        self._wake = threading.Condition()
        self._has_news = True  # there may be rows to learn
        self._is_stopping = False
        self._saver = ThreadPoolExecutor(1, thread_name_prefix="ocoboost-saver")
        self._saving: dict[str, Future[None]] = {}
        self._saved_at = dict.fromkeys(models, time.monotonic())
        self._save_took = dict.fromkeys(models, 0.0)
        self._turn = 0
        self._behind_since: dict[str, float] = {}  # for models that have rows to learn
        self._said_at = -math.inf
        self._publish()

    # -- called by other threads ---------------------------------------------------------------------------------------

    def ask(self, rows: list[Asked]) -> asyncio.Future[Said]:
        """What the champion says to rows; called by the event loop."""
        future: asyncio.Future[Said] = self._loop.create_future()
        with self._wake:
            if self.is_closed:
                raise RequestError(503, "the models' thread has ended; restart the service.")
            self._waiting.append(_Waiting([row.features for row in rows], future))
            self.n_rows_waiting += len(rows)
            self._wake.notify()
        return future

    def notify(self) -> None:
        """There may be rows to learn."""
        with self._wake:
            self._has_news = True
            self._wake.notify()

    def promote(self, name: str) -> None:
        """From now on this model answers."""
        with self._wake:
            self.champion = name
            self._wake.notify()

    def stop(self) -> None:
        """Finish the block, save all models, and end."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        self.join()

    # -- the thread ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        try:
            while self._step():
                pass
        except BaseException as error:
            self.failure = f"{type(error).__name__}: {error}"
            logger.exception("the thread of the models has ended")
        finally:
            self._saver.shutdown(wait=True)
            if not self.failure:
                for served in self.models.values():
                    self._write(served)
            self._reader.close()
            self._refuse_the_rest()

    def _step(self) -> bool:
        """Answer whoever waits, then learn one block; False once it is time to end."""
        with self._wake:
            if not (self._waiting or self._has_news or self._is_stopping):
                self._wake.wait(timeout=LINGER / 4 if self._behind_since else STATUS_EVERY)
            if self._is_stopping:
                return False
        self._answer()
        self._learn()
        if time.monotonic() - self._said_at >= STATUS_EVERY:
            self._publish()
        return True

    # -- answers -------------------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        """Answer those who wait, together."""
        with self._wake:
            together: list[_Waiting] = []
            n_rows = 0
            while self._waiting and n_rows < MOST_ANSWERS:
                together.append(self._waiting.popleft())
                n_rows += len(together[-1].rows)
            self.n_rows_waiting -= n_rows
            served = self.models[self.champion]
        if together:
            try:
                said = self._said(served, together)
            except BaseException:  # this thread ends, and nobody must wait for it
                with self._wake:
                    self._waiting.extendleft(reversed(together))
                raise
            self._loop.call_soon_threadsafe(_resolve, said)

    def _refuse_the_rest(self) -> None:
        """Nobody will answer those who still wait."""
        with self._wake:
            refusal = RequestError(503, "the service is stopping; try again when it is back.")
            self._loop.call_soon_threadsafe(_resolve, [(waiting.future, refusal) for waiting in self._waiting])
            self._waiting.clear()
            self.is_closed = True

    def _said(self, served: Served, together: list[_Waiting]) -> list[tuple[asyncio.Future[Said], Any]]:
        try:
            answered, issued = served.answer([row for waiting in together for row in waiting.rows])
        except InvalidInputError as error:
            if len(together) == 1:
                return [(together[0].future, RequestError(422, str(error)))]
            return [pair for waiting in together for pair in self._said(served, [waiting])]
        results, first = [], 0
        for waiting in together:
            last = first + len(waiting.rows)
            part = part_of(answered, first, last)
            results.append((waiting.future, Said(served.name, served.position, part, issued[first:last])))
            first = last
        return results

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self) -> None:
        """One block of one model: each that is behind has its turn."""
        self._has_news = False  # before looking: what comes meanwhile is news again
        names = list(self.models)
        for _ in names:
            self._turn = (self._turn + 1) % len(names)
            served = self.models[names[self._turn]]
            if not self._may_learn(served):
                continue
            block = max(1, min(MOST_ROWS, int(BLOCK_SECONDS / served.seconds_per_row)))
            if self._is_enough(served, min(block, ENOUGH)) and (entries := self._reader.after(served.position, block)):
                self._learn_block(served, entries)
                self._has_news = True
                return

    def _is_enough(self, served: Served, enough: int) -> bool:
        """Whether to learn what there is now, rather than wait for more."""
        n_rows, now = self._last_number() - served.position, time.monotonic()
        if n_rows and n_rows < enough and now - self._behind_since.setdefault(served.name, now) < LINGER:
            return False
        self._behind_since.pop(served.name, None)
        return n_rows > 0

    def _may_learn(self, served: Served) -> bool:
        """Whether nobody is saving it; if it is time to, somebody begins to."""
        saving = self._saving.get(served.name)
        if saving is not None:
            if not saving.done():
                return False
            del self._saving[served.name]
        if served.broken:
            return False
        pause = max(self._save_every, self._save_took[served.name] / SHARE_OF_TIME)
        if served.position > served.saved_position and time.monotonic() - self._saved_at[served.name] >= pause:
            self._saving[served.name] = self._saver.submit(self._write, served)
            return False
        return True

    def _learn_block(self, served: Served, entries: list[Any]) -> None:
        began = time.perf_counter()
        try:
            served.learn(entries)
        except Exception as error:  # such as too little memory: the others go on, and a restart replays the log
            served.broken = f"{type(error).__name__}: {error}"
            logger.exception("model %s learns no more", served.name)
        self.longest_block = max(self.longest_block, time.perf_counter() - began)
        if served.name == self.champion:
            self.known = served.known()

    def _write(self, served: Served) -> None:
        """Save a model, in the saver's thread or at the end."""
        began = time.monotonic()
        if served.position == served.saved_position or served.broken:
            return
        try:
            self._save(served)
            self.save_failure = ""
        except Exception as error:  # the log has everything; it is tried again
            self.save_failure = str(error)
            logger.warning("model %s was not saved: %s", served.name, error)
        give_back()
        self._saved_at[served.name] = time.monotonic()
        self._save_took[served.name] = self._saved_at[served.name] - began
        self._on_saved()
        self.notify()

    # -- status --------------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        """Say how things are; whoever reads it gets the whole of one moment."""
        champion = self.models[self.champion]
        self.status = {
            "champion": champion.name,
            "model": champion.portrait(),
            "models": {name: served.standing() for name, served in self.models.items()},
            "suspects": champion.suspects.worst(),
            "longest_block": self.longest_block,
            "save_failure": self.save_failure,
        }
        self.known = champion.known()
        self.longest_block = 0.0
        self._said_at = time.monotonic()


def _resolve(answered: list[tuple[asyncio.Future[Said], Any]]) -> None:
    """Answer those who still wait."""
    for future, result in answered:
        if not future.done():
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)
