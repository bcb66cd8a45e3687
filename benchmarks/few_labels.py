"""Asking for few labels: in doubt, at random, by margin, by River's entropy sampling, and all of them.

    python benchmarks/few_labels.py run --long
    python benchmarks/few_labels.py run --ways all doubt --rates 0.1 1 --streams checkers    # a part of it
    python benchmarks/few_labels.py report

10,000 rows of streams that do not change (``larger_streams.py``), the mixture with a budget of 50; of the two that
take most labels to learn, 50,000 rows too. "doubt" is the default, told the number of rows, as are "random", "margin"
(nearly all labels go where the margin is least) and "corrected" (the theorem's weights); "evenly" is not. "entropy" is
River's ``active.EntropySampler`` around the same booster, and "tree, entropy" around River's Hoeffding tree; neither
knows a rate, so they may ask only while they are below the same allowance. ``report`` writes the accuracy over the
whole stream between the marks in ``docs/bandit.md``.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator
from typing import Any

import studies
from larger_streams import DEVELOPMENT, REPORTED, load
from river import active, tree

from ocoboost import OnlineBoostClassifier, OnlineFewLabelsClassifier
from ocoboost.bench import measures
from ocoboost.bench.jobs import Job, Result
from ocoboost.online.few_labels import Asking

N_ROWS = 10_000
N_LONG = 50_000
LONG = ("checkers", "random tree")
RATES = (0.01, 0.05, 0.1, 0.2)
WAYS: dict[str, dict[str, Any]] = {
    "random": {"blind_share": 1.0},
    "doubt": {},
    "margin": {"blind_share": 0.02},
    "corrected": {"blind_share": 0.5, "corrected": True},
    "evenly": {"n_rows": None},
}
SAMPLERS = ("entropy", "tree, entropy")
N_FIRST = 20
AT_ALL_RATES = ("random", "doubt", "margin", *SAMPLERS)  # the others at 10 %


def _is_run(stream: str, way: str, rate: float) -> bool:
    if way == "all":
        return True
    if stream in DEVELOPMENT:
        return way in ("random", "doubt") and rate == 0.1
    return way in AT_ALL_RATES or rate == 0.1


def jobs(shuffles: int, is_long: bool) -> Iterator[Job]:
    if is_long:
        for stream, (way, rate) in itertools.product(LONG, [("all", 1.0), ("random", 0.1), ("doubt", 0.1)]):
            yield {"stream": stream, "rate": rate, "way": way, "shuffle": 1, "rows": N_LONG}
    every = [("all", 1.0), *itertools.product((*WAYS, *SAMPLERS), RATES)]
    every.sort(key=lambda one: one[1])  # the cheapest come first
    for shuffle in range(1, shuffles + 1):
        for (way, rate), stream in itertools.product(every, (*REPORTED, *DEVELOPMENT)):
            if _is_run(stream, way, rate):
                yield {"stream": stream, "rate": rate, "way": way, "shuffle": shuffle}


def work(job: Job) -> Result:
    n_rows = job.get("rows", N_ROWS)
    rows = load(job["stream"], n_rows, job["shuffle"])
    X, y = [x for x, _ in rows], [label for _, label in rows]
    booster = OnlineBoostClassifier(budget=50, classes=sorted(set(y)), seed=job["shuffle"])
    n_labels = len(y)
    if job["way"] == "all":
        said = booster.predict_learn_many(X, y)
    elif job["way"] in SAMPLERS:
        classifier = booster if job["way"] == "entropy" else tree.HoeffdingTreeClassifier()
        said, n_labels = _sampled(classifier, X, y, job["rate"], job["shuffle"])
    else:
        options = {"label_rate": job["rate"], "seed": job["shuffle"], "n_rows": n_rows, **WAYS[job["way"]]}
        model = OnlineFewLabelsClassifier(booster, **options)
        said = model.ask_learn_many(X, y)
        n_labels = model.n_wanted_
    last = n_rows * 3 // 4
    found = {"accuracy": measures.accuracy(said, y), "last": measures.accuracy(said[last:], y[last:])}
    return {**{name: round(value, 2) for name, value in found.items()}, "labels": n_labels}


def _sampled(classifier: Any, X: list[Any], y: list[Any], rate: float, seed: int) -> tuple[list[Any], int]:
    """River's sampler, held to the same allowance; a tree that has seen one label doubts nothing, so it gets 20."""
    model, said, n_asked = active.EntropySampler(classifier, seed=seed), [], 0
    allowance = Asking(classifier, rate, 1.0, N_ROWS, False).allowance
    for number, (x, label) in enumerate(zip(X, y, strict=True), 1):
        prediction, is_wanted = (None, True) if number == 1 else model.predict_one(x)
        said.append(prediction)
        if (is_wanted or number <= N_FIRST) and n_asked < allowance(number):
            model.learn_one(x, label)
            n_asked += 1
    return said, n_asked


