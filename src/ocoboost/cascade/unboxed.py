"""Named tuples of arrays as kernels see them, kept in memory between calls.

Whenever Python calls a kernel, every array has to be taken out of its Python object first. For the fifty arrays of an
ensemble that takes longer than some ensembles need for a row. Here it is done once: ``write`` puts what a kernel
sees of a value onto a page of a book, and kernels ``read`` it there. A page holds addresses and sizes, so whoever
writes one keeps the arrays alive, and writes it anew when they are replaced by others.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from ocoboost.compiling import kernel

cgutils: Any = numba.core.cgutils  # these have no types
typeof: Any = numba.typeof
_intrinsic: Any = intrinsic

_TYPES: dict[str, Any] = {}  # what the pages of the books of a name hold
_OUTLINES: dict[str, Any] = {}  # the same, as far as it depends on the value; Numba's own way to find out is slow


def can_hold(name: str, value: Any) -> bool:
    """Whether pages of this name are for values of this type; the first one says which."""
    outline = _outline(value)
    if name not in _OUTLINES:
        _TYPES[name], _OUTLINES[name] = typeof(value), outline
    return bool(_OUTLINES[name] == outline)


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.c_contiguous, value.flags.writeable
    return type(value)


def _outline(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value), [_outline(part) if isinstance(part, tuple) else _kind(part) for part in value]
    return _kind(value)


def empty_book(name: str, n_pages: int) -> Any:
    """A book of this name, whose pages are still to be written; kernels are compiled for the name."""
    context = cpu_target.target_context
    n_bytes = context.get_abi_sizeof(context.get_value_type(_TYPES[name]))
    return np.zeros(n_pages, dtype=[(name, np.uint64, (-(-n_bytes // 8),))])


@kernel
def write(book: Any, page: int, value: Any) -> None:
    """Put a value onto a page."""
    _store(book, page, value)


def _address(context: Any, builder: Any, book_type: Any, book: Any, page: Any, kept: Any) -> Any:
    """Where a page begins, as a pointer to what is kept there."""
    data = context.make_array(book_type)(context, builder, book).data
    start = builder.ptrtoint(data, page.type)
    size = page.type(book_type.dtype.size)
    return builder.inttoptr(builder.add(start, builder.mul(page, size)), context.get_value_type(kept).as_pointer())


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A value whose arrays name no Python object: nobody may count references to one through a page."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind
        for place, own in enumerate(kinds.types):
            part = _without_owner(context, builder, own, builder.extract_value(value, place))
            value = builder.insert_value(value, part, place)
    return value


@_intrinsic  # type: ignore[untyped-decorator]
def _store(typing: Any, book: Any, page: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        book_type, page_type, kept = signature.args
        place = context.cast(builder, arguments[1], page_type, types.intp)
        pointer = _address(context, builder, book_type, arguments[0], place, kept)
        builder.store(_without_owner(context, builder, kept, arguments[2]), pointer)
        return context.get_dummy_value()

    return types.void(book, page, value), generate


@_intrinsic  # type: ignore[untyped-decorator]
def read(typing: Any, book: Any, page: Any) -> Any:
    """What is on a page. Only what is used of it is fetched, number by number."""
    kept = _TYPES[next(iter(book.dtype.fields))]

    def fetched(builder: Any, pointer: Any, kind: Any) -> Any:
        if not hasattr(kind, "elements") and not hasattr(kind, "count"):
            return builder.load(pointer)
        parts = kind.elements if hasattr(kind, "elements") else [kind.element] * kind.count
        value = cgutils.get_null_value(kind)
        for place, part in enumerate(parts):
            found = fetched(builder, cgutils.gep_inbounds(builder, pointer, 0, place), part)
            value = builder.insert_value(value, found, place)
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer = _address(context, builder, signature.args[0], arguments[0], place, kept)
        return fetched(builder, pointer, context.get_value_type(kept))

    return kept(book, page), generate
