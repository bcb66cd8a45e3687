"""Arrays as compressed bytes: the first bytes of all numbers, then their second bytes, and so on, deflated.

Neighbouring numbers share their high bytes, so these become runs; the low bytes of most floats cannot be compressed,
and in planes of their own they cost no time to find out. Runs are all that is looked for (zlib's Z_RLE): on learned
trees it is several times as fast as a search for repeats, and as small. An array goes through in steps of ``STEP``
numbers, so neither writing nor reading needs a copy of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

STEP = 1 << 15  # numbers, or records of them
_SLICE = 1 << 16  # bytes of a file that are read at a time
_LEVEL = 1
_RAW = -zlib.MAX_WBITS  # neither header nor checksum: the file has its own


def deflated(array: np.ndarray[Any, Any], strategy: int = zlib.Z_RLE) -> bytes:
    """The bytes of an array, in planes."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, strategy=strategy)
    flat = np.ascontiguousarray(array).reshape(-1)
    steps = [compressor.compress(_planes(flat[first : first + STEP])) for first in range(0, flat.size, STEP)]
    return b"".join([*steps, compressor.flush()])


def deflated_text(data: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    """The bytes of a text."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, _RAW, strategy=strategy)
    return compressor.compress(data) + compressor.flush()


def inflate(file: BinaryIO, size: int, array: np.ndarray[Any, Any]) -> None:
    """Fill an array from the next ``size`` bytes of a file; raises ``ValueError`` unless they fit exactly."""
    flat = array.reshape(-1)
    steps = inflated_steps(file, size, [array.itemsize * min(STEP, flat.size - n) for n in range(0, flat.size, STEP)])
    for number, planes in enumerate(steps):
        step = flat[number * STEP : (number + 1) * STEP]
        bytes_of = step.view(np.uint8).reshape(step.size, array.itemsize)
        bytes_of[:] = np.frombuffer(planes, dtype=np.uint8).reshape(array.itemsize, step.size).T


def inflated_steps(file: BinaryIO, size: int, lengths: list[int]) -> Iterator[bytes]:
    """The next ``size`` bytes of a file, inflated to bytes of these lengths and nothing more."""
    inflater = zlib.decompressobj(_RAW)
    left, data = size, b""
    try:
        for length in [*lengths, 0]:
            step = bytearray()
            while len(step) < length or (length == 0 and not inflater.eof):
                if not data and left > 0:
                    data = file.read(min(left, _SLICE))
                    if not data:
                        raise ValueError("truncated while being read")
                    left -= len(data)
                n_before = len(step), len(data)
                step += inflater.decompress(data, max(1, length - len(step)))
                data = inflater.unconsumed_tail
                if len(step) > length or ((len(step), len(data)) == n_before and not left):
                    raise ValueError("compressed data do not have the declared size")
            if length:
                yield bytes(step)
    except zlib.error as error:
        raise ValueError(f"damaged compressed data ({error})") from None
    if left or data or inflater.unused_data:
        raise ValueError("compressed data do not have the declared size")


def _planes(step: np.ndarray[Any, Any]) -> bytes:
    return step.view(np.uint8).reshape(step.size, step.itemsize).T.tobytes()
