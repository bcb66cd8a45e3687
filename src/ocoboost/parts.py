"""Kernels that other kernels call: compiled as parts, which become machine code only where they end up.

Left to itself, Numba makes of every kernel that is called a library of its own: a wrapper for Python around it, all
of LLVM's optimisations, machine code. The caller then takes in what came out, optimises it all again, and so on up to
the kernel that Python calls. Here a part has no wrapper and is handed on as it is, so that all of it is optimised
once, together. `benchmarks/cold_start.py` measures what that saves.

A kernel that both Python and other kernels call has both forms. The class of libraries is Numba's own; if a version
of Numba lacks what is needed of it, parts are compiled as other functions are: slower, with the same results.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types


def _part_options() -> dict[str, Any]:
    """What has Numba compile a function as a part."""
    try:
        from numba.core import codegen, compiler
    except ImportError:
        return {}
    JITCodeLibrary: Any = getattr(codegen, "JITCodeLibrary", object)
    Compiler: Any = getattr(compiler, "Compiler", object)
    needed = ("_raise_if_finalized", "_finalize_dynamic_globals", "_get_module_for_linking", "finalize", "codegen")
    if not all(hasattr(JITCodeLibrary, name) for name in needed):
        return {}

    class Library(JITCodeLibrary):  # type: ignore[misc]
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

    class PartCompiler(Compiler):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            if self.state.library is None:
                self.state.library = Library(self.state.targetctx.codegen(), "part")

    return {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _NoEnvironment:
    """Functions that Python never calls need no Python objects: there is nothing to set."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Numba would write the address of the objects into machine code that is not there."""


PART_OPTIONS: Any = _part_options()


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
