"""While kernels are compiled, somebody waits: say so on standard error.

On a terminal a line shows what is going on and for how long, and goes away; elsewhere it is said once.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import Any, TextIO

from numba.core import event

PATIENCE = 2.0  # seconds of compiling before anything is said
PAUSE = 1.5  # seconds without compiling after which it has ended
TICK = 0.2
MESSAGE = "ocoboost: compiling (first use only; later processes start from the cache)"
WHEEL = "|/-\\"


class Announcer(event.Listener):
    """Hears when Numba compiles; what comes from the cache on disk is not compiled."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._depth = 0
        self._last = 0.0
        self._thread: threading.Thread | None = None
        self._is_said = False

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        with self._lock:
            self._depth += 1
            self._last = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True, name="ocoboost-compiling")
                self._thread.start()

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        with self._lock:
            self._depth -= 1
            self._last = time.monotonic()

    def _watch(self) -> None:
        """Until nothing has been compiled for a while."""
        began, turn, width = time.monotonic(), 0, 0
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            with self._lock:
                if self._depth == 0 and now - self._last > PAUSE:
                    self._thread = None
                    break
            if now - began < PATIENCE:
                continue
            if self._is_terminal():
                turn += 1
                line = f"{WHEEL[turn % len(WHEEL)]} {MESSAGE}, {now - began:.0f} s"
                width = len(line)
                self._write(f"\r{line}")
            elif not self._is_said:
                self._is_said = True
                self._write(f"{MESSAGE}\n")
        if width:
            self._write("\r" + " " * width + "\r")

    def _is_terminal(self) -> bool:
        with suppress(AttributeError, ValueError):  # there may be no standard error, or a closed one
            return (self._stream or sys.stderr).isatty()
        return False

    def _write(self, text: str) -> None:
        stream = self._stream or sys.stderr
        with suppress(AttributeError, ValueError, OSError):
            stream.write(text)
            stream.flush()


def _is_ours(event: Any) -> bool:
    """Whether it is a kernel of this package that is compiled."""
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    return getattr(function, "__module__", "").partition(".")[0] == __name__.partition(".")[0]


def announce_compilation() -> None:
    """From now on, in this process."""
    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call]
