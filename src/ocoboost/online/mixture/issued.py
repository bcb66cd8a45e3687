"""What a mixture has said under a key, until the label comes.

When it comes, the members learn the row like any other. What is learned about the members, and about the prediction
sets, is learned from what they had said: their answers, the probabilities made of them and the thresholds that held.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError

MARK_BYTES = 8
PROBABILITIES = 2  # their row among what was said
_HEAD = struct.Struct("<III")  # members, classes, levels


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

    @classmethod
    def unpacked(cls, data: bytes, n_members: int, n_long: int, n_levels: int) -> Issued:
        """What ``packed`` made bytes of; raises ``ValueError`` if such a mixture cannot have said it."""
        if len(data) < _HEAD.size + n_members:
            raise ValueError("too short for what was said to a row")
        found, n_classes, levels = _HEAD.unpack_from(data)
        awake = np.frombuffer(data, np.uint8, n_members, _HEAD.size).astype(np.int64)
        n_numbers = (3 + int(awake.sum())) * n_classes + levels
        if (found, levels) != (n_members, n_levels) or len(data) != _HEAD.size + n_members + 8 * n_numbers:
            raise ValueError("of another model")
        numbers = np.frombuffer(data, np.float64, n_numbers, _HEAD.size + n_members)
        said, thresholds = numbers[: 3 * n_classes].reshape(3, n_classes), numbers[3 * n_classes :][:n_levels]
        members: FloatArray = np.zeros((n_members, n_classes))
        members[awake > 0] = numbers[3 * n_classes + n_levels :].reshape(-1, n_classes)
        is_possible = bool(np.all((numbers >= 0.0) & (numbers <= 2.0)) and np.all(said[PROBABILITIES] > 0.0))
        if not is_possible or np.any(awake > 1) or not np.all(awake[:n_long]):
            raise ValueError("nobody can have said this to a row")
        return cls(b"", members, awake, said, thresholds)

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


def packed(
    members: FloatArray,
    awake: IntArray,
    distributions: FloatArray,
    shares: FloatArray,
    probabilities: FloatArray,
    thresholds: FloatArray,
) -> list[bytes | None]:
    """What was said to each row of a block, as bytes; of the members, those that were awake."""
    n_members, n_rows, n_classes = members.shape
    head = _HEAD.pack(n_members, n_classes, thresholds.shape[1])
    arrays = (distributions, shares, probabilities, thresholds)
    return [
        b"".join(
            (
                head,
                awake[:, row].astype(np.uint8).tobytes(),
                *(array[row].tobytes() for array in arrays),
                members[awake[:, row] > 0, row].tobytes(),
            )
        )
        for row in range(n_rows)
    ]
