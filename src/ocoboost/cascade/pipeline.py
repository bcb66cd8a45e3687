"""A block of rows through a native ensemble on several threads, bit-identical to one thread.

The learners are cut into stages and the rows into tiles. A cell needs its learner's earlier rows and its row's earlier
learners, and nothing else: so a stage may take a tile once it has finished the previous tile and the previous stage
has finished this one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.cascade.cells import Cells
from ocoboost.cascade.kernel import Span, grid_for
from ocoboost.cascade.native import NativeEnsemble

# Rows that a stage carries through its learners before it passes them on: few enough to fill the pipeline soon,
# and enough that a tree stays in cache and the cost of a call is negligible.
ROWS_PER_TILE = 64
# Early learners are taught more labels than late ones, so equal stages take unequal times: each thread has several.
STAGES_PER_THREAD = 2


def learn_pipelined(
    ensemble: NativeEnsemble,
    cells: Cells[Any, Any],
    rows: Any,
    features: FloatArray,
    n_classes: int,
    first_row: int,
    n_jobs: int,
    span: Span,
) -> None:
    """Carry a block through a range of learners, on ``n_jobs`` threads."""
    choices = cells.fused(n_classes)
    learn_block = grid_for(choices).learn_block
    n_tiles = -(-len(features) // ROWS_PER_TILE)
    n_learners = span.end - span.first
    n_threads = min(n_jobs, n_learners, n_tiles)
    gate = _Gate()

    def learn(tile: slice, learners: Span, scratch: Any, cell_scratch: Any) -> None:
        reached = np.array([learners.first, 0])
        tile_rows, tile_features = rows.tile(tile), features[tile]
        row = first_row + tile.start
        while True:
            with gate.shared():
                done = learn_block(
                    ensemble.forest,
                    scratch,
                    choices,
                    tile_rows,
                    cell_scratch,
                    tile_features,
                    n_classes,
                    row,
                    learners,
                    reached,
                )
            if done:
                return
            with gate.alone():
                # Another thread may have grown the arrays in the meantime.
                if ensemble.is_full(int(reached[0]) - span.held_from):
                    ensemble.grow()

    if n_threads <= 1:  # learner by learner over the whole block: every tree is fetched from memory once
        learn(slice(0, len(features)), span, ensemble.scratch(), cells.scratch(n_classes))
        return
    n_stages = min(STAGES_PER_THREAD * n_threads, n_learners)
    edges = [span.first + n_learners * stage // n_stages for stage in range(n_stages + 1)]
    schedule = _Schedule(n_stages, n_tiles)

    def work() -> None:
        scratch, cell_scratch = ensemble.scratch(), cells.scratch(n_classes)
        with schedule.stopping_all_on_failure():
            while (task := schedule.take()) is not None:
                stage, number = task
                tile = slice(number * ROWS_PER_TILE, (number + 1) * ROWS_PER_TILE)
                learn(tile, Span(edges[stage], edges[stage + 1], span.held_from), scratch, cell_scratch)
                schedule.finish(stage)

    with ThreadPoolExecutor(n_threads) as pool:
        for future in [pool.submit(work) for _ in range(n_threads)]:
            future.result()


class _Schedule:
    """Which stage may take which tile next."""

    def __init__(self, n_stages: int, n_tiles: int) -> None:
        self._change = threading.Condition()
        self._n_tiles = n_tiles
        self._n_finished = [0] * n_stages
        self._is_running = [False] * n_stages
        self._failed = False

    def take(self) -> tuple[int, int] | None:
        """Wait for a stage and a tile that are ready; None when everything is done."""
        with self._change:
            while not self._failed and self._n_finished[-1] < self._n_tiles:
                ready = [stage for stage in range(len(self._n_finished)) if self._is_ready(stage)]
                if ready:
                    stage = min(ready, key=lambda stage: self._n_finished[stage])  # oldest rows first
                    self._is_running[stage] = True
                    return stage, self._n_finished[stage]
                self._change.wait()
            return None

    def _is_ready(self, stage: int) -> bool:
        n_arrived = self._n_tiles if stage == 0 else self._n_finished[stage - 1]
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
    """Lets many threads work on the trees at once, or a single one, which grows the arrays."""

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
