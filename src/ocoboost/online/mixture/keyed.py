"""A mixture's ledger: how what was said gets into it, and what is learned when the label comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count, checked_like
from ocoboost.cascade.answers import Answers
from ocoboost.data.rows import Row
from ocoboost.online.mixture.issued import MARK_BYTES, PROBABILITIES, Issued, mark_of, packed, size_of
from ocoboost.stream.ledger import Ledger

Said = TypeVar("Said")


class Keyed:
    """What was said under keys. All members' answers pass through ``heard``, which keeps or replaces them."""

    def __init__(self, most: int = 1, most_bytes: float | None = None) -> None:
        self.ledger: Ledger[Issued] = Ledger(most, most_bytes, size_of)
        self.n_unmatched = 0  # labels with a key under which nothing waited
        self._settled: dict[int, Issued] = {}  # what was said to the rows that are learned now, by their numbers
        self._is_listening = False
        self._members: tuple[FloatArray, IntArray] | None = None

    def settled(self, first_row: int, n_rows: int) -> dict[int, Issued]:
        """What was said to those rows of a block that were predicted under a key, by their places in the block."""
        if not self._settled:
            return {}
        rows = range(first_row, first_row + n_rows)
        return {row - first_row: self._settled[row] for row in rows if row in self._settled}

    def heard(self, answers: FloatArray, awake: IntArray, settled: Mapping[int, Issued]) -> None:
        """Keep the members' answers, if they are issued; put those of then in the place of those given now."""
        if self._is_listening:
            self._members = answers, awake
        for place, issued in settled.items():
            issued.put_members(answers, awake, place)

    def issue(self, keys: Sequence[Hashable], rows: Sequence[Row], ask: Callable[[], Answers]) -> list[Answers]:
        """What is said to each row, which is kept under its key; a row whose key is None is only asked.

        Under the same key the same is said again until the label comes. If any key is wrong, nothing is kept.
        """
        try:
            with self.ledger.all_or_nothing(len(keys)):
                return self._issue(keys, rows, ask)
        finally:
            self._members = None

    def _issue(self, keys: Sequence[Hashable], rows: Sequence[Row], ask: Callable[[], Answers]) -> list[Answers]:
        asked: Answers | None = None
        said: list[Answers] = []
        for place, key in enumerate(keys):
            if key is not None and self.ledger.has(key):
                issued = self.ledger.entry(key)
                issued.check_row(key, rows[place])
                said.append(issued.answers())
                continue
            if asked is None:
                asked = self._listened(ask)
            said.append(asked.row(place))
            if key is not None:
                self.ledger.issue(key, self._issued(rows[place], place, asked))
        return said

    def given_away(self, ask: Callable[[], Answers | None]) -> tuple[Answers | None, list[bytes | None]]:
        """What is said, and that as bytes for somebody else to keep, row by row."""
        try:
            answers = self._listened(ask)
            if answers is None:
                return None, []
            assert self._members is not None
            assert answers.probabilities is not None
            assert answers.thresholds is not None
            members, awake = self._members
            return answers, packed(
                members, awake, answers.distributions, answers.shares, answers.probabilities, answers.thresholds
            )
        finally:
            self._members = None

    @contextmanager
    def settling_rows(self, issued: dict[int, Issued]) -> Iterator[None]:
        """A context in which rows are learned to which this was said, by their numbers in the stream."""
        self._settled = issued
        try:
            yield
        finally:
            self._settled = {}

    def _listened(self, ask: Callable[[], Said]) -> Said:
        self._is_listening = True
        try:
            return ask()
        finally:
            self._is_listening = False

    def _issued(self, row: Row, place: int, answers: Answers) -> Issued:
        assert self._members is not None
        assert answers.probabilities is not None
        assert answers.thresholds is not None
        members, awake = self._members
        said = np.stack([array[place] for array in (answers.distributions, answers.shares, answers.probabilities)])
        return Issued(
            mark_of(row), members[:, place].copy(), awake[:, place].copy(), said, answers.thresholds[place].copy()
        )

    def check(self, keys: Sequence[Hashable], rows: Sequence[Row]) -> None:
        """Raise if the labels of these rows cannot come under these keys, in this order."""
        seen: set[Hashable] = set()
        for key, row in zip(keys, rows, strict=True):
            if key is not None and self.ledger.has(key):
                self.ledger.entry(key).check_row(key, row)
                if key in seen:
                    raise self.ledger.answered(key)
                seen.add(key)

    @contextmanager
    def settling(self, keys: Sequence[Hashable], first_row: int) -> Iterator[None]:
        """A context in which consecutive rows are learned; if it raises, their keys go on to wait."""
        found = [None if key is None else self.ledger.entries.get(key) for key in keys]
        self._settled = {first_row + place: issued for place, issued in enumerate(found) if issued is not None}
        try:
            yield
        finally:
            self._settled = {}
        for key, issued in zip(keys, found, strict=True):
            if issued is not None:
                self.ledger.settle(key)
            elif key is not None:
                self.n_unmatched += 1

    # -- files -----------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        return {"ledger_size": self.ledger.most}

    def state(self) -> dict[str, Any]:
        """The ledger as numbers, words and a few arrays, however many entries it has."""
        entries = self.ledger.entries
        waiting = [entry for entry in entries.values() if entry is not None]
        return {
            "keys": [(key, entry is not None) for key, entry in entries.items()],
            "marks": [entry.mark for entry in waiting],
            "n_classes": np.array([entry.said.shape[1] for entry in waiting], dtype=np.int64),
            "members": np.concatenate([np.empty(0), *(entry.members.ravel() for entry in waiting)]),
            "awake": np.concatenate([np.empty(0, dtype=np.int64), *(entry.awake for entry in waiting)]),
            "said": np.concatenate([np.empty(0), *(entry.said.ravel() for entry in waiting)]),
            "thresholds": np.concatenate([np.empty(0), *(entry.thresholds for entry in waiting)]),
            "n_dropped": self.ledger.n_dropped,
            "n_unmatched": self.n_unmatched,
        }

    def restore(self, saved: dict[str, Any], shape: tuple[int, int, int], n_classes: int) -> None:
        """Take back what ``state`` gave, for so many members, long-lived ones among them, and levels."""
        keys, waiting = saved["keys"], _entries(saved, shape, n_classes)
        if [type(is_waiting) for _, is_waiting in keys] != [bool] * len(keys) or len(keys) > self.ledger.most:
            raise ValueError("invalid ledger: its keys")
        if sum(is_waiting for _, is_waiting in keys) != len(waiting):
            raise ValueError("invalid ledger: its entries do not match its keys")
        entries = iter(waiting)
        for key, is_waiting in keys:
            self.ledger.issue(key, next(entries) if is_waiting else _ANSWERED)
            if not is_waiting:
                self.ledger.settle(key)
        if self.ledger.n_dropped:
            raise ValueError("invalid ledger: more than it can hold")
        self.ledger.n_dropped = checked_count(saved["n_dropped"], "number of entries dropped")
        self.n_unmatched = checked_count(saved["n_unmatched"], "number of labels without an entry")


