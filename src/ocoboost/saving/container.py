"""The bytes of a model file, which any program can read.

    8 bytes     89 4F 43 4F 42 0D 0A 1A: a file that some transfer took for text no longer begins like this
    4 bytes     version of the format          (integers are little-endian)
    4 bytes     zero
    8 bytes     length of the whole file
    8 bytes     length of the JSON
    JSON        {"ocoboost": version of the package, "arrays": [{"dtype", "shape", "at"}, ...], "content": ...}
    arrays      in C order, each at a multiple of 64 bytes from the beginning
    32 bytes    SHA-256 of everything before

A file is written under another name, forced to disk and then given its own: at any moment there is either the old one
or the new one, whole. The checksum finds accidents. It is no signature: whoever changes a file on purpose can change
the checksum too, and what such a file holds is checked again when a model is made of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ocoboost.errors import ModelFileError
from ocoboost.saving.values import pack, unpack

MAGIC = b"\x89OCOB\r\n\x1a"
FORMAT_VERSION = 2  # 1 was written before any release
_PREFIX = struct.Struct("<8sIIQQ")
_ALIGNMENT = 64
_DIGEST_SIZE = 32
_SLICE = 1 << 20
_DTYPES = ("<f8", "<i8")


def write(path: str | os.PathLike[str], content: Any) -> None:
    """Put a value (see ``values``) in a file. Two processes must not write the same file at the same time."""
    arrays: list[np.ndarray[Any, Any]] = []
    packed = pack(content, arrays)
    arrays = [np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for array in arrays]
    places, end = _places(arrays)
    header = _json({"ocoboost": version("ocoboost"), "arrays": places, "content": packed})
    first = _aligned(_PREFIX.size + len(header))  # places count from here
    target = Path(path).resolve()  # replace what a link points to, not the link
    beside = target.with_name(f".{target.name}.tmp")
    try:
        with beside.open("wb") as file:
            writer = _HashingWriter(file)
            writer.write(_PREFIX.pack(MAGIC, FORMAT_VERSION, 0, first + end + _DIGEST_SIZE, len(header)))
            writer.write(header)
            for place, array in zip(places, arrays, strict=True):
                writer.pad_to(first + place["at"])
                writer.write(array.reshape(-1).view(np.uint8).data)
            writer.pad_to(first + end)
            file.write(writer.digest.digest())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise ModelFileError(f"{path}: cannot be written ({error.strerror or error}).") from error
    _sync_directory(target.parent)


def read(path: str | os.PathLike[str]) -> Any:
    """The value in a file; raises ``ModelFileError`` for anything that is not a whole, unchanged model file."""
    try:
        with Path(path).open("rb") as file:
            header_size, size = _check_prefix(path, file)
            _check_digest(path, file, size)
            try:
                return _read_content(file, header_size, size)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise ModelFileError(f"{path}: holds what no version of ocoboost writes ({error}).") from error
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _check_prefix(path: str | os.PathLike[str], file: BinaryIO) -> tuple[int, int]:
    prefix = file.read(_PREFIX.size)
    n_bytes = os.fstat(file.fileno()).st_size
    if not prefix:
        raise ModelFileError(f"{path}: is empty, not a model file.")
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)]:
        raise ModelFileError(f"{path}: is not a model file of ocoboost.")
    if len(prefix) < _PREFIX.size:
        raise ModelFileError(f"{path}: is truncated, only {n_bytes} bytes are left.")
    _, number, _, size, header_size = _PREFIX.unpack(prefix)
    if number > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: has format version {number}, and this is ocoboost {version('ocoboost')}, which reads versions up "
            f"to {FORMAT_VERSION}; install a newer ocoboost."
        )
    if n_bytes < size:
        raise ModelFileError(f"{path}: is truncated, {n_bytes} of {size} bytes are left.")
    return header_size, n_bytes


def _check_digest(path: str | os.PathLike[str], file: BinaryIO, size: int) -> None:
    file.seek(0)
    digest = hashlib.sha256()
    left = size - _DIGEST_SIZE
    while left > 0:
        piece = file.read(min(left, _SLICE))
        digest.update(piece)
        left -= len(piece)
        if not piece:
            break
    if file.read(_DIGEST_SIZE) != digest.digest():
        raise ModelFileError(f"{path}: is damaged or was changed (its checksum does not match).")


def _read_content(file: BinaryIO, header_size: int, size: int) -> Any:
    first = _aligned(_PREFIX.size + header_size)
    end = size - _DIGEST_SIZE
    if first > end:
        raise ValueError("the header is longer than the file")
    file.seek(_PREFIX.size)
    header = json.loads(file.read(header_size))
    arrays = []
    for place in header["arrays"]:
        dtype = _dtype(place["dtype"])
        shape = tuple(place["shape"])
        if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
            raise ValueError("an array has no such shape")
        n_bytes = dtype.itemsize
        for length in shape:
            n_bytes *= length
        at = place["at"]
        if type(at) is not int or at < 0 or first + at + n_bytes > end:
            raise ValueError("an array lies outside the file")
        array = np.empty(shape, dtype=dtype)
        file.seek(first + at)
        if n_bytes and file.readinto(array.reshape(-1).view(np.uint8).data) != n_bytes:  # type: ignore[attr-defined]
            raise ValueError("an array is cut off")
        arrays.append(array.astype(dtype.newbyteorder("="), copy=False))
    return unpack(header["content"], arrays)


def _places(arrays: list[np.ndarray[Any, Any]]) -> tuple[list[dict[str, Any]], int]:
    places, end = [], 0
    for array in arrays:
        descr = array.dtype.str if array.dtype.names is None else [list(field) for field in array.dtype.descr]
        places.append({"dtype": descr, "shape": list(array.shape), "at": end})
        end = _aligned(end + array.nbytes)
    return places, end


def _dtype(descr: Any) -> np.dtype[Any]:
    """Numbers of eight bytes, or records of them: nothing else is ever read."""
    fields = [("", descr)] if isinstance(descr, str) else [(name, kind) for name, kind in descr]
    if any(kind not in _DTYPES or not isinstance(name, str) for name, kind in fields):
        raise ValueError(f"an array is of type {descr!r}")
    return np.dtype(descr) if isinstance(descr, str) else np.dtype(fields)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:  # whole numbers of thousands of digits
        raise ModelFileError(f"a value in the model cannot be written as JSON ({error}).") from error


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNMENT) * _ALIGNMENT


class _HashingWriter:
    """Writes, and keeps the digest and the number of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()
        self.n_bytes = 0

    def write(self, data: bytes | memoryview) -> None:
        self.file.write(data)
        self.digest.update(data)
        self.n_bytes += len(data)

    def pad_to(self, place: int) -> None:
        self.write(bytes(place - self.n_bytes))


def _sync_directory(directory: Path) -> None:
    """Make the new name survive a power cut too, where directories can be synced."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
