"""The rows of a stream whose given label looks wrong, as many as memory allows.

A row is suspect if what was said before it was learned gives its label a low probability. ``judging`` looks at the rows
that are kept here once more, with members that never learned them.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_like, writable
from ocoboost.cascade.answers import Answers
from ocoboost.data.schema import ENTRY_BYTES, Block, Schema
from ocoboost.learners.sizes import rounded_up
from ocoboost.online.mixture.noting import Kept, Notes, note_rows

N_SUSPECTS = 1000
N_FIRST = 1024  # rows that little was known about when they came: they are judged once more
SHARE_OF_KEYS = 0.25  # of the memory


class Suspects:
    """The worst rows so far and the first ones; how many fit follows from columns and labels alone.

    ``is_judged`` says that there are members which can be asked again, so that rows are kept with their features.
    """

    def __init__(self, n_suspects: int, max_bytes: float | None, *, is_judged: bool) -> None:
        self.n_suspects = n_suspects
        self.max_bytes = max_bytes
        self.is_judged = is_judged
        self.version = -1  # of the schema that the rows were laid out for
        self.n_classes = 0
        self.notes = _empty(0, 0, 0, 0)
        self.keys: dict[int, Hashable] = {}  # by the number of the row
        self._key_bytes = 0

    @property
    def n_bytes(self) -> int:
        first, worst, *others = self.notes
        return sum(array.nbytes for array in (*first, *worst, *others)) + self._key_bytes

    # -- while learning ------------------------------------------------------------------------------------------------

    def fits(self, version: int, n_classes: int) -> bool:
        """Whether rows of this version of the schema, with so many labels, can be noted at once."""
        return (self.version == version or not self.is_judged) and self.n_classes >= n_classes

    def fit(self, schema: Schema, n_classes: int) -> None:
        """Make room for new columns and labels: then fewer rows may fit."""
        if self.fits(schema.version, n_classes):
            return
        self.version = schema.version
        self.n_classes = rounded_up(max(n_classes, self.n_classes))
        new = self._made_for(len(schema.columns) if self.is_judged else 0, self.n_classes)
        _fill(new, self.first(), self.worst())
        n_old = min(self.notes.sums.shape[1], new.sums.shape[1])
        new.sums[:, :n_old] = self.notes.sums[:, :n_old]
        self.notes = new

    def note(self, first_row: int, block: Block, labels: IntArray, weights: FloatArray, said: Answers) -> None:
        """Note rows that are learned, with what was said to them before."""
        self.fit(block.schema, said.shares.shape[1])
        if self.notes.heap.size > 0 and said.probabilities is not None:
            codes = block.codes if self.is_judged else np.empty((len(block), 0))
            rows = np.require(codes, requirements=["C", "W"])  # others are compiled anew
            note_rows(first_row, rows, labels, weights, said.probabilities, self.notes)

    def identify(self, first_row: int, keys: Sequence[Hashable]) -> None:
        """Say what the caller calls consecutive rows; only the names of rows that are kept are kept."""
        for kept in self.notes[:2]:
            numbers = kept.numbers[: kept.n_held[0]]
            for number in numbers[(numbers >= first_row) & (numbers < first_row + len(keys))].tolist():
                self._keep_key(number, keys[number - first_row])

    def _keep_key(self, number: int, key: Hashable) -> None:
        if key is None or number in self.keys:
            return
        size = sys.getsizeof(key) + ENTRY_BYTES
        most = np.inf if self.max_bytes is None else SHARE_OF_KEYS * self.max_bytes
        n_kept = sum(len(kept.numbers) for kept in self.notes[:2])
        if len(self.keys) >= 2 * n_kept or self._key_bytes + size > most:
            self._drop_keys()
        if self._key_bytes + size <= most:
            self.keys[number] = key
            self._key_bytes += size

    def _drop_keys(self) -> None:
        """Forget the names of rows that are not kept any more."""
        kept = {number for kept in self.notes[:2] for number in kept.numbers[: kept.n_held[0]].tolist()}
        self.keys = {number: key for number, key in self.keys.items() if number in kept}
        self._key_bytes = sum(sys.getsizeof(key) + ENTRY_BYTES for key in self.keys.values())

    def _made_for(self, n_columns: int, n_classes: int) -> Notes:
        """Nothing noted, with as many places as there is memory for."""
        n_first, n_worst = N_FIRST if self.is_judged else 0, self.n_suspects
        if self.max_bytes is not None:
            row_bytes = 48 + 8 * n_columns
            most = int(((1.0 - SHARE_OF_KEYS) * self.max_bytes - 16 * n_classes - 16) // row_bytes)
            n_worst = max(0, min(n_worst, most // 2 if n_first else most))
            n_first = max(0, min(n_first, most - n_worst))
        if n_worst == 0:
            return _empty(0, 0, n_columns, 0)
        return _empty(n_first, n_worst, n_columns, n_classes)

    # -- what is kept --------------------------------------------------------------------------------------------------

    def first(self) -> Held:
        """Numbers, labels, scores and codes of the first rows, in order."""
        return _held(self.notes.first, np.arange(self.notes.first.n_held[0]))

    def worst(self) -> Held:
        """The same of the worst rows, worst first."""
        count = int(self.notes.worst.n_held[0])
        order = np.lexsort((self.notes.worst.numbers[:count], self.notes.worst.scores[:count, 0]))
        return _held(self.notes.worst, order)

    # -- files ---------------------------------------------------------------------------------------------------------

    def __setstate__(self, saved: dict[str, Any]) -> None:
        first, worst, heap, sums = saved["notes"]
        notes = Notes(writable(first), writable(worst), heap.copy(), sums.copy())
        vars(self).update(saved, notes=notes)

    def state(self) -> dict[str, Any]:
        """What is kept, in an order that does not depend on how it came in."""
        self._drop_keys()
        return {
            "version": self.version,
            "n_classes": self.n_classes,
            "first": list(self.first()),
            "worst": list(self.worst()),
            "sums": self.notes.sums,
            "keys": self.keys,
        }

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int, n_rows: int) -> None:
        """Take back what ``state`` gave; raises ``ValueError`` for what cannot have been learned."""
        version, known, keys = saved["version"], saved["n_classes"], saved["keys"]
        if type(version) is not int or not -1 <= version <= schema.version:
            raise ValueError(f"invalid version of the suspects: {version!r}")
        if type(known) is not int or not 0 <= known <= rounded_up(n_classes):
            raise ValueError(f"invalid number of labels of the suspects: {known!r}")
        first, worst = saved["first"], saved["worst"]
        n_columns = int(first[3].shape[1])
        if n_columns > (len(schema.columns) if self.is_judged else 0):
            raise ValueError("invalid columns of the suspects")
        notes = self._made_for(n_columns, known)
        sums = notes.sums[:] = checked_like(saved["sums"], notes.sums, "sums of the suspects")
        if np.any(sums < 0.0) or np.any(sums[0] > sums[1] * (1.0 + 1e-9)) or np.any(sums[1] > n_rows):
            raise ValueError("invalid sums of the suspects")
        for kept, arrays in ((notes.first, first), (notes.worst, worst)):
            _check(kept, arrays, n_classes, n_rows)
        if not isinstance(keys, dict) or any(type(number) is not int for number in keys):
            raise ValueError("invalid keys of the suspects")
        _fill(notes, first, worst)
        self.notes, self.version, self.n_classes, self.keys = notes, version, known, keys
        self._drop_keys()


Held: TypeAlias = tuple[IntArray, IntArray, FloatArray, FloatArray]  # numbers, labels, scores, codes


def _held(kept: Kept, order: IntArray) -> Held:
    return kept.numbers[order], kept.labels[order], kept.scores[order], kept.rows[order]


def _fill(notes: Notes, first: Held, worst: Held) -> None:
    """Put rows into empty places: of the first ones and of the worst as many as there are."""
    for kept, arrays in ((notes.first, first), (notes.worst, worst)):
        n_held = min(len(kept.numbers), len(arrays[0]))
        for own, array in zip(kept[:3], arrays[:3], strict=True):
            own[:n_held] = array[:n_held]
        n_columns = arrays[3].shape[1]
        kept.rows[:n_held, :n_columns] = arrays[3][:n_held]
        kept.rows[:n_held, n_columns:] = np.nan  # nobody had seen these columns
        kept.n_held[0] = n_held
    n_worst = int(notes.worst.n_held[0])
    notes.heap[:n_worst] = np.arange(n_worst)[::-1]  # sorted is a heap, too


def _check(kept: Kept, arrays: Any, n_classes: int, n_rows: int) -> None:
    """Raise ``ValueError`` for rows that cannot have been kept."""
    numbers, labels, scores, rows = arrays
    n_held = len(numbers)
    if n_held > len(kept.numbers):
        raise ValueError("too many suspects")
    for own, array in zip(kept[:3], (numbers, labels, scores), strict=True):
        checked_like(array, own[:n_held], "suspects")
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64 or rows.shape != kept.rows[:n_held].shape:
        raise ValueError("invalid rows of the suspects")
    if np.any(np.isinf(rows)) or len(np.unique(numbers)) < n_held or np.any((numbers < 0) | (numbers >= n_rows)):
        raise ValueError("invalid rows of the suspects")
    if np.any((labels < 0) | (labels >= n_classes)) or np.any((scores < 0.0) | (scores > 1.0 + 1e-9)):
        raise ValueError("invalid labels of the suspects")


def _empty(n_first: int, n_worst: int, n_columns: int, n_classes: int) -> Notes:
    """Places for rows; memory that is all zeros costs nothing before it is written to."""
    first, worst = (
        Kept(
            numbers=np.zeros(capacity, dtype=np.int64),
            labels=np.zeros((capacity, 2), dtype=np.int64),
            scores=np.zeros((capacity, 2)),
            rows=np.zeros((capacity, n_columns)),
            n_held=np.zeros(1, dtype=np.int64),
        )
        for capacity in (n_first, n_worst)
    )
    return Notes(first, worst, np.zeros(n_worst, dtype=np.int64), np.zeros((2, n_classes)))
