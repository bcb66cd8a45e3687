"""How kernels are compiled: cached, without the GIL, and without reference counting.

Numba counts references to arrays atomically, at every view and every call that passes one. In the fused kernel that
cost about half of the time: 1.55 microseconds per row and learner with counting, 0.82 without (Segment, 100 stumps).
Kernels neither make nor keep arrays, and what they are handed outlives the call, so there is nothing to count. One
that hides an allocation (``a[:] = b`` does, in case they overlap) does not compile: write the loop.

The switch for that, ``_nrt``, is Numba's own. If a version of Numba lacks it, or if the environment variable
``OCOBOOST_COUNT_REFERENCES`` is set to 1, kernels are compiled with counting: slower, with the same results.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from numba import config, njit, types

IS_COMPILED = not getattr(config, "DISABLE_JIT", 0)

P = ParamSpec("P")
R = TypeVar("R")
Decorator = Callable[[Callable[P, R]], Callable[P, R]]


def counts_references() -> bool:
    """Whether kernels have to be compiled with reference counting."""
    if os.environ.get("OCOBOOST_COUNT_REFERENCES") == "1":
        return True
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return True
    return not hasattr(CPUTargetOptions, "_nrt")


_OPTIONS: dict[str, Any] = {"nogil": True} if counts_references() else {"nogil": True, "_nrt": False}


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def kernel(
    *,
    error_model: Literal["python", "numpy"] = ...,
    inline: Literal["never", "always"] = ...,
    forceinline: bool = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that makes no arrays. Options are Numba's."""

    def compile_it(function: Any) -> Any:
        return _without_literals(njit(cache=True, **_OPTIONS, **options)(function))

    return compile_it if function is None else compile_it(function)


def _without_literals(compiled: Any) -> Any:
    """Have a kernel's callers compile it for numbers, and not once more for the constant that a variable starts with.

    Numba infers the types of a loop with ``node = 0`` twice: at first ``node`` is the constant 0, later any integer.
    Each time it would compile every kernel that is called with it.
    """
    if not IS_COMPILED or not hasattr(compiled, "get_call_template"):
        return compiled
    choose = compiled.get_call_template
    widen: Callable[[Any], Any] = types.unliteral

    def get_call_template(args: Any, kws: Any) -> Any:
        return choose([widen(arg) for arg in args], {key: widen(arg) for key, arg in kws.items()})

    compiled.get_call_template = get_call_template
    return compiled


def allocating(function: Callable[P, R], /) -> Callable[P, R]:
    """Compile a function that makes arrays, once per call."""
    compiled: Callable[P, R] = njit(cache=True, nogil=True)(function)
    return compiled


def uncached(compiled: Callable[P, R], **options: Any) -> Callable[P, R]:
    """The same kernel, compiled again in every process.

    For types that are defined outside of this package: Numba's cache on disk would name them, and every process that
    cannot import them would fail to read it.
    """
    if not IS_COMPILED:
        return compiled
    fresh: Callable[P, R] = njit(**_OPTIONS, **options)(compiled.py_func)  # type: ignore[attr-defined]
    return fresh
