"""What the loop requires of an ensemble of weak learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from ocoboost.arrays import FloatArray
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block, Schema

# A block in the form that an ensemble's learners take: a list of dicts, a matrix, ...; ``len`` counts the rows.
Prepared: TypeAlias = Any


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
        """The largest number of labels a learner can learn; None if there is no limit."""

    @property
    def n_bytes(self) -> int | None:
        """Memory used by the learners; None if unknown."""

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        """Raise ``InvalidInputError`` if these rows cannot be learned (or voted on)."""

    def prepare(self, block: Block, *, learning: bool) -> Prepared:
        """The rows in the form the learners take; called once per block, before the loop over learners.

        When learning, the block's schema already holds every column and category of the rows. When voting it may not;
        unknown columns count as missing.
        """

    def vote(self, learner: int, rows: Prepared, out: FloatArray) -> None:
        """Vote on every row."""

    def vote_and_learn(self, learner: int, rows: Prepared, label_weights: FloatArray, out: FloatArray) -> None:
        """Row by row: vote with what is known, then learn the row."""

    def settings(self) -> dict[str, Any]:
        """The settings of the learners, as numbers and strings; ensembles with equal settings learn alike.

        Raises ``ModelFileError`` for learners that are Python objects, which no model file can hold.
        """

    def state(self) -> dict[str, Any]:
        """What the learners have learned, as numbers, strings and arrays."""

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        """Restore what ``state`` returned in new learners; raises ``ValueError`` if it is invalid."""
