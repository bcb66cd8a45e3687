"""What is kept of a run: rows, labels, and what the players saw of every learner.

That is enough to know everything else: players are deterministic, and draws are keyed by row and learner, so a run
can be played again without its learners (``replay``). A vote takes one byte (two above 256 labels) if the players
see labels, and eight bytes per label if they see distributions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Cascade
from ocoboost.games import PooledVotes, Seen
from ocoboost.weak.contract import Block, WeakEnsemble


class Heard(NamedTuple):
    """What one cascade's learners said to a block of rows."""

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


class Stretch(NamedTuple):
    """Rows during which no label was new, and what one cascade's learners said to them."""

    rows: Rows
    heard: Heard


@dataclass
class Record:
    """A run of a booster from some row on; one tape for every member of its mixture."""

    cascades: list[Cascade]
    most_rows: int | None = None  # then no more is kept
    rows: list[Rows] = field(default_factory=list)
    tapes: list[list[Heard]] = field(init=False)
    n_rows: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.tapes = [[] for _ in self.cascades]

    def learn(
        self,
        member: int,
        ensemble: WeakEnsemble,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
    ) -> PooledVotes:
        """What the member's cascade does, keeping what its players see."""
        cascade = self.cascades[member]
        seen = Seen.room(len(labels), cascade.n_learners, n_classes, cascade.votes)
        pooled = cascade.learn(ensemble, block, labels, weights, n_classes, first_row, seen)
        small = seen.labels.astype(np.min_scalar_type(n_classes - 1))
        self.tapes[member].append(Heard(Seen(small, seen.distributions), pooled.of(cascade.pool)))
        return pooled

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
        """Whether there is room for another block."""
        return self.most_rows is None or self.n_rows < self.most_rows

    def stretches(self, member: int) -> Iterator[Stretch]:
        """The run of one member, cut where the number of labels changes."""
        pairs = zip(self.rows, self.tapes[member], strict=False)  # a block that failed is on some tapes only
        for n_classes, group in groupby(pairs, key=lambda pair: pair[0].n_classes):
            rows, heard = zip(*group, strict=True)
            votes = zip(*(block.seen for block in heard), strict=True)
            seen = Seen(*(np.concatenate(arrays, axis=1) for arrays in votes))
            mixed = [block.chances for block in rows if block.chances is not None]
            yield Stretch(
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
    """Matrices one under the other; columns that came later are missing before."""
    if len({block.shape[1] for block in blocks}) == 1:
        return np.concatenate(blocks)
    out = np.full((sum(map(len, blocks)), max(block.shape[1] for block in blocks)), np.nan)
    first = 0
    for block in blocks:
        out[first : first + len(block), : block.shape[1]] = block
        first += len(block)
    return out
