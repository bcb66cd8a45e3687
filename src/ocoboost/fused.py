"""The cascade inside one compiled kernel, for native ensembles.

The same cells as in the loop by parts, with the same row kernels for what is taught and what a vote changes
(``cells``). What differs is only that votes and label weights of one row and learner live in scratch room and never
become matrices. A block of one row serves ``learn_one``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cells import pool_cell, see_cell, teach_cell
from ocoboost.compiling import kernel
from ocoboost.weak.native import NativeEnsemble, needs_room, vote_and_learn_row, vote_row

# Rows that a stage carries through its learners before it passes them on: small enough to fill the pipeline soon,
# large enough that a tree stays in cache and a call costs nothing.
ROWS_PER_STEP = 64
# Early learners are taught more labels than late ones, so equal stages take unequal times: several per thread even out.
STAGES_PER_THREAD = 2


@kernel(error_model="numpy")
def learn_block(
    forest: Any,
    scratch: Any,
    loop: Any,
    games: Any,
    room: Any,
    block: FloatArray,
    n_classes: int,
    first_row: int,
    learners: tuple[int, int],
    reached: IntArray,
) -> bool:
    """Teach a block to the learners of a range, from the cell ``reached`` (learner, row) on.

    Stops early when a tree needs more room, with ``reached`` at the cell to go on from, and returns false.
    """
    taught, vote, spare = scratch.taught, scratch.vote, scratch.slope
    for learner in range(reached[0], learners[1]):
        for row in range(reached[1], block.shape[0]):
            if needs_room(forest, learner, scratch):
                reached[0] = learner
                reached[1] = row
                return False
            teach_cell(loop, games, room, row, first_row + row, learner, taught)
            vote_and_learn_row(forest, learner, block[row], taught, scratch, n_classes, vote)
            see_cell(loop, games, room, row, first_row + row, learner, n_classes, vote, spare)
        reached[1] = 0
    reached[0] = learners[1]
    return True


@kernel(error_model="numpy")
def poll_block(
    forest: Any, scratch: Any, loop: Any, games: Any, room: Any, block: FloatArray, n_classes: int, n_learned: int
) -> None:
    """Pool the votes of all learners on every row; nothing is learned."""
    vote, spare = scratch.vote, scratch.slope
    for learner in range(loop.n_learners):
        for row in range(block.shape[0]):
            vote_row(forest, learner, block[row], scratch, n_classes, vote)
            pool_cell(loop, games, room, row, n_learned, learner, n_classes, vote, spare)


@contextmanager
def announcing_compilation(_done: list[bool] = [False]) -> Iterator[None]:  # noqa: B006, the one piece of state
    """Say on standard error, once, that kernels are being compiled, if the first call takes more than two seconds."""
    if _done[0]:
        yield
        return
    message = "ocoboost: compiling (first use only; later processes start from the cache)"
    timer = threading.Timer(2.0, lambda: print(message, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _done[0] = True


def learn_pipelined(
    ensemble: NativeEnsemble, loop: Any, games: Any, block: FloatArray, n_classes: int, first_row: int, n_jobs: int
) -> None:
    """Carry a block through all learners, on ``n_jobs`` threads.

    The learners are cut into stages and the rows into steps. A cell needs its learner's earlier rows and its row's
    earlier learners, and nothing else: so a stage may take a step once it has finished the step before and the stage
    before has finished this step, and every number of threads gives the same bits.
    """
    n_steps = -(-len(block) // ROWS_PER_STEP)
    n_threads = min(n_jobs, loop.n_learners, n_steps)
    gate = _Gate()

    def learn(rows: slice, learners: tuple[int, int], scratch: Any, room: Any) -> None:
        reached = np.array([learners[0], 0])
        part, part_of_block = games.part(rows), block[rows]
        while True:
            with gate.shared():
                done = learn_block(
                    ensemble.forest,
                    scratch,
                    loop,
                    part,
                    room,
                    part_of_block,
                    n_classes,
                    first_row + rows.start,
                    learners,
                    reached,
                )
            if done:
                return
            with gate.alone():
                if ensemble.needs_room(int(reached[0])):  # another thread may have made some meanwhile
                    ensemble.make_room()

    if n_threads <= 1:  # learner by learner over the whole block: every tree is fetched from memory once
        learn(slice(0, len(block)), (0, loop.n_learners), ensemble.scratch(), loop.make_room())
        return
    n_stages = min(STAGES_PER_THREAD * n_threads, loop.n_learners)
    edges = [loop.n_learners * stage // n_stages for stage in range(n_stages + 1)]
    schedule = _Schedule(n_stages, n_steps)

    def work() -> None:
        scratch, room = ensemble.scratch(), loop.make_room()
        with schedule.stopping_all_on_failure():
            while (task := schedule.take()) is not None:
                stage, step = task
                rows = slice(step * ROWS_PER_STEP, (step + 1) * ROWS_PER_STEP)
                learn(rows, (edges[stage], edges[stage + 1]), scratch, room)
                schedule.finish(stage)

    with ThreadPoolExecutor(n_threads) as pool:
        for future in [pool.submit(work) for _ in range(n_threads)]:
            future.result()


class _Schedule:
    """Which stage may take which step next."""

    def __init__(self, n_stages: int, n_steps: int) -> None:
        self._change = threading.Condition()
        self._n_steps = n_steps
        self._n_finished = [0] * n_stages
        self._is_running = [False] * n_stages
        self._failed = False

    def take(self) -> tuple[int, int] | None:
        """A stage and a step that are ready, once there are any; None when all is done."""
        with self._change:
            while not self._failed and self._n_finished[-1] < self._n_steps:
                ready = [stage for stage in range(len(self._n_finished)) if self._is_ready(stage)]
                if ready:
                    stage = min(ready, key=lambda stage: self._n_finished[stage])  # oldest rows first
                    self._is_running[stage] = True
                    return stage, self._n_finished[stage]
                self._change.wait()
            return None

    def _is_ready(self, stage: int) -> bool:
        n_arrived = self._n_steps if stage == 0 else self._n_finished[stage - 1]
        return not self._is_running[stage] and self._n_finished[stage] < n_arrived

    def finish(self, stage: int) -> None:
        with self._change:
            self._is_running[stage] = False
            self._n_finished[stage] += 1
            self._change.notify_all()

    @contextmanager
    def stopping_all_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with self._change:
                self._failed = True
                self._change.notify_all()
            raise


class _Gate:
    """Many threads may work on the trees at once; making room needs them all to stand aside."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._n_inside = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._change:
            self._n_inside += 1
        try:
            yield
        finally:
            with self._change:
                self._n_inside -= 1
                self._change.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._change:
            self._change.wait_for(lambda: self._n_inside == 0)
            yield
