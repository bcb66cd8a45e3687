"""CSV and its kin, and ARFF, whose data are the same with another head.

There are three ways to read a chunk, each tried where the one before finds something that it does not know. Tables of
plain numbers are read by a kernel, the rest by PyArrow in one go, and what is left cell by cell, with a line number for
every row: the same rows come out (a test holds the three ways equal), or the error that says what is wrong where.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.compiling import IS_COMPILED
from ocoboost.data.rows import CheckedRows
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError
from ocoboost.files import decimal_kernels as kernels
from ocoboost.files.columns import MISSING, BadRecord, Chunk, Columns, matrix_of
from ocoboost.files.opening import ByteStream
from ocoboost.files.records import RawChunk, Records

DELIMITERS = ",;\t|"

try:
    import pyarrow
    from pyarrow import csv as arrow_csv
except ImportError:  # slower, and as good
    arrow_csv = None


class Dialect(NamedTuple):
    """How records are written."""

    delimiter: str
    quote: str
    comment: str | None = None  # lines that begin with it are skipped


class Delimited:
    """A table of text, chunk by chunk."""

    def __init__(self, stream: ByteStream, columns: Columns, dialect: Dialect, header: list[str]) -> None:
        self.stream = stream
        self.name = stream.name
        self.columns = columns
        self._bad: list[BadRecord] = []  # of the chunk that is being read
        self.dialect = dialect
        self.header = header
        self.features = [column for column in header if columns.is_feature(column)]
        columns.begin(self.name, header)

    def chunks(self, records: Records) -> Iterator[Chunk]:
        """All rows from where the records are."""
        for raw in records.chunks():
            yield self.read_plain(raw) or self.read_fast(raw) or self.read_slow(raw)

    # -- plain numbers -------------------------------------------------------------------------------------------------

    def read_plain(self, raw: RawChunk) -> Chunk | None:
        """The chunk, or None if it holds more than numbers and labels."""
        if not (self._is_plain and all(self.columns.kinds[column] == NUMBER for column in self.features)):
            return None
        if self.dialect.quote.encode() in raw.data:
            return None
        data = raw.data if raw.data.endswith(b"\n") else raw.data + b"\n"
        names = sorted(self.features)  # the order of a row's names: nothing is moved again
        roles = np.full(len(self.header), kernels.NOT_USED)
        roles[[self.header.index(name) for name in names]] = np.arange(len(names))
        if self.columns.target is not None:
            roles[self.header.index(self.columns.target)] = kernels.LABEL
        numbers = np.empty((raw.n_lines, len(names)))
        codes, spans = np.empty(raw.n_lines, dtype=np.int64), np.empty((kernels.MOST_LABELS, 2), dtype=np.int64)
        delimiter = ord(self.dialect.delimiter)
        n_rows, n_labels = kernels.read_plain(np.frombuffer(data, np.uint8), delimiter, roles, numbers, codes, spans)
        if n_rows == kernels.UNUSUAL:
            return None
        try:
            known = [data[first:last].decode() for first, last in spans[:n_labels]]
        except UnicodeDecodeError:
            return None
        labels = [] if self.columns.target is None else _spell(known, codes)
        lines = range(raw.first_line, raw.first_line + n_rows)
        return Chunk(raw.start, raw.end, raw.first_line, self.columns.rows_of_numbers(names, numbers), labels, lines)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether the kernel can tell where a cell ends: other delimiters may be parts of numbers."""
        is_known = self.dialect.delimiter in DELIMITERS and self.dialect.comment is None
        return is_known and len(self.header) > 1 and IS_COMPILED

    # -- with PyArrow --------------------------------------------------------------------------------------------------

    def read_fast(self, raw: RawChunk) -> Chunk | None:
        """The chunk, or None if it needs a closer look."""
        kinds = self.columns.kinds
        if arrow_csv is None or self.dialect.comment or all(kinds[column] is None for column in self.features):
            return None
        try:
            table = self._parse(raw)
        except pyarrow.ArrowInvalid:
            return None
        n_rows = table.num_rows
        target = None if self.columns.target is None else table.column(self.columns.target)
        if n_rows != raw.n_lines or (target is not None and target.null_count):
            return None
        cells = None if target is None else target.combine_chunks()
        labels = [] if cells is None else _spell(cells.dictionary.to_pylist(), cells.indices.to_numpy())
        values: dict[str, Any] = {}
        for column in self.features:
            cells = table.column(column)
            if kinds[column] == NUMBER:
                values[column] = cells.to_numpy()
                if np.isinf(values[column]).any():
                    return None
            elif kinds[column] == TEXT:
                self.columns.note_categories(self.name, column, cells.unique().drop_null().to_pylist())
                values[column] = cells.to_pylist()
            elif cells.null_count < n_rows:
                return None  # the column's kind shows for the first time
            else:
                values[column] = np.full(n_rows, np.nan)
        return self._chunk(raw, values, n_rows, labels, range(raw.first_line, raw.first_line + n_rows), [])

    def _parse(self, raw: RawChunk) -> Any:
        used = [*self.features, *([] if self.columns.target is None else [self.columns.target])]
        kinds = self.columns.kinds
        has_quotes = self.dialect.quote.encode() in raw.data
        types = {column: pyarrow.float64() if kinds.get(column) == NUMBER else pyarrow.string() for column in used}
        if self.columns.target is not None:
            types[self.columns.target] = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        return arrow_csv.read_csv(
            pyarrow.BufferReader(raw.data),
            read_options=arrow_csv.ReadOptions(column_names=self.header, block_size=len(raw.data) + 1),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.dialect.delimiter, quote_char=self.dialect.quote, newlines_in_values=has_quotes
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=used,
                null_values=sorted(MISSING),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    # -- the slow way --------------------------------------------------------------------------------------------------

    def read_slow(self, raw: RawChunk) -> Chunk:
        """The chunk cell by cell, and what in it cannot be used."""
        self._bad = []
        records = list(self._records(raw))
        for position, column in enumerate(self.header):
            if column in self.columns.kinds and self.columns.kinds[column] is None:
                self.columns.decide(column, (cells[position] for _, cells in records))
        positions = [(position, column) for position, column in enumerate(self.header) if column in set(self.features)]
        target = None if self.columns.target is None else self.header.index(self.columns.target)
        good: list[list[Any]] = []
        labels, lines = [], []
        for line, cells in records:
            try:
                values = [self._value(column, cells[position]) for position, column in positions]
                if target is not None:
                    labels.append(self._label(cells[target]))
            except ValueError as error:
                self._bad.append(BadRecord(line, str(error)))
                continue
            good.append(values)
            lines.append(line)
        by_column = {column: [values[number] for values in good] for number, column in enumerate(self.features)}
        for column, cells in by_column.items():
            if self.columns.kinds[column] == TEXT:
                self.columns.note_categories(self.name, column, {cell for cell in cells if cell is not None})
        bad = sorted(self._bad)
        return self._chunk(raw, by_column, len(good), labels, lines, bad)

    def _records(self, raw: RawChunk) -> Iterator[tuple[int, list[str]]]:
        """Records of the right length, with the line at which each begins."""
        text = decode(self.name, raw)
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=self.dialect.delimiter, quotechar=self.dialect.quote
        )
        line = raw.first_line
        try:
            for cells in reader:
                begin, line = line, raw.first_line + reader.line_num
                if not cells or (self.dialect.comment and cells[0].lstrip().startswith(self.dialect.comment)):
                    continue
                if len(cells) == len(self.header):
                    yield begin, cells
                else:
                    self._bad.append(
                        BadRecord(begin, f"has {_cells(len(cells))}, and the header has {len(self.header)}")
                    )
        except csv.Error as error:
            raise DataFileError(f"{self.name}, line {line:,}: cannot be read as CSV ({error}).") from None

    def _value(self, column: str, cell: str) -> Any:
        if self.columns.kinds[column] == TEXT:
            return None if cell in MISSING else cell
        return self.columns.number(column, cell)

    def _label(self, cell: str) -> str:
        if cell == "" or (self.dialect.comment and cell == "?"):
            raise ValueError(f"has no label: column {self.columns.target!r} is empty")
        return cell

    def _chunk(
        self,
        raw: RawChunk,
        values: dict[str, Any],
        n_rows: int,
        labels: list[Any],
        lines: Sequence[int],
        bad: Sequence[BadRecord],
    ) -> Chunk:
        if all(self.columns.kinds[column] != TEXT for column in self.features):
            names = sorted(self.features)  # the order of a row's names: nothing is moved again
            rows: Any = self.columns.rows_of_numbers(names, matrix_of([values[name] for name in names], n_rows))
        else:
            rows = CheckedRows(
                [
                    self.columns.row(
                        {column: _present(cell) for column, cell in zip(self.features, cells, strict=True)}
                    )
                    for cells in zip(*(_as_list(values[column]) for column in self.features), strict=True)
                ]
            )
        return Chunk(raw.start, raw.end, raw.first_line, rows, labels, lines, bad)


