"""All that a booster has learned, and how a block of rows goes in.

A block is planned whole before anything changes. Then it is cut at the rows that bring a new label, feature or
category, and each piece goes through the cascade of every member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Answers, Cascade, answer
from ocoboost.encoding import Additions, Label, Labels, Piece, Row, Schema
from ocoboost.errors import InvalidInputError, WeakLearnerError
from ocoboost.mixture import Mixture, mix_answers
from ocoboost.theory.record import Record
from ocoboost.weak.contract import Block, WeakEnsemble

# Longer blocks are cut too: every member holds its votes on a piece until the next has voted.
MOST_ROWS = 4096
# Beside its own D, every member of a mixture offers one for this gamma: nearly the mode of its votes. Members whose
# votes are spread thin, as those of deep trees are, would lose to blunter but louder ones otherwise.
SHARP_GAMMA = 0.03


class AnyCascade(Protocol):
    """What the state asks of a cascade; the pooled votes are the cascade's own affair."""

    def learn(
        self,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
    ) -> Any:
        """Teach a block of prepared rows to all learners; returns their votes from before each row was learned."""

    def poll(self, ensemble: WeakEnsemble, block: Block, n_classes: int) -> Any:
        """The learners' votes on a block of prepared rows; nothing is learned."""

    def answer(self, pooled: Any) -> Answers:
        """What the pooled votes amount to."""


class Member(NamedTuple):
    """A cascade and its learners."""

    cascade: AnyCascade
    ensemble: WeakEnsemble


class Plan(NamedTuple):
    """What is new in a block, by the row that brings it."""

    labels: dict[int, Label]
    additions: dict[int, Additions]


