"""The pairwise booster beside Algorithms 1 and 4, on labels of which some are flipped.

    python benchmarks/pairwise.py run
    python benchmarks/pairwise.py report

100 native Hoeffding stumps, three shuffles of the datasets in the package (at most 2,000 rows of each), 0, 20 and 40 %
of the labels flipped to any other one; accuracy of the mode against the clean labels. Finished runs are kept in
``benchmarks/results/pairwise.jsonl``; ``report`` writes its table between the marks in ``docs/theory.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import studies

from ocoboost import HoeffdingTrees, registry
from ocoboost.bench import datasets, measures
from ocoboost.bench.jobs import Job, Result
from ocoboost.bench.noise import flip
from ocoboost.bench.prequential import stream

NAMES = ("balance", "cars", "segment", "landsat", "yeast")
BOOSTERS = ("agnostic", "pairwise", "realizable")
GAMMAS = (0.1, 0.3, 0.7)
NOISES = (0.0, 0.2, 0.4)
N_SHUFFLES, N_LEARNERS, MOST_ROWS = 3, 100, 2000


def jobs() -> Iterator[Job]:
    for name, noise, shuffle, booster, gamma in itertools.product(
        NAMES, NOISES, range(1, N_SHUFFLES + 1), BOOSTERS, GAMMAS
    ):
        yield {"stream": name, "noise": noise, "shuffle": shuffle, "booster": booster, "gamma": gamma}


def work(job: Job) -> Result:
    rows = datasets.shuffled(datasets.load(job["stream"]), job["shuffle"])[:MOST_ROWS]
    labels = [y for _, y in rows]
    model = registry.find(job["booster"])
    assert model is not None
    stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    booster = model.load()(stump, gamma=job["gamma"], n_learners=N_LEARNERS, seed=job["shuffle"])
    trace = stream(booster, [x for x, _ in rows], flip(labels, job["noise"], seed=job["shuffle"]))
    return {"accuracy": round(measures.accuracy(trace.predictions, labels), 2)}


def report(runs: list[dict[str, Any]]) -> str:
    """Every booster at its best gamma, and between brackets at its worst."""
    lines = []
    for noise, booster in itertools.product(NOISES, BOOSTERS):
        cells = []
        for name in NAMES:
            by_gamma = [
                [
                    run["accuracy"]
                    for run in runs
                    if (run["stream"], run["noise"], run["booster"], run["gamma"]) == (name, noise, booster, gamma)
                ]
                for gamma in GAMMAS
            ]
            means = [sum(values) / len(values) for values in by_gamma]
            cells.append(f"{max(means):.1f} ({min(means):.1f})")
        lines.append([f"{noise:.0%}", booster, *cells])
    return studies.table(["flipped", "booster", *(name.capitalize() for name in NAMES)], lines, text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    options = parser.parse_args()
    if options.command == "run":
        studies.run_missing("pairwise", jobs(), work, options)
    else:
        studies.put(studies.DOCS / "theory.md", report(studies.finished("pairwise", options)), "pairwise")


if __name__ == "__main__":
    main()