def report(runs: list[dict[str, Any]]) -> str:
    short = [run for run in runs if "rows" not in run]
    n_seeds = {way: len({run["shuffle"] for run in short if run["way"] == way}) for way in (*WAYS, *SAMPLERS, "all")}
    parts = [_table(short, (*DEVELOPMENT, *REPORTED))]
    parts.append("Seeds, at most: " + ", ".join(f"{way} {count}" for way, count in n_seeds.items() if count) + ".")
    long = [run for run in runs if run.get("rows") == N_LONG]
    if long:
        parts += [f"Over {N_LONG:,} rows:", _table(long, LONG)]
    return "\n\n".join(parts)


def _table(runs: list[dict[str, Any]], streams: tuple[str, ...]) -> str:
    """Mean accuracy by rate and way, and below it how much of the accuracy with all labels 10 % of them give."""
    found: dict[tuple[str, str, float], dict[int, float]] = {}
    for run in runs:
        found.setdefault((run["stream"], run["way"], run["rate"]), {})[run["shuffle"]] = run["accuracy"]
    means = {cell: statistics.fmean(values.values()) for cell, values in found.items()}
    lines = []
    for rate, way in [*itertools.product(RATES, (*WAYS, *SAMPLERS)), (1.0, "all")]:
        cells = [means.get((stream, way, rate)) for stream in streams]
        if any(cells):
            lines.append([f"{rate:.0%}", way, *("" if value is None else f"{value:.1f}" for value in cells)])
    shares = []
    for stream in streams:
        few, every = found.get((stream, "doubt", 0.1), {}), found.get((stream, "all", 1.0), {})
        ratios = [few[number] / every[number] for number in few.keys() & every.keys()]  # of the same rows
        shares.append(f"{100 * statistics.fmean(ratios):.1f} %" if ratios else "")
    return studies.table(["labels", "asked for", *streams], [*lines, ["10% of all", "doubt", *shares]], text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--shuffles", type=int, default=1, help="seeds")
    parser.add_argument("--long", action="store_true", help="also the longer streams")
    parser.add_argument("--ways", nargs="*", choices=[*WAYS, *SAMPLERS, "all"], help="only these")
    parser.add_argument("--rates", nargs="*", type=float, choices=[*RATES, 1.0], help="only these")
    parser.add_argument("--streams", nargs="*", choices=[*DEVELOPMENT, *REPORTED], help="only these")
    options = parser.parse_args()
    if options.command == "run":
        chosen = {"way": options.ways, "rate": options.rates, "stream": options.streams}
        some = (
            job
            for job in jobs(options.shuffles, options.long)
            if all(values is None or job[name] in values for name, values in chosen.items())
        )
        studies.run_missing("few_labels", some, work, options)
    else:
        studies.put(studies.DOCS / "bandit.md", report(studies.finished("few_labels", options)), "few labels")


if __name__ == "__main__":
    main()
