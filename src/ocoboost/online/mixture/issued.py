"""What a mixture has said under a key, until the label comes.

When it comes, the members learn the row like any other. What is learned about the members, and about the prediction
sets, is learned from what they had said: their answers, the probabilities made of them and the thresholds that held.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import NamedTuple

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

    def answers(self) -> Answers:
        """What was said, for one row."""
        distributions, shares, probabilities = self.said[:, None, :]
        return Answers(distributions, shares, probabilities=probabilities, thresholds=self.thresholds[None, :])

    def put_members(self, answers: FloatArray, awake: IntArray, place: int) -> None:
        """Put the members' answers, and who was awake, at a row of a block; labels that are new since then have 0."""
        n_known = self.members.shape[1]
        answers[:, place, :n_known] = self.members
        answers[:, place, n_known:] = 0.0
        awake[:, place] = self.awake

    def put_said(self, said: Answers, place: int) -> None:
        """Put what was said at a row of a block; labels that are new since then have 0."""
        n_known = self.said.shape[1]
        for array, row in zip((said.distributions, said.shares, said.probabilities), self.said, strict=True):
            assert array is not None
            array[place, :n_known] = row
            array[place, n_known:] = 0.0
        assert said.thresholds is not None
        said.thresholds[place] = self.thresholds


def mark_of(row: Row) -> bytes:
    """Tells rows apart, in any process; 1, 1.0 and True are the same number."""
    cells = [(name, value if value is None or isinstance(value, str) else float(value)) for name, value in row.items()]
    return hashlib.blake2b(repr(cells).encode(errors="surrogatepass"), digest_size=MARK_BYTES).digest()


def size_of(issued: Issued) -> int:
    """Bytes of an entry."""
    return MARK_BYTES + sum(array.nbytes for array in issued[1:])
