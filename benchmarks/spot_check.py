"""Do the present sources still give the stored results? Some of them, drawn at random, are made again.

    python benchmarks/spot_check.py --data-dir FOLDER                # every study that can be asked
    python benchmarks/spot_check.py choices theory --seconds 120

Every stored run carries a checksum of all sources of models, so that a change anywhere makes a run one of other
sources, whether or not it can change an answer. Here a study's runs of other sources are shuffled, the first ten are
made again by the study's own function, then one of every kind of model that was not among them, and whatever is not a
time or a size is compared to within 1e-12. With ``--seconds`` nothing is begun after that time; the order is drawn
before, so dear runs are as likely as cheap ones. What was found goes to ``results/spot_checks.jsonl``; another
``--seed`` adds to it. ``stale.py`` counts a table as confirmed only if all agree. Studies that measure times, and runs
of other libraries' models, are not asked.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import math
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import stored
import studies

from ocoboost.bench.jobs import Job, Result, code, key

# The function that makes a run, by store.
WORK = {
    "accuracy": "accuracy.run",
    "account": "account.run",
    "adaptive_gamma": "adaptive_gamma.work",
    "audits": "audits.work",
    "audits_drift": "audits.run_drift",
    "bandit": "bandit.work",
    "baselines": "baselines.run",
    "batch": "batch.run",
    "batch_accuracy": "batch_accuracy.run",
    "batch_gamma": "batch.run_gamma",
    "calibration": "calibration.work",
    "choices": "choices_plan.run",
    "drift": "drift.run",
    "experts": "experts.run",
    "few_labels": "few_labels.work",
    "foreign_learners": "foreign_learners.run",
    "memory": "memory.run",
    "paired_accuracy": "paired_accuracy.run",
    "pairwise": "pairwise.work",
    "probabilities": "probabilities.work",
    "rare_classes": "rare_classes.work",
    "reproduction": "reproduction.run",
    "streams": "ocoboost.bench.leaderboard.run",
    "theory": "theory.run",
}
MEASURED = frozenset(("seconds", "cpu_seconds", "fit", "predict", "MiB", "bytes"))  # times and sizes
N_RUNS = 10
CHECKS = "spot_checks.jsonl"
TOLERANCE = 1e-12
DIGITS = 6  # that studies round to; the oldest did not


class Drawn(NamedTuple):
    """The runs of a store that are of other sources, ours, and can be made again; and those that are drawn."""

    stale: list[dict[str, Any]]
    sample: list[dict[str, Any]]


def work_of(store: str, data_dir: Path | None) -> Callable[[Job], Result]:
    """A study's own function; what it needs beside the job is the folder of datasets, or nothing."""
    module, _, name = WORK[store].rpartition(".")
    work = getattr(importlib.import_module(module), name)
    more = dict.fromkeys(list(inspect.signature(work).parameters)[1:])
    if "data_dir" in more:
        more["data_dir"] = data_dir
    return lambda job: work(job, **more)


def draw(runs: list[dict[str, Any]], store: str, n_runs: int, seed: int) -> Drawn:
    """A uniform sample of the runs that need it, and one more of each kind that it has missed."""
    stale = [run for run in runs if not stored.is_present(run, store) and not stored.is_lasting(run["job"])]
    stale = [run for run in stale if "speed" not in run["job"]]
    order = random.Random(f"{store} {seed}").sample(stale, len(stale))
    sample = order[:n_runs]
    kinds = {stored.kind(run["job"]) for run in sample}
    for run in order[n_runs:]:
        if stored.kind(run["job"]) not in kinds:
            kinds.add(stored.kind(run["job"]))
            sample.append(run)
    return Drawn(stale, sample)


