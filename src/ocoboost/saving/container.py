"""The bytes of a model file, which any program can read.

    8 bytes     89 4F 43 4F 42 0D 0A 1A: a transfer in text mode would change these
    4 bytes     version of the format          (integers are little-endian)
    4 bytes     zero
    8 bytes     length of the whole file
    8 bytes     length of the JSON as it is stored
    8 bytes     length of the JSON
    JSON        deflated: {"ocoboost": version of the package, "arrays": [{"dtype", "shape", "stored"}, ...],
                "content": ...}
    arrays      one after another, each in byte planes, deflated (see ``planes``); "stored" is the length that it takes
    32 bytes    SHA-256 of everything before

The checksum finds accidents. It is not a signature: whoever changes a file on purpose can change the checksum too. So
what a file declares is checked before anything is unpacked: sizes that must add up to the file's, and no more than
``RATIO`` times that in memory. Then it is unpacked in small steps, and the content is checked again when a model is
made from it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ocoboost.errors import InvalidParameterError, ModelFileError
from ocoboost.saving.planes import deflated, deflated_text, inflate, inflated_steps
from ocoboost.saving.values import pack, unpack
from ocoboost.writing import replacing

MAGIC = b"\x89OCOB\r\n\x1a"
FORMAT_VERSION = 3  # 1 and 2 were written before any release
PREFIX = struct.Struct("<8sIIQQQ")
DIGEST_SIZE = 32
# A file may unpack to so many times its size, and so many bytes more. Arrays of few different bytes can be compressed
# further than that; these are written a little less compressed, so that whatever is saved can be loaded.
RATIO = 50
ALLOWANCE = 32 << 20
MOST_TEXT = 64 << 20  # bytes of JSON
MOST_VALUES = 4_000_000  # in the JSON: every one becomes a Python object
MOST_THREADS = 4  # that compress
_SLICE = 1 << 20
_DTYPES = ("<f8", "<i8")
_SHOWN = 600  # characters of what is wrong


class Stored(NamedTuple):
    """An array that a file declares; in the place of the array until that is unpacked."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    n_bytes: int  # unpacked
    size: int  # in the file


def may_unpack(n_bytes: int, size: int) -> bool:
    """Whether a file of this size may unpack to so many bytes."""
    return n_bytes <= ALLOWANCE + RATIO * size


# -- writing -----------------------------------------------------------------------------------------------------------


def write(path: str | os.PathLike[str], content: Any) -> None:
    """Write a value (see ``values``) to a file, which takes the place of another one whole or not at all."""
    pieces = encoded(content)
    try:
        with replacing(path) as file:
            for data in pieces:
                file.write(data)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written ({error.strerror or error}).") from error


