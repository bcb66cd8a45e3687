"""Predictions of a saved model for the rows of a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import Label
from ocoboost.errors import ModelFileError
from ocoboost.files.columns import BadRecord, Columns
from ocoboost.files.sources import Source
from ocoboost.spelling import as_cell, as_json, spelled
from ocoboost.stream.protocol import StreamClassifier


class Predicted(NamedTuple):
    """Predictions for rows, by their lines."""

    lines: list[int]
    labels: list[Label | None]
    distributions: FloatArray  # (rows, labels)


class Predictor:
    """A model, and its columns by their names in files."""

    def __init__(self, name: str, model: StreamClassifier, notes: Any) -> None:
        self.model = model
        if model.n_rows_ == 0:
            raise ModelFileError(f"{name}: the model has not learned any rows yet.")
        kinds = model.columns_
        spelling = {str(column): column for column in kinds}
        if len(spelling) < len(kinds):
            raise ModelFileError(f"{name}: several of its columns would have the same name in a file.")
        self.columns = Columns(None, kinds={str(column): kind for column, kind in kinds.items()}, only=spelling)
        self.left_out = _left_out(notes)
        self.unknown: list[str] = []
        self.absent: list[str] = []

    def open(self, path: str, file_format: str | None, delimiter: str | None) -> Source:
        """The rows of a file; notes the columns that only the file or only the model has."""
        source = Source(path, self.columns, file_format=file_format, delimiter=delimiter)
        known = self.columns.kinds
        self.unknown = [name for name in source.header if name not in known and name not in self.left_out]
        self.absent = [name for name in known if source.header and name not in source.header]
        return source

    def predict(self, source: Source, on_bad: Callable[[BadRecord], object]) -> Iterator[Predicted]:
        """Predictions, chunk by chunk; ``on_bad`` is called with each record that cannot be used."""
        for chunk in source.chunks():
            for bad in chunk.bad:
                on_bad(bad)
            if len(chunk.rows):
                answered = self.model.answer_many(chunk.rows)
                yield Predicted(list(chunk.lines), answered.labels, answered.probabilities)


def _left_out(notes: Any) -> set[str]:
    """Columns that the run which made the model has read and not learned from; it matters only for what is said."""
    settings = notes.get("settings") if isinstance(notes, dict) else None
    if not isinstance(settings, dict):
        return set()
    dropped = settings.get("drop")
    return {
        name
        for name in (
            settings.get("target"),
            settings.get("identifier"),
            *(dropped if isinstance(dropped, tuple | list) else ()),
        )
        if isinstance(name, str)
    }


def write_csv(out: TextIO, known: list[Label], predicted: Iterator[Predicted], *, is_raw: bool = False) -> int:
    """Write ``line,prediction`` and a probability per label; returns the number of rows.

    Unless ``is_raw``, no label is a formula to a spreadsheet, or an escape sequence to a terminal.
    """
    writer = csv.writer(out, lineterminator="\n")
    texts = [str(label) for label in known]
    if not is_raw:
        texts = spelled(known) if out.isatty() or len(set(texts)) < len(texts) else texts
    writer.writerow(["line", "prediction", *(f"p({text})" for text in texts)])
    cells = dict(zip(known, texts if is_raw else map(as_cell, texts), strict=True))
    n_rows = 0
    for lines, labels, distributions in predicted:
        writer.writerows(
            [line, cells.get(label), *row]
            for line, label, row in zip(lines, labels, distributions.tolist(), strict=True)
        )
        n_rows += len(lines)
    return n_rows


def write_json_lines(out: TextIO, known: list[Label], predicted: Iterator[Predicted]) -> int:
    """Write objects with line, prediction and probabilities; returns the number of rows."""
    n_rows = 0
    texts = [str(label) for label in known]
    names = texts if len(set(texts)) == len(texts) else spelled(known)  # 1 and "1" are two labels
    values = {label: as_json(label, name) for label, name in zip(known, names, strict=True)}
    for lines, labels, distributions in predicted:
        for line, label, row in zip(lines, labels, np.asarray(distributions).tolist(), strict=True):
            probabilities = dict(zip(names, row, strict=True))
            prediction = values.get(label)
            out.write(json.dumps({"line": line, "prediction": prediction, "probabilities": probabilities}) + "\n")
        n_rows += len(lines)
    return n_rows
