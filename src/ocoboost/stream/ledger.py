"""What was said under a key, until the answer to it comes: in any order, late, once, and in bounded memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from ocoboost.errors import InvalidInputError

Entry = TypeVar("Entry")


class Ledger(Generic[Entry]):
    """Entries by key, in the order in which they were issued; the oldest is dropped when there are too many.

    An answered entry keeps its place, as None, so that a second answer is told from an unknown key.

    >>> ledger = Ledger(most=2)
    >>> for key in "abc":
    ...     ledger.issue(key, key.upper())
    >>> ledger.entry("b"), ledger.n_dropped
    ('B', 1)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.entries: dict[Hashable, Entry | None] = {}
        self.n_dropped = 0  # before an answer came

    def __len__(self) -> int:
        """The number of entries that wait for an answer."""
        return sum(entry is not None for entry in self.entries.values())

    def check_new(self, key: Hashable) -> None:
        """Raise if the key cannot be issued."""
        try:
            is_there = key in self.entries
        except TypeError:
            raise InvalidInputError(f"key: {key!r} cannot be a key; give something hashable.") from None
        if key is None or is_there:
            reason = "it was issued before" if is_there else "it stands for no key"
            raise InvalidInputError(
                f"key: {key!r} cannot be issued, because {reason}; give every row a key of its own."
            )

    def issue(self, key: Hashable, entry: Entry) -> None:
        """Keep an entry, dropping the oldest one if there are too many."""
        self.check_new(key)
        self.entries[key] = entry
        if len(self.entries) > self.most:
            self.n_dropped += self.entries.pop(next(iter(self.entries))) is not None

    def entry(self, key: Hashable) -> Entry:
        """The entry that waits under a key; raises if there is none."""
        try:
            entry = self.entries[key]
        except (KeyError, TypeError):
            raise InvalidInputError(
                f"key: nothing was issued under {key!r}, or it was too long ago; the last {self.most} are kept."
            ) from None
        if entry is None:
            raise InvalidInputError(f"key: {key!r} was answered before; an answer counts once.")
        return entry

    def settle(self, key: Hashable) -> None:
        """Note that the answer has come."""
        self.entry(key)
        self.entries[key] = None

    def state(self) -> dict[str, Any]:
        """Everything, with entries that are named tuples as tuples."""
        entries = [(key, tuple(entry) if isinstance(entry, tuple) else entry) for key, entry in self.entries.items()]
        return {"entries": entries, "n_dropped": self.n_dropped}
