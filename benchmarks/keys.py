"""Many keys in little memory: rows per second, memory, disk space, and equality with models trained apart.

Every key has its rows in one visit, but for a tenth of the keys, which come back for the second half of theirs when
their models have long been on disk. A process of its own learns them, without the libraries that studies need.

    python benchmarks/keys.py run --keys 100000 --rows 50 --max-size 32
    python benchmarks/keys.py report

Finished runs are kept in ``benchmarks/results/keys.jsonl``; ``report`` writes the table of ``docs/scaling.md``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ocoboost import HoeffdingTrees, ModelsByKey, OnlineAgnosticBoostClassifier
from ocoboost.saving.model import model_bytes

MODELS = {
    "one Hoeffding tree": HoeffdingTrees(seed=1),
    "five boosted Hoeffding trees": OnlineAgnosticBoostClassifier(n_learners=5, seed=1),
}
TOGETHER = 500  # keys in a table


def rows_of(key: int, n_rows: int) -> tuple[np.ndarray, list[str]]:
    """A key's own rows: four numbers, two labels, and a border of its own."""
    rng = np.random.default_rng(key)
    X = rng.normal(size=(n_rows, 4))
    border = rng.normal(size=4)
    return X, np.where(X @ border > 0, "up", "down").tolist()


def tables(n_keys: int, n_rows: int) -> Any:
    """Tables of whole visits: (X, y, keys)."""
    half = n_rows // 2
    visits = [(key, 0, half if key % 10 == 0 else n_rows) for key in range(n_keys)]
    visits += [(key, half, n_rows) for key in range(0, n_keys, 10)]
    for first in range(0, len(visits), TOGETHER):
        X, y, keys = [], [], []
        for key, begin, end in visits[first : first + TOGETHER]:
            rows, labels = rows_of(key, n_rows)
            X.append(rows[begin:end])
            y += labels[begin:end]
            keys += [key] * (end - begin)
        yield np.concatenate(X), y, keys


def measured(job: dict[str, Any]) -> dict[str, Any]:
    """All keys through this process; some of the models are then trained apart."""
    template = MODELS[job["model"]]
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelsByKey(template, max_size=job["max_size"], folder=folder) as models,
    ):
        n_rows, used = 0, 0.0
        for X, y, keys in tables(job["keys"], job["rows"]):
            before = time.process_time()
            models.predict_learn_many(X, y, keys)
            used += time.process_time() - before
            n_rows += len(y)
        models.flush()
        result = {
            "rows_per_processor_second": n_rows / used,
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
            "disk_mb": sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6,
            "accuracy": models.scores_.accuracy,
        }
        chosen = np.random.default_rng(0).choice(job["keys"], min(job["compared"], job["keys"]), replace=False)
        n_equal = 0
        for key in chosen.tolist():
            apart = template.clone()
            apart.learn_many(*rows_of(key, job["rows"]))
            n_equal += model_bytes(apart) == model_bytes(models.get(key))
    return {**result, "n_equal": n_equal}


def run(job: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "worker", json.dumps(job)]
    result: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
    return result


def report(runs: list[dict[str, Any]]) -> str:
    import studies

    columns = ["model of a key", "keys", "rows each", "`max_size`, MiB", "rows per second of processor time"]
    columns += ["peak memory of the process, MB", "on disk, MB", "equal to models trained apart"]
    lines = [
        [
            run["model"],
            f"{run['keys']:,}",
            str(run["rows"]),
            f"{run['max_size']:g}",
            f"{run['rows_per_processor_second']:,.0f}",
            f"{run['peak_memory_mb']:.0f}",
            f"{run['disk_mb']:.1f}",
            f"{run['n_equal']} of {min(run['compared'], run['keys'])}",
        ]
        for run in sorted(runs, key=lambda run: (run["model"], run["keys"]))
    ]
    return studies.table(columns, lines)


def main() -> None:
    import studies

    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--max-size", type=float, default=32.0, help="MiB for models in memory")
    parser.add_argument("--model", choices=MODELS, default="one Hoeffding tree")
    parser.add_argument("--compared", type=int, default=200, help="keys that are also trained apart")
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "scaling.md", report(studies.finished("keys", options)), "keys")
        return
    asked = ("model", "keys", "rows", "max_size", "compared")
    studies.run_missing("keys", [{name: getattr(options, name) for name in asked}], run, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        print(json.dumps(measured(json.loads(sys.argv[2]))))
    else:
        main()
