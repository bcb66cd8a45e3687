"""How large model files are, and how long they take to write and to read.

    python benchmarks/model_files.py
    python benchmarks/model_files.py --report

The default model learns all of a dataset and is saved, pickled, and loaded in a process of its own, which reads off its
resident memory: that before loading is subtracted from the peak while loading. Times are medians, for saving with the
lowest and the highest of the repeats, and end when the file is forced to disk; the table has those of the processor.
Only the public interface is used: with PYTHONPATH at the sources of another version, this measures that one. Results
are appended to ``benchmarks/results/model_files.jsonl``; ``--report`` puts them, and those of ``fuzz_models.py``, into
``docs/model_files.md``.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import studies

import ocoboost
from ocoboost.bench import datasets
from ocoboost.bench.jobs import Store

MIB = 2**20


def rows_of(dataset: str) -> tuple[list[dict[Any, Any]], list[Any]]:
    """The rows of a dataset of the package, or scikit-learn's Wine."""
    if dataset == "wine":
        from sklearn.datasets import load_wine

        wine = load_wine()
        return [dict(enumerate(row)) for row in wine.data.tolist()], wine.target.tolist()
    rows = datasets.load(dataset)
    return [x for x, _ in rows], [y for _, y in rows]


def timed(action: Callable[[], object], repeats: int) -> dict[str, float]:
    """Seconds: median, lowest and highest, and those of the processor."""
    seconds, busy = [], []
    for _ in range(repeats):
        started, started_busy = time.perf_counter(), time.process_time()
        action()
        seconds.append(time.perf_counter() - started)
        busy.append(time.process_time() - started_busy)
    taken = {"median": statistics.median(seconds), "lowest": min(seconds), "highest": max(seconds)}
    return taken | {"processor": statistics.median(busy)}


def status(name: str) -> int:
    """A line of this process's status, in bytes."""
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) * 1024


def trace_load(path: str) -> None:
    """Print what loading takes (in a process of its own)."""
    for name in ("HoeffdingTrees", "OnlineBoostClassifier"):  # import first what a model needs
        getattr(ocoboost, name)(seed=1).fresh_state(1)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    started, started_busy = time.perf_counter(), time.process_time()
    model = ocoboost.load(path)
    seconds, busy = time.perf_counter() - started, time.process_time() - started_busy
    print(
        json.dumps(
            {"seconds": seconds, "processor": busy, "peak": status("VmHWM") - before, "model": model.memory_usage_}
        )
    )


def measure(dataset: str, repeats: int) -> dict[str, Any]:
    """Sizes in MiB, times in seconds."""
    X, y = rows_of(dataset)
    model = ocoboost.OnlineBoostClassifier(seed=1)
    model.learn_many(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.oco"
        saving = timed(lambda: ocoboost.save(model, path), repeats)
        size = path.stat().st_size
        command = [sys.executable, __file__, "--trace", str(path)]
        loads = [
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(repeats)
        ]
    return {
        "rows": len(X),
        "model MiB": round(model.memory_usage_ / MIB, 2),
        "file MiB": round(size / MIB, 2),
        "pickle MiB": round(len(pickle.dumps(model)) / MIB, 2),
        "save s": {name: round(value, 3) for name, value in saving.items()},
        "load s": {
            name: round(statistics.median(load[key] for load in loads), 3)
            for name, key in (("median", "seconds"), ("processor", "processor"))
        },
        "loaded MiB": round(loads[0]["model"] / MIB, 2),
        "peak of loading MiB": round(max(load["peak"] for load in loads) / MIB, 2),
    }


def sizes_table(records: list[dict[str, Any]]) -> str:
    """The file of every dataset."""
    columns = ("rows of", "model", "file", "pickle", "save", "load", "loaded model", "peak of loading")
    rows = [
        (
            f"{record['dataset'].capitalize()} ({record['rows']:,})",
            *(f"{record[name]:.1f} MiB" for name in ("model MiB", "file MiB", "pickle MiB")),
            f"{record['save s']['processor']:.2f} s",
            f"{record['load s']['processor']:.2f} s",
            *(f"{record[name]:.1f} MiB" for name in ("loaded MiB", "peak of loading MiB")),
        )
        for record in sorted(records, key=lambda record: str(record["dataset"]))
    ]
    return studies.table(columns, rows)


def fuzzing_table(records: list[dict[str, Any]]) -> str:
    """Counts of mutated files."""
    names = {
        "": "compiled",
        "unsealed": "compiled, changed by accident",
        "boundscheck": "with Numba's bounds checking",
        "nojit": "not compiled",
    }
    rows = [
        (
            names[mode],
            *(
                f"{sum(value for record in chosen for name, value in record.items() if name.endswith(what)):,}"
                for what in ("count", ": refused", ("learned", "rows refused"), "failures")
            ),
            f"{max(record['peak MiB'] for record in chosen)} MiB",
        )
        for mode in names
        if (chosen := [record for record in records if record["mode"] == mode])
    ]
    return studies.table(("kernels", "files", "refused", "loaded and learned", "failures", "peak memory"), rows)


def report(results: Path) -> None:
    """Put what was measured into the page."""
    page = studies.DOCS / "model_files.md"
    stored = {
        name: Store(results / f"{name}.jsonl", any_code=True).records() for name in ("model_files", "fuzz_models")
    }
    studies.put(page, sizes_table(stored["model_files"]), "sizes")
    studies.put(page, fuzzing_table(stored["fuzz_models"]), "fuzzing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="segment,wine")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, default=studies.RESULTS)
    parser.add_argument("--report", action="store_true", help="make the tables instead of measuring")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace:
        trace_load(options.trace)
        return
    if options.report:
        report(options.results)
        return
    store = Store(options.results / "model_files.jsonl")
    for dataset in options.datasets.split(","):
        result = measure(dataset, options.repeats)
        store.add({"dataset": dataset}, result)
        print(dataset, json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
