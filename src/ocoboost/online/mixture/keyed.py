"""A mixture's ledger: how what was said gets into it, and what is learned when the label comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count, checked_like
from ocoboost.cascade.answers import Answers
from ocoboost.data.rows import Row
from ocoboost.online.mixture.issued import MARK_BYTES, PROBABILITIES, Issued, mark_of, size_of
from ocoboost.stream.ledger import Ledger


class Keyed:
    """What was said under keys. All members' answers pass through ``heard``, which keeps or replaces them."""

    def __init__(self, most: int = 1, most_bytes: float | None = None) -> None:
        self.ledger: Ledger[Issued] = Ledger(most, most_bytes, size_of)
        self.n_unmatched = 0  # labels with a key under which nothing waited
        self.settled: Issued | None = None  # what was said to the row that is learned now
        self._is_listening = False
        self._members: tuple[FloatArray, IntArray] | None = None

    def heard(self, answers: FloatArray, awake: IntArray) -> tuple[FloatArray, IntArray]:
        """The members' answers that count: those given now, or those given when the row was predicted."""
        if self._is_listening:
            self._members = answers[:, 0].copy(), awake[:, 0].copy()
        return (answers, awake) if self.settled is None else self.settled.as_block(answers.shape[2])

    def issue(self, key: Hashable, row: Row, ask: Callable[[], Answers]) -> Answers:
        """What is said to a row, which is kept; under the same key the same is said again until the label comes."""
        if self.ledger.has(key):
            issued = self.ledger.entry(key)
            issued.check_row(key, row)
            return issued.answers()
        self.ledger.check_new(key)
        self._is_listening = True
        try:
            answers = ask()
        finally:
            self._is_listening = False
        assert self._members is not None
        assert answers.probabilities is not None
        assert answers.thresholds is not None
        said = np.stack([answers.distributions[0], answers.shares[0], answers.probabilities[0]])
        self.ledger.issue(key, Issued(mark_of(row), *self._members, said, answers.thresholds[0].copy()))
        self._members = None
        return answers

    def check(self, key: Hashable, row: Row) -> None:
        """Raise if the label of this row cannot come under that key."""
        if self.ledger.has(key):
            self.ledger.entry(key).check_row(key, row)

    @contextmanager
    def settling(self, key: Hashable) -> Iterator[None]:
        """A context in which the row is learned; if it raises, the key goes on to wait."""
        self.settled = self.ledger.entries.get(key)
        is_unmatched = self.settled is None
        try:
            yield
        finally:
            self.settled = None
        if is_unmatched:
            self.n_unmatched += 1
        else:
            self.ledger.settle(key)

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
