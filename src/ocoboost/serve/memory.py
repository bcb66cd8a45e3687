"""Memory that is free in this process, given back to the system.

Saving takes pieces of all sizes for a moment. The C library keeps what is freed, in as many pieces, and a service that
saves for weeks would seem to grow.
"""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Let the system have what nobody uses, where the C library can do that."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)
