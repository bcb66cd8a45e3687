"""The driver: takes a block of rows through all learners of a booster, whichever booster it is.

    for each learner:
        teach     the cells decide what it is taught on every row
        vote      row by row: it votes with what it knows, then learns the row
        see       the cells update their state with its votes

What learner i is taught on row r depends on the votes of learners 1..i-1 on row r; its vote on row r depends on the
rows it has learned before. So the cells (row, learner) may be processed in any order in which a cell follows the
earlier learners of its row and the earlier rows of its learner: by parts (learner by learner over a block, for any
ensemble), in one compiled loop, or as a pipeline over threads (for native ones). A block of one row gives the paper's
order. Results are bit-identical, because draws are keyed by (seed, purpose, row, learner) and sums run in learner
order.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers, projected
from ocoboost.cascade.cells import Cells
from ocoboost.cascade.contract import Prepared, WeakEnsemble
from ocoboost.cascade.kernel import Span, grid_for
from ocoboost.cascade.native import NativeEnsemble
from ocoboost.cascade.pipeline import learn_pipelined
from ocoboost.cascade.seat import Seats
from ocoboost.data.schema import Block, Schema, Widths

_ALONE: IntArray = np.zeros(1, dtype=np.int64)  # the place of the only cascade


class Tape(Protocol):
    """Records the votes of a cascade's learners."""

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Any:
        """``Cells.begin``, with arrays to record votes in."""

    def end(self, rows: Any) -> None:
        """Store the recorded votes after the last learner."""


