"""Many keys in little memory: rows per second, memory, disk space, and equality with models trained apart.

Every key has its rows in one visit, but for a tenth of the keys, which come back for the second half of theirs when
their models have long been on disk. Results are stored as they come.

    python benchmarks/keys.py --keys 100000 --rows 50 --max-size 32
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ocoboost import HoeffdingTrees, ModelsByKey, OnlineAgnosticBoostClassifier
from ocoboost.saving.model import model_bytes

RESULTS = Path(__file__).parent / "results" / "keys.json"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--max-size", type=float, default=32.0, help="MiB for models in memory")
    parser.add_argument("--model", choices=MODELS, default="one Hoeffding tree")
    parser.add_argument("--compared", type=int, default=200, help="keys that are also trained apart")
    options = parser.parse_args()
    template = MODELS[options.model]
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelsByKey(template, max_size=options.max_size, folder=folder) as models,
    ):
        n_rows, used, began = 0, 0.0, time.time()
        result: dict[str, Any] = {"model": options.model, "keys": options.keys, "rows_per_key": options.rows}
        for number, (X, y, keys) in enumerate(tables(options.keys, options.rows)):
            before = time.process_time()
            models.predict_learn_many(X, y, keys)
            used += time.process_time() - before
            n_rows += len(y)
            if number % 10 == 0:
                store(result | measured(models, n_rows, used, began, folder))
        models.flush()
        result |= measured(models, n_rows, used, began, folder)
        result |= {"accuracy": models.scores_.accuracy, "n_keys": len(models)}
        chosen = np.random.default_rng(0).choice(options.keys, min(options.compared, options.keys), replace=False)
        n_equal = 0
        for key in chosen.tolist():
            apart = template.clone()
            apart.learn_many(*rows_of(key, options.rows))
            n_equal += model_bytes(apart) == model_bytes(models.get(key))
        store(result | {"compared": len(chosen), "equal": n_equal, "is_complete": True})


def measured(models: ModelsByKey, n_rows: int, used: float, began: float, folder: str) -> dict[str, Any]:
    return {
        "rows": n_rows,
        "rows_per_processor_second": n_rows / used,
        "clock_seconds": time.time() - began,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "disk_mb": sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6,
        "models_in_memory": models.n_in_memory,
        "max_size_mib": models.max_size,
    }


def store(result: dict[str, Any]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(known | {f"{result['model']}, {result['keys']} keys": result}, indent=2) + "\n")


if __name__ == "__main__":
    main()
