"""Ask for memory before it is needed.

A row by itself goes down hundreds of trees, most of which are not in the processor's cache. The next node of its way is
known as soon as the present one is read, long before its box is compared with the row: time enough to fetch it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ocoboost.compiling import kernel
from ocoboost.parts import PART_OPTIONS

LINE = 64  # bytes that are fetched at once
MOST_LINES = 6  # what lies behind these, the processor itself fetches by then

_intrinsic: Any = intrinsic


@_intrinsic  # type: ignore[untyped-decorator]
def _fetch(typing: Any, array: Any, offset: Any) -> Any:
    """Fetch what lies so many bytes behind the beginning of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
        byte = ir.IntType(8).as_pointer()
        address = builder.inttoptr(builder.add(builder.ptrtoint(data, offset.type), offset), byte)
        number = ir.IntType(32)
        told = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], told)
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, near, data
        return context.get_dummy_value()

    return types.void(array, offset), generate


def fetch(array: Any, place: int) -> None:
    """Fetch the beginning of ``array[place]``; nothing else happens."""


@overload(fetch, strict=False, jit_options=PART_OPTIONS)
def _fetch_lines(array: Any, place: Any) -> Any:
    return lambda array, place: _fetch_from(array, place)  # noqa: PLW0108, an overload must be a plain function


@kernel(forceinline=True)
def _fetch_from(array: Any, place: int) -> None:
    size = array.strides[0]
    for line in range(min((size + LINE - 1) // LINE, MOST_LINES)):
        _fetch(array, place * size + line * LINE)