def encoded(content: Any) -> Iterator[bytes]:
    """The bytes of a file with that content, in pieces."""
    arrays: list[np.ndarray[Any, Any]] = []
    packed = pack(content, arrays)
    arrays = [np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")) for array in arrays]
    if sum(array.nbytes for array in arrays) <= _SLICE:
        stored = list(map(deflated, arrays))
    else:
        with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:  # zlib lets go of Python's lock
            stored = list(pool.map(deflated, arrays))
    text, header = _header(packed, arrays, stored)
    if not may_unpack(len(header) + sum(array.nbytes for array in arrays), len(text) + sum(map(len, stored))):
        stored = [
            data if array.nbytes <= RATIO * len(data) else deflated(array, zlib.Z_HUFFMAN_ONLY)  # at most 8 to 1
            for array, data in zip(arrays, stored, strict=True)
        ]
        text, header = _header(packed, arrays, stored, zlib.Z_HUFFMAN_ONLY)
    size = PREFIX.size + len(text) + sum(map(len, stored)) + DIGEST_SIZE
    digest = hashlib.sha256()
    for data in (PREFIX.pack(MAGIC, FORMAT_VERSION, 0, size, len(text), len(header)), text, *stored):
        digest.update(data)
        yield data
    yield digest.digest()


def _header(
    packed: Any,
    arrays: list[np.ndarray[Any, Any]],
    stored: list[bytes],
    strategy: int = zlib.Z_DEFAULT_STRATEGY,
) -> tuple[bytes, bytes]:
    """The JSON, as it is stored and as it is."""
    declared = [
        {"dtype": _description(array.dtype), "shape": list(array.shape), "stored": len(data)}
        for array, data in zip(arrays, stored, strict=True)
    ]
    header = {"ocoboost": version("ocoboost"), "arrays": declared, "content": packed}
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:  # whole numbers of thousands of digits
        raise ModelFileError(f"a value in the model cannot be written as JSON ({error}).") from error
    _check_text(text)
    return deflated_text(text, strategy), text


def _description(dtype: np.dtype[Any]) -> Any:
    return dtype.str if dtype.names is None else [list(field) for field in dtype.descr]


def _check_text(text: bytes) -> None:
    """Raise if the JSON is too much: labels, names, texts and notes."""
    n_values = text.count(b",") + text.count(b"[") + text.count(b"{")
    if len(text) > MOST_TEXT or n_values > MOST_VALUES:
        raise ModelFileError(
            f"{len(text):,} bytes of names and other values, {n_values:,} in number, are more than a model file holds "
            f"({MOST_TEXT:,} bytes, {MOST_VALUES:,} values)."
        )


# -- reading -----------------------------------------------------------------------------------------------------------


class Contents:
    """A file whose declarations are sound."""

    def __init__(self, file: BinaryIO, packed: Any, stored: list[Stored]) -> None:
        self._file, self._packed, self._stored = file, packed, stored
        self.n_bytes = sum(array.n_bytes for array in stored)  # of all arrays, unpacked
        self.declared = _unpacked(packed, stored)  # the value, with ``Stored`` in place of arrays

    def unpacked(self) -> Any:
        """The value itself."""
        arrays = []
        for stored in self._stored:
            array = np.empty(stored.shape, dtype=stored.dtype)
            inflate(self._file, stored.size, array)
            arrays.append(array.astype(stored.dtype.newbyteorder("="), copy=False))
        return _unpacked(self._packed, arrays)


@contextmanager
def opened(path: str | os.PathLike[str], data: bytes | None = None) -> Iterator[Contents]:
    """A model file that is complete and unchanged. Whatever is wrong with it becomes a ``ModelFileError``.

    With ``data``, the file's bytes, which were kept elsewhere; ``path`` is then only what messages call it.
    """
    try:
        with _open(path) if data is None else io.BytesIO(data) as file:
            size, text_size, n_text = _check_prefix(path, file)
            _check_digest(path, file, size)
            file.seek(PREFIX.size)
            yield Contents(file, *_read_header(file, size, text_size, n_text))
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {_one_line(str(error).removeprefix(f'{path}: '))}") from None
    except InvalidParameterError as error:
        raise ModelFileError(f"{path}: has invalid parameters ({_one_line(str(error))}).") from error
    except MemoryError as error:
        raise ModelFileError(f"{path}: needs more memory than there is.") from error
    except Exception as error:  # the file is anyone's, and so is what goes wrong with it
        what = f"there is no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ModelFileError(f"{path}: is not a valid model file ({_one_line(what)}).") from error


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a pipe would block, a device might never end
        os.close(descriptor)
        raise ModelFileError(f"{path}: is not a regular file, so it is not a model file.")
    return os.fdopen(descriptor, "rb")


def _check_prefix(path: str | os.PathLike[str], file: BinaryIO) -> tuple[int, int, int]:
    """The lengths of the file, of the JSON as it is stored, and of the JSON."""
    prefix = file.read(PREFIX.size)
    n_bytes = file.seek(0, os.SEEK_END)
    if not prefix:
        raise ModelFileError(f"{path}: is empty, not a model file.")
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)]:
        raise ModelFileError(f"{path}: is not a model file of ocoboost.")
    if len(prefix) < PREFIX.size:
        raise ModelFileError(f"{path}: is truncated to {n_bytes} bytes.")
    _, number, _, size, text_size, n_text = PREFIX.unpack(prefix)
    if number > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: has format version {number}, and this is ocoboost {version('ocoboost')}, which reads versions up "
            f"to {FORMAT_VERSION}; install a newer ocoboost."
        )
    if number < FORMAT_VERSION:
        raise ModelFileError(f"{path}: has format version {number}, from before the first release; train it again.")
    if n_bytes < size:
        raise ModelFileError(f"{path}: is truncated to {n_bytes} of {size} bytes.")
    return n_bytes, text_size, n_text


