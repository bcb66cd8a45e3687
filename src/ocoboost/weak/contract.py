"""What an ensemble of weak learners must offer to the cascade, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from ocoboost.arrays import FloatArray
from ocoboost.encoding import Piece, Row

# Rows in the form that an ensemble's learners eat: a list of dicts, a matrix, ...; ``len`` counts the rows.
Block: TypeAlias = Any


class WeakEnsemble(Protocol):
    """N learners that vote on labels and can be taught several weighted labels for one row.

    A vote is a distribution over the labels known so far, written to ``out`` of shape (rows, classes). A learner that
    was never taught votes uniformly. Labels are indices; ``label_weights`` has shape (rows, classes), and a row of
    zeros is voted on but not taught. The number of classes may grow from one block to the next.
    """

    @property
    def name(self) -> str:
        """What error messages call a learner."""

    @property
    def takes_weights(self) -> bool:
        """Whether a label may be taught with a weight other than 1; if not, relabelling must be random."""

    @property
    def max_classes(self) -> int | None:
        """The most labels a learner can tell apart."""

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        """Raise ``InvalidInputError`` if these rows cannot be learned (or voted on)."""

    def prepare(self, piece: Piece, *, learning: bool) -> Block:
        """The rows in the form the learners eat; called once per block, before the loop over learners.

        Before learning, the piece's schema already holds every column and category of the rows. Before voting it may
        not: what is unknown then counts as missing.
        """

    def vote(self, learner: int, block: Block, out: FloatArray) -> None:
        """Vote on every row of a prepared block."""

    def vote_and_learn(self, learner: int, block: Block, label_weights: FloatArray, out: FloatArray) -> None:
        """Row by row: vote with what is known, then learn the row."""
