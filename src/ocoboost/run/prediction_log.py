"""What a run has said to every row, as a CSV file that is never behind the run's checkpoint.

Each row is one line, whatever its label and identifier are. A resumed run keeps as many lines as its checkpoint has
rows and goes on from there, so that a run that was killed leaves the same file as one that was not.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from ocoboost.data.labels import Label
from ocoboost.errors import OutputFileError
from ocoboost.files.outputs import unwritable
from ocoboost.spelling import as_cell, escaped

COLUMNS = ("line", "id", "label", "prediction", "probability")
MOST_ROWS = 4096  # that wait to be written
AS_TEXT: dict[str, Any] = {"encoding": "utf-8", "newline": ""}


class PredictionLog:
    """Rows in the order in which their labels arrived."""

    def __init__(self, path: str, n_rows: int) -> None:
        """Begin a file, or go on with one that has ``n_rows`` at least.

        One that is begun replaces what is there when the first rows are written: a run may end before it has any.
        """
        self.path = path
        self._rows: list[tuple[object, ...]] = []
        try:
            self._is_begun = n_rows > 0 and Path(path).exists() and Path(path).stat().st_size > 0
            if self._is_begun:
                self._cut(n_rows)
        except UnicodeDecodeError:
            raise OutputFileError(f"{path}: is not a file of predictions; name another one.") from None
        except OSError as error:
            raise unwritable(path, error) from error

    def _cut(self, n_rows: int) -> None:
        """Remove what was written after the checkpoint."""
        with Path(self.path).open("r+", **AS_TEXT) as file:
            if file.readline() != ",".join(COLUMNS) + "\n":
                raise OutputFileError(f"{self.path}: is not a file of predictions; name another one.")
            for row in range(n_rows):
                if not file.readline().endswith("\n"):
                    raise OutputFileError(
                        f"{self.path}: has predictions for {row:,} rows, and the run had reached {n_rows:,}; name "
                        "another file for the rows to come."
                    )
            file.truncate(file.tell())

    def add(
        self,
        lines: Sequence[int],
        keys: Sequence[Hashable],
        labels: Sequence[Label],
        predictions: Sequence[Label | None],
        probabilities: Sequence[float],
    ) -> None:
        """Note what was said to rows; ``keys`` may be empty."""
        names = map(_cell, keys) if keys else iter([""] * len(lines))
        given, said = map(_cell, labels), ("" if label is None else _cell(label) for label in predictions)
        self._rows += zip(lines, names, given, said, probabilities, strict=True)
        if len(self._rows) >= MOST_ROWS:
            self.flush()

    def flush(self) -> None:
        """Bring all of it to disk: a checkpoint may follow."""
        try:
            with Path(self.path).open("a" if self._is_begun else "w", **AS_TEXT) as file:
                if not self._is_begun:
                    file.write(",".join(COLUMNS) + "\n")
                csv.writer(file, lineterminator="\n").writerows(self._rows)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._is_begun = True
        self._rows.clear()


def _cell(value: object) -> str:
    """On one line, and no formula to a spreadsheet."""
    return as_cell(escaped(value))
