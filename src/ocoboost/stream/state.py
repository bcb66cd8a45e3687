"""All that a classifier has learned, and how a block of rows goes in.

A block is planned whole before anything changes. Then it is cut at the rows that bring a new label, feature or
category, and each of these shorter blocks goes through the engine: one cascade, or several that are mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers, in_sets
from ocoboost.cascade.cascade import Cascade
from ocoboost.data.costs import Costs
from ocoboost.data.labels import Label, Labels
from ocoboost.data.rows import Row
from ocoboost.data.schema import Additions, Block, Schema, Widths
from ocoboost.data.text import LEAST_BYTES, n_places
from ocoboost.errors import InvalidInputError, WeakLearnerError

# Longer blocks are cut too: every member of a mixture holds its votes on a block until the next has voted.
MOST_ROWS = 4096
MOST_VOTES = 2**18  # rows times classes
SHARE_OF_LEARNERS = 0.875  # of a model's memory; what all of these leave is for names, categories and labels
SHARE_OF_TABLES = 0.0625  # for the statistics of texts
SHARE_OF_LEDGER = 0.03125  # for what was said under a key


def left_for_members(max_bytes: float, own_bytes: int) -> float:
    """The limit that members divide among them, where the mixture's own weights take so much of the learners' share.

    >>> left_for_members(100_000.0, 14_000)
    84000.0
    """
    return max(max_bytes - own_bytes / SHARE_OF_LEARNERS, 1e-6 * max_bytes)  # never 0: what is missing can be told


class Engine(Protocol):
    """What the state asks of its booster; a ``Cascade`` is one."""

    @property
    def cascades(self) -> Sequence[Cascade]:
        """Every cascade in it."""

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
        """Teach a block; returns the answers from before each row was learned, if they are wanted."""

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        """What is said to a block when so many rows are learned; nothing is learned."""

    @property
    def n_bytes(self) -> int | None:
        """Memory of all that was learned; None if nobody counts that of the learners."""

    def least_size(self, widths: Widths, n_classes: int, max_bytes: float) -> float:
        """The least limit on the whole model that leaves its parts enough to work, if they divide it as they do now."""

    def learn_row(self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int) -> bool:
        """``learn`` for one row, from its codes in the schema of that version; false if it has to go the long way."""

    def answer_row(self, codes: FloatArray, n_classes: int, n_learned: int, version: int) -> Answers | None:
        """``answer`` for one row, likewise; None if it has to go the long way."""

    def settings(self) -> list[dict[str, Any]]:
        """What every cascade was told; engines with equal settings learn alike."""

    def state(self) -> dict[str, Any]:
        """What was learned, as numbers, words and arrays."""

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for what cannot have been learned."""


class Recorder(Protocol):
    """Someone who keeps the rows of a run; what the learners said to them is on the cascades' tapes."""

    @property
    def is_open(self) -> bool:
        """Whether another block is to be kept."""

    def add(
        self,
        first_row: int,
        n_classes: int,
        features: FloatArray,
        labels: IntArray,
        weights: FloatArray,
        chances: FloatArray | None = None,
    ) -> None:
        """Keep a block that was learned; ``chances`` are D[y] of every row, if several cascades were mixed."""


class Plan(NamedTuple):
    """What is new in a block, by the row that brings it."""

    labels: dict[int, Label]
    additions: dict[int, Additions]


class Answered(NamedTuple):
    """What a model said to consecutive rows, before it learned them if it did."""

    first_row: int  # their place in the call
    classes: list[Label]  # the columns of the arrays; a label that the first row brought has 0 there
    labels: list[Label | None]  # the most probable ones; None if no label was known
    distributions: FloatArray  # (rows, classes)
    vote_shares: FloatArray  # (rows, classes)
    probabilities: FloatArray  # (rows, classes) the distributions, unless a mixture has better ones
    thresholds: FloatArray  # (rows, levels) of the prediction sets: see ``in_sets``; no levels if there are no sets

    def in_sets(self, number: int, *, allow_empty: bool = False) -> NDArray[np.bool_]:
        """Which labels are in the prediction sets of the level with that number; (rows, classes)."""
        return in_sets(self.probabilities, self.thresholds[:, number], allow_empty=allow_empty)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.labels)


