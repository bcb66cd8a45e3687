"""The study of choices: its settings, and one run of it.

A job names only what differs from the centre of the study. Results hold no times, so that the same sources make the
same numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import studies

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier
from ocoboost.bench import datasets, jobs, noise, paper, synthetic
from ocoboost.bench.jobs import Job, Result

MOST_ROWS = 1500
STREAMS = (*paper.DATASETS, *synthetic.STREAMS)
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
BOOST = "boost"
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
# Where the weights of the mixture's members are watched, every so many rows.
WATCH = "watched"
WATCHED = ("gaussians", "checkers", "yeast")
WATCHED_SHARES = (0.0, 0.4)
WATCH_EVERY = 25


def plan(streams: list[str], n_shuffles: int) -> list[Job]:
    """Shuffle by shuffle, so that an interrupted study has all settings."""
    planned = [
        {"stream": stream, "shuffle": shuffle, **compact(settings)}
        for shuffle, settings, stream in itertools.product(range(1, n_shuffles + 1), list(_settings()), streams)
    ]
    planned += [
        {"stream": stream, "shuffle": 1, "learner": WATCH, **compact({"noise": share})}
        for stream, share in itertools.product(WATCHED, WATCHED_SHARES)
        if stream in streams
    ]
    return list({jobs.key(job): job for job in planned}.values())  # the settings overlap


def _settings() -> Iterator[Job]:
    for kind, share in itertools.product(noise.KINDS, SHARES):
        flips = {"noise": share, "kind": kind if share else "uniform"}
        for learner in (*SINGLE, BOOST, *LEARNERS):
            yield {**CENTRE, **flips, "learner": learner}
    for learner, gamma, start, share in itertools.product(LEARNERS, GAMMAS, ("label", "uniform"), FEW_SHARES):
        yield {**CENTRE, "learner": learner, "gamma": gamma, "start": start, "noise": share}
    for share, learner, (factor, levels) in itertools.product(FEW_SHARES, FAMILIES, ONE_AT_A_TIME.items()):
        for level in levels:
            yield {**CENTRE, "learner": learner, factor: level, "noise": share}


def compact(job: Job) -> Job:
    """What differs from the centre."""
    return {name: value for name, value in job.items() if name not in CENTRE or value != CENTRE[name]}


def setting(job: Job) -> str:
    """What tells settings apart, whatever the stream and the shuffle; results are left out."""
    return jobs.key(compact({name: job[name] for name in ("learner", *CENTRE) if name in job}))


@cache
def load(name: str, shuffle: int, data_dir: Path | None) -> datasets.Stream:
    if name in synthetic.STREAMS:
        return synthetic.load(name, MOST_ROWS, seed=shuffle).rows
    rows = datasets.load(name, data_dir)
    return datasets.shuffled(rows, shuffle)[:MOST_ROWS]


def run(job: Job, data_dir: Path | None) -> Result:
    job = {**CENTRE, **job}
    rows = load(job["stream"], job["shuffle"], data_dir)
    X, clean = [x for x, _ in rows], [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], kind=job["kind"], seed=job["shuffle"])
    if job["learner"] == WATCH:
        return {"weights": watch(X, taught, seed=job["shuffle"])}
    return studies.scores(model(job).predict_learn_many(X, taught), clean, digits=4)


def model(job: Job) -> Any:
    if job["learner"] in SINGLE:
        return SINGLE[job["learner"]](job["shuffle"])
    if job["learner"] == BOOST:
        return OnlineBoostClassifier(seed=job["shuffle"])
    choices = {name: job[name] for name in ("gamma", "start", "player", "relabel", "votes", "pool")}
    learner = LEARNERS[job["learner"]]()
    return OnlineAgnosticBoostClassifier(learner, n_learners=job["n"], seed=job["shuffle"], **choices)


def watch(X: list[Any], taught: list[str], *, seed: int) -> dict[str, list[float]]:
    """The weight of each member of the mixture, after every few rows."""
    booster = OnlineBoostClassifier(seed=seed)
    weights: dict[str, list[float]] = {}
    for first in range(0, len(X), WATCH_EVERY):
        booster.learn_many(X[first : first + WATCH_EVERY], taught[first : first + WATCH_EVERY])
        for member, weight in booster.member_weights_.items():
            weights.setdefault(member, []).append(round(weight, 3))
    return weights
