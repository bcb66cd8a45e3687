"""Bytes of a file or of standard input, unpacked if they are gzipped, from any place on."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ocoboost.errors import DataFileError

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_FINGERPRINT_SIZE = 1 << 16
_UNPACK_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)


class ByteStream:
    """Unpacked bytes in order; errors name the file."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STANDARD_INPUT else path
        self.is_pipe = path == STANDARD_INPUT
        self.offset = 0  # of the next byte, unpacked
        try:
            self._raw: Any = sys.stdin.buffer if self.is_pipe else Path(path).open("rb")  # noqa: SIM115
            if not hasattr(self._raw, "peek"):  # a test's standard input
                self._raw = io.BufferedReader(self._raw)
            self._size = None if self.is_pipe else os.fstat(self._raw.fileno()).st_size
            self.is_packed = self._raw.peek(2)[:2] == _GZIP
        except OSError as error:
            raise unreadable(self.name, error) from error
        self._bytes: Any = gzip.GzipFile(fileobj=self._raw) if self.is_packed else self._raw

    def read(self, n_bytes: int) -> bytes:
        """Up to so many bytes, of a pipe those that are there; none at the end."""
        with self._naming():
            data: bytes = (self._bytes.read1 if self.is_pipe else self._bytes.read)(n_bytes)
        self.offset += len(data)
        if not data:
            self._check_still_there()
        return data

    def skip_to(self, offset: int) -> None:
        """Go on at a place; not in a pipe. What is packed is unpacked until there."""
        with self._naming():
            self._bytes.seek(offset)
        self.offset = offset

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except _UNPACK_ERRORS as error:
            raise DataFileError(
                f"{self.name}: is a damaged or truncated gzip file ({error}), after {self.offset:,} unpacked bytes."
            ) from error
        except OSError as error:
            raise unreadable(self.name, error) from error

    def _check_still_there(self) -> None:
        """A file that shrinks or is deleted while it is read ends too early, and nothing else would tell."""
        if self._size is None:
            return
        status = os.fstat(self._raw.fileno())
        if status.st_nlink == 0:
            raise DataFileError(f"{self.name}: was deleted while it was being read.")
        if status.st_size < self._raw.tell() or status.st_size < self._size:
            raise DataFileError(f"{self.name}: became shorter while it was being read.")

    def close(self) -> None:
        """Let go of the file."""
        if not self.is_pipe:
            self._raw.close()

    @property
    def fraction(self) -> float | None:
        """How much of the file has been read."""
        if not self._size:
            return None
        if self._raw.closed:
            return 1.0
        return float(min(1.0, self._raw.tell() / self._size))


def unreadable(name: str, error: OSError) -> DataFileError:
    return DataFileError(f"{name}: cannot be read ({error.strerror or error}).")


def fingerprint(path: str, n_bytes: int = _FINGERPRINT_SIZE) -> tuple[str, int]:
    """A digest of how a file begins, and of how many bytes that is; empty for standard input."""
    if path == STANDARD_INPUT:
        return "", 0
    try:
        with Path(path).open("rb") as file:
            head = file.read(min(n_bytes, _FINGERPRINT_SIZE))
    except OSError as error:
        raise unreadable(path, error) from error
    return hashlib.sha256(head).hexdigest(), len(head)
