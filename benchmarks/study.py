"""What to choose when: learner, gamma, start, player, relabelling, votes, pool and N, under label noise.

    python benchmarks/study.py run --data-dir FOLDER --jobs 2
    python benchmarks/study.py report

Prequential accuracy of the mode against the clean labels, over the whole stream and over its last fifth. Every
finished run is kept in ``docs/choices.jsonl``, so an interrupted study resumes; a line names only what differs from the
centre of the study, and holds no times, so that the same code makes the same file. ``report`` reads only that file; it
needs matplotlib, and writes ``docs/choices.md`` and its figures.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets, noise, synthetic

Job: TypeAlias = dict[str, Any]

DOCS = Path(__file__).resolve().parent.parent / "docs"
STORE = DOCS / "choices.jsonl"
MOST_ROWS = 1500
REAL = ("balance", "cars", "landsat", "segment", "mice", "yeast", "abalone")
STREAMS = (*REAL, *synthetic.STREAMS)
LEARNERS: dict[str, Callable[[], Any]] = {
    "hoeffding": HoeffdingTrees,
    "stump": lambda: HoeffdingTrees(max_depth=1, split_criterion="gini"),
    "eager": lambda: HoeffdingTrees(grace_period=50, delta=0.01, tau=0.2),
    "mondrian": MondrianTrees,
    "smooth": lambda: MondrianTrees(smoothing=5.0),
}
SINGLE: dict[str, Callable[[int], Any]] = {
    "one hoeffding": lambda seed: HoeffdingTrees(seed=seed),
    "one eager": lambda seed: HoeffdingTrees(grace_period=50, delta=0.01, tau=0.2, seed=seed),
    "one mondrian": lambda seed: MondrianTrees(n_learners=1, seed=seed),
}
DEFAULT = "default"
CENTRE: Job = {
    "gamma": 0.7,
    "n": 20,
    "start": "label",
    "player": "gradient",
    "relabel": "fractional",
    "votes": "label",
    "pool": "distribution",
    "noise": 0.0,
    "kind": "uniform",
}
GAMMAS = (1.0, 0.7, 0.4, 0.2, 0.1)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
FEW_SHARES = (0.0, 0.2, 0.4)
ONE_AT_A_TIME: dict[str, tuple[Any, ...]] = {
    "player": ("lazy", "exponentiated", "scale-free", "coin"),
    "relabel": ("random",),
    "votes": ("distribution",),
    "pool": ("label",),
    "n": (5, 50, 100),
}
FAMILIES = ("hoeffding", "mondrian")  # for which the other factors are varied
# Where the weights of the default's members are watched, every so many rows.
WATCHED = ("gaussians", "checkers", "yeast")
WATCHED_SHARES = (0.0, 0.4)
WATCH_EVERY = 25


def plan(n_shuffles: int) -> list[Job]:
    """Shuffle by shuffle, so that a study that is cut short still has all settings."""
    jobs: dict[str, Job] = {}
    for shuffle, settings in itertools.product(range(1, n_shuffles + 1), list(_settings())):
        for stream in STREAMS:
            job = {"stream": stream, "shuffle": shuffle, **settings}
            jobs.setdefault(key(job), job)  # parts of the plan overlap
    for stream, share in itertools.product(WATCHED, WATCHED_SHARES):
        job = {"stream": stream, "shuffle": 1, "learner": "watched", **CENTRE, "noise": share}
        jobs[key(job)] = job
    return list(jobs.values())


def _settings() -> Iterator[Job]:
    for kind, share in itertools.product(noise.KINDS, SHARES):
        flips = {"noise": share, "kind": kind if share else "uniform"}
        for learner in (*SINGLE, DEFAULT, *LEARNERS):
            yield {**CENTRE, **flips, "learner": learner}
    for learner, gamma, start, share in itertools.product(LEARNERS, GAMMAS, ("label", "uniform"), FEW_SHARES):
        yield {**CENTRE, "learner": learner, "gamma": gamma, "start": start, "noise": share}
    for share, learner, (factor, levels) in itertools.product(FEW_SHARES, FAMILIES, ONE_AT_A_TIME.items()):
        for level in levels:
            yield {**CENTRE, "learner": learner, factor: level, "noise": share}


def compact(job: Job) -> Job:
    return {name: value for name, value in job.items() if name not in CENTRE or value != CENTRE[name]}


def key(job: Job) -> str:
    """What tells runs apart; results are left out."""
    names = ("stream", "shuffle", "learner", *CENTRE)
    return json.dumps([{**CENTRE, **job}[name] for name in names])


@cache
def load(name: str, shuffle: int, data_dir: Path | None) -> datasets.Stream:
    if name in synthetic.STREAMS:
        return synthetic.load(name, MOST_ROWS, seed=shuffle).rows
    rows = datasets.imputed(datasets.load(name, data_dir))
    return datasets.shuffled(rows, shuffle)[:MOST_ROWS]


def run(job: Job, data_dir: Path | None) -> Job:
    rows = load(job["stream"], job["shuffle"], data_dir)
    X, clean = [x for x, _ in rows], [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], kind=job["kind"], seed=job["shuffle"])
    if job["learner"] == "watched":
        return {**compact(job), "weights": watch(X, taught, seed=job["shuffle"])}
    predictions = model(job).predict_learn_many(X, taught)
    hits = [prediction == y for prediction, y in zip(predictions, clean, strict=True)]
    last_fifth = hits[len(hits) * 4 // 5 :]
    return {
        **compact(job),
        "accuracy": round(statistics.fmean(hits), 4),
        "last_fifth": round(statistics.fmean(last_fifth), 4),
    }


def model(job: Job) -> Any:
    if job["learner"] in SINGLE:
        return SINGLE[job["learner"]](job["shuffle"])
    if job["learner"] == DEFAULT:
        return OnlineAgnosticBoostClassifier(seed=job["shuffle"])
    choices = {name: job[name] for name in ("gamma", "start", "player", "relabel", "votes", "pool")}
    learner = LEARNERS[job["learner"]]()
    return OnlineAgnosticBoostClassifier(learner, n_learners=job["n"], seed=job["shuffle"], **choices)


def watch(X: list[Any], taught: list[str], *, seed: int) -> dict[str, list[float]]:
    """How much each member of the default counts, after every few rows."""
    booster = OnlineAgnosticBoostClassifier(seed=seed)
    weights: dict[str, list[float]] = {}
    for first in range(0, len(X), WATCH_EVERY):
        booster.learn_many(X[first : first + WATCH_EVERY], taught[first : first + WATCH_EVERY])
        for member, weight in booster.member_weights_.items():
            weights.setdefault(member, []).append(round(weight, 3))
    return weights


def stored() -> list[Job]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def run_all(n_shuffles: int, data_dir: Path | None, n_jobs: int) -> None:
    finished = {key(result) for result in stored()}
    jobs = [job for job in plan(n_shuffles) if key(job) not in finished]
    print(f"{len(jobs)} runs to do, {len(finished)} done")
    with ProcessPoolExecutor(n_jobs) as pool, STORE.open("a") as lines:
        for number, result in enumerate(pool.map(partial(run, data_dir=data_dir), jobs, chunksize=8), 1):
            print(json.dumps(result, separators=(",", ":")), file=lines, flush=True)
            if number % 100 == 0:
                print(f"{number}/{len(jobs)}", flush=True)