def _check_digest(path: str | os.PathLike[str], file: BinaryIO, size: int) -> None:
    file.seek(0)
    digest = hashlib.sha256()
    left = size - DIGEST_SIZE
    while left > 0:
        data = file.read(min(left, _SLICE))
        digest.update(data)
        left -= len(data)
        if not data:
            break
    if file.read(DIGEST_SIZE) != digest.digest():
        raise ModelFileError(f"{path}: is damaged or was modified (checksum mismatch).")


def _read_header(file: BinaryIO, size: int, text_size: int, n_text: int) -> tuple[Any, list[Stored]]:
    """The packed content and the arrays declared; raises unless these have their place in the file."""
    left = size - PREFIX.size - DIGEST_SIZE - text_size
    if left < 0:
        raise ValueError("its header is longer than the file")
    if n_text > MOST_TEXT or not may_unpack(n_text, size):
        raise ValueError(f"its header would unpack to {n_text:,} bytes")
    text = b"".join(inflated_steps(file, text_size, [min(_SLICE, n_text - n) for n in range(0, n_text, _SLICE)]))
    _check_text(text)
    header = json.loads(text, parse_constant=_refuse)
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list) or "content" not in header:
        raise ValueError("its header lacks arrays or content")
    declared = [_declared(array) for array in header["arrays"]]
    if sum(array.size for array in declared) != left:
        raise ValueError("its arrays do not fill the file")
    n_bytes = sum(array.n_bytes for array in declared)
    if not may_unpack(n_text + n_bytes, size):
        raise ValueError(f"{size:,} bytes would unpack to {n_bytes:,}, over {RATIO} times as many")
    return header["content"], declared


def _unpacked(packed: Any, arrays: Sequence[Any]) -> Any:
    """The value, with every array in one place."""
    left = list(arrays)
    value = unpack(packed, left)
    if any(array is not None for array in left):
        raise ValueError("an array that nothing refers to")
    return value


def _declared(array: Any) -> Stored:
    dtype, shape, size = _dtype(array["dtype"]), array["shape"], array["stored"]
    if not isinstance(shape, list) or len(shape) > 8:
        raise ValueError("invalid array shape")
    if not all(type(length) is int and 0 <= length < 2**48 for length in [*shape, size]):
        raise ValueError(f"invalid array shape or size: {shape}, {size}")
    n_bytes = dtype.itemsize
    for length in shape:
        n_bytes *= length
    return Stored(dtype, tuple(shape), n_bytes, size)


def _dtype(descr: Any) -> np.dtype[Any]:
    """The type for eight-byte numbers or records of them; nothing else is ever read."""
    fields = [("", descr)] if isinstance(descr, str) else [(name, kind) for name, kind in descr]
    if len(fields) > 64 or any(kind not in _DTYPES or not isinstance(name, str) for name, kind in fields):
        raise ValueError(f"unsupported array type: {descr!r}")
    return np.dtype(descr) if isinstance(descr, str) else np.dtype(fields)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _one_line(text: str) -> str:
    """What is wrong, on one line: whatever the file says is shown, not obeyed."""
    text = " ".join(text[: 2 * _SHOWN].split())
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
