"""Arrays that grow where they are.

Whoever copies an array into one of twice the size has the system clear all of that first, which takes longer than the
copy, and is done again at every doubling. Here memory is reserved, much more than is needed: what has not been written
to is only a number. Arrays are views onto its beginning, so a larger one is made by moving the parts of the present
one apart, from the last to the first, and only what is new has to be cleared.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import IntArray

Bytes = NDArray[np.uint8]

LEAST_BYTES = 2**20  # of an array that is worth it
SPARE = 8  # how many times as much is reserved as is needed, at most
_CAN_RESERVE = hasattr(mmap, "MAP_ANONYMOUS")  # not on Windows, where reserving takes memory


def reserve(n_bytes: int) -> mmap.mmap | None:
    """Memory that reads as zeros, and that nobody has to provide before it is written to; None if there is none."""
    if not _CAN_RESERVE:
        return None
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        memory = mmap.mmap(-1, n_bytes, flags=flags)
    except (OSError, ValueError):
        return None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)  # as NumPy does for large arrays
    return memory


class Room:
    """The memory that one array of shape (learners, size, ...) grows in along its second axis."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None  # not an array: whoever adds up arrays would count all that is reserved
        self._view: Any = None  # the latest array, if it is in there

    def __reduce__(self) -> tuple[type[Room], tuple[()]]:
        return Room, ()  # a pickle holds what is in use

    def grown(self, array: Any, used: IntArray, size: int, most: int) -> Any:
        """An array of a larger size with the ``used`` first parts of every learner, zeros behind them.

        It will never have to grow beyond ``most``. The array that was handed over must not be used again: it may share
        memory with the new one.
        """
        shape = (array.shape[0], size, *array.shape[2:])
        n_bytes = array.itemsize * int(np.prod(shape))
        if n_bytes < LEAST_BYTES:
            return _copied(array, used, np.zeros(shape, dtype=array.dtype))
        if array is self._view and self._memory is not None and n_bytes <= len(self._memory):
            memory = np.frombuffer(self._memory, dtype=np.uint8)
            _spread(memory, array, used, size)
            self._view = _view(memory, array.dtype, shape)
            return self._view
        self._memory = reserve(n_bytes // size * min(SPARE * size, max(size, most)))
        if self._memory is None:
            return _copied(array, used, np.zeros(shape, dtype=array.dtype))
        memory = np.frombuffer(self._memory, dtype=np.uint8)
        self._view = _copied(array, used, _view(memory, array.dtype, shape))
        return self._view


def _view(memory: Bytes, dtype: Any, shape: tuple[int, ...]) -> Any:
    return memory[: dtype.itemsize * int(np.prod(shape))].view(dtype).reshape(shape)


def _copied(array: Any, used: IntArray, new: Any) -> Any:
    for learner, n_used in enumerate(used.tolist()):
        new[learner, :n_used] = array[learner, :n_used]
    return new


def _spread(memory: Bytes, array: Any, used: IntArray, size: int) -> None:
    """Move every learner's parts to where they are in an array of a larger size, and clear what was behind them.

    From the last learner to the first: where one goes, only those behind it have been.
    """
    part = array.itemsize * int(np.prod(array.shape[2:]))
    for learner in range(array.shape[0] - 1, -1, -1):
        n_used = int(used[learner]) * part
        source, target = learner * array.shape[1] * part, learner * size * part
        if target != source:
            memory[target : target + n_used] = memory[source : source + n_used]
        memory[target + n_used : min(target + size * part, array.nbytes)] = 0  # beyond, nothing was written
