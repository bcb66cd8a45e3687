"""How the columns of a file were read: what they hold, how much of it is missing, and between which limits."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ocoboost.data.rows import NumberRows, Row


@dataclass
class Limits:
    """What was seen of one column."""

    n_present: int = 0
    least: float = math.inf  # of its numbers
    most: float = -math.inf

    def add(self, numbers: Any) -> None:
        """Numbers that are not missing."""
        if len(numbers):
            self.n_present += len(numbers)
            self.least, self.most = min(self.least, float(min(numbers))), max(self.most, float(max(numbers)))


@dataclass
class ColumnCounts:
    """Counts over the rows of one run."""

    n_rows: int = 0
    limits: dict[Hashable, Limits] = field(default_factory=dict)

    def add(self, rows: Sequence[Row]) -> None:
        """Look at rows that are about to be learned."""
        self.n_rows += len(rows)
        if isinstance(rows, NumberRows):
            for name, column in zip(rows.names, rows.numbers.T, strict=True):
                self.limits.setdefault(name, Limits()).add(column[~np.isnan(column)])
            return
        present: dict[Hashable, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                if value is not None and not (isinstance(value, float) and math.isnan(value)):
                    present.setdefault(name, []).append(value)
        for name, values in present.items():
            limits = self.limits.setdefault(name, Limits())
            if isinstance(values[0], str):
                limits.n_present += len(values)
            else:
                limits.add(values)

    def missing(self, name: Hashable) -> float | None:
        """The share of rows in which a column is missing; None if there were no rows."""
        return 1.0 - self.limits.get(name, Limits()).n_present / self.n_rows if self.n_rows else None
