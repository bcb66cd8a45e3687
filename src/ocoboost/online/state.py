"""All that a booster has learned, and how a block of rows goes in.

A block is planned whole before anything changes. Then it is cut at the rows that bring a new label, feature or
category, and each piece goes through the cascade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.cascade import Cascade, PooledVotes
from ocoboost.encoding import Additions, Label, Labels, Row, Schema
from ocoboost.errors import InvalidInputError, WeakLearnerError
from ocoboost.weak.contract import WeakEnsemble


class Plan(NamedTuple):
    """What is new in a block, by the row that brings it."""

    labels: dict[int, Label]
    additions: dict[int, Additions]


@dataclass
class State:
    """All that a booster has learned."""

    cascade: Cascade
    ensemble: WeakEnsemble
    labels: Labels
    schema: Schema = field(default_factory=Schema)
    n_rows: int = 0
    broken: str = ""  # why no more may be learned

    def check(self, rows: Sequence[Row]) -> None:
        """Raise if these rows cannot be voted on."""
        self.schema.plan(rows)
        self.ensemble.check(rows, learning=False)

    def plan(self, rows: Sequence[Row], labels: list[Label], weights: FloatArray) -> Plan:
        """Everything new in a block; raises, having changed nothing, if the block cannot be learned."""
        ensemble = self.ensemble
        new_labels = self.labels.plan(labels)
        if ensemble.max_classes is not None and len(self.labels) + len(new_labels) > ensemble.max_classes:
            row = sorted(new_labels)[ensemble.max_classes - len(self.labels)]
            raise InvalidInputError(
                f"y: the label at row {row} is {new_labels[row]!r}, one more than the {ensemble.max_classes} labels "
                f"that {ensemble.name} tells apart; wrap it in a one-versus-rest classifier."
            )
        if not ensemble.takes_weights and np.any(weights != 1.0):
            row = int(np.argmax(weights != 1.0))
            raise InvalidInputError(
                f"w: the weight at row {row} is {float(weights[row])!r}, and {ensemble.name} takes no weights; "
                "leave w out, or boost a learner whose learn_one declares w."
            )
        additions = self.schema.plan(rows)
        ensemble.check(rows, learning=True)
        return Plan(new_labels, additions)

    def learn(
        self,
        rows: Sequence[Row],
        labels: list[Label],
        weights: FloatArray,
        plan: Plan,
        see: Callable[[State, PooledVotes], object] | None,
    ) -> None:
        """Learn a planned block; ``see`` is shown each row's votes from before it was learned, in row order."""
        cuts = sorted({0, len(rows)} | set(plan.labels) | set(plan.additions))
        for first, last in pairwise(cuts):
            with self._breaking():
                if first in plan.labels:
                    # The prediction for a row that brings a new label is made before that label exists.
                    if see is not None:
                        see(self, self.poll(rows[first : first + 1]))
                    self.labels.add(plan.labels[first])
                if first in plan.additions:
                    self.schema.apply(plan.additions[first])
                block = self.ensemble.prepare(rows[first:last], self.schema, learning=True)
                indices = self.labels.indices(labels[first:last])
                pooled = self.cascade.learn(
                    self.ensemble, block, indices, weights[first:last], len(self.labels), self.n_rows
                )
                self.n_rows += last - first
            if see is not None:
                see(self, pooled.after(1) if first in plan.labels else pooled)

    def poll(self, rows: Sequence[Row]) -> PooledVotes:
        """The learners' votes on rows that were checked."""
        if len(self.labels) == 0:
            return PooledVotes.none(len(rows), 0)
        block = self.ensemble.prepare(rows, self.schema, learning=False)
        return self.cascade.poll(self.ensemble, block, len(self.labels))

    def modes(self, pooled: PooledVotes) -> list[Label | None]:
        """The most probable labels, or None where no label was known."""
        if pooled.labels.shape[1] == 0:
            return [None] * len(pooled.labels)
        return [self.labels.known[label] for label in self.cascade.predicted_labels(pooled)]

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
