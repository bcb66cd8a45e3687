"""Bytes cut into chunks of whole records.

A line break inside quotes does not end a record. Quotes come in pairs, so a line break ends a record if and only if the
number of quotes before it is even. Where a chunk ends depends only on where it begins, so a resumed run sees the same
chunks; the bytes of a pipe are taken as they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ocoboost.errors import DataFileError
from ocoboost.files.opening import ByteStream

CHUNK_SIZE = 1 << 20
FIRST_SIZE = 1 << 18  # the first chunk, read cell by cell, decides what the columns hold
FIRST_FROM_PIPE = 1 << 16
LONGEST = 1 << 24
TAIL_SIZE = 1 << 12


class RawChunk(NamedTuple):
    """Whole records, and where they are."""

    data: bytes
    start: int  # in bytes
    end: int
    first_line: int
    n_lines: int = 1  # the last line of a file may lack its line break
    is_last: bool = True

    @property
    def tail(self) -> bytes:
        """Its last bytes."""
        return self.data[-TAIL_SIZE:]

    def decode(self, name: str) -> str:
        """The text; raises if the bytes are not UTF-8 text, naming the line."""
        position, what = self.data.find(b"\0"), "a zero byte); is this a binary file?"
        if position < 0:
            try:
                return self.data.decode()
            except UnicodeDecodeError as error:
                position = error.start
                what = f"byte {self.data[position]:#04x}); convert text of another encoding (iconv -t utf-8)."
        line = self.first_line + self.data.count(b"\n", 0, position)
        raise DataFileError(f"{name}, line {line:,}: not UTF-8 text ({what}")


class Records:
    """A byte stream as chunks of whole records."""

    def __init__(self, stream: ByteStream, quote: bytes | None, line: int = 1) -> None:
        self.stream = stream
        self.quote = quote
        self.line = line  # number of the next one
        self._left = b""  # read but not handed out yet

    def take_line(self) -> bytes:
        """The next line, ignoring quotes; empty at the end."""
        while b"\n" not in self._left:
            if len(self._left) > LONGEST:
                raise self._too_long("no line break")
            data = self.stream.read(FIRST_FROM_PIPE)
            self._left += data
            if not data:
                break
        line, separator, self._left = self._left.partition(b"\n")
        self.line += 1
        return line + separator

    @property
    def offset(self) -> int:
        """The offset of the next byte to be handed out."""
        return self.stream.offset - len(self._left)

    def chunks(self) -> Iterator[RawChunk]:
        """All records from the current offset."""
        start = self.offset
        n_bytes = FIRST_FROM_PIPE if self.stream.is_pipe else _size_at(start)
        is_over = False
        while not (is_over and not self._left):
            while len(self._left) < n_bytes and not is_over:
                data = self.stream.read(CHUNK_SIZE if self.stream.is_pipe else n_bytes - len(self._left))
                self._left += data
                is_over = not data
            n_taken = len(self._left) if self.stream.is_pipe else min(n_bytes, len(self._left))
            end = n_taken if is_over and n_taken == len(self._left) else self._last_end(n_taken)
            if end == 0:
                if n_taken > LONGEST:
                    raise self._too_long("unclosed quote, or no line break,")
                n_bytes = 2 * max(n_taken, 1)
                continue
            data, self._left = self._left[:end], self._left[end:]
            n_breaks = data.count(b"\n")
            n_lines, is_last = n_breaks + (not data.endswith(b"\n")), is_over and not self._left
            chunk = RawChunk(data, start, start + end, self.line, n_lines, is_last)
            self.line += n_breaks
            start = chunk.end
            n_bytes = 1 if self.stream.is_pipe else _size_at(start)
            yield chunk

    def _last_end(self, n_bytes: int) -> int:
        """The end of the last whole record in the first ``n_bytes``."""
        data = self._left
        end = data.rfind(b"\n", 0, n_bytes) + 1
        if self.quote is None or self.quote not in data:  # searching is quicker than counting
            return end
        n_quotes = data.count(self.quote, 0, end)
        while end > 0 and n_quotes % 2:
            before = data.rfind(b"\n", 0, end - 1) + 1
            n_quotes -= data.count(self.quote, before, end)
            end = before
        return end

    def _too_long(self, what: str) -> DataFileError:
        return DataFileError(f"{self.stream.name}, line {self.line:,}: {what} within {LONGEST >> 20} MiB.")


def _size_at(start: int) -> int:
    """The size of a chunk that begins at an offset."""
    return FIRST_SIZE if start < FIRST_SIZE else CHUNK_SIZE
