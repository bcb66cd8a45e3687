"""Threads: one may learn at a time, several may predict while nobody learns, and anything else is an error.

A call that finds the model in use raises `ConcurrentUseError`, having done nothing. To wait instead would be a deadlock
where a signal handler, or a weak learner's own code, calls the model that is calling it.
"""

from __future__ import annotations

import threading
from threading import get_ident

from ocoboost.errors import ConcurrentUseError

_FIX = "threads that share a model need a threading.Lock around it, or a copy each"


class Turns:
    """Who uses a model at the moment.

    Everybody first says that they are here and then looks who else is, so of two who exclude each other at least one
    sees the other. The lock is taken by a plain ``with``, which no Ctrl-C can keep from being released.
    """

    __slots__ = ("_asking", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking: dict[int, None] = {}  # threads

    def __reduce__(self) -> tuple[type[Turns], tuple[()]]:
        if self._lock.locked():
            raise ConcurrentUseError(f"a model cannot be copied or pickled while it is learning; {_FIX}.")
        return Turns, ()

    def learning(self, owner: object) -> threading.Lock:
        """The lock to hold while the model changes; whoever has it goes on to call ``check_alone``."""
        if self._lock.locked():
            raise _refusal(owner, "learning")
        return self._lock

    def check_alone(self, owner: object) -> None:
        """Raise if another thread is predicting."""
        if self._asking and any(thread != get_ident() for thread in tuple(self._asking)):
            raise _refusal(owner, "predicting")

    def asking(self, owner: object) -> _Asking:
        """A context in which nobody can begin to learn."""
        return _Asking(owner, self._lock, self._asking)


class _Asking:
    __slots__ = ("_asking", "_lock", "_owner")

    def __init__(self, owner: object, lock: threading.Lock, asking: dict[int, None]) -> None:
        self._owner = owner
        self._lock = lock
        self._asking = asking

    def __enter__(self) -> None:
        self._asking[get_ident()] = None
        if self._lock.locked():
            self._asking.pop(get_ident(), None)
            raise _refusal(self._owner, "learning")

    def __exit__(self, *error: object) -> None:
        self._asking.pop(get_ident(), None)


def _refusal(owner: object, doing: str) -> ConcurrentUseError:
    name = type(owner).__name__
    return ConcurrentUseError(f"{name}: another call is {doing} at the moment, so this one did nothing; {_FIX}.")
