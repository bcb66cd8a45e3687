"""The default booster against today's rivals, on the same shuffles and the same flipped labels.

    python benchmarks/accuracy.py run --data-dir FOLDER --jobs 2
    python benchmarks/accuracy.py report

Prequential accuracy of the mode against the clean labels, over the whole stream and over its last fifth. Every
finished run is kept in ``docs/accuracy.jsonl``, so an interrupted study resumes; ``report`` writes
``docs/accuracy.md``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

from ocoboost.bench import datasets, noise, peers

DOCS = Path(__file__).resolve().parent.parent / "docs"
STORE = DOCS / "accuracy.jsonl"
DATASETS = ("balance", "cars", "landsat", "segment", "mice", "yeast", "abalone")


@cache
def load(name: str, data_dir: Path | None) -> datasets.Stream:
    return datasets.imputed(datasets.load(name, data_dir))


def predict_learn(model: str, rows: datasets.Stream, labels: list[Any], seed: int) -> list[Any]:
    """What a model predicts on each row before it learns it."""
    X = [x for x, _ in rows]
    if model in peers.NUMBERS_ONLY or model in peers.CAPYMOA:
        X = [x for x, _ in datasets.ranked(rows)]
    if model in peers.CAPYMOA:
        return peers.predict_learn_capymoa(model, X, labels, seed)
    if model in peers.RIVER:
        return peers.predict_learn_river(peers.RIVER[model](seed), X, labels)
    return OURS[model](seed).predict_learn_many(X, labels)


OURS: dict[str, Callable[[int], Any]] = {}


def accuracy(predictions: list[Any], labels: list[Any]) -> float:
    return round(statistics.fmean(p == y for p, y in zip(predictions, labels, strict=True)), 6)


def run(job: dict[str, Any], data_dir: Path | None) -> dict[str, Any]:
    rows = datasets.shuffled(load(job["dataset"], data_dir), job["shuffle"])
    clean = [y for _, y in rows]
    flipped = noise.flip(clean, job["noise"], seed=job["shuffle"])
    began = time.perf_counter()
    predictions = predict_learn(job["model"], rows, flipped, job["shuffle"])
    seconds = time.perf_counter() - began
    last = len(rows) * 4 // 5
    whole, tail = accuracy(predictions, clean), accuracy(predictions[last:], clean[last:])
    return {**job, "accuracy": whole, "last_fifth": tail, "seconds": round(seconds, 2)}


def key(job: dict[str, Any]) -> str:
    return json.dumps([job["dataset"], job["model"], job["shuffle"], job["noise"]])


def stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def run_all(jobs: list[dict[str, Any]], data_dir: Path | None, n_jobs: int) -> None:
    finished = {key(result) for result in stored()}
    jobs = [job for job in jobs if key(job) not in finished]
    with ProcessPoolExecutor(n_jobs) as pool, STORE.open("a") as lines:
        futures = [pool.submit(run, job, data_dir) for job in jobs]
        for number, future in enumerate(as_completed(futures), 1):
            if future.exception() is not None:
                pool.shutdown(cancel_futures=True)
            result = future.result()
            print(json.dumps(result), file=lines, flush=True)
            print(f"{number}/{len(jobs)}", json.dumps(result), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--models", default=",".join([*OURS, *peers.RIVER, *peers.CAPYMOA]))
    parser.add_argument("--noise", default="0,0.2,0.4")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.action == "run":
        jobs = [
            {"dataset": name, "model": model, "shuffle": shuffle, "noise": float(share)}
            for shuffle, share, model, name in itertools.product(
                range(1, arguments.shuffles + 1),
                arguments.noise.split(","),
                arguments.models.split(","),
                arguments.datasets.split(","),
            )
        ]
        run_all(jobs, arguments.data_dir, arguments.jobs)


if __name__ == "__main__":
    main()
