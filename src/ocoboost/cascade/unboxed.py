"""Named tuples of arrays as kernels see them, kept in memory between calls.

Whenever Python calls a kernel, every array has to be taken out of its Python object first. For the fifty arrays of an
ensemble that takes longer than some ensembles need for a row. Here it is done once: ``write`` puts what a kernel
sees of a value onto a page of a book, and kernels ``read`` it there. A page holds addresses and sizes, so whoever
writes one keeps the arrays alive, and writes it anew when they are replaced by others.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

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
    return np.zeros(n_pages, dtype=[(name, np.uint64, (_layout(name).itemsize // 8,))])


def write(book: Any, page: int, value: Any) -> None:
    """Put a value onto a page."""
    (name,) = book.dtype.names
    numbers: list[Any] = []
    _list_numbers(value, numbers)
    book.view(_layout(name))[page] = tuple(numbers)


def _list_numbers(value: Any, out: list[Any]) -> None:
    """What kernels see of a value: of an array the address and the sizes, and no owner to count references to."""
    for part in value:
        if isinstance(part, np.ndarray):
            out += (0, 0, part.size, part.itemsize, part.__array_interface__["data"][0], *part.shape, *part.strides)
        elif isinstance(part, tuple):
            _list_numbers(part, out)
        elif isinstance(part, np.uint64):
            out.append(part.astype(np.int64))  # the same bits; a seed may be above what a signed number holds
        else:
            out.append(part)


@cache
def _layout(name: str) -> Any:
    """Where on a page each of these numbers is: the fields of a record, one after another."""
    offsets: list[int] = []
    formats: list[str] = []
    size, _ = _lay_out(cpu_target.target_context.get_value_type(_TYPES[name]), 0, offsets, formats)
    names = [str(place) for place in range(len(offsets))]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-size // 8) * 8})


def _lay_out(kind: Any, start: int, offsets: list[int], formats: list[str]) -> tuple[int, int]:
    """List the numbers of a value that begins at ``start``, as C would lay it out; returns its size and alignment."""
    parts = _parts_of(kind)
    if not parts:
        if not (_is_truth(kind) or kind.is_pointer or isinstance(kind, ir.DoubleType) or _is_whole(kind)):
            raise TypeError(f"a page holds numbers of 64 bits, truth values and addresses, not {kind}")
        code = "f8" if isinstance(kind, ir.DoubleType) else "u8" if kind.is_pointer else "i8"
        offsets.append(start)
        formats.append("?" if _is_truth(kind) else code)
        return (1, 1) if _is_truth(kind) else (8, 8)
    at, most = start, 1
    for part in parts:
        _, alignment = _lay_out(part, 0, [], [])
        at = -(-at // alignment) * alignment
        at += _lay_out(part, at, offsets, formats)[0]
        most = max(most, alignment)
    return -(-(at - start) // most) * most, most


def _is_truth(kind: Any) -> bool:
    return isinstance(kind, ir.IntType) and bool(kind.width == 1)


def _is_whole(kind: Any) -> bool:
    return isinstance(kind, ir.IntType) and bool(kind.width == 64)


def _parts_of(kind: Any) -> list[Any]:
    """What a value in memory is made of; nothing if it is a number."""
    if isinstance(kind, ir.ArrayType):
        return [kind.element] * kind.count
    return list(getattr(kind, "elements", ()))


def _address(context: Any, builder: Any, book_type: Any, book: Any, page: Any, kept: Any) -> Any:
    """Where a page begins, as a pointer to what is kept there."""
    data = context.make_array(book_type)(context, builder, book).data
    start = builder.ptrtoint(data, page.type)
    size = page.type(book_type.dtype.size)
    return builder.inttoptr(builder.add(start, builder.mul(page, size)), context.get_value_type(kept).as_pointer())


@_intrinsic  # type: ignore[untyped-decorator]
def read(typing: Any, book: Any, page: Any) -> Any:
    """What is on a page. Only what is used of it is fetched, number by number."""
    kept = _TYPES[next(iter(book.dtype.fields))]

    def fetched(builder: Any, pointer: Any, kind: Any) -> Any:
        parts = _parts_of(kind)
        if not any((_parts_of(part) and not isinstance(part, ir.ArrayType)) or _is_truth(part) for part in parts):
            return builder.load(pointer)  # an array, or a number; where there are gaps, LLVM would keep it in one piece
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