@dataclass
class State:
    """All that a classifier has learned."""

    engine: Engine
    labels: Labels
    seed: int
    schema: Schema = field(default_factory=Schema)
    n_rows: int = 0
    broken: str = ""  # why no more may be learned
    max_bytes: float | None = None  # the most that all of it may take
    costs: Costs | None = None  # of mistakes, if they are not all alike
    ledger_share: float = 0.0  # of the memory, for what was said under a key
    record: Recorder | None = field(init=False, default=None)  # of the rows since an account was opened

    def limited(self, max_size: float | None) -> State:
        """This state, if nothing was learned, with a limit in MiB on its memory."""
        if max_size is not None:
            self.max_bytes = float(max_size) * 2**20
            self.schema = Schema(n_places(SHARE_OF_TABLES * self.max_bytes))
        return self

    @property
    def n_bytes(self) -> int | None:
        """Memory of all that was learned; None if nobody counts that of the learners."""
        n_bytes = self.engine.n_bytes
        return None if n_bytes is None else n_bytes + self.schema.n_bytes + self.labels.n_bytes

    def check(self, rows: Sequence[Row]) -> None:
        """Raise if these rows cannot be voted on."""
        self.schema.plan(rows)
        for cascade in self.engine.cascades:
            cascade.ensemble.check(rows, learning=False)

    def plan(self, rows: Sequence[Row], labels: list[Label], weights: FloatArray) -> Plan:
        """Everything new in a block; raises, having changed nothing, if the block cannot be learned."""
        new_labels = self.labels.plan(labels)
        additions = self.schema.plan(rows)
        for cascade in self.engine.cascades:
            ensemble = cascade.ensemble
            if ensemble.max_classes is not None and len(self.labels) + len(new_labels) > ensemble.max_classes:
                row = sorted(new_labels)[ensemble.max_classes - len(self.labels)]
                raise InvalidInputError(
                    f"y: the label at row {row} is {new_labels[row]!r}, one more than the {ensemble.max_classes} "
                    f"labels that {ensemble.name} can tell apart; wrap it in a one-versus-rest classifier."
                )
            if not ensemble.takes_weights and np.any(weights != 1.0):
                row = int(np.argmax(weights != 1.0))
                raise InvalidInputError(
                    f"w: the weight at row {row} is {float(weights[row])!r}, and {ensemble.name} takes no weights; "
                    "leave w out, or boost a learner whose learn_one declares w."
                )
            ensemble.check(rows, learning=True)
        if self.max_bytes is not None and (new_labels or additions or self.n_rows == 0):
            self._check_size(self.max_bytes, additions, new_labels)
        return Plan(new_labels, additions)

    def _check_size(self, max_bytes: float, additions: dict[int, Additions], new_labels: dict[int, Label]) -> None:
        """Raise if what is new lifts the least memory that works above the limit."""
        n_classes = len(self.labels) + len(new_labels)
        widths, n_bytes = self.schema.widths(additions.values(), n_classes)
        n_bytes += self.labels.n_bytes + Labels.size_of(new_labels.values())
        share = 1.0 - SHARE_OF_LEARNERS - SHARE_OF_TABLES - self.ledger_share
        least = max(n_bytes / share, LEAST_BYTES / SHARE_OF_TABLES)
        least = max(least, self.engine.least_size(widths, n_classes, max_bytes))
        if least > max_bytes:
            raise InvalidInputError(
                f"max_size={max_bytes / 2**20:g} MiB is too little for {widths.n_numbers} numbers, {widths.n_texts} "
                f"columns of text and {n_classes} labels; the least that works is "
                f"{math.ceil(least / 2**20 * 100) / 100:g} MiB."
            )

    def learn(
        self,
        rows: Sequence[Row],
        labels: list[Label],
        weights: FloatArray,
        plan: Plan,
        *,
        answering: bool,
        whole: bool = True,
    ) -> Iterator[Answered]:
        """Learn a planned block; yields, in row order, the answers to rows that were learned meanwhile, if wanted.

        Unless the call is ``whole``, whoever advances the iterator may leave off after any of them. If learning ends
        anywhere else, the state is marked as broken.
        """
        return self._learn(rows, labels, weights, plan, answering, whole, self.n_rows)

    def _learn(
        self,
        rows: Sequence[Row],
        labels: list[Label],
        weights: FloatArray,
        plan: Plan,
        answering: bool,
        whole: bool,
        n_before: int,
    ) -> Iterator[Answered]:
        for first, last in self.cuts(len(rows), plan):  # Alg. 1.1, Alg. 4.1: for t = 1, ..., T, in blocks
            if self.n_rows != n_before + first:
                raise InvalidInputError(
                    f"the model has learned other rows since row {first} of this run was checked; "
                    "finish one prequential run before the next call that learns."
                )
            before = None
            try:
                if answering and first in plan.labels:  # the row that brings a label is answered without it
                    before = self.answer(rows[first : first + 1], is_alone=len(rows) == 1)
                self.broken = f"learning was interrupted at row {self.n_rows}"
                self.add(plan, first)
                own = slice(first, last)
                is_alone = len(rows) == 1
                answers = self._learn_block(rows[own], labels[own], weights[own], answering, is_alone)
            except WeakLearnerError as error:
                error.row += self.n_rows  # from the row of the block to the row of the stream
                if self.broken:
                    self.broken = str(error)
                raise
            self.n_rows += last - first
            if last == len(rows) or not whole:
                self.broken = ""
            if answering:
                yield self.answered_with(first, answers, before)

    def cuts(self, n_rows: int, plan: Plan, most: int | None = None) -> list[tuple[int, int]]:
        """The blocks in which so many rows are learned: cut where something is new, and not too long."""
        length = max(
            1, min(MOST_ROWS if most is None else most, MOST_VOTES // max(1, len(self.labels) + len(plan.labels)))
        )
        return list(pairwise(sorted({n_rows, *range(0, n_rows, length), *plan.labels, *plan.additions})))

    def add(self, plan: Plan, row: int) -> None:
        """Add the label, columns and categories that a row brings."""
        if row in plan.labels:
            self.labels.add(plan.labels[row])
            self.schema.add_labels(len(self.labels))
        if row in plan.additions:
            self.schema.apply(plan.additions[row], len(self.labels))

    def _learn_block(
        self, rows: Sequence[Row], labels: list[Label], weights: FloatArray, answering: bool, is_alone: bool
    ) -> Answers:
        indices = self.labels.indices(labels)  # Alg. 1.6, Alg. 4.6: receive y
        # Alg. 1.2, Alg. 4.2: receive x
        block = Block.to_learn(rows, self.schema, indices, weights, is_alone=is_alone)
        n_classes = len(self.labels)
        record = self.record if self.record is not None and self.record.is_open else None
        is_mixed = len(self.engine.cascades) > 1
        answering = answering or (record is not None and is_mixed)
        answers = self.engine.learn(block, indices, weights, n_classes, self.n_rows, answering=answering)
        if record is not None:
            chances = answers.distributions[np.arange(len(indices)), indices] if is_mixed else None
            record.add(self.n_rows, n_classes, block.codes, indices, weights, chances)
        return answers

    def learn_row(self, codes: FloatArray, label: int, weight: float) -> bool:
        """Learn one row of known columns and label, if it may take the short way."""
        if self.broken or self.record is not None:
            return False
        self.broken = f"learning was interrupted at row {self.n_rows}"
        is_learned = self.engine.learn_row(codes, label, weight, len(self.labels), self.n_rows, self.schema.version)
        self.n_rows += is_learned
        self.broken = ""
        return is_learned

    def answer_row(self, codes: FloatArray) -> Answers | None:
        """What is said to one row of known columns, if it may take the short way."""
        return self.engine.answer_row(codes, len(self.labels), self.n_rows, self.schema.version)

    def answer(self, rows: Sequence[Row], *, is_alone: bool | None = None) -> Answers:
        """What is said to rows that were checked; a single one is alone unless it was cut out of many."""
        if len(self.labels) == 0:
            return Answers.none(len(rows))
        is_alone = len(rows) == 1 if is_alone is None else is_alone
        return self.engine.answer(Block(rows, self.schema, is_alone), len(self.labels), self.n_rows)

    def chosen(self, answers: Answers) -> IntArray:
        """The labels to predict, by their indices: the most probable ones, or the cheapest."""
        if self.costs is None or answers.shares.shape[1] == 0:
            return answers.labels
        return self.costs.cheapest(answers.label_probabilities, self.labels.known[: answers.shares.shape[1]])

    def answered(self, rows: Sequence[Row]) -> Answered:
        """The same with labels as the caller knows them."""
        return self.answered_with(0, self.answer(rows))

    def answered_with(self, first_row: int, answers: Answers, before: Answers | None = None) -> Answered:
        """With the caller's labels; ``before`` answered the first row when its label was not known yet."""
        if before is not None:
            answers.set_first(before)
        classes = list(self.labels.known[: answers.shares.shape[1]])
        labels: list[Label | None] = (
            [classes[index] for index in self.chosen(answers)] if classes else [None] * len(answers.shares)
        )
        if before is not None and before.shares.shape[1] == 0:
            labels[0] = None
        probabilities = answers.label_probabilities
        thresholds = np.zeros((len(labels), 0)) if answers.thresholds is None else answers.thresholds
        return Answered(first_row, classes, labels, answers.distributions, answers.shares, probabilities, thresholds)
