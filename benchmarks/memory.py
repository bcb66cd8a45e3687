"""What a limit on memory costs, and what text of many categories is worth.

    python benchmarks/memory.py run --data-dir FOLDER --jobs 2
    python benchmarks/memory.py report

The default model, over five shuffles of the paper's datasets, without a limit and with several; and on streams with a
column of 10, 300 and 100,000 texts, beside River's adaptive random forest and Hoeffding tree, whose text is one-hot
encoded (300 texts at most) or hashed into 64 columns. Every finished run is kept in
``benchmarks/results/memory.jsonl``; ``report`` writes the tables of ``docs/memory.md``.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
from river import forest, tree

from ocoboost import OnlineBoostClassifier
from ocoboost.bench import datasets, measures, paper
from ocoboost.bench.jobs import Job, Result
from ocoboost.bench.prequential import stream as prequential

SIZES: tuple[float | None, ...] = (None, 512.0, 128.0, 32.0)
N_TEXTS = (10, 300, 100_000)
N_ROWS = 5000
N_SEEDS = 3
N_HASHED = 64
OURS = "ocoboost"
MODELS: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: OnlineBoostClassifier(seed=seed),
    "ARF": lambda seed: forest.ARFClassifier(n_models=10, seed=seed),
    "Hoeffding tree": lambda seed: tree.HoeffdingTreeClassifier(nominal_attributes=["city"]),
}
Runs = list[dict[str, Any]]


def texts(n_texts: int, seed: int) -> datasets.Stream:
    """Three labels: every city has a usual one of its own, and two numbers say when it is another."""
    rng = np.random.default_rng(seed)
    usual = np.random.default_rng(0).integers(3, size=n_texts)
    popularity = 1.0 / np.arange(1, n_texts + 1)
    cities = rng.choice(n_texts, size=N_ROWS, p=popularity / popularity.sum())
    a, b = rng.normal(size=(2, N_ROWS)).round(3)
    labels = np.where(a + b > 1.0, (usual[cities] + 1) % 3, usual[cities])
    labels = np.where(rng.random(N_ROWS) < 0.05, rng.integers(3, size=N_ROWS), labels)
    return [
        ({"a": float(a[row]), "b": float(b[row]), "city": f"city {cities[row]}"}, f"label {labels[row]}")
        for row in range(N_ROWS)
    ]


def one_hot(x: dict[str, Any], n_texts: int) -> dict[str, Any]:
    return {"a": x["a"], "b": x["b"], **{f"city {j}": float(x["city"] == f"city {j}") for j in range(n_texts)}}


def hashed(x: dict[str, Any], n_texts: int) -> dict[str, Any]:
    place = zlib.crc32(x["city"].encode()) % N_HASHED
    return {"a": x["a"], "b": x["b"], **{f"hash {j}": float(j == place) for j in range(N_HASHED)}}


ENCODINGS: dict[str, Callable[[dict[str, Any], int], dict[str, Any]]] = {
    "as it is": lambda x, n_texts: x,
    "one-hot": one_hot,
    "hashed": hashed,
}


def run(job: Job, data_dir: Path | None) -> Result:
    seed = job["shuffle"]
    if "texts" in job:
        rows = texts(job["texts"], seed)
        model = MODELS[job["model"]](seed)
        X, labels = [ENCODINGS[job["encoding"]](x, job["texts"]) for x, _ in rows], [y for _, y in rows]
    else:
        rows = datasets.shuffled(datasets.load(job["dataset"], data_dir), seed)
        model = OnlineBoostClassifier(max_size=job["max_size"], seed=seed)
        X, labels = [x for x, _ in rows], [y for _, y in rows]
    trace = prequential(model, X, labels)
    return {
        **studies.scores(trace.predictions, labels, 6),
        "MiB": round(trace.n_bytes / 2**20, 1),
        "seconds": round(trace.seconds, 2),
    }


def plan(names: list[str], n_shuffles: int) -> Iterator[Job]:
    for shuffle, name, size in itertools.product(range(1, n_shuffles + 1), names, SIZES):
        yield {"dataset": name, "shuffle": shuffle, "max_size": size}
    for shuffle, n_texts in itertools.product(range(1, min(n_shuffles, N_SEEDS) + 1), N_TEXTS):
        yield {"texts": n_texts, "shuffle": shuffle, "model": OURS, "encoding": "as it is"}
        yield {"texts": n_texts, "shuffle": shuffle, "model": "Hoeffding tree", "encoding": "as it is"}
        for model in ("ARF", "Hoeffding tree"):
            if n_texts <= max(N_TEXTS[:2]):
                yield {"texts": n_texts, "shuffle": shuffle, "model": model, "encoding": "one-hot"}
            yield {"texts": n_texts, "shuffle": shuffle, "model": model, "encoding": "hashed"}


def limits_table(runs: Runs) -> str:
    """Accuracy without a limit, and the paired differences with one."""
    rows = []
    for name in paper.DATASETS:
        by_size: dict[Any, dict[int, dict[str, Any]]] = {size: {} for size in SIZES}
        for one in runs:
            if one.get("dataset") == name:
                by_size[one["max_size"]][one["shuffle"]] = one
        free = by_size[None]
        if not free:
            continue
        cells = [studies.shown([100 * one["accuracy"] for one in free.values()])]
        cells.append(f"{np.mean([one['MiB'] for one in free.values()]):,.0f}")
        for size in SIZES[1:]:
            pairs = [100 * (one["accuracy"] - free[shuffle]["accuracy"]) for shuffle, one in by_size[size].items()]
            mean, error = measures.mean_and_error(pairs)
            cells.append(f"{mean:+.2f} ± {error:.2f}")
        rows.append([name.capitalize(), *cells])
    return studies.table(["", "no limit", "MiB", *(f"{size:g} MiB" for size in SIZES[1:])], rows)


def texts_table(runs: Runs) -> str:
    """Accuracy on streams with a column of text."""
    kinds = {(one["model"], one["encoding"]): None for one in runs if "texts" in one}
    rows = []
    for model, encoding in kinds:
        cells = []
        for n_texts in N_TEXTS:
            same = [
                one
                for one in runs
                if (one.get("texts"), one.get("model"), one.get("encoding")) == (n_texts, model, encoding)
            ]
            cells.append(studies.shown([100 * one["accuracy"] for one in same]) if same else "–")
        rows.append([model, encoding, *cells])
    return studies.table(["", "text", *(f"{n_texts:,} texts" for n_texts in N_TEXTS)], rows, text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--datasets", default=",".join(paper.DATASETS))
    parser.add_argument("--shuffles", type=int, default=paper.N_SHUFFLES)
    options = parser.parse_args()
    if options.action == "run":
        jobs = plan(options.datasets.split(","), options.shuffles)
        work = partial(run, data_dir=options.data_dir)
        studies.run_missing("memory", jobs, work, options, lasting=lambda job: job.get("model", OURS) != OURS)
    else:
        runs = studies.finished("memory", options)
        studies.put(studies.DOCS / "memory.md", limits_table(runs), "limits")
        studies.put(studies.DOCS / "memory.md", texts_table(runs), "texts")


if __name__ == "__main__":
    main()
