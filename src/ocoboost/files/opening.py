"""The bytes of a file or of standard input, decompressed if gzipped, from any offset."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ocoboost.errors import DataFileError

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
FINGERPRINT_SIZE = 1 << 16
# How files begin that people give by mistake, as no table of text does.
_OTHERS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; unpack it, or save the table as CSV",
    b"PAR1\x15": "a Parquet file; name the format with --format parquet",
    b"\xff\xfe": "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8)",
    b"\xfe\xff": "text in UTF-16; convert it to UTF-8 (iconv -f utf-16 -t utf-8)",
    b"\x28\xb5\x2f\xfd": "compressed by zstd, and only gzip is read; unpack it",
    b"\xfd7zXZ\0": "compressed by xz, and only gzip is read; unpack it",
    **{b"BZh%d1AY&SY" % level: "compressed by bzip2, and only gzip is read; unpack it" for level in range(1, 10)},
    b"\x89OCOB": "a model that ocoboost saved, not a table; give the file with the rows in its place",
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save the table as CSV",
}
_N_BEGIN = max(map(len, _OTHERS))
_GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)


class ByteStream:
    """Decompressed bytes in order; errors name the file. What is no regular file is read like standard input."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STANDARD_INPUT else path
        self.is_pipe = is_pipe(path)
        self.offset = 0  # of the next byte, decompressed
        try:
            self._raw: Any = sys.stdin.buffer if path == STANDARD_INPUT else Path(path).open("rb")  # noqa: SIM115
            if not hasattr(self._raw, "peek"):  # a test's standard input
                self._raw = io.BufferedReader(self._raw)
            self._size = None if self.is_pipe else os.fstat(self._raw.fileno()).st_size
            self._begin = self._raw.peek(2)[:_N_BEGIN]
        except OSError as error:
            raise unreadable(self.name, error) from error
        self.is_gzipped = self._begin.startswith(_GZIP)
        self._reached = 0, 0  # decompressed and compressed bytes, of one moment: others ask while a thread reads
        self._bytes: Any = gzip.GzipFile(fileobj=self._raw) if self.is_gzipped else self._raw

    def check_is_text(self) -> None:
        """Raise if the first bytes are those of a file that is something else."""
        for begin, what in _OTHERS.items():
            if self._begin.startswith(begin):
                raise DataFileError(f"{self.name}: {what}.")

    def read(self, n_bytes: int) -> bytes:
        """Up to ``n_bytes``, from a pipe whatever has arrived; none at the end."""
        with self._naming():
            data: bytes = (self._bytes.read1 if self.is_pipe else self._bytes.read)(n_bytes)
        self._move_to(self.offset + len(data))
        if not data:
            self._check_still_there()
        return data

    def skip_to(self, offset: int) -> None:
        """Continue at an offset; not in a pipe. A gzip file is decompressed up to there."""
        with self._naming():
            self._bytes.seek(offset)
        self._move_to(offset)

    def _move_to(self, offset: int) -> None:
        self.offset = offset
        if self.is_gzipped and not self.is_pipe:
            self._reached = offset, self._raw.tell()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except _GZIP_ERRORS as error:
            raise DataFileError(
                f"{self.name}: damaged or truncated gzip file ({error}), after {self.offset:,} decompressed bytes."
            ) from error
        except OSError as error:
            raise unreadable(self.name, error) from error

    def _check_still_there(self) -> None:
        """A file that shrinks or is deleted while being read ends early, and nothing else would show it."""
        if self._size is None:
            return
        status = os.fstat(self._raw.fileno())
        if status.st_nlink == 0:
            raise DataFileError(f"{self.name}: deleted while being read.")
        if status.st_size < self._raw.tell() or status.st_size < self._size:
            raise DataFileError(f"{self.name}: truncated while being read.")

    def close(self) -> None:
        """Close the file."""
        if self.name != "standard input":
            self._raw.close()

    @property
    def length(self) -> float | None:
        """How many decompressed bytes there are in all; of a gzipped file, about; of a pipe, None."""
        if not self.is_gzipped or self._size is None:
            return self._size
        if self._raw.closed:
            return self.offset
        # Compressed bytes are read ahead, so this is too little, and for a small file far too little.
        offset, n_read = self._reached
        expected = max(offset, offset * self._size / max(1, n_read))
        told = self._last_length + 2**32 * max(0, round((expected - self._last_length) / 2**32))
        return float(told if told >= max(offset, 0.9 * expected) else expected)  # less: it has several parts

    @cached_property
    def _last_length(self) -> int:
        """What a gzip file says at its end of the length of what it holds: of its last part, modulo 2 ** 32."""
        with Path(self.name).open("rb") as file:
            file.seek(-min(4, self._size or 0), os.SEEK_END)
            return int.from_bytes(file.read(4), "little")


def is_pipe(path: str) -> bool:
    """Whether bytes can be read only once and in order: standard input, a named pipe, a device."""
    if path == STANDARD_INPUT:
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:  # opening it will say why
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def unreadable(name: str, error: OSError) -> DataFileError:
    """The error for a file that the system does not let us read."""
    return DataFileError(f"{name}: cannot be read ({error.strerror or error}).")


class Fingerprint(NamedTuple):
    """A digest of the first bytes of a file, by which a later run recognises it; nothing for a pipe."""

    digest: str = ""
    n_bytes: int = 0

    @classmethod
    def of(cls, head: bytes | None, before_line: int | None = None) -> Fingerprint:
        """Of the first bytes of a file, and only of those before a line if one is given."""
        if head is None:
            return cls()
        if before_line is not None:
            head = b"".join(line + b"\n" for line in head.split(b"\n")[: before_line - 1])[: len(head)]
        return cls(hashlib.sha256(head).hexdigest(), len(head))

    def matches(self, path: str) -> bool:
        """Whether a file begins with the same bytes."""
        return not is_pipe(path) and self == Fingerprint.of(read_head(path, self.n_bytes))


def read_before(path: str, offset: int, n_bytes: int) -> bytes:
    """The bytes of a file before an offset, decompressed; not of a pipe."""
    stream = ByteStream(path)
    try:
        stream.skip_to(offset - n_bytes)
        return stream.read(n_bytes)
    finally:
        stream.close()


def read_head(path: str, n_bytes: int = FINGERPRINT_SIZE) -> bytes | None:
    """The first bytes of a file, decompressed; None for a pipe, whose bytes can be read only once."""
    if is_pipe(path):
        return None
    stream = ByteStream(path)
    try:
        return stream.read(min(n_bytes, FINGERPRINT_SIZE))
    finally:
        stream.close()
