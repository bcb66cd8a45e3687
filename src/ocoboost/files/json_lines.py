"""JSON lines: one object per line, from column names to numbers, text, booleans or null."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from ocoboost.data.labels import Label
from ocoboost.data.rows import CheckedRows
from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.files.columns import BadRecord, Chunk, Columns
from ocoboost.files.opening import ByteStream
from ocoboost.files.records import RawChunk, Records
from ocoboost.spelling import quoted, shortened


class JsonLines:
    """Objects, chunk by chunk. A column holds what its first value is: numbers or text."""

    def __init__(self, stream: ByteStream, columns: Columns) -> None:
        self.stream = stream
        self.name = stream.name
        self.columns = columns
        self.header: list[str] = []  # rows name their own columns
        self._has_target = False  # any row so far
        self._first_names: list[str] | None = None  # of the columns of the first row

    def chunks(self, records: Records) -> Iterator[Chunk]:
        """All rows from the current offset of the records."""
        for raw in records.chunks():
            yield self._read(raw)

    def _read(self, raw: RawChunk) -> Chunk:
        rows: list[dict[str, Any]] = []
        labels: list[Label] = []
        lines: list[int] = []
        bad: list[BadRecord] = []
        keys: list[Any] = []
        whole = raw.decode(self.name)
        if raw.start == 0:
            whole = whole.removeprefix("\ufeff")
        for number, text in enumerate(whole.split("\n"), raw.first_line):
            if not text.strip():
                continue
            try:
                label, row, key = self._parse(text)
            except ValueError as error:
                bad.append(BadRecord(number, str(error)))
                continue
            if self.columns.target is not None:
                labels.append(label)
            if self.columns.identifier is not None:
                keys.append(key)
            rows.append(row)
            lines.append(number)
        self._check_target()
        return Chunk(raw.start, raw.end, raw.first_line, self._rows(rows), labels, lines, bad, keys, raw.tail)

    def _parse(self, text: str) -> tuple[Any, dict[str, Any], Any]:
        try:
            cells = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not valid JSON ({error})") from None
        if not isinstance(cells, dict):
            raise ValueError("not a JSON object; write one object per line")
        if "\\u" in text:
            _check_text(cells)
        target = self.columns.target
        if self._first_names is None:
            self._first_names = list(cells)
        if target in cells:
            self._has_target = True
        elif target is not None:
            raise ValueError(f"no label: {quoted(target)} is missing")
        label = None if target is None else cells[target]
        if target is not None and (label is None or isinstance(label, list | dict) or label != label):  # noqa: PLR0124
            raise ValueError(f"no label: {quoted(target)} is {shortened(json.dumps(label))}")
        row = {name: self._value(name, value) for name, value in cells.items() if self.columns.is_feature(name)}
        for name, value in row.items():  # only now: a row that cannot be used must not decide anything
            if value is not None:
                self.columns.kinds[name] = TEXT if isinstance(value, str) else NUMBER
        key = None if self.columns.identifier is None else cells.get(self.columns.identifier)
        return label, row, json.dumps(key) if isinstance(key, list | dict) else key

    def _check_target(self) -> None:
        """Raise if no row has the target, after the first chunk that has rows: a misspelt name is not a bad row."""
        target = self.columns.target
        if target is not None and not (self._has_target or self.columns.kinds or self._first_names is None):
            raise self.columns.no_column(self.name, target, "--target", self._first_names)

    def _value(self, name: str, value: Any) -> Any:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, list | dict):
            kind = "array" if isinstance(value, list) else "object"
            raise ValueError(f"{quoted(name)} is an {kind}; values must be numbers, text, booleans or null")
        if name in self.columns.as_text:
            return str(value)
        known = self.columns.kinds.get(name)
        kind = TEXT if isinstance(value, str) else NUMBER
        if known is not None and kind != known:
            raise ValueError(f"{quoted(name)} is {shortened(json.dumps(value))}, but it held {known} before")
        if kind == TEXT:
            return value
        try:
            number = float(value)
        except OverflowError:  # an integer of more than 308 digits
            number = math.inf
        if math.isinf(number):
            raise ValueError(f"{quoted(name)} is {shortened(json.dumps(value))}, not a finite number")
        return number

    def _rows(self, rows: list[dict[str, Any]]) -> Any:
        """A matrix if all rows have the same columns and all of them hold numbers, else dicts."""
        names = list(rows[0]) if rows else []
        if names and all(self.columns.kinds.get(name) == NUMBER for name in names):
            same = set(names)
            if all(row.keys() == same for row in rows):
                nan = math.nan
                values = {name: [nan if row[name] is None else row[name] for row in rows] for name in names}
                return self.columns.rows(values, len(rows))
        return CheckedRows([self.columns.row(row) for row in rows])


def _check_text(cells: dict[str, Any]) -> None:
    """Raise if a name or a value has half of a surrogate pair, which is no text and cannot be written anywhere."""
    for name, value in cells.items():
        for text in (name, value):
            try:
                if isinstance(text, str):
                    text.encode()
            except UnicodeEncodeError:
                raise ValueError(
                    f"{quoted(name)}: {quoted(text)} has half of a surrogate pair, which is not text"
                ) from None
