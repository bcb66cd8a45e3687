"""Accuracy through a stream in few points, of a model and of what needs no features.

The baselines are the most frequent label so far and the last label that arrived. Whoever is not ahead of both has
learned nothing from the features.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ocoboost.arrays import IntArray

MOST_POINTS = 256
NOBODY = -1  # in place of a label: none has arrived yet


def whole(number: Any) -> int:
    """A count from a file."""
    if type(number) is not int or not 0 <= number < 2**62:
        raise ValueError(f"{number!r} is not a count")
    return number


class Curve:
    """Correct predictions in equal windows through the stream; windows are merged in pairs if there are too many."""

    def __init__(self) -> None:
        self.window = 1
        self.right: list[int] = []  # of the full windows
        self.n_open = 0  # rows in the window that is not full
        self.right_open = 0

    def add(self, right: Any) -> None:
        """Count rows, by whether they were predicted correctly."""
        while len(right):
            n_taken = min(self.window - self.n_open, len(right))
            self.right_open += int(np.sum(right[:n_taken]))
            self.n_open += n_taken
            right = right[n_taken:]
            if self.n_open == self.window:
                self.right.append(self.right_open)
                self.n_open = self.right_open = 0
                if len(self.right) == MOST_POINTS:
                    self.right = [first + second for first, second in zip(*[iter(self.right)] * 2, strict=True)]
                    self.window *= 2

    @property
    def n_right(self) -> int:
        """Correct predictions in all."""
        return sum(self.right) + self.right_open

    def points(self) -> list[tuple[int, float]]:
        """The number of rows at the end of each window, and the accuracy within it."""
        return [((number + 1) * self.window, right / self.window) for number, right in enumerate(self.right)]

    def accuracy(self, first: float, last: float) -> float | None:
        """The accuracy in the windows from one row to before another; None if no window lies between them."""
        inside = [right for end, right in self.points() if first <= end - self.window and end <= last]
        return float(np.mean(inside)) if inside else None

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> Curve:
        """The curve whose attributes these are; raises ``ValueError`` if none could have them."""
        curve = cls()
        curve.window, curve.n_open, curve.right_open = (
            whole(notes[name]) for name in ("window", "n_open", "right_open")
        )
        curve.right = [whole(n_right) for n_right in notes["right"]]
        is_full = len(curve.right) >= MOST_POINTS or max(curve.right, default=0) > curve.window
        if is_full or not curve.right_open <= curve.n_open < curve.window:
            raise ValueError("invalid learning curve")
        return curve


class Baselines:
    """How often the most frequent label so far was right, and how often the last label.

    With a ``delay``, labels arrive after so many more rows were predicted: these baselines know no more than the model.
    """

    def __init__(self, delay: int = 0) -> None:
        self.delay = delay
        self.most_frequent = Curve()
        self.last_label = Curve()
        self._counts: list[int] = []  # of the labels that have arrived
        self._best = self._last = NOBODY
        self._waiting: deque[int] = deque()  # labels that have not

    def add(self, labels: IntArray) -> None:
        """Judge rows, in the order of the stream, by the indices of their labels."""
        best, last = np.empty(len(labels), dtype=np.int64), np.empty(len(labels), dtype=np.int64)
        for number, label in enumerate(labels.tolist()):
            best[number], last[number] = self._best, self._last
            self._waiting.append(label)
            if len(self._waiting) > self.delay:
                self._arrive(self._waiting.popleft())
        self.most_frequent.add(best == labels)
        self.last_label.add(last == labels)

    def _arrive(self, label: int) -> None:
        self._counts += [0] * (label + 1 - len(self._counts))
        self._counts[label] += 1
        if self._best == NOBODY or self._counts[label] > self._counts[self._best]:
            self._best = label
        self._last = label

    def as_notes(self) -> dict[str, Any]:
        """Everything counted so far, for a checkpoint."""
        return {
            "most_frequent": vars(self.most_frequent),
            "last_label": vars(self.last_label),
            "counts": self._counts,
            "best": self._best,
            "last": self._last,
            "waiting": list(self._waiting),
        }

    @classmethod
    def from_notes(cls, notes: dict[str, Any], delay: int, n_labels: int) -> Baselines:
        """What gave these notes; raises ``ValueError`` if nothing could have."""
        baselines = cls(delay)
        baselines.most_frequent = Curve.from_notes(notes["most_frequent"])
        baselines.last_label = Curve.from_notes(notes["last_label"])
        baselines._counts = [whole(count) for count in notes["counts"]]
        labels: Sequence[Any] = [notes["best"], notes["last"], *notes["waiting"]]
        if not all(type(label) is int and NOBODY <= label < n_labels for label in labels):
            raise ValueError("invalid label of a baseline")
        baselines._best, baselines._last, *waiting = labels
        if len(baselines._counts) > n_labels or baselines._best >= len(baselines._counts) or NOBODY in waiting:
            raise ValueError("invalid counts of a baseline")
        if len(waiting) > delay:
            raise ValueError("too many labels wait")
        baselines._waiting.extend(waiting)
        return baselines
