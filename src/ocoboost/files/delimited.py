"""Records of delimited text: CSV and its variants.

PyArrow reads a chunk whole if there is nothing unusual in it. Otherwise the chunk is read cell by cell, which takes
longer and knows the line of every record: it decides what the columns hold, and says what is wrong and where. Where
PyArrow does not decline, both give the same rows, bit for bit (tests/files/test_ways_to_read.py).
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow
from pyarrow import csv as arrow_csv

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError
from ocoboost.files.columns import MISSING, BadRecord, Chunk, Columns
from ocoboost.files.records import LONGEST, RawChunk, Records
from ocoboost.spelling import quoted

BYTE_ORDER_MARK = "\ufeff".encode()
QUOTE = '"'
csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a cell may be as long as a record; PyArrow has no limit


class _Record(NamedTuple):
    """The cells of a record, and how many lines end with it."""

    cells: list[str]
    n_lines: int


class Delimited:
    """A table of text, chunk by chunk."""

    def __init__(self, name: str, columns: Columns, delimiter: str, header: list[str]) -> None:
        self.name = name
        self.columns = columns
        self.delimiter = delimiter
        self.header = header
        self.decimal = "."  # as PyArrow is told; the other one is read cell by cell
        self.features = [column for column in header if columns.is_feature(column)]
        columns.begin(name, header)
        self.positions = {column: position for position, column in enumerate(header)}

    def chunks(self, records: Records) -> Iterator[Chunk]:
        """All rows from the current offset of the records."""
        for raw in records.chunks():
            chunk = self.read_with_arrow(raw) or self.read_by_cell(raw)
            yield chunk
            if chunk.bad and chunk.bad[-1].is_last:
                raise chunk.bad[-1].error(self.name)

    # -- PyArrow -------------------------------------------------------------------------------------------------------

    def read_with_arrow(self, raw: RawChunk) -> Chunk | None:
        """The chunk, or None if it has to be read cell by cell."""
        kinds, target = self.columns.kinds, self.columns.target
        if all(kinds[column] is None for column in self.features) or not self._is_plain(raw.data):
            return None
        try:
            table = self._parse(raw.data)
        except pyarrow.ArrowInvalid:  # rows of unequal length, text among numbers, bytes that are not UTF-8
            return None
        n_rows = table.num_rows
        if n_rows != raw.n_lines or (target is not None and table.column(target).null_count):
            return None  # empty lines, line breaks within quotes, missing labels
        if self._ends_within_quotes(raw.data):
            return None
        values: dict[str, Any] = {}
        for column in self.features:
            cells = table.column(column)
            if kinds[column] == TEXT:
                values[column] = cells.to_pylist()
                continue
            values[column] = np.full(n_rows, np.nan) if kinds[column] is None else cells.to_numpy()
            if np.count_nonzero(np.isfinite(values[column])) != n_rows - cells.null_count:
                return None  # infinite, an unusual NaN, or the first cells of a column that only had missing ones
        lines = range(raw.first_line, raw.first_line + n_rows)
        labels = [] if target is None else _labels(table.column(target))
        identifier = self.columns.identifier
        keys = [] if identifier is None else table.column(identifier).to_pylist()
        return Chunk(
            raw.start, raw.end, raw.first_line, self.columns.rows(values, n_rows), labels, lines, (), keys, raw.tail
        )

    def _is_plain(self, data: bytes) -> bool:
        """Whether PyArrow splits these bytes into records as the cell-by-cell reader does."""
        has_only_pairs = b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")
        return (
            has_only_pairs
            and b"\0" not in data
            and not data.startswith(BYTE_ORDER_MARK)  # which PyArrow would skip
            and self.columns.identifier not in self.features  # which is read twice, as text and as what it is
            and self.delimiter.isascii()
        )

    def _ends_within_quotes(self, data: bytes) -> bool:
        """Whether the last line opens a quote and does not close it, if every line is a record."""
        last = data[data.rfind(b"\n", 0, -1) + 1 :]
        if QUOTE.encode() not in last:
            return False
        try:
            return any(is_open for _, is_open in self._split(last.decode(errors="replace")))
        except csv.Error:  # a cell that is too long; the other reader says so
            return True

    def _parse(self, data: bytes) -> Any:
        types = {
            column: pyarrow.float64() if self.columns.kinds[column] == NUMBER else pyarrow.string()
            for column in self.features
        }
        if self.columns.identifier is not None:
            types[self.columns.identifier] = pyarrow.string()
        if self.columns.target is not None:
            types[self.columns.target] = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        return arrow_csv.read_csv(
            pyarrow.BufferReader(data),
            # One block and no threads: files are read ahead in a thread of their own.
            read_options=arrow_csv.ReadOptions(column_names=self.header, block_size=len(data) + 1, use_threads=False),
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, quote_char=QUOTE),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                decimal_point=self.decimal,
                null_values=sorted(MISSING),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    # -- cell by cell --------------------------------------------------------------------------------------------------

    def read_by_cell(self, raw: RawChunk) -> Chunk:
        """The chunk, and what in it cannot be used."""
        bad: list[BadRecord] = []
        records = list(self._records(raw, bad))
        positions = {column: self.positions[column] for column in self.features}
        for column, position in positions.items():
            if self.columns.kinds[column] is None:
                self.columns.decide(column, (cells[position] for _, cells in records))
        if self.columns.has_decimal_commas:
            numbers = [position for column, position in positions.items() if self.columns.kinds[column] == NUMBER]
            self.decimal = "," if any("," in cells[position] for _, cells in records for position in numbers) else "."
        target = None if self.columns.target is None else self.positions[self.columns.target]
        identifier = None if self.columns.identifier is None else self.positions[self.columns.identifier]
        keys: list[Any] = []
        values: list[list[Any]] = []
        labels: list[Any] = []
        lines: list[int] = []
        for line, cells in records:
            try:
                row = [self._value(column, cells[position]) for column, position in positions.items()]
                label = [] if target is None else [self._label(cells[target])]
            except ValueError as error:
                bad.append(BadRecord(line, str(error)))
                continue
            values.append(row)
            labels += label
            keys += [] if identifier is None else [None if cells[identifier] in MISSING else cells[identifier]]
            lines.append(line)
        by_column = {column: [row[number] for row in values] for number, column in enumerate(self.features)}
        rows = self.columns.rows(by_column, len(values))
        return Chunk(raw.start, raw.end, raw.first_line, rows, labels, lines, sorted(bad), keys, raw.tail)

    def _records(self, raw: RawChunk, bad: list[BadRecord]) -> Iterator[tuple[int, list[str]]]:
        """Records of the right length, each with the line on which it begins."""
        line = raw.first_line
        try:
            for record, is_open in self._split(raw.decode(self.name)):
                begin, line = line, raw.first_line + record.n_lines
                if is_open:
                    bad.append(self._unclosed(raw, record))
                elif record.cells and self._has_right_length(begin, record.cells, bad):
                    yield begin, record.cells
        except csv.Error as error:
            raise DataFileError(f"{self.name}, line {line:,}: not valid CSV ({error}).") from None

    def _split(self, text: str) -> Iterator[tuple[_Record, bool]]:
        """Every record, and whether the text ends within its quotes, which csv.reader takes for the end of a cell."""
        is_over: list[bool] = []
        lines = itertools.chain(io.StringIO(text, newline=""), _calling(lambda: is_over.append(True)))
        reader = csv.reader(lines, delimiter=self.delimiter, quotechar=QUOTE)
        for cells in reader:  # it asks for a line after the last one only before all is over, or within quotes
            yield _Record(cells, reader.line_num), bool(is_over)

    def _unclosed(self, raw: RawChunk, record: _Record) -> BadRecord:
        """The last record of a chunk, whose last cell does not end, at the line where that begins."""
        n_within = sum(1 for _ in io.StringIO(record.cells[-1], newline=""))  # lines
        position = len(record.cells) - 1
        where = f"column {quoted(self.header[position])}" if position < len(self.header) else f"cell {position + 1}"
        end = "never closed" if raw.is_last else f"not closed by line {raw.first_line + raw.n_lines:,}"
        why = f"the quote that opens {where} is {end}, so nothing from there on can be read; close or delete it"
        return BadRecord(raw.first_line + record.n_lines - max(1, n_within), why, is_last=True)

    def _has_right_length(self, line: int, cells: list[str], bad: list[BadRecord]) -> bool:
        if len(cells) == len(self.header):
            return True
        plural = "" if len(cells) == 1 else "s"
        bad.append(BadRecord(line, f"{len(cells)} cell{plural}, but the header has {len(self.header)}"))
        return False

    def _value(self, column: str, cell: str) -> Any:
        if self.columns.kinds[column] == TEXT:
            return None if cell in MISSING else cell
        return self.columns.number(column, cell)

    def _label(self, cell: str) -> str:
        if cell == "":
            raise ValueError(f"no label: column {quoted(self.columns.target)} is empty")
        return cell


def _calling(function: Callable[[], object]) -> Iterator[str]:
    """Nothing; calls a function when it is asked for something."""
    function()
    yield from ()


def _labels(cells: Any) -> list[Any]:
    """One string for all cells that say the same: quick to make, and quick to look up."""
    encoded = cells.combine_chunks()
    return np.array(encoded.dictionary.to_pylist(), dtype=object)[encoded.indices.to_numpy()].tolist()  # type: ignore[no-any-return]
