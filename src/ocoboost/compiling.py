"""How kernels are compiled: cached, without the GIL, and without reference counting.

Numba counts references to arrays atomically, at every view and every call that passes one. In the fused kernel that
cost about half of the time: 1.55 microseconds per row and learner with counting, 0.82 without (Segment, 100 stumps).
Kernels neither make nor keep arrays, and what they are handed outlives the call, so there is nothing to count. One
that hides an allocation (``a[:] = b`` does, in case they overlap) does not compile: write the loop.

The switch for that, ``_nrt``, is Numba's own. If a version of Numba lacks it, or if the environment variable
``OCOBOOST_COUNT_REFERENCES`` is set to 1, kernels are compiled with counting: slower, with the same results.

Numba keeps compiled kernels on disk and compiles one anew when its own file has changed, but not when a kernel that it
calls has changed in another. Here a kernel is as new as all sources that kernels are made of.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, overload

from numba import config, njit
from numba.core.caching import IndexDataCacheFile

from ocoboost.parts import ROOT_OPTIONS, called_in_parts

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
        compiled: Any = njit(cache=True, **_OPTIONS, **options, **ROOT_OPTIONS)(function)
        return called_in_parts(_kept(compiled), **_OPTIONS, **options) if IS_COMPILED else compiled

    return compile_it if function is None else compile_it(function)


def kernel_sources(package: Path) -> list[Path]:
    """The files of a package that compile kernels, and all that these import from it."""
    files = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    imports = re.compile(rf"^\s*from ({package.name}[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)
    compiles = re.compile(rf"^from {package.name}\.compiling import|^@\w*kernel\b", re.MULTILINE)
    waiting = [path for path, text in files.items() if compiles.search(text)]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in files and path not in found:
            found.add(path)
            for module, names in imports.findall(files[path]):
                folder = package.parent.joinpath(*module.split("."))
                waiting.append(folder.with_suffix(".py"))
                waiting += [folder / f"{name}.py" for name in re.findall(r"\w+", names)]
    return sorted(found)


@cache
def _stamp() -> str:
    """What all kernels on disk must have been made of."""
    digest = hashlib.sha256(repr((_OPTIONS, os.environ.get("NUMBA_OPT"))).encode())
    for path in kernel_sources(Path(__file__).parent):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Index(IndexDataCacheFile):
    """The list of a kernel's compiled forms on disk; one that names what is no longer there is an empty one."""

    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        except (AttributeError, EOFError, ImportError, pickle.UnpicklingError):
            return {}
        return index


def _kept(compiled: Any) -> Any:
    """Have a kernel compiled anew whenever the sources of any kernel have changed."""
    kept: Any = getattr(compiled, "_cache", None)
    if hasattr(kept, "_cache_file") and hasattr(kept._impl, "filename_base"):  # these names are Numba's own, too
        kept._cache_file = _Index(kept.cache_path, kept._impl.filename_base, _stamp())  # type: ignore[no-untyped-call]
    return compiled


def allocating(function: Callable[P, R], /) -> Callable[P, R]:
    """Compile a function that makes arrays, once per call."""
    compiled: Callable[P, R] = _kept(njit(cache=True, nogil=True)(function))
    return compiled


def uncached(compiled: Callable[P, R], **options: Any) -> Callable[P, R]:
    """The same kernel, compiled again in every process.

    For types that are defined outside of this package: Numba's cache on disk would name them, and every process that
    cannot import them would fail to read it.
    """
    if not IS_COMPILED:
        return compiled
    fresh: Callable[P, R] = njit(**_OPTIONS, **options, **ROOT_OPTIONS)(compiled.py_func)  # type: ignore[attr-defined]
    return fresh
