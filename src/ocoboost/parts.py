"""How Numba is had to compile less: kernels that other kernels call as parts, fewer optimisations, fewer comparisons.

Left to itself, Numba makes of every kernel that is called a library of its own: a wrapper for Python around it, all
of LLVM's optimisations, machine code. The caller then takes in what came out, optimises it all again, and so on up to
the kernel that Python calls. Here a part has no wrapper and is handed on as it is, so that all of it is optimised
once, together. `benchmarks/cold_start.py` measures what that saves.

A kernel that both Python and other kernels call has both forms. The classes are Numba's own; if a version of Numba
lacks what is needed of them, kernels are compiled as other functions are: slower, with the same results.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit, types

# LLVM's level of optimisation. At level 3 kernels take longer to compile and are no faster: at both levels loops are
# vectorised, and what has to be inlined is marked. Whoever sets NUMBA_OPT is heard.
OPT_LEVEL = 1


@contextmanager
def _lighter() -> Iterator[None]:
    """Optimise less, for as long as this thread compiles; Numba lets one thread compile at a time."""
    settings: Any = config
    before = settings.OPT
    if "NUMBA_OPT" not in os.environ:
        settings.OPT = min(before, OPT_LEVEL)
    try:
        yield
    finally:
        settings.OPT = before


def _options() -> tuple[dict[str, Any], dict[str, Any]]:
    """What has Numba compile a function as a kernel for Python, and as a part."""
    try:
        from numba.core import codegen, compiler
    except ImportError:
        return {}, {}
    JITCodeLibrary: Any = getattr(codegen, "JITCodeLibrary", object)
    Compiler: Any = getattr(compiler, "Compiler", object)
    Flags: Any = getattr(compiler, "Flags", object)
    needed = (
        "_raise_if_finalized",
        "_finalize_dynamic_globals",
        "_get_module_for_linking",
        "_optimize_functions",
        "_optimize_final_module",
        "enable_object_caching",
        "finalize",
        "codegen",
    )
    if not all(hasattr(JITCodeLibrary, name) for name in needed):
        return {}, {}

    class Library(JITCodeLibrary):  # type: ignore[misc]
        """The code of a kernel that Python calls."""

        def _optimize_functions(self, ll_module: Any) -> None:
            with _lighter():
                super()._optimize_functions(ll_module)

        def _optimize_final_module(self) -> None:
            with _lighter():
                super()._optimize_final_module()

    class PartLibrary(Library):
        """The code of a part, and of the parts that it calls."""

        @property
        def codegen(self) -> type[_NoEnvironment]:
            return _NoEnvironment

        def finalize(self) -> None:
            """Link, and leave the rest to whoever takes this in."""
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._final_module.verify()
            self._finalize_dynamic_globals()
            self._finalized = True

    quick_flags = _quick(Flags)

    class RootCompiler(Compiler):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            if type(self.state.flags) is Flags:
                self.state.flags.__class__ = quick_flags
            if self.state.library is None:
                self.state.library = self.make_library()

        def make_library(self) -> Any:
            library = Library(self.state.targetctx.codegen(), "kernel")
            library.enable_object_caching()
            return library

    class PartCompiler(RootCompiler):
        def make_library(self) -> Any:
            return PartLibrary(self.state.targetctx.codegen(), "part")

    part_options = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return {"pipeline_class": RootCompiler}, part_options


def _quick(flags: Any) -> Any:
    """A class of flags that are compared as Numba's are, sooner.

    While it infers types, Numba compares the flags of what it compiles tens of thousands of times, each time all of
    them, set or not, by way of properties. What is set is a dict.
    """
    names_alone: Any = None

    class Flags(flags):  # type: ignore[misc]
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal names_alone
            if names_alone is None:
                names_alone = super().__hash__()  # of the flags' names, whatever they are set to
            return int(names_alone)

        def __eq__(self, other: object) -> bool:
            is_same = type(other) is type(self) and self._values == other._values
            return is_same or bool(super().__eq__(other))

    return Flags


class _NoEnvironment:
    """Functions that Python never calls need no Python objects: there is nothing to set."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Numba would write the address of the objects into machine code that is not there."""


_OPTIONS: Any = _options()
ROOT_OPTIONS, PART_OPTIONS = _OPTIONS


def called_in_parts(compiled: Any, **options: Any) -> Any:
    """Have a kernel's callers compile it as a part, for numbers in place of constants.

    Numba infers the types of a loop with ``node = 0`` twice: at first ``node`` is the constant 0, later any integer.
    Each time it would compile every kernel that is called with it.
    """
    part: Any = njit(**options, **PART_OPTIONS)(compiled.py_func)
    choose = part.get_call_template
    widen: Any = types.unliteral

    def get_call_template(args: Any, kws: Any) -> Any:
        return choose([widen(arg) for arg in args], {key: widen(arg) for key, arg in kws.items()})

    compiled.get_call_template = get_call_template
    compiled.get_overload = part.get_overload
    compiled.part = part
    return compiled


def signatures_of(compiled: Any) -> list[Any]:
    """What a kernel is compiled for, in both forms: for Python, and as a part."""
    return [*compiled.signatures, *compiled.part.signatures]
