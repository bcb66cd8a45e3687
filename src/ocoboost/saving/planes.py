"""Arrays as compressed bytes: the first bytes of all numbers, then their second bytes, and so on, deflated.

Neighbouring numbers share their high bytes, so these become runs; the low bytes of most floats are noise, and in planes
of their own they are found out at once and written as they are. Runs are all that is looked for (zlib's Z_RLE): on
learned trees it is as small as a search for repeats, and faster. An array goes through in steps of ``STEP`` numbers, so
neither writing nor reading needs a copy of it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

STEP = 1 << 15  # numbers, or records of them
_SLICE = 1 << 16  # bytes of a file that are read at a time
_LEVEL = 1
_LEAST_NOISE = 1 << 11  # bytes: fewer are not enough to tell
_MOST_STORED = 0xFFFF  # bytes of a block that is not compressed
_RAW = -zlib.MAX_WBITS  # neither header nor checksum: the file has its own


def deflated(array: np.ndarray[Any, Any], strategy: int = zlib.Z_RLE) -> bytes:
    """The bytes of an array, in planes."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, strategy=strategy)
    flat = np.ascontiguousarray(array).reshape(-1)
    out = []
    for first in range(0, flat.size, STEP):
        planes = _planes(flat[first : first + STEP])
        waiting = 0  # the first plane that is not written yet
        for plane in range(len(planes)):
            if strategy == zlib.Z_RLE and _is_noise(planes[plane]):
                out += [compressor.compress(planes[waiting:plane].data), compressor.flush(zlib.Z_FULL_FLUSH)]
                out += _stored(planes[plane].tobytes())
                waiting = plane + 1
        out.append(compressor.compress(planes[waiting:].data))
    return b"".join([*out, compressor.flush()])


def _is_noise(plane: np.ndarray[Any, Any]) -> bool:
    """Whether the bytes of a plane are so evenly distributed that little can be gained by coding them."""
    sample = plane[:_LEAST_NOISE]
    return sample.size == _LEAST_NOISE and int(np.bincount(sample, minlength=256).max()) < _LEAST_NOISE // 8


def _stored(data: bytes) -> Iterator[bytes]:
    """Blocks of a deflated stream that are not compressed (RFC 1951, 3.2.4), where it is at the beginning of a byte."""
    for first in range(0, len(data), _MOST_STORED):
        length = min(_MOST_STORED, len(data) - first)
        yield struct.pack("<BHH", 0, length, length ^ 0xFFFF)
        yield data[first : first + length]


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


def _planes(step: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(step.view(np.uint8).reshape(step.size, step.itemsize).T)
