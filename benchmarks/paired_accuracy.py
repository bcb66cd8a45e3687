"""Did a change cost accuracy? The default of two source trees on the same shuffles, run by run.

    git worktree add ../before COMMIT
    python benchmarks/paired_accuracy.py ../before --data-dir FOLDER --shuffles 20
    python benchmarks/paired_accuracy.py ../before --report

Prequential accuracy of `OnlineBoostClassifier(seed=...)` against the clean labels on the seven datasets, clean and with
flipped labels. The tree before runs without a limit on memory, which is the baseline of limits, too. Every finished run
is kept in ``benchmarks/results/paired_accuracy.jsonl`` under the checksum of its sources; ``--report`` prints the mean
of the paired differences and its standard error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import studies

from ocoboost.bench import datasets, measures, noise
from ocoboost.bench.jobs import Job, Store

HERE = Path(__file__).resolve().parents[1]
NAMES = ("balance", "cars", "landsat", "segment", "mice", "yeast", "abalone")
STORE = "paired_accuracy"


def run(job: Job, data_dir: Path | None) -> float:
    """Runs in a process with the sources of the job's tree."""
    from ocoboost import OnlineBoostClassifier

    rows = datasets.shuffled(datasets.load(job["dataset"], data_dir), job["shuffle"])
    clean = [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], seed=job["shuffle"])
    limit: dict[str, Any] = {"max_size": None} if job["tree"] == "before" else {}
    model = OnlineBoostClassifier(seed=job["shuffle"], **limit)
    return measures.accuracy(model.predict_learn_many([x for x, _ in rows], taught), clean)


def work(tree: str, folder: Path, jobs: list[Job], options: argparse.Namespace) -> None:
    """One process for all runs of a tree; it keeps each as soon as it is finished."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}"}
    environment["NUMBA_CACHE_DIR"] = str(folder / ".cache" / "numba-paired")
    command = [sys.executable, __file__, str(options.before), "--worker", tree, "--results", str(options.results)]
    command += ["--data-dir", str(options.data_dir)] if options.data_dir else []
    subprocess.run(command, input="\n".join(map(json.dumps, jobs)), text=True, env=environment, check=True)


def report(options: argparse.Namespace) -> str:
    runs = studies.finished(STORE, options)
    found = {(run["noise"], run["dataset"], run["shuffle"], run["tree"]): 100.0 * run["accuracy"] for run in runs}
    rows = []
    for share in sorted({run["noise"] for run in runs}):
        row = [f"{share:.0%}"]
        for name in NAMES:
            pairs = [
                found[share, name, shuffle, "after"] - found[share, name, shuffle, "before"]
                for shuffle in sorted({run["shuffle"] for run in runs})
                if {(share, name, shuffle, tree) for tree in ("before", "after")} <= found.keys()
            ]
            row.append("{:+.2f} ± {:.2f}".format(*measures.mean_and_error(pairs)) if len(pairs) > 1 else "")
        rows.append(row)
    return studies.table(["labels flipped", *(name.capitalize() for name in NAMES)], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("before", type=Path, help="folder with the sources before the change")
    parser.add_argument("--shuffles", type=int, default=20)
    parser.add_argument("--noise", default="0,0.2,0.4")
    parser.add_argument("--datasets", default=",".join(NAMES))
    parser.add_argument("--report", action="store_true", help="print the table")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        print(report(options))
        return
    store = Store(options.results / f"{STORE}.jsonl", any_code=not options.fresh)
    if options.worker:
        for line in sys.stdin:
            job = json.loads(line)
            store.add(job, {"accuracy": round(run(job, options.data_dir) / 100.0, 6)})
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
