"""How fast the dynamic programme votes for a class of stumps, and how much faster than writing the class out.

    python benchmarks/experts_speed.py run       # a minute
    python benchmarks/experts_speed.py report

Time to vote on every row and learn it, in seven rounds after one that compiles; the two ways take turns. It is
processor time, because other work on the machine stretches the wall time of enumeration, but not that of a programme
that is done before it is interrupted. Runs are kept in ``benchmarks/results/experts_speed.jsonl``; ``report`` writes
two tables of ``docs/experts.md``.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

import numpy as np
import studies
from experts import block_of

from ocoboost import StumpExperts
from ocoboost.bench.jobs import Job, Result
from ocoboost.learners.experts.ensemble import EnumeratedEnsemble, ExpertEnsemble
from ocoboost.learners.experts.hypotheses import EnumeratedClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stumps import StumpClass, find_cells

ROUNDS = 7
ROWS = {"speed": 1000, "enumeration": 100}
CLASSES = {  # features, cells, labels
    "speed": [(20, 32, 5), (40, 32, 5), (20, 64, 5), (20, 32, 10), (4, 16, 3)],
    "enumeration": [(2, 5, 3), (4, 8, 3), (2, 6, 4), (4, 8, 4)],
}


class WrittenOut(EnumeratedClass):
    """A class of stumps, every member kept as the label it gives to each cell."""

    def __init__(self, stumps: StumpClass) -> None:
        self.stumps, self.n_classes = stumps, stumps.n_classes
        centres = stumps.low + (stumps.high - stumps.low) * (np.arange(stumps.n_cells) + 0.5) / stumps.n_cells
        grid = np.tile(centres[:, None], stumps.n_features)
        members = list(stumps.members())
        self.features = np.array([member.feature for member in members])
        self.cell_labels = np.array([member(grid) for member in members])

    @property
    def size(self) -> int:
        return len(self.features)

    def labels(self, row: np.ndarray) -> np.ndarray:
        cells = find_cells(row[None, :], self.stumps.edges)[0]
        return self.cell_labels[np.arange(self.size), cells[self.features]]

    def ensemble(self) -> EnumeratedEnsemble:
        return EnumeratedEnsemble("written out", 1, LearningRate(), 0, is_random=False, members=self, read=_values)


def _values(row: dict[int, float]) -> np.ndarray:
    return np.array(list(row.values()))


def seconds(ensemble: ExpertEnsemble, X: np.ndarray, labels: np.ndarray, n_classes: int) -> float:
    """Processor time to vote on every row and learn it."""
    start = time.process_time()
    block = ensemble.prepare(block_of(X), learning=True)
    ensemble.vote_and_learn(0, block, np.eye(n_classes)[labels], np.empty((len(X), n_classes)))
    return time.process_time() - start


def run(job: Job) -> Result:
    """Seconds a round, by the dynamic programme and, for one of the tables, by enumeration."""
    d, cells, k = job["features"], job["cells"], job["classes"]
    rng = np.random.default_rng(0)
    n_rows = ROWS[job["table"]]
    X, labels = rng.random((n_rows, d)), rng.integers(k, size=n_rows)
    made = {"programme": lambda: StumpExperts(n_cells=cells).make_ensemble(1, 0)}
    if job["table"] == "enumeration":
        made["enumerated"] = WrittenOut(StumpClass(d, k, cells)).ensemble
    rounds = [{name: seconds(make(), X, labels, k) for name, make in made.items()} for _ in range(1 + ROUNDS)]
    return {name: [times[name] for times in rounds[1:]] for name in made}


def plan() -> list[Job]:
    return [
        {"table": table, "features": d, "cells": cells, "classes": k}
        for table, classes in CLASSES.items()
        for d, cells, k in classes
    ]


def report(records: list[dict[str, Any]], table: str) -> str:
    found = {(run["features"], run["cells"], run["classes"]): run for run in records if run["table"] == table}
    rows = []
    for d, cells, k in CLASSES[table]:
        run, n_members = found[d, cells, k], round(math.exp(StumpClass(d, k, cells).log_size))
        if table == "speed":
            rates = [ROWS[table] / spent for spent in run["programme"]]
            size, digits = f"{n_members:.0e}".replace("e+0", "e").replace("e+", "e"), 0
        else:
            rates = [slow / fast for slow, fast in zip(run["enumerated"], run["programme"], strict=True)]
            size, digits = f"{n_members:,}", 1
        middle, least, most = (f"{rate:,.{digits}f}" for rate in (statistics.median(rates), min(rates), max(rates)))
        rows.append([str(d), str(cells), str(k), size, middle, f"{least} to {most}"])
    what = {"speed": "rows per second", "enumeration": "speed-up over enumeration"}[table]
    columns = ["features", "cells", "classes", "members", f"{what}, median of {ROUNDS}", "least and most"]
    return studies.table(columns, rows, text=())


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "report"))
    options = parser.parse_args()
    if options.what == "run":
        studies.run_missing("experts_speed", plan(), run, options)
        return
    records = studies.finished("experts_speed", options)
    for mark in CLASSES:
        studies.put(studies.DOCS / "experts.md", report(records, mark), mark)


if __name__ == "__main__":
    main()
