"""Which reader reads a file, from its first row or from where an earlier run stopped."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from ocoboost.errors import DataFileError
from ocoboost.files.ahead import read_ahead
from ocoboost.files.columns import Chunk, Columns
from ocoboost.files.headers import open_arff, open_csv
from ocoboost.files.json_lines import JsonLines
from ocoboost.files.opening import STANDARD_INPUT, ByteStream, is_pipe
from ocoboost.files.parquet import Parquet
from ocoboost.files.records import Records

FORMATS = ("csv", "parquet", "arff", "jsonl")
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")


def format_of(path: str) -> str:
    """The format of a file by its extension; standard input is CSV.

    >>> format_of("rows.csv.gz"), format_of("rows.parquet"), format_of("-")
    ('csv', 'parquet', 'csv')
    """
    if path == STANDARD_INPUT:
        return "csv"
    extensions = [extension for extension in Path(path).suffixes[-2:] if extension != ".gz"]
    if extensions and extensions[-1].lower() in _EXTENSIONS:
        return _EXTENSIONS[extensions[-1].lower()]
    if extensions and extensions[-1].lower() in _WORKBOOKS:
        raise DataFileError(f"{path}: Excel workbooks are not read; save the table as CSV.")
    _check_is_text(path)
    raise DataFileError(f"{path}: unknown file extension; name the format with --format ({', '.join(FORMATS)}).")


def _check_is_text(path: str) -> None:
    """Raise if a file is something else than a table of text, or cannot be read; what is a pipe is left alone."""
    if not is_pipe(path):
        stream = ByteStream(path)
        try:
            stream.check_is_text()
        finally:
            stream.close()


class Source:
    """Rows of a file or of standard input."""

    def __init__(
        self,
        path: str,
        columns: Columns,
        *,
        file_format: str | None = None,
        delimiter: str | None = None,
    ) -> None:
        self.path = path
        self.columns = columns
        self.format = file_format or format_of(path)
        self._records: Records | None = None
        if self.format == "parquet":
            self._reader: Any = Parquet(path, columns)
            return
        self._stream = ByteStream(path)
        try:
            self._stream.check_is_text()
            if self.format == "csv":
                self._reader, self._records = open_csv(self._stream, columns, delimiter)
            elif self.format == "arff":
                self._reader, self._records = open_arff(self._stream, columns)
            else:
                self._reader, self._records = JsonLines(self._stream, columns), Records(self._stream, None)
        except DataFileError:
            self._stream.close()
            raise

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._reader.name)

    @property
    def header(self) -> list[str]:
        """Its columns; none if every row names its own."""
        return list(self._reader.header)

    def fraction(self, place: float) -> float | None:
        """The fraction of the file that lies before a place, counted as chunks count theirs; None if nobody knows."""
        length = self._reader.n_rows if self._records is None else self._stream.length
        return min(1.0, place / length) if length else None

    def close(self) -> None:
        """Close the file, if it is one."""
        if self._records is None:
            self._reader.file.close()
        else:
            self._stream.close()

    def chunks(self, start: int | None = None, first_line: int = 1) -> Generator[Chunk, None, None]:
        """All rows, once; with ``start``, those from a chunk that began there. Files are read one chunk ahead."""
        if self._records is None:
            yield from read_ahead(self._reader.chunks(start or 0))
            return
        records = self._records
        try:
            if start is not None:
                self._stream.skip_to(start)
                records = Records(self._stream, records.quote, first_line)
            chunks = self._reader.chunks(records)
            yield from chunks if self._stream.is_pipe else read_ahead(chunks)
        finally:
            self._stream.close()
