"""Which labels of a table look wrong: several passes, in one of which a row is judged by who has seen most others.

The rows are shuffled and cut into parts, and each pass begins at another part. A pass says what it thinks of a row
before it learns it, so nothing that a row is judged by has seen its label. In one of the passes a row is in the last
part; in others it comes earlier. What the passes say is averaged, weighted by the square of the number of rows that
each had seen by then, and the batch booster gives a second opinion (``second_opinion``).
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import NumberRows, Row
from ocoboost.errors import HazardWarning
from ocoboost.files.columns import BadRecord
from ocoboost.files.sources import Source
from ocoboost.online.mixture.judging import label_issues
from ocoboost.run import second_opinion
from ocoboost.spelling import as_cell, spelled
from ocoboost.stream.protocol import StreamClassifier

N_PASSES = 5
CLOSE = 0.05  # a share of rows foretold that is so little above the most frequent label says that columns say little
HEADER = ("label_quality", "given_label", "predicted_label", "is_label_issue")


class Audit(NamedTuple):
    """What is known of every row of a table, in its order; the names are those of cleanlab."""

    classes: list[Label]
    given: IntArray  # indices of the given labels
    probabilities: FloatArray  # (rows, classes) of every label, without the row's own label
    predicted: IntArray  # indices of the most probable labels
    quality: FloatArray  # the probability of the given label
    is_issue: NDArray[np.bool_]

    @property
    def foretold(self) -> float:
        """The share of rows whose given label is the most probable one."""
        return float(np.mean(self.predicted == self.given))

    @property
    def most_frequent(self) -> float:
        """The share of the most frequent label, which knows nothing of the columns."""
        return float(np.bincount(self.given).max() / len(self.given))

    @property
    def order(self) -> IntArray:
        """The rows, worst first."""
        return np.argsort(self.quality, kind="stable")


def audit(
    rows: Sequence[Row],
    labels: Sequence[Label],
    make: Callable[[int, list[Label]], StreamClassifier],
    *,
    n_passes: int = N_PASSES,
    seed: int = 1,
    n_jobs: int = 1,
    on_pass: Callable[[int], object] = lambda number: None,
) -> Audit:
    """Judge every row; ``make(number, classes)`` gives the model of a pass, and ``on_pass`` hears of each one done."""
    classes = sorted(set(labels), key=lambda label: (str(label), repr(label)))
    places = {label: place for place, label in enumerate(classes)}
    given = np.array([places[label] for label in labels])
    n_rows = len(labels)
    total, weights = np.zeros((n_rows, len(classes))), np.zeros(n_rows)
    for number, order in enumerate(orders(n_rows, n_passes, seed)):
        with warnings.catch_warnings():
            if number > 0:  # the same rows again
                warnings.simplefilter("ignore", HazardWarning)
            for first, said in _said(make(number, classes), rows, labels, order):
                here = order[first : first + len(said)]
                weight = np.arange(first + 1.0, first + len(said) + 1.0) ** 2
                total[here] += weight[:, None] * said
                weights[here] += weight
        on_pass(number + 1)
    said = total / weights[:, None]
    second = second_opinion.held_out(rows, given, len(classes), seed, n_jobs)
    return _judged(classes, given, said if second is None else second_opinion.blended(said, second, given))


def orders(n_rows: int, n_passes: int, seed: int) -> list[IntArray]:
    """The order of the rows in every pass."""
    shuffled = np.random.default_rng(seed).permutation(n_rows)  # files are often sorted by their label
    parts = np.array_split(shuffled, n_passes)
    return [np.concatenate(parts[number:] + parts[:number]) for number in range(n_passes)]


def _said(
    model: StreamClassifier, rows: Sequence[Row], labels: Sequence[Label], order: IntArray
) -> Iterator[tuple[int, FloatArray]]:
    """What a model says to rows before it learns them, in this order."""
    if isinstance(rows, NumberRows):
        taken: Sequence[Row] = NumberRows(rows.names, rows.values[order], rows.numbers[order])
    else:
        taken = [rows[row] for row in order]
    for answered in model.prequential(taken, [labels[row] for row in order]):
        yield answered.first_row, answered.probabilities


def _judged(classes: list[Label], given: IntArray, probabilities: FloatArray) -> Audit:
    every = np.arange(len(given))
    quality, confidence = probabilities[every, given], probabilities.max(axis=1)
    predicted = np.where(quality == confidence, given, probabilities.argmax(axis=1))
    usual = np.bincount(given, quality, len(classes)) / np.maximum(np.bincount(given, minlength=len(classes)), 1)
    is_issue = label_issues(given, predicted, quality, confidence, usual)
    return Audit(classes, given, probabilities, predicted, quality, is_issue)


def worth(audit: Audit) -> str:
    """How far the columns tell the labels, in a sentence or two: an audit knows no more than that."""
    text = f"The given label is the most probable one on {audit.foretold:.1%} of the rows; "
    text += f"the most frequent label has {audit.most_frequent:.1%}."
    if audit.foretold < audit.most_frequent + CLOSE:
        text += " The columns say little about the labels, so most of these may well be right."
    return text


class Table(NamedTuple):
    """All rows of a file."""

    rows: Sequence[Row]
    labels: list[Label]
    lines: list[int]  # of the file
    keys: list[Hashable]  # empty if no column identifies rows


def read_table(source: Source, on_bad: Callable[[BadRecord], object]) -> Table:
    """All rows of a file, in memory; ``on_bad`` is called with each record that cannot be used."""
    chunks = list(source.chunks())
    for bad in (bad for chunk in chunks for bad in chunk.bad):
        on_bad(bad)
    labels = [label for chunk in chunks for label in chunk.labels]
    lines = [line for chunk in chunks for line in chunk.lines]
    keys = [key for chunk in chunks for key in chunk.keys]
    blocks = [chunk.rows for chunk in chunks if len(chunk.rows)]
    numbers = [rows for rows in blocks if isinstance(rows, NumberRows)]
    if numbers and len(numbers) == len(blocks) and all(rows.names == numbers[0].names for rows in numbers):
        joined = np.concatenate([rows.values for rows in numbers])
        return Table(NumberRows(numbers[0].names, joined), labels, lines, keys)
    return Table([row for rows in blocks for row in rows], labels, lines, keys)


def records(audit: Audit, table: Table) -> Iterator[dict[str, Any]]:
    """Every row, worst first: its line in the file (and its identifier), quality and labels."""
    for row in audit.order.tolist():
        yield {
            "line": table.lines[row],
            **({"id": table.keys[row]} if table.keys else {}),
            "label_quality": float(audit.quality[row]),
            "given_label": audit.classes[audit.given[row]],
            "predicted_label": audit.classes[audit.predicted[row]],
            "is_label_issue": bool(audit.is_issue[row]),
        }


def write_csv(out: TextIO, audit: Audit, table: Table) -> None:
    """Write ``records``; no label or identifier is a formula to a spreadsheet."""
    names = dict(zip(audit.classes, map(as_cell, spelled(audit.classes)), strict=True))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["line", *(["id"] if table.keys else []), *HEADER])
    for record in records(audit, table):
        key = ["" if record["id"] is None else as_cell(str(record["id"]))] if table.keys else []
        quality, labels = f"{record['label_quality']:.6g}", (names[record[name]] for name in HEADER[1:3])
        writer.writerow([record["line"], *key, quality, *labels, record["is_label_issue"]])