_ANSWERED = Issued(b"", np.empty((0, 0)), np.empty(0, dtype=np.int64), np.empty((3, 0)), np.empty(0))


def _entries(saved: dict[str, Any], shape: tuple[int, int, int], n_classes: int) -> list[Issued]:
    """The entries that wait; raises for what nobody can have said."""
    n_members, n_long, n_levels = shape
    marks = saved["marks"]
    n_waiting = len(marks)
    counts = checked_like(saved["n_classes"], np.empty(n_waiting, dtype=np.int64), "ledger")
    if np.any((counts < 1) | (counts > n_classes)):
        raise ValueError("invalid ledger: numbers of labels")
    total = int(counts.sum())
    members = checked_like(saved["members"], np.empty(n_members * total), "ledger")
    awake = checked_like(saved["awake"], np.empty(n_members * n_waiting, dtype=np.int64), "ledger")
    said = checked_like(saved["said"], np.empty(3 * total), "ledger")
    thresholds = checked_like(saved["thresholds"], np.empty(n_levels * n_waiting), "ledger")
    awake, thresholds = awake.reshape(n_waiting, n_members), thresholds.reshape(n_waiting, n_levels)
    if any(np.any((array < 0.0) | (array > 1.0 + 1e-9)) for array in (members, said, awake.astype(float))):
        raise ValueError("invalid ledger: answers that nobody can have given")
    if not np.all(awake[:, :n_long]) or np.any((thresholds < 0.0) | (thresholds > 2.0)):
        raise ValueError("invalid ledger: answers that nobody can have given")
    entries, end = [], 0
    for number, (mark, count) in enumerate(zip(marks, counts.tolist(), strict=True)):
        begin, end = end, end + count
        own = said[3 * begin : 3 * end].reshape(3, count)
        if not isinstance(mark, bytes) or len(mark) != MARK_BYTES or np.any(own[PROBABILITIES] <= 0.0):
            raise ValueError("invalid ledger: an entry that nobody can have issued")
        answers = members[n_members * begin : n_members * end].reshape(n_members, count)
        entries.append(Issued(mark, answers.copy(), awake[number].copy(), own.copy(), thresholds[number].copy()))
    return entries
