"""Did a change cost accuracy? The default of two source trees on the same shuffles, run by run.

    git worktree add ../before COMMIT
    python benchmarks/paired_accuracy.py ../before --data-dir FOLDER --shuffles 20
    python benchmarks/paired_accuracy.py ../before --report

Prequential accuracy of `OnlineBoostClassifier(seed=...)` against the clean labels on the seven datasets, clean and with
flipped labels. The tree before runs without a limit on memory, which is the baseline of limits, too. Every finished run
is kept in ``benchmarks/results/paired_accuracy.jsonl`` under the checksum of its sources; ``--report`` writes the means
of the paired differences and their standard errors into ``docs/mixture.md``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import studies

from ocoboost.bench import datasets, measures, noise
from ocoboost.bench.jobs import Job, Result, Store

HERE = Path(__file__).resolve().parents[1]
NAMES = ("balance", "cars", "landsat", "segment", "mice", "yeast", "abalone")
STORE = "paired_accuracy"


def run(job: Job, data_dir: Path | None) -> Result:
    """Runs in a process with the sources of the job's tree."""
    from ocoboost import OnlineBoostClassifier

    rows = datasets.shuffled(datasets.load(job["dataset"], data_dir), job["shuffle"])
    clean = [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], seed=job["shuffle"])
    limit: dict[str, Any] = {"max_size": None} if job["tree"] == "before" else {}
    model = OnlineBoostClassifier(seed=job["shuffle"], **limit)
    percent = measures.accuracy(model.predict_learn_many([x for x, _ in rows], taught), clean)
    return {"accuracy": round(percent / 100.0, 6)}


def work(tree: str, folder: Path, jobs: list[Job], options: argparse.Namespace) -> None:
    """One process for all runs of a tree; it keeps each as soon as it is finished."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}"}
    environment["NUMBA_CACHE_DIR"] = str(folder / ".cache" / "numba-paired")
    command = [sys.executable, __file__, str(options.before), "--worker", tree, "--results", str(options.results)]
    command += ["--data-dir", str(options.data_dir)] if options.data_dir else []
    subprocess.run(command, input="\n".join(map(json.dumps, jobs)), text=True, env=environment, check=True)


def _is_before(job: Job) -> bool:
    """Runs of the tree before do not depend on the present sources."""
    return bool(job["tree"] == "before")


def tables(runs: list[dict[str, Any]]) -> str:
    """For every share of flipped labels: accuracy before and after, and the mean and standard error of the pairs."""
    found = {(run["noise"], run["dataset"], run["shuffle"], run["tree"]): 100.0 * run["accuracy"] for run in runs}
    rows: list[list[str]] = []
    for share in sorted({run["noise"] for run in runs}):
        pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
        for (noise_share, name, shuffle, tree), before in found.items():
            after = found.get((noise_share, name, shuffle, "after"))
            if noise_share == share and tree == "before" and after is not None:
                pairs[name].append((before, after))
        counts = {len(of_dataset) for of_dataset in pairs.values()}
        if min(counts) < 2:
            continue
        told = f"{share:.0%}" if share else "none"
        shuffles = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        for tree, place in (("before", 0), ("after", 1)):
            means = [statistics.fmean(pair[place] for pair in pairs[name]) for name in NAMES]
            rows.append([told, shuffles, tree, *(f"{mean:.2f}" for mean in means)])
        differences = [[after - before for before, after in pairs[name]] for name in NAMES]
        cells = ("{:+.2f} ± {:.2f}".format(*measures.mean_and_error(of_dataset)) for of_dataset in differences)
        rows.append([told, shuffles, "difference", *cells])
    columns = ["labels flipped", "shuffles", "", *(name.capitalize() for name in NAMES)]
    return studies.table(columns, rows, text=(0, 2))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("before", type=Path, help="folder with the sources before the change")
    parser.add_argument("--shuffles", type=int, default=20)
    parser.add_argument("--noise", default="0,0.2,0.4")
    parser.add_argument("--datasets", default=",".join(NAMES))
    parser.add_argument("--report", action="store_true", help="write the table of docs/mixture.md")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        studies.put(studies.DOCS / "mixture.md", tables(studies.finished(STORE, options)), "paired")
        return
    store = Store(options.results / f"{STORE}.jsonl", any_code=_is_before if options.fresh else True)
    if options.worker:
        for line in sys.stdin:
            job = json.loads(line)
            store.add(job, run(job, options.data_dir))
            print(f"\r{options.worker}: {job}", end="", file=sys.stderr, flush=True)
        return
    folders = {"before": options.before.resolve(), "after": HERE}
    for share, shuffle in itertools.product(map(float, options.noise.split(",")), range(1, options.shuffles + 1)):
        for tree, folder in folders.items():
            keys = [
                {"tree": tree, "dataset": name, "shuffle": shuffle, "noise": share}
                for name in options.datasets.split(",")
            ]
            waiting = [job for job in keys if store.get(job) is None]
            if waiting:
                work(tree, folder, waiting, options)


if __name__ == "__main__":
    main()
