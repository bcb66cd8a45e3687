"""Parquet by row groups: one batch of rows is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ocoboost.data.rows import CheckedRows
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError
from ocoboost.files.columns import BadRecord, Chunk, Columns
from ocoboost.files.opening import STANDARD_INPUT, unreadable

ROWS_AT_A_TIME = 4096


class Parquet:
    """A Parquet file, batch by batch; places and line numbers count rows."""

    def __init__(self, path: str, columns: Columns) -> None:
        self.name = path
        self.columns = columns
        self.row = 0
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise DataFileError(f"{path}: Parquet files need PyArrow; pip install 'ocoboost[files]'.") from None
        if path == STANDARD_INPUT:
            raise DataFileError("standard input: a Parquet file cannot be read from a pipe; give its path.")
        try:
            self.file = parquet.ParquetFile(path)
        except OSError as error:
            raise unreadable(path, error) from error
        except pa.ArrowInvalid as error:
            raise DataFileError(f"{path}: is not a Parquet file ({str(error).splitlines()[0]}).") from error
        self.n_rows = self.file.metadata.num_rows
        schema = self.file.schema_arrow
        self.header: list[str] = schema.names
        columns.begin(path, self.header)
        self.used = [name for name in schema.names if columns.is_feature(name) or name == columns.target]
        for name in self.used:
            kind = _kind(pa, schema.field(name).type)
            if kind is None:
                raise DataFileError(
                    f"{path}: column {name!r} is of type {schema.field(name).type}; numbers, booleans and text can be "
                    f"read: convert it{'' if name == columns.target else f', or leave it out with --drop {name!r}'}."
                )
            if columns.is_feature(name) and columns.kinds.get(name) is None:
                columns.kinds[name] = kind
        self.features = [name for name in self.used if name != columns.target]

    def chunks(self, first_row: int) -> Iterator[Chunk]:
        """All rows from one on."""
        sizes = [self.file.metadata.row_group(group).num_rows for group in range(self.file.num_row_groups)]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        groups = [group for group in range(len(sizes)) if starts[group + 1] > first_row]
        if not groups:
            return
        self.row = int(starts[groups[0]])
        try:
            for batch in self.file.iter_batches(ROWS_AT_A_TIME, row_groups=groups, columns=self.used):
                n_skipped = max(0, first_row - self.row)
                start = self.row + n_skipped
                self.row += batch.num_rows
                if n_skipped < batch.num_rows:
                    yield self._chunk(batch.slice(n_skipped), start)
        except OSError as error:
            raise unreadable(self.name, error) from error
        finally:
            self.file.close()

    @property
    def fraction(self) -> float | None:
        """How much of the file has been read."""
        return self.row / self.n_rows if self.n_rows else None

    def _chunk(self, batch: Any, start: int) -> Chunk:
        values = {name: self._values(batch.column(name), name) for name in self.features}
        labels = [] if self.columns.target is None else batch.column(self.columns.target).to_pylist()
        is_bad = np.array([label is None or label != label for label in labels] or [False] * batch.num_rows)  # noqa: PLR0124
        for column in values.values():
            if isinstance(column, np.ndarray):
                is_bad |= np.isinf(column)
        bad = [
            BadRecord(start + row + 1, self._what_is_wrong(values, labels, row))
            for row in np.flatnonzero(is_bad).tolist()
        ]
        good = np.flatnonzero(~is_bad).tolist()
        is_all = len(good) == batch.num_rows
        if all(self.columns.kinds[name] == NUMBER for name in self.features):
            matrix = np.column_stack([values[name] for name in self.features])
            rows: Any = self.columns.rows_of_numbers(self.features, matrix if is_all else matrix[good])
        else:
            cells = {name: _as_list(column) for name, column in values.items()}
            rows = CheckedRows([self.columns.row({name: cells[name][row] for name in self.features}) for row in good])
        lines = [start + row + 1 for row in good]
        labels = [labels[row] for row in good] if labels else []
        return Chunk(start, start + batch.num_rows, start + 1, rows, labels, lines, bad)

    def _values(self, column: Any, name: str) -> Any:
        if self.columns.kinds[name] == NUMBER:
            import pyarrow as pa

            return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        self.columns.note_categories(self.name, name, {text for text in texts if text is not None})
        return texts

    def _what_is_wrong(self, values: dict[str, Any], labels: list[Any], row: int) -> str:
        if labels and (labels[row] is None or labels[row] != labels[row]):
            return f"has no label: column {self.columns.target!r} is missing"
        for name, column in values.items():
            if isinstance(column, np.ndarray) and np.isinf(column[row]):
                return f"column {name!r} is {column[row]}, which is not a finite number"
        raise AssertionError


def _kind(pa: Any, kind: Any) -> str | None:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return NUMBER
    return TEXT if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) else None


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray):
        return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124, NaN
    return list(values)
