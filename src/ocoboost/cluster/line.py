"""The stages of a model on a cluster, one behind the other (see ``online.staged.Line``).

Between two stages there is a courier, and little place: a stage that is held up soon holds up those before it, and in
the end whoever sends blocks. So memory stays bounded, here and on the workers.
"""

from __future__ import annotations

import pickle
import queue
import time
import warnings
from typing import Any

from distributed import Client

from ocoboost.cluster.actor import checkpoint_of
from ocoboost.cluster.courier import AHEAD, Courier, Settings, Standing
from ocoboost.errors import SlowStageWarning
from ocoboost.online.stages import Passage, Stage
from ocoboost.stream.state import State

_POLL = 1.0  # seconds between two looks at how the stages are doing


class ClusterLine:
    """Stages on workers."""

    def __init__(
        self, client: Client, stages: list[Stage], fresh: list[Stage], state: State, settings: Settings
    ) -> None:
        workers = sorted(client.nthreads())
        if not workers:
            client.wait_for_workers(1, timeout=settings.patience)
            workers = sorted(client.nthreads())
        self._settings = settings
        self._failure: Exception | None = None
        self._warned: set[tuple[int, int]] = set()
        self._couriers: list[Courier] = []
        for number, (stage, empty) in enumerate(zip(stages, fresh, strict=True)):
            stage.schema = state.schema
            checkpoint = checkpoint_of(stage, state.n_rows, len(state.labels)) if state.n_rows > 0 else None
            told = stage.name, pickle.dumps(empty), checkpoint
            self._couriers.append(Courier(client, number, *told, settings, self._fail))
        self._done: queue.Queue[bytes] = queue.Queue()
        for courier, other in zip(self._couriers, self._couriers[1:], strict=False):
            courier.outbox = other.inbox
        self._couriers[-1].outbox = self._done
        for number, courier in enumerate(self._couriers):
            courier.begin(workers[number % len(workers)])
        for courier in self._couriers:
            courier.start()

    @property
    def most(self) -> int:
        return 2 * AHEAD * len(self._couriers)

    def send(self, passage: Passage) -> None:
        data = pickle.dumps(passage)
        while True:
            self._check()
            try:
                self._couriers[0].inbox.put(data, timeout=_POLL)
                return
            except queue.Full:
                self._look()

    def receive(self) -> Passage:
        while True:
            try:
                passage: Passage = pickle.loads(self._done.get(timeout=_POLL if self._failure is None else 0.0))
                return passage
            except queue.Empty:
                self._check()
                self._look()

    def stages(self) -> list[Stage]:
        self._check()
        return [pickle.loads(courier.stage()) for courier in self._couriers]

    def standing(self) -> list[Standing]:
        """How the stages are doing."""
        return [courier.standing() for courier in self._couriers]

    def close(self) -> None:
        for courier in self._couriers:
            courier.close()
        for courier in self._couriers:
            courier.join(timeout=10.0)

    def _fail(self, error: Exception) -> None:
        self._failure = error if self._failure is None else self._failure

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _look(self) -> None:
        """Say which stage holds the others up, if one does."""
        now, waits = time.monotonic(), []
        for number, courier in enumerate(self._couriers):
            since: Any = courier.waiting_since
            if since is not None and courier.outbox.qsize() < AHEAD:  # not itself held up by the next
                waits.append((now - since, number, courier))
        if not waits:
            return
        seconds, number, courier = max(waits, key=lambda wait: wait[:2])
        if seconds > self._settings.slow_after and (number, courier.n_passed) not in self._warned:
            self._warned.add((number, courier.n_passed))
            warnings.warn(
                f"{courier.stage_name} of {len(self._couriers)} on {courier.worker} holds the others up: its present "
                f"block has taken {seconds:.0f} seconds.",
                SlowStageWarning,
                stacklevel=4,
            )
