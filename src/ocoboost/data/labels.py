"""Labels and their indices, for the life of a model.

The registry grows and never reorders: an index, once given, always means the same label. It plans before it grows:
``plan`` reads the labels of a whole block and says at which rows new ones appear; nothing changes until they are added.
Blocks are cut at those rows, because a game padded with a label that nobody has seen yet would make other moves.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import TypeAlias

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.data.rows import holds_nan, is_missing
from ocoboost.errors import InvalidInputError

Label: TypeAlias = Hashable
PLAIN = {str, int, bool}  # types of labels that are hashable, never missing, and need no conversion
ENTRY_BYTES = 100  # of a label's entries in a list and a dict, about


def as_label(label: object, where: str) -> Label:
    """A label as it will come back: NumPy scalars as Python scalars. ``where`` says whose it is, if it is none."""
    if isinstance(label, np.generic) and not isinstance(label, np.datetime64 | np.timedelta64):
        label = label.item()  # of a date it would be an integer, or not, depending on the unit
    try:
        hash(label)
    except Exception:
        raise InvalidInputError(
            f"{where} is {label!r}, a {type(label).__name__}, which cannot be a dictionary key; "
            "use a number, a string or a tuple."
        ) from None
    if is_missing(label) or holds_nan(label):
        raise InvalidInputError(f"{where} is missing ({label!r}); drop such rows before learning.")
    return label


class Labels:
    """Labels and their indices. With ``classes`` given the set is closed, as in the paper; else it grows."""

    def __init__(self, classes: Iterable[object] | None = None) -> None:
        self.closed = classes is not None
        self.known: list[Label] = []
        self._index: dict[Label, int] = {}
        for label in () if classes is None else classes:
            self.add(as_label(label, f"label {len(self.known)} of classes"))

    def __len__(self) -> int:
        return len(self.known)

    @property
    def n_bytes(self) -> int:
        """Memory of the labels, about."""
        return self.size_of(self.known)

    @staticmethod
    def size_of(labels: Iterable[Label]) -> int:
        """Memory that these labels take, about."""
        return sum(sys.getsizeof(label) + ENTRY_BYTES for label in labels)

    def add(self, label: Label) -> None:
        self._index[label] = len(self.known)
        self.known.append(label)

    def plan(self, labels: Sequence[Label]) -> dict[int, Label]:
        """New labels by the row that brings them."""
        if self._index.keys() >= set(labels):  # nearly always, and half of the loop's time
            return {}
        new: dict[Label, int] = {}
        for row, label in enumerate(labels):
            if label not in self._index and label not in new:
                if self.closed:
                    raise InvalidInputError(
                        f"y: the label at row {row} is {label!r}, which is not among classes={self.known!r}; "
                        "add it there, or leave classes=None to let the label set grow."
                    )
                new[label] = row
        return {row: label for label, row in new.items()}

    def index(self, label: object) -> int | None:
        """The index of a label of plain type, if it is known."""
        return self._index.get(label) if type(label) in PLAIN else None

    def indices(self, labels: Sequence[Label]) -> IntArray:
        """The index of each label, -1 for those that are not known."""
        # 62 microseconds for a block of 1,024 labels; a comprehension takes 88.
        return np.fromiter(map(self._index.get, labels, repeat(-1)), dtype=np.int64, count=len(labels))
