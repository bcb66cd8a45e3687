"""Predictions of a saved model for the rows of a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TextIO

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import Label
from ocoboost.errors import InvalidInputError, ModelFileError
from ocoboost.files.columns import BadRecord, Columns
from ocoboost.files.sources import Source
from ocoboost.spelling import as_cell, as_json, escaped, spelled
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered


class Predicted(NamedTuple):
    """Predictions for rows, by their lines."""

    lines: list[int]
    labels: list[Label | None]
    distributions: FloatArray  # (rows, labels)
    keys: Sequence[Hashable] = ()  # what identifies each row, if a column does
    sets: list[list[Label]] | None = None  # the prediction set of each row, most probable label first


class Predictor:
    """A model, and its columns by their names in files."""

    def __init__(
        self,
        name: str,
        model: StreamClassifier,
        notes: Any,
        identifier: str | None = None,
        coverage: float | None = None,
    ) -> None:
        """``identifier`` is the column that identifies rows; with a ``coverage``, rows get prediction sets."""
        self.model = model
        self.level = None if coverage is None else _level(name, model, coverage)
        if model.n_rows_ == 0:
            raise ModelFileError(f"{name}: the model has not learned any rows yet.")
        kinds = model.columns_
        spelling = {str(column): column for column in kinds}
        if len(spelling) < len(kinds):
            raise ModelFileError(f"{name}: several of its columns would have the same name in a file.")
        named = {str(column): kind for column, kind in kinds.items()}
        self.columns = Columns(None, kinds=named, only=spelling, identifier=identifier)
        self.left_out = _left_out(notes)
        self.unknown: list[str] = []
        self.absent: list[str] = []

    def open(self, path: str, file_format: str | None, delimiter: str | None) -> Source:
        """The rows of a file; notes the columns that only the file or only the model has."""
        source = Source(path, self.columns, file_format=file_format, delimiter=delimiter)
        known = self.columns.kinds
        is_used = {*known, *self.left_out, self.columns.identifier}
        header = dict.fromkeys(source.header)
        self.unknown = [name for name in header if name not in is_used]
        self.absent = [name for name in known if header and name not in header]
        return source

    def predict(self, source: Source, on_bad: Callable[[BadRecord], object]) -> Iterator[Predicted]:
        """Predictions, chunk by chunk; ``on_bad`` is called with each record that cannot be used."""
        for chunk in source.chunks():
            for bad in chunk.bad:
                on_bad(bad)
            if len(chunk.rows):
                answered = self.model.answer_many(chunk.rows)
                sets = None if self.level is None else _sets(answered, self.level)
                yield Predicted(list(chunk.lines), answered.labels, answered.probabilities, chunk.keys, sets)


def _level(name: str, model: StreamClassifier, coverage: float) -> int:
    """Which of the model's levels this is."""
    levels = [float(level) for level in getattr(model, "coverages", ())]
    if coverage not in levels:
        known = ", ".join(f"{level:g}" for level in levels)
        why = f"its levels are {known}" if known else f"{type(model).__name__} makes no prediction sets"
        raise InvalidInputError(f"{name}: no prediction sets of coverage {coverage:g}; {why}.")
    return levels.index(coverage)


def _sets(answered: Answered, level: int) -> list[list[Label]]:
    """The labels in every row's set."""
    inside = answered.in_sets(level)
    order = np.argsort(-answered.probabilities, axis=1, kind="stable")
    return [
        [answered.classes[label] for label in labels if is_in[label]]
        for labels, is_in in zip(order.tolist(), inside, strict=True)
    ]


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


def write_csv(
    out: TextIO,
    known: list[Label],
    predicted: Iterator[Predicted],
    *,
    has_keys: bool = False,
    has_sets: bool = False,
    is_raw: bool = False,
) -> int:
    """Write ``line,prediction`` and a probability per label; returns the number of rows.

    ``id`` stands after the line, and ``set``, as a list in JSON, after the prediction. Unless ``is_raw``, no label or
    identifier is a formula to a spreadsheet, or an escape sequence to a terminal.
    """
    writer = csv.writer(out, lineterminator="\n")
    texts = [str(label) for label in known]
    if not is_raw:
        texts = spelled(known) if out.isatty() or len(set(texts)) < len(texts) else texts
    columns = ["line", *["id"] * has_keys, "prediction", *["set"] * has_sets]
    writer.writerow([*columns, *(f"p({text})" for text in texts)])
    cells = dict(zip(known, texts if is_raw else map(as_cell, texts), strict=True))
    names = dict(zip(known, texts, strict=True))
    n_rows = 0
    for lines, labels, distributions, keys, sets in predicted:
        rows: list[Iterable[Any]] = [lines]
        if has_keys:
            rows.append("" if key is None else str(key) if is_raw else as_cell(escaped(key)) for key in keys)
        rows.append(map(cells.get, labels))
        if sets is not None:
            rows.append(json.dumps([names[label] for label in members], ensure_ascii=False) for members in sets)
        writer.writerows([*row, *shares] for *row, shares in zip(*rows, distributions.tolist(), strict=True))
        n_rows += len(lines)
    return n_rows


def write_json_lines(out: TextIO, known: list[Label], predicted: Iterator[Predicted]) -> int:
    """Write objects with line, prediction and probabilities, and what else there is; returns the number of rows."""
    n_rows = 0
    texts = [str(label) for label in known]
    names = texts if len(set(texts)) == len(texts) else spelled(known)  # 1 and "1" are two labels
    values = {label: as_json(label, name) for label, name in zip(known, names, strict=True)}
    for lines, labels, distributions, keys, sets in predicted:
        for number, (line, label, row) in enumerate(
            zip(lines, labels, np.asarray(distributions).tolist(), strict=True)
        ):
            told: dict[str, Any] = {"line": line}
            if keys:
                told["id"] = None if keys[number] is None else as_json(keys[number], str(keys[number]))
            told["prediction"] = values.get(label)
            if sets is not None:
                told["set"] = [values[member] for member in sets[number]]
            out.write(json.dumps({**told, "probabilities": dict(zip(names, row, strict=True))}) + "\n")
        n_rows += len(lines)
    return n_rows
