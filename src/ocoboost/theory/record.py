"""The record of a run: rows, labels, and the votes that the players saw.

Everything else follows from these: players are deterministic, and draws are keyed by row and learner, so the games
can be played again without the learners (``replay``). A vote takes one byte (two above 256 labels) if the players
see labels, and eight bytes per label if they see distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.relabelling import Games, Relabelling, Seen


class Heard(NamedTuple):
    """The votes of one cascade's learners on a block of rows."""

    seen: Seen
    pooled: FloatArray  # the votes that the prediction is made of, summed; (rows, classes)


class Rows(NamedTuple):
    """A block of rows that were learned together."""

    first_row: int  # its place in the stream
    n_classes: int  # known at the time
    features: FloatArray  # one column per feature known at the time, text as codes, missing as NaN
    labels: IntArray
    weights: FloatArray
    chances: FloatArray | None  # D[y] of every row, if several members were mixed


class Span(NamedTuple):
    """Consecutive rows with the same labels known, and the votes of one cascade's learners on them."""

    rows: Rows
    heard: Heard


class Tape:
    """The votes of one cascade's learners, block by block (see ``cascade.cascade.Tape``)."""

    def __init__(self, record: Record, cells: Relabelling) -> None:
        self.record = record
        self.cells = cells
        self.heard: list[Heard] = []

    def begin(self, labels: IntArray, weights: FloatArray, n_classes: int) -> Games:
        """The games of a block, with arrays to record votes in while the record is open."""
        n_kept = self.cells.n_learners if self.record.is_open else 0
        seen = Seen.empty(len(labels), n_kept, n_classes, self.cells.votes)
        return self.cells.begin(labels, weights, n_classes, seen)

    def end(self, games: Games) -> None:
        """Keep the votes that the players saw, and the pooled ones."""
        if self.record.is_open:
            n_classes = games.label_votes.shape[1]
            small = games.seen_labels.astype(np.min_scalar_type(n_classes - 1))
            self.heard.append(Heard(Seen(small, games.seen_distributions), games.pooled(self.cells.pool)))


@dataclass
class Record:
    """A booster's run from some row on, with a tape for every cascade."""

    most_rows: int | None = None  # recording stops after these
    rows: list[Rows] = field(default_factory=list)
    tapes: list[Tape] = field(default_factory=list)
    n_rows: int = 0

    @classmethod
    def of(cls, cascades: Sequence[Cascade], most_rows: int | None) -> Record:
        """Start to record these cascades."""
        record = cls(most_rows)
        for cascade in cascades:
            assert isinstance(cascade.cells, Relabelling)
            cascade.tape = Tape(record, cascade.cells)
            record.tapes.append(cascade.tape)
        return record

    def add(
        self,
        first_row: int,
        n_classes: int,
        features: FloatArray,
        labels: IntArray,
        weights: FloatArray,
        chances: FloatArray | None = None,
    ) -> None:
        """Keep a block that every member has learned."""
        self.n_rows += len(labels)
        self.rows.append(Rows(first_row, n_classes, features.copy(), labels.copy(), weights.copy(), chances))

    @property
    def is_open(self) -> bool:
        """Whether another block is to be kept."""
        return self.most_rows is None or self.n_rows < self.most_rows

    def spans(self, member: int) -> Iterator[Span]:
        """The run of one member, cut where the number of labels changes."""
        pairs = zip(self.rows, self.tapes[member].heard, strict=False)  # a block that failed is on some tapes only
        for n_classes, group in groupby(pairs, key=lambda pair: pair[0].n_classes):
            rows, heard = zip(*group, strict=True)
            votes = zip(*(block.seen for block in heard), strict=True)
            seen = Seen(*(np.concatenate(arrays, axis=1) for arrays in votes))
            mixed = [block.chances for block in rows if block.chances is not None]
            yield Span(
                Rows(
                    rows[0].first_row,
                    n_classes,
                    joined([block.features for block in rows]),
                    np.concatenate([block.labels for block in rows]),
                    np.concatenate([block.weights for block in rows]),
                    np.concatenate(mixed) if mixed else None,
                ),
                Heard(seen, np.concatenate([block.pooled for block in heard])),
            )


def joined(blocks: list[FloatArray]) -> FloatArray:
    """Stack matrices; columns that appeared later are missing in earlier rows."""
    if len({block.shape[1] for block in blocks}) == 1:
        return np.concatenate(blocks)
    out = np.full((sum(map(len, blocks)), max(block.shape[1] for block in blocks)), np.nan)
    first = 0
    for block in blocks:
        out[first : first + len(block), : block.shape[1]] = block
        first += len(block)
    return out