@dataclass
class Cascade:
    """A booster: its cells and its learners."""

    cells: Cells[Any, Any]
    ensemble: WeakEnsemble
    n_jobs: int = 1  # threads, for native ensembles; the results do not depend on it
    tape: Tape | None = None
    span: Span | None = None  # the learners that it holds, if it is a part of a cascade
    seats: Seats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.seats = Seats([self])

    @property
    def cascades(self) -> list[Cascade]:
        return [self]

    def learn(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        *,
        answering: bool = True,
    ) -> Answers:
        """Teach a block to all learners; with ``answering``, return the answers from before each row was learned."""
        prepared = self.ensemble.prepare(block, learning=True)
        return self.learn_prepared(prepared, labels, weights, n_classes, first_row, answering=answering)

    def learn_prepared(
        self,
        prepared: Prepared,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        *,
        answering: bool = True,
    ) -> Answers:
        """``learn``, for rows in the form that the ensemble takes."""
        begin = self.cells.begin if self.tape is None else self.tape.begin
        rows = begin(labels, weights, n_classes)
        self.advance(rows, prepared, n_classes, first_row)
        if self.tape is not None:
            self.tape.end(rows)
        if not answering:
            return Answers.none(len(labels))
        return self.cells.answers(rows, n_classes, np.arange(first_row, first_row + len(labels)))

    def advance(self, rows: Any, prepared: Prepared, n_classes: int, first_row: int) -> None:
        """Teach a block to the learners that are held here, and move the state of its rows on past them."""
        if isinstance(self.ensemble, NativeEnsemble):
            self.ensemble.grow_classes(n_classes)
            span = self.learners
            learn_pipelined(self.ensemble, self.cells, rows, prepared, n_classes, first_row, self.n_jobs, span)
        else:
            self.learn_by_parts(rows, prepared, n_classes, first_row)

    @property
    def learners(self) -> Span:
        """The learners that are held here."""
        return Span(0, self.cells.n_learners, 0) if self.span is None else self.span

    def part(self, first: int, end: int) -> Cascade:
        """Some of the learners as a cascade that can ``advance`` and ``poll`` the rows that earlier ones pass on."""
        ensemble: Any = self.ensemble
        return Cascade(copy.deepcopy(self.cells), ensemble.part(first, end), self.n_jobs, span=Span(first, end, first))

    def take_back(self, parts: Sequence[Cascade]) -> None:
        """Hold what the parts, in order, have learned."""
        ensemble: Any = type(self.ensemble)
        self.ensemble = ensemble.joined([part.ensemble for part in parts])
        for part in parts:
            self.cells.adopt(part.cells, slice(part.learners.first, part.learners.end))
        self.seats = Seats([self])

    def learn_row(self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int) -> bool:
        """``learn`` for one row, from its codes in the schema of that version; false if it has to go the long way."""
        is_ready = self.seats.are_ready(n_classes, version)
        if is_ready:
            self.seats.learn(codes, label, weight, n_classes, row, _ALONE, np.empty((1, n_classes)))
        return is_ready

    def answer_row(self, codes: FloatArray, n_classes: int, n_learned: int, version: int) -> Answers | None:
        """``answer`` for one row, likewise; None if it has to go the long way."""
        if not self.seats.lock.acquire(blocking=False):
            return None
        try:
            if not self.seats.are_ready(n_classes, version):
                return None
            shares: FloatArray = np.empty((1, n_classes))
            self.seats.poll(codes, n_classes, n_learned, _ALONE, shares)
        finally:
            self.seats.lock.release()
        return Answers(projected(shares, self.cells.gamma), shares)  # type: ignore[attr-defined]

    def learn_by_parts(self, rows: Any, prepared: Prepared, n_classes: int, first_row: int) -> None:
        """Process the block learner by learner, for any ensemble; native ones run the same cells in one kernel."""
        cells, choices = self.cells, self.cells.choices(n_classes)
        grid, cell_scratch, spare = grid_for(choices), cells.scratch(n_classes), np.empty(n_classes)
        label_weights: FloatArray = np.empty((len(prepared), n_classes))
        votes = np.empty_like(label_weights)
        span = self.learners
        for learner in range(span.first, span.end):  # Alg. 1.7, Alg. 4.7: for i = 1, ..., N
            grid.teach_rows(choices, rows, cell_scratch, first_row, learner, label_weights)
            self.ensemble.vote_and_learn(learner - span.held_from, prepared, label_weights, votes)
            grid.see_rows(choices, rows, cell_scratch, first_row, learner, votes, spare)

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        """The answers for a block after ``n_learned`` rows; nothing is learned."""
        rows = self.cells.begin_poll(len(block), n_classes)
        self.poll(rows, block, n_classes, n_learned)
        return self.cells.answers(rows, n_classes, np.full(len(block), n_learned))

    def poll(self, rows: Any, block: Block, n_classes: int, n_learned: int) -> None:
        """Pool the votes of the learners that are held here."""
        cells, is_native = self.cells, isinstance(self.ensemble, NativeEnsemble)
        choices = cells.fused(n_classes) if is_native else cells.choices(n_classes)
        prepared, span = self.ensemble.prepare(block, learning=False), self.learners
        grid, cell_scratch = grid_for(choices), cells.scratch(n_classes)
        if isinstance(self.ensemble, NativeEnsemble):
            self.ensemble.grow_classes(n_classes)
            forest, scratch = self.ensemble.forest, self.ensemble.scratch()
            grid.poll_block(forest, scratch, choices, rows, cell_scratch, prepared, n_classes, n_learned, span)
        else:
            votes, spare = np.empty((len(block), n_classes)), np.empty(n_classes)
            for learner in range(span.first, span.end):
                self.ensemble.vote(learner - span.held_from, prepared, votes)
                grid.pool_rows(choices, rows, cell_scratch, n_learned, learner, votes, spare)

    @property
    def n_bytes(self) -> int | None:
        """Memory used by the learners; None if unknown."""
        return self.ensemble.n_bytes

    def least_size(self, widths: Widths, n_classes: int, max_bytes: float) -> float:
        """The least limit on the whole model with which the learners' share of it is enough for them to work."""
        ensemble = self.ensemble
        if not isinstance(ensemble, NativeEnsemble) or ensemble.max_bytes is None:
            return 0.0
        return ensemble.least_bytes(widths, n_classes) * max_bytes / ensemble.max_bytes

    def settings(self) -> list[dict[str, Any]]:
        """The settings of the booster and its learners, as numbers and strings."""
        return [
            {
                "cells": type(self.cells).__name__,
                "told": self.cells.settings(),
                "ensemble": type(self.ensemble).__name__,
                "rules": self.ensemble.settings(),
            }
        ]

    def state(self) -> dict[str, Any]:
        """What the booster and its learners have learned."""
        return {"cells": self.cells.state(), "ensemble": self.ensemble.state()}

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        """Restore what ``state`` returned; raises ``ValueError`` if it is invalid."""
        most = self.ensemble.max_classes
        if most is not None and n_classes > most:
            raise ValueError(f"{self.ensemble.name} can learn at most {most} labels, got {n_classes}")
        self.ensemble.restore(saved["ensemble"], schema, n_classes)
        self.cells.restore(saved["cells"])
