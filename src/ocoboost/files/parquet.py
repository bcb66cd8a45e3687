"""Parquet by row groups: one batch of rows is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError
from ocoboost.files.columns import BadRecord, Chunk, Columns
from ocoboost.files.opening import STANDARD_INPUT, is_pipe, unreadable
from ocoboost.spelling import quoted, shortened

ROWS_AT_A_TIME = 4096
# What PyArrow raises for bytes that make no sense: also sizes that no memory could hold, and text that is not UTF-8.
_DAMAGED = (pa.ArrowException, MemoryError, ValueError, OverflowError, EOFError)


class Parquet:
    """A Parquet file, batch by batch; offsets and line numbers count rows."""

    def __init__(self, path: str, columns: Columns) -> None:
        self.name = path
        self.columns = columns
        self.row = 0
        if is_pipe(path):
            name = "standard input" if path == STANDARD_INPUT else path
            raise DataFileError(f"{name}: Parquet cannot be read from a pipe; give the path of a regular file.")
        try:
            self.file = parquet.ParquetFile(path)
            self.n_rows = self.file.metadata.num_rows
            schema = self.file.schema_arrow
            self.header: list[str] = schema.names
        except _DAMAGED as error:
            raise DataFileError(f"{path}: not a Parquet file, or a damaged one ({_first_line(error)}).") from error
        except OSError as error:
            raise _unreadable(path, error, 0) from error
        columns.begin(path, self.header)
        self.used = [name for name in schema.names if columns.is_feature(name) or name == columns.target]
        identifier = [columns.identifier] if columns.identifier not in (None, *self.used) else []
        self.read = [*self.used, *identifier]
        for name in self.used:
            kind = _kind(schema.field(name).type)
            if kind is None:
                fix = "" if name == columns.target else f", or leave it out with --drop {quoted(name)}"
                raise DataFileError(
                    f"{path}: column {quoted(name)} has type {shortened(schema.field(name).type)}, but only numbers, "
                    f"booleans and text can be read; convert it{fix}."
                )
            known = columns.kinds.get(name)
            if known == NUMBER and kind == TEXT:
                raise DataFileError(
                    f"{path}: column {quoted(name)} holds text, but the model learned numbers; convert it."
                )
            if columns.is_feature(name) and known is None:
                columns.kinds[name] = kind
        self.features = [name for name in self.used if name != columns.target]

    def chunks(self, first_row: int) -> Iterator[Chunk]:
        """All rows from ``first_row`` on."""
        try:
            sizes = [self.file.metadata.row_group(group).num_rows for group in range(self.file.num_row_groups)]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
            groups = [group for group in range(len(sizes)) if starts[group + 1] > first_row]
            if not groups:
                return
            self.row = int(starts[groups[0]])
            for batch in self.file.iter_batches(ROWS_AT_A_TIME, row_groups=groups, columns=self.read):
                n_skipped = max(0, first_row - self.row)
                start = self.row + n_skipped
                self.row += batch.num_rows
                if n_skipped < batch.num_rows:
                    yield self._chunk(batch.slice(n_skipped), start)
        except DataFileError:
            raise
        except _DAMAGED as error:
            raise _damaged(self.name, error, self.row) from error
        except OSError as error:
            raise _unreadable(self.name, error, self.row) from error
        finally:
            self.file.close()

    def _chunk(self, batch: Any, start: int) -> Chunk:
        target = self.columns.target
        values = {name: self._values(batch.column(name), name) for name in self.features}
        labels = [] if target is None else list(map(_label, batch.column(target).to_pylist()))
        identifier = self.columns.identifier
        keys = [] if identifier is None else list(map(_key, batch.column(identifier).to_pylist()))
        why: dict[int, str] = {}  # what is wrong, by row
        for name, cells in values.items():
            if isinstance(cells, np.ndarray):
                for row in np.flatnonzero(np.isinf(cells)).tolist():
                    why.setdefault(row, f"{cells[row]} in column {quoted(name)} is not a finite number")
        unlabelled = [row for row, label in enumerate(labels) if label is None or label != label]  # noqa: PLR0124, NaN
        why |= dict.fromkeys(unlabelled, f"no label: column {quoted(target)} is missing")
        bad = [BadRecord(start + row + 1, why[row]) for row in sorted(why)]
        good = [row for row in range(batch.num_rows) if row not in why]
        if why:
            labels, keys = ([cells[row] for row in good] if cells else [] for cells in (labels, keys))
            values = {
                name: cells[good] if isinstance(cells, np.ndarray) else [cells[row] for row in good]
                for name, cells in values.items()
            }
        rows = self.columns.rows(values, len(good))
        lines = [start + row + 1 for row in good]
        return Chunk(start, start + batch.num_rows, start + 1, rows, labels, lines, bad, keys)

    def _values(self, column: Any, name: str) -> Any:
        if self.columns.kinds[name] == NUMBER:
            return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return [None if value is None else str(value) for value in column.to_pylist()]


def _label(value: Any) -> Any:
    """Exact decimals as floats, since no other format has them."""
    return float(value) if isinstance(value, Decimal) else value


def _key(value: Any) -> Any:
    """What identifies a row, as a number or text."""
    return value if value is None or isinstance(value, int | str) else str(value)


def _unreadable(name: str, error: OSError, n_rows: int) -> DataFileError:
    """PyArrow says OSError of damaged files too, but only the system's errors have a number."""
    return _damaged(name, error, n_rows) if error.errno is None else unreadable(name, error)


def _damaged(name: str, error: BaseException, n_rows: int) -> DataFileError:
    return DataFileError(f"{name}: damaged Parquet file ({_first_line(error)}), after {n_rows:,} rows.")


def _first_line(error: BaseException) -> str:
    """What a library says, without the details of where in its sources."""
    lines = str(error).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _kind(kind: Any) -> str | None:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return NUMBER
    return TEXT if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) else None
