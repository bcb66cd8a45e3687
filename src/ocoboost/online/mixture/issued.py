"""What a mixture has said under a key, until the label comes.

When it comes, the members learn the row like any other. What is learned about the members, and about the prediction
sets, is learned from what they had said: their answers, the probabilities made of them and the thresholds that held.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError

MARK_BYTES = 8
PROBABILITIES = 2  # their row among what was said


class Issued(NamedTuple):
    """An answer that waits for its label."""

    mark: bytes  # of the row
    members: FloatArray  # (members, classes) what they answered
    awake: IntArray  # (members,)
    said: FloatArray  # (3, classes): D, vote shares and probabilities
    thresholds: FloatArray  # (levels,)

    def check_row(self, key: Hashable, row: Row) -> None:
        """Raise if it was said to another row."""
        if mark_of(row) != self.mark:
            raise InvalidInputError(
                f"x: another row was predicted under the key {key!r}; give the row as it was, or another key."
            )

    def answers(self, n_classes: int | None = None) -> Answers:
        """What was said, for one row; labels that are new since then have 0."""
        n_known = self.said.shape[1]
        said = np.zeros((3, 1, n_known if n_classes is None else n_classes))
        said[:, 0, :n_known] = self.said
        distributions, shares, probabilities = said
        return Answers(distributions, shares, probabilities=probabilities, thresholds=self.thresholds[None, :])

    def as_block(self, n_classes: int) -> tuple[FloatArray, IntArray]:
        """The members' answers and who was awake, for a block of this row; labels that are new since then have 0."""
        n_members, n_known = self.members.shape
        members = np.zeros((n_members, 1, n_classes))
        members[:, 0, :n_known] = self.members
        return members, self.awake[:, None].copy()


def mark_of(row: Row) -> bytes:
    """Tells rows apart, in any process; 1, 1.0 and True are the same number."""
    cells = [(name, value if value is None or isinstance(value, str) else float(value)) for name, value in row.items()]
    return hashlib.blake2b(repr(cells).encode(errors="surrogatepass"), digest_size=MARK_BYTES).digest()


def size_of(issued: Issued) -> int:
    """Bytes of an entry."""
    return MARK_BYTES + sum(array.nbytes for array in issued[1:])