@dataclass
class State:
    """All that a booster has learned: one member, or several and how they are mixed.

    The last of several is a single learner, which does not count in the members' mean.
    """

    members: list[Member]
    labels: Labels
    seed: int
    schema: Schema = field(default_factory=Schema)
    n_rows: int = 0
    broken: str = ""  # why no more may be learned
    mixture: Mixture | None = field(init=False, default=None)
    record: Record | None = field(init=False, default=None)  # of the rows since `start_recording`

    def __post_init__(self) -> None:
        if len(self.members) > 1:
            self.mixture = Mixture(2 * (len(self.members) + 1))

    def check(self, rows: Sequence[Row]) -> None:
        """Raise if these rows cannot be voted on."""
        self.schema.plan(rows)
        for _, ensemble in self.members:
            ensemble.check(rows, learning=False)

    def plan(self, rows: Sequence[Row], labels: list[Label], weights: FloatArray) -> Plan:
        """Everything new in a block; raises, having changed nothing, if the block cannot be learned."""
        new_labels = self.labels.plan(labels)
        additions = self.schema.plan(rows)
        for _, ensemble in self.members:
            if ensemble.max_classes is not None and len(self.labels) + len(new_labels) > ensemble.max_classes:
                row = sorted(new_labels)[ensemble.max_classes - len(self.labels)]
                raise InvalidInputError(
                    f"y: the label at row {row} is {new_labels[row]!r}, one more than the {ensemble.max_classes} "
                    f"labels that {ensemble.name} tells apart; wrap it in a one-versus-rest classifier."
                )
            if not ensemble.takes_weights and np.any(weights != 1.0):
                row = int(np.argmax(weights != 1.0))
                raise InvalidInputError(
                    f"w: the weight at row {row} is {float(weights[row])!r}, and {ensemble.name} takes no weights; "
                    "leave w out, or boost a learner whose learn_one declares w."
                )
            ensemble.check(rows, learning=True)
        return Plan(new_labels, additions)

    def learn(
        self,
        rows: Sequence[Row],
        labels: list[Label],
        weights: FloatArray,
        plan: Plan,
        see: Callable[[State, Answers], object] | None,
    ) -> None:
        """Learn a planned block; ``see`` is shown the answers to each row from before it was learned, in row order."""
        cuts = sorted({len(rows), *range(0, len(rows), MOST_ROWS), *plan.labels, *plan.additions})
        for first, last in pairwise(cuts):
            with self._breaking():
                if first in plan.labels:
                    # The prediction for a row that brings a new label is made before that label exists.
                    if see is not None:
                        see(self, self.answer(rows[first : first + 1]))
                    self.labels.add(plan.labels[first])
                if first in plan.additions:
                    self.schema.apply(plan.additions[first])
                answers = self._learn_piece(
                    Piece(rows[first:last], self.schema), labels[first:last], weights[first:last], see is not None
                )
                self.n_rows += last - first
            if see is not None:
                see(self, answers.after(1) if first in plan.labels else answers)

    def _learn_piece(self, piece: Piece, labels: list[Label], weights: FloatArray, has_to_answer: bool) -> Answers:
        indices = self.labels.indices(labels)
        n_classes = len(self.labels)
        record = self.record if self.record is not None and self.record.is_open else None
        pooled = []
        for number, (cascade, ensemble) in enumerate(self.members):
            learn = cascade.learn if record is None else partial(record.learn, number)
            block = ensemble.prepare(piece, learning=True)
            pooled.append(learn(ensemble, block, indices, weights, n_classes, self.n_rows))
        if self.mixture is None:
            if record is not None:
                record.add(self.n_rows, n_classes, piece.codes, indices, weights)
            return self.members[0].cascade.answer(pooled[0]) if has_to_answer else Answers.none(len(piece))
        experts = self._experts(pooled)
        answers = _mixed(experts, self.mixture.learn(experts.distributions, indices, weights))
        if record is not None:
            chances = answers.distributions[np.arange(len(indices)), indices]
            record.add(self.n_rows, n_classes, piece.codes, indices, weights, chances)
        return answers

    def start_recording(self, most_rows: int | None) -> Record:
        """From now on keep what the players see; if that is done already, the record so far."""
        if self.record is None:
            cascades = [cascade for cascade, _ in self.members if isinstance(cascade, Cascade)]
            self.record = Record(cascades, most_rows)
        return self.record

    def answer(self, rows: Sequence[Row]) -> Answers:
        """What is said to rows that were checked."""
        if len(self.labels) == 0:
            return Answers.none(len(rows))
        piece = Piece(rows, self.schema)
        pooled = [
            cascade.poll(ensemble, ensemble.prepare(piece, learning=False), len(self.labels))
            for cascade, ensemble in self.members
        ]
        if self.mixture is None:
            return self.members[0].cascade.answer(pooled[0])
        return _mixed(self._experts(pooled), np.tile(self.mixture.weights, (len(rows), 1)))

    def _experts(self, pooled: list[Any]) -> Answers:
        """The members' answers, and that of their mean: each as it is, then sharpened. Axis 0 is the expert."""
        own = [member.cascade.answer(votes) for member, votes in zip(self.members, pooled, strict=True)]
        mean = np.zeros_like(own[0].shares)
        for booster in own[:-1]:
            mean += booster.shares / (len(own) - 1)
        own.append(Answers(mean, mean))
        shares = np.stack([answers.shares for answers in own])
        sharp = answer(shares.reshape(-1, shares.shape[2]), SHARP_GAMMA).distributions.reshape(shares.shape)
        distributions = np.stack([answers.distributions for answers in own])
        return Answers(np.concatenate([distributions, sharp]), np.concatenate([shares, shares]))

    def member_weights(self) -> list[float]:
        """Each member's share in the mixture; the mean of the boosters counts for all of them alike."""
        if self.mixture is None:
            return [1.0]
        *boosters, single, mean = self.mixture.weights.reshape(2, -1).sum(axis=0)
        return [*(float(weight + mean / len(boosters)) for weight in boosters), float(single)]

    def known(self, answers: Answers) -> list[Label | None]:
        """The most probable labels, or None where no label was known."""
        if answers.shares.shape[1] == 0:
            return [None] * len(answers.shares)
        return [self.labels.known[label] for label in answers.labels]

    @contextmanager
    def _breaking(self) -> Iterator[None]:
        """Mark the state as broken unless what happens inside comes to its end."""
        self.broken = f"learning was interrupted at row {self.n_rows}"
        try:
            yield
        except WeakLearnerError as error:
            error.row += self.n_rows  # from the row of the block to the row of the stream
            self.broken = str(error)
            raise
        self.broken = ""


def _mixed(experts: Answers, weights: FloatArray) -> Answers:
    """The experts' answers, averaged with each row's weights, of shape (rows, experts)."""
    mixed = Answers(np.zeros(experts.shares.shape[1:]), np.zeros(experts.shares.shape[1:]))
    mix_answers(experts.distributions, weights, mixed.distributions)
    mix_answers(experts.shares, weights, mixed.shares)
    return mixed
