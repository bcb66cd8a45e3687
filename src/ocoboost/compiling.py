"""How kernels are compiled: cached, without the interpreter's lock, and without counting references.

Numba counts references to arrays atomically, at every view and every call that passes one. In the fused kernel that
cost about half of the time: 1.55 microseconds per row and learner with counting, 0.82 without (Segment, 100 stumps).
Kernels neither make nor keep arrays, and what they are handed outlives the call, so there is nothing to count. One
that hides an allocation (``a[:] = b`` does, in case they overlap) does not compile: write the loop. ``_nrt`` is Numba's
own switch for the runtime that does the counting.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import config, njit

IS_COMPILED = not getattr(config, "DISABLE_JIT", 0)

kernel: Any = partial(njit, cache=True, nogil=True, _nrt=False)
allocating: Any = partial(njit, cache=True, nogil=True)  # for what makes arrays, once per call
