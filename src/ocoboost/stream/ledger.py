"""What was said under a key, until the answer to it comes: in any order, late, once, and in bounded memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from ocoboost.errors import InvalidInputError

Entry = TypeVar("Entry")
PLACE_BYTES = 200  # of a key in the dict, and of the objects around an entry


class Ledger(Generic[Entry]):
    """Entries by key, in the order in which they were issued; the oldest is dropped when there are too many.

    An answered entry keeps its place, as None, so that a second answer is told from an unknown key.

    >>> ledger = Ledger(most=2)
    >>> for key in "abc":
    ...     ledger.issue(key, key.upper())
    >>> ledger.entry("b"), ledger.n_dropped
    ('B', 1)
    """

    def __init__(
        self, most: int, most_bytes: float | None = None, size_of: Callable[[Entry], int] = sys.getsizeof
    ) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.entries: dict[Hashable, Entry | None] = {}
        self.n_dropped = 0  # before an answer came
        self.n_bytes = 0
        self._size_of = size_of

    def __len__(self) -> int:
        """The number of entries that wait for an answer."""
        return sum(entry is not None for entry in self.entries.values())

    def check_new(self, key: Hashable) -> None:
        """Raise if the key cannot be issued."""
        is_there = self.has(key)
        if key is None or is_there:
            reason = "it was issued before" if is_there else "it stands for no key"
            raise InvalidInputError(
                f"key: {key!r} cannot be issued, because {reason}; give every row a key of its own."
            )

    def has(self, key: Hashable) -> bool:
        """Whether there is an entry, waiting or answered; raises for what cannot be a key."""
        try:
            return key in self.entries
        except TypeError:
            raise InvalidInputError(f"key: {key!r} cannot be a key; give something hashable.") from None

    @contextmanager
    def all_or_nothing(self, n_entries: int) -> Iterator[None]:
        """A context in which so many entries are issued; if it raises, none was. One by itself needs no such care."""
        before = (dict(self.entries), self.n_dropped, self.n_bytes) if n_entries > 1 else None
        try:
            yield
        except BaseException:
            if before is not None:
                self.entries, self.n_dropped, self.n_bytes = before
            raise

    def issue(self, key: Hashable, entry: Entry) -> None:
        """Keep an entry, dropping the oldest ones if there are too many."""
        self.check_new(key)
        self.entries[key] = entry
        self.n_bytes += self._size(key, entry)
        while len(self.entries) > self.most or (self.most_bytes is not None and self.n_bytes > self.most_bytes):
            oldest = next(iter(self.entries))
            dropped = self.entries.pop(oldest)
            self.n_bytes -= self._size(oldest, dropped)
            self.n_dropped += dropped is not None

    def entry(self, key: Hashable) -> Entry:
        """The entry that waits under a key; raises if there is none."""
        try:
            entry = self.entries[key]
        except (KeyError, TypeError):
            raise InvalidInputError(
                f"key: nothing was issued under {key!r}, or it was too long ago; the last {self.most} are kept."
            ) from None
        if entry is None:
            raise self.answered(key)
        return entry

    def answered(self, key: Hashable) -> InvalidInputError:
        """What is wrong with a second answer."""
        return InvalidInputError(f"key: {key!r} was answered before; an answer counts once.")

    def settle(self, key: Hashable) -> None:
        """Note that the answer has come."""
        self.n_bytes -= self._size(key, self.entry(key))
        self.entries[key] = None
        self.n_bytes += self._size(key, None)

    def _size(self, key: Hashable, entry: Entry | None) -> int:
        return PLACE_BYTES + sys.getsizeof(key) + (0 if entry is None else self._size_of(entry))

    def state(self) -> dict[str, Any]:
        """Everything, with entries that are named tuples as tuples."""
        entries = [(key, tuple(entry) if isinstance(entry, tuple) else entry) for key, entry in self.entries.items()]
        return {"entries": entries, "n_dropped": self.n_dropped}