def agree(kept: Any, made: Any) -> bool:
    """Whether a result, or a part of it, is the stored one, but for times and sizes.

    >>> agree({"accuracy": 0.5, "seconds": 1.0}, {"accuracy": 0.5, "seconds": 2.0, "rows": 7})
    True
    >>> agree({"accuracy": 0.5}, {"accuracy": 0.501})
    False
    """
    if isinstance(kept, dict):
        names = kept.keys() - MEASURED
        return isinstance(made, dict) and names <= made.keys() and all(agree(kept[name], made[name]) for name in names)
    if isinstance(kept, list):
        return isinstance(made, list) and len(kept) == len(made) and all(map(agree, kept, made))
    if isinstance(kept, float) and isinstance(made, float | int):
        is_missing = math.isnan(kept) and math.isnan(made)
        is_rounded = made == round(kept, DIGITS)
        return is_missing or is_rounded or math.isclose(kept, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(kept == made)


def differences(kept: Result, made: Result) -> dict[str, list[Any]]:
    """What was kept and what was made, where they differ; long lists are left out.

    >>> differences({"accuracy": 0.5, "rows": 7}, {"accuracy": 0.501, "rows": 7})
    {'accuracy': [0.5, 0.501]}
    """
    names = [name for name in kept if name not in MEASURED and not agree(kept[name], made.get(name))]
    return {
        name: [None if isinstance(value, list | dict) else value for value in (kept[name], made.get(name))]
        for name in names
    }


def check(
    path: Path, work: Callable[[Job], Result], *, n_runs: int = N_RUNS, seconds: float = math.inf, seed: int = 1
) -> dict[str, Any]:
    """Make runs of a store again, and tell which of them agree with what was kept."""
    began, until = time.process_time(), time.monotonic() + seconds
    drawn = draw(stored.last_runs(path), path.stem, n_runs, seed)
    jobs: dict[str, bool] = {}  # whether a run agrees
    differing = []
    for run in drawn.sample:
        if time.monotonic() >= until:
            break
        made = json.loads(json.dumps(work(run["job"])))  # as a store would give it back
        jobs[key(run["job"])] = agree(run["result"], made)
        if not jobs[key(run["job"])]:
            differing.append({"job": run["job"], **differences(run["result"], made)})
    found = {
        "store": path.stem,
        "code": code(path.stem),
        "seed": seed,
        "n_stored": len(drawn.stale),
        "n_run": len(jobs),
    }
    took = round(time.process_time() - began, 1)
    return {**found, "n_equal": sum(jobs.values()), "jobs": jobs, "differing": differing, "cpu_seconds": took}


def known(results: Path) -> dict[str, dict[str, tuple[int, int]]]:
    """By store and kind, how many runs the present sources have made again, and how many of them agree.

    A run that several draws have in common counts once.
    """
    path = results / CHECKS
    checks = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    verdicts: dict[str, dict[str, bool]] = {}
    for found in checks:
        if found["code"] == code(found["store"]):
            verdicts.setdefault(found["store"], {}).update(found["jobs"])
    counted: dict[str, dict[str, tuple[int, int]]] = {}
    for store, jobs in verdicts.items():
        of_store = counted.setdefault(store, {})
        for job, is_equal in jobs.items():
            n_run, n_equal = of_store.get(kind := stored.kind(json.loads(job)), (0, 0))
            of_store[kind] = n_run + 1, n_equal + is_equal
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", default=[], help=f"of {', '.join(WORK)}; all if none is named")
    parser.add_argument("--data-dir", type=Path, help="folder with name.csv.gz files")
    parser.add_argument("--runs", type=int, default=N_RUNS, help="of every store")
    parser.add_argument("--seconds", type=float, default=math.inf, help="for every store; the last run is finished")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    options = parser.parse_args()
    if unknown := sorted(set(options.stores) - set(WORK)):
        parser.error(f"no function makes the runs of {', '.join(unknown)}; known are {', '.join(WORK)}")
    for store in options.stores or WORK:
        work = work_of(store, options.data_dir)
        path = studies.RESULTS / f"{store}.jsonl"
        found = check(path, work, n_runs=options.runs, seconds=options.seconds, seed=options.seed)
        if not found["n_stored"]:
            print(f"{store}: no runs of other sources")
            continue
        print(f"{store}: {found['n_equal']} of {found['n_run']} runs made again agree, of {found['n_stored']} stored")
        for differing in found["differing"]:
            print(f"  differs: {json.dumps(differing)}")
        with (studies.RESULTS / CHECKS).open("a") as lines:
            lines.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
