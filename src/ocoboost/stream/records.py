"""Bytes cut into chunks of whole records.

A line break inside quotes does not end a record. Quotes come in pairs, so a line break ends a record if and only if the
number of quotes before it is even. Where a chunk ends depends on where it begins and on nothing else, unless the bytes
come from a pipe, which are taken as they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ocoboost.errors import DataFileError
from ocoboost.stream.opening import ByteStream

CHUNK_SIZE = 1 << 20
FIRST_FROM_PIPE = 1 << 16  # the kinds of the columns are decided on the first chunk
LONGEST = 1 << 24


class RawChunk(NamedTuple):
    """Whole records, and where they are."""

    data: bytes
    start: int  # in bytes
    end: int
    first_line: int

    @property
    def n_lines(self) -> int:
        """Line breaks; the last record of a file need not have one."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))


class Records:
    """A byte stream as chunks of whole records."""

    def __init__(self, stream: ByteStream, quote: bytes | None, line: int = 1) -> None:
        self.stream = stream
        self.quote = quote
        self.line = line  # number of the next one
        self._left = b""  # read, and not handed out yet

    def take_line(self) -> bytes:
        """The next line, without regard to quotes; empty at the end."""
        while b"\n" not in self._left:
            if len(self._left) > LONGEST:
                raise self._too_long("has no end")
            data = self.stream.read(FIRST_FROM_PIPE)
            self._left += data
            if not data:
                break
        line, separator, self._left = self._left.partition(b"\n")
        self.line += 1
        return line + separator

    def put_back(self, line: bytes) -> None:
        """Undo ``take_line``."""
        self._left = line + self._left
        self.line -= 1

    @property
    def offset(self) -> int:
        """Of the next byte to be handed out."""
        return self.stream.offset - len(self._left)

    def chunks(self) -> Iterator[RawChunk]:
        """All records from here on."""
        n_least = FIRST_FROM_PIPE if self.stream.is_pipe else CHUNK_SIZE
        start = self.offset
        while True:
            is_over = False
            while len(self._left) < n_least:
                data = self.stream.read(CHUNK_SIZE - len(self._left) if len(self._left) < CHUNK_SIZE else CHUNK_SIZE)
                self._left += data
                if not data:
                    is_over = True
                    break
            end = len(self._left) if is_over else self._last_end()
            if end == 0 and not is_over:
                if len(self._left) > LONGEST:
                    raise self._too_long("opens a quote that is not closed, or has no end,")
                n_least = 2 * max(len(self._left), 1)
                continue
            if end == 0:
                return
            chunk = RawChunk(self._left[:end], start, start + end, self.line)
            self._left = self._left[end:]
            self.line += chunk.data.count(b"\n")
            start = chunk.end
            n_least = 1 if self.stream.is_pipe else CHUNK_SIZE
            yield chunk
            if is_over:
                return

    def _last_end(self) -> int:
        """The end of the last whole record that was read."""
        data = self._left
        end = data.rfind(b"\n") + 1
        if self.quote is None:
            return end
        n_quotes = data.count(self.quote, 0, end)
        while end > 0 and n_quotes % 2:
            before = data.rfind(b"\n", 0, end - 1) + 1
            n_quotes -= data.count(self.quote, before, end)
            end = before
        return end

    def _too_long(self, what: str) -> DataFileError:
        return DataFileError(f"{self.stream.name}, line {self.line:,}: {what} within {LONGEST >> 20} MiB.")