def _spell(known: list[str], codes: IntArray) -> list[Any]:
    """One string for all cells that say the same: quick to make, and quick to look up."""
    return np.array(known, dtype=object)[codes].tolist()  # type: ignore[no-any-return]


def _as_list(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _present(cell: Any) -> Any:
    return None if cell is None or cell != cell else cell  # noqa: PLR0124, NaN


def _cells(n_cells: int) -> str:
    return f"{n_cells} cell" if n_cells == 1 else f"{n_cells} cells"


def decode(name: str, raw: RawChunk) -> str:
    """The text of a chunk; raises for bytes that are none."""
    place = raw.data.find(b"\0")
    why = "a zero byte"
    text = ""
    if place < 0:
        try:
            text = raw.data.decode()
        except UnicodeDecodeError as error:
            place, why = error.start, f"byte {raw.data[error.start]:#04x}"
    if place >= 0:
        line = raw.first_line + raw.data.count(b"\n", 0, place)
        raise DataFileError(f"{name}, line {line:,}: is not UTF-8 text ({why}); is this a binary file?")
    return text


# -- heads -------------------------------------------------------------------------------------------------------------


def open_csv(stream: ByteStream, columns: Columns, delimiter: str | None = None) -> tuple[Delimited, Records]:
    """A CSV file, its head read: the first line that is not blank names the columns."""
    records = Records(stream, b'"')
    while True:
        number, start = records.line, records.offset
        line = records.take_line()
        if not line:
            raise DataFileError(f"{stream.name}: is empty; the first line must name the columns.")
        text = decode(stream.name, RawChunk(line, start, start + len(line), number)).removeprefix("\ufeff")
        if text.strip():
            break
    text = text.rstrip("\r\n")
    if "\r" in text:
        raise DataFileError(f"{stream.name}: its lines end in carriage returns only; convert them to line feeds.")
    if delimiter is None:
        delimiter = max(DELIMITERS, key=text.count)
    if text.count('"') % 2:
        raise DataFileError(f"{stream.name}, line {number}: a quote in the header is not closed on its line.")
    header = next(csv.reader([text], delimiter=delimiter))
    return Delimited(stream, columns, Dialect(delimiter, '"'), header), records


def open_arff(stream: ByteStream, columns: Columns) -> tuple[Delimited, Records]:
    """An ARFF file, its head read: @attribute lines name the columns and say what they hold."""
    records = Records(stream, b"'")
    kinds: dict[str, str] = {}
    header: list[str] = []
    while True:
        number, start = records.line, records.offset
        line = records.take_line()
        if not line:
            raise DataFileError(f"{stream.name}: has no @data line; is this an ARFF file?")
        text = decode(stream.name, RawChunk(line, start, start + len(line), number)).strip()
        word = text.replace("\t", " ").partition(" ")[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            column, kind = _attribute(stream.name, number, text)
            header.append(column)
            kinds[column] = kind
        elif text and not text.startswith("%") and word != "@relation":
            raise DataFileError(f"{stream.name}, line {number}: {text[:40]!r} is no line of an ARFF header.")
    for column, kind in kinds.items():
        if columns.is_feature(column) and columns.kinds.get(column) is None:
            columns.kinds[column] = TEXT if column in columns.as_text else kind
    return Delimited(stream, columns, Dialect(",", "'", comment="%"), header), records


def _attribute(name: str, line: int, text: str) -> tuple[str, str]:
    rest = text[len("@attribute") :].strip()
    if rest[:1] in ("'", '"'):
        column, _, kind = rest[1:].partition(rest[0])
    else:
        column, _, kind = rest.replace("\t", " ").partition(" ")
    kind = kind.strip().lower()
    if kind.startswith(("numeric", "real", "integer")):
        return column, NUMBER
    if kind.startswith(("{", "string")):
        return column, TEXT
    raise DataFileError(f"{name}, line {line}: attribute {column!r} is of type {kind!r}, which cannot be read.")
