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

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets, measures, noise, paper, peers, prequential

DOCS = Path(__file__).resolve().parent.parent / "docs"
STORE = DOCS / "accuracy.jsonl"
DEFAULT = "ocoboost default"
OURS: dict[str, Callable[[int], Any]] = {
    DEFAULT: lambda seed: OnlineAgnosticBoostClassifier(seed=seed),
    "one Hoeffding tree": lambda seed: HoeffdingTrees(seed=seed),
    "one Mondrian tree": lambda seed: MondrianTrees(n_learners=1, seed=seed),
    "ten Mondrian trees": lambda seed: MondrianTrees(seed=seed),
    "ten Mondrian trees as River's": lambda seed: MondrianTrees(smoothing=0.0, scale="none", seed=seed),
}
SINGLE = ("one Hoeffding tree", "one Mondrian tree")
# The best of the four columns of the paper's Table 1, whose gamma was tuned on the same stream.
PAPER = {name: max(paper.TABLE[booster, name].accuracy for booster in paper.BOOSTERS) for name in paper.DATASETS}
DATASETS = paper.DATASETS


@cache
def load(name: str, data_dir: Path | None) -> datasets.Stream:
    return datasets.load(name, data_dir)


def predict_learn(model: str, rows: datasets.Stream, labels: list[Any], seed: int) -> list[Any]:
    """What a model predicts on each row before it learns it."""
    X = [x for x, _ in rows]
    if model in peers.NUMBERS_ONLY or model in peers.CAPYMOA:
        X = [x for x, _ in datasets.ranked(rows)]
    if model in peers.CAPYMOA:
        return peers.predict_learn_capymoa(model, X, labels, seed)
    if model in peers.RIVER:
        return prequential.stream(peers.RIVER[model](seed), X, labels).predictions
    return OURS[model](seed).predict_learn_many(X, labels)


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


def by_shuffle(results: list[dict[str, Any]], measure: str) -> dict[tuple[float, str, str], dict[int, float]]:
    """Percentages by noise, model and dataset, then by shuffle."""
    cells: dict[tuple[float, str, str], dict[int, float]] = {}
    for result in results:
        at = (result["noise"], result["model"], result["dataset"])
        cells.setdefault(at, {})[result["shuffle"]] = 100.0 * result[measure]
    return cells


def accuracy_table(cells: dict[tuple[float, str, str], dict[int, float]], share: float) -> list[str]:
    """A row per model, a column per dataset; an asterisk where fewer shuffles were run than ours."""
    lines = ["| | " + " | ".join(name.capitalize() for name in DATASETS) + " |", "|---|" + "---:|" * len(DATASETS)]
    for model in [*OURS, *peers.RIVER, *peers.CAPYMOA]:
        row = []
        for name in DATASETS:
            values = list(cells.get((share, model, name), {}).values())
            n_ours = len(cells.get((share, DEFAULT, name), {}))
            mark = "*" if len(values) < n_ours else ""
            row.append("{:.1f} ± {:.1f}{}".format(*measures.mean_and_error(values), mark) if values else "")
        if any(row):
            lines.append(f"| {model} | " + " | ".join(row) + " |")
    if share == 0.0:
        lines.append("| best column of the paper | " + " | ".join(f"{PAPER[name]:.1f}" for name in DATASETS) + " |")
    return lines


def paired_table(cells: dict[tuple[float, str, str], dict[int, float]], share: float) -> list[str]:
    """How much the default is ahead of its best rival and of its best single tree, shuffle by shuffle."""
    lines = ["| | best rival | ahead by | better single tree | ahead by |", "|---|---|---:|---|---:|"]
    for name in DATASETS:
        ours = cells.get((share, DEFAULT, name), {})
        row = [name.capitalize()]
        for models in ([*peers.RIVER, *peers.CAPYMOA], SINGLE):
            found = {model: cells[share, model, name] for model in models if (share, model, name) in cells}
            if not found:
                row += ["not run", ""]
                continue
            best = max(found, key=lambda model: statistics.fmean(found[model].values()))
            differences = [ours[shuffle] - found[best][shuffle] for shuffle in ours if shuffle in found[best]]
            row += [best, "{:+.1f} ± {:.1f}".format(*measures.mean_and_error(differences))]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def report() -> str:
    results = stored()
    parts = [HEADER]
    for measure, title in (("accuracy", "Whole stream"), ("last_fifth", "Last fifth")):
        cells = by_shuffle(results, measure)
        for share in sorted({at[0] for at in cells}):
            parts += [f"## {title}, {share:.0%} of the labels flipped\n", *accuracy_table(cells, share), ""]
            if measure == "accuracy":
                parts += [*paired_table(cells, share), ""]
    return "\n".join(parts)


HEADER = """# The default against today's rivals

Prequential accuracy of the mode against the clean labels, in percent, mean and standard error over five shuffles; every
model sees the same shuffles and the same flipped labels. `OnlineAgnosticBoostClassifier(seed=...)` untouched; rivals
with their libraries' defaults (River 0.26, CapyMOA 0.15). Uniform flips: a wrong label is any other label. "Ahead by"
is the mean of the paired differences and its standard error; the best rival and the better single tree are picked
afterwards, which favours them. An asterisk marks cells with fewer shuffles: the slowest rivals were not run to the end.
Where River's AMF and CapyMOA take numbers only, text is replaced by ranks; on Cars these follow the true order
from worst to best, which our trees are not told. CapyMOA's OzaBoost predicts nothing useful on Abalone as it stands.

The members of the default were chosen on other streams (`benchmarks/portfolio.py`). Made by
`python benchmarks/accuracy.py run` and `report`, from the runs kept in `accuracy.jsonl`.

"""


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
    text = report()
    (DOCS / "accuracy.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
