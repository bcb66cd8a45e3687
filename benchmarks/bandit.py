"""Boosters that are told only whether the label they played is right, beside the same boosters told all labels.

    python benchmarks/bandit.py run
    python benchmarks/bandit.py report

Four synthetic streams of 20,000 rows with three to five labels, and two datasets of the package. Exploration follows
the schedule; "one tree" is epsilon-greedy over a Hoeffding tree, epsilon 0.1, no weights. ``report`` writes what is
finished between the marks in ``docs/bandit.md``: accuracy over the last quarter, of the greedy answers, of what was
played, and of the same model with all labels. ``run --only agnostic pairwise`` runs some boosters only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import studies

from ocoboost import (
    AdaBoostOLMClassifier,
    HoeffdingTrees,
    MondrianTrees,
    OnlineAgnosticBoostClassifier,
    OnlineBanditBoostClassifier,
    OnlineBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.bench import datasets, synthetic
from ocoboost.bench.jobs import Job, Result

N_ROWS, N_LEARNERS = 20_000, 20
STREAMS = ("gaussians", "axis rule", "checkers", "rule table", "segment", "landsat")
BOOSTERS: dict[str, Any] = {
    "agnostic": lambda: OnlineAgnosticBoostClassifier(
        HoeffdingTrees(), n_learners=N_LEARNERS, gamma=0.7, start="label"
    ),
    "realizable": lambda: OnlineRealizableBoostClassifier(HoeffdingTrees(), n_learners=N_LEARNERS, gamma=0.3),
    "pairwise": lambda: OnlinePairwiseBoostClassifier(HoeffdingTrees(), n_learners=N_LEARNERS, gamma=0.3),
    "pairwise, Mondrian": lambda: OnlinePairwiseBoostClassifier(MondrianTrees(), n_learners=N_LEARNERS, gamma=0.7),
    "OnlineMBBM": lambda: OnlineMBBMClassifier(HoeffdingTrees(), n_learners=N_LEARNERS),
    "Adaboost.OLM": lambda: AdaBoostOLMClassifier(HoeffdingTrees(), n_learners=N_LEARNERS),
    "mixture": lambda: OnlineBoostClassifier(budget=50),
    "one tree": lambda: OnlineAgnosticBoostClassifier(HoeffdingTrees(), n_learners=1, gamma=1.0, start="label"),
}
LIMITS: tuple[float | None, ...] = (None, 20.0)


def jobs(boosters: list[str]) -> Iterator[Job]:
    for shuffle, limit, booster, stream in itertools.product([1], LIMITS, boosters, STREAMS):
        if booster != "one tree" or limit is None:
            yield {"stream": stream, "booster": booster, "limit": limit, "shuffle": shuffle}


def work(job: Job) -> Result:
    if job["stream"] in synthetic.STREAMS:
        rows = synthetic.load(job["stream"], N_ROWS, job["shuffle"]).rows
    else:
        rows = datasets.shuffled(datasets.load(job["stream"]), job["shuffle"])
    X, y = [x for x, _ in rows], [label for _, label in rows]
    classes, booster, last = sorted(set(y)), BOOSTERS[job["booster"]](), len(rows) * 3 // 4
    greedily = {"exploration": 0.1, "most_weight": 1.0} if job["booster"] == "one tree" else {}
    options = {"most_weight": job["limit"], "classes": classes, "seed": job["shuffle"], **greedily}
    plays = OnlineBanditBoostClassifier(booster, **options).act_learn_many(X, y)
    told = booster.clone({"classes": classes, "seed": job["shuffle"]}).predict_learn_many(X, y)

    def share(hits: Any) -> float:
        return round(100.0 * float(np.mean(list(hits)[last:])), 2)

    return {
        "greedy": share(play.greedy == label for play, label in zip(plays, y, strict=True)),
        "played": share(play.is_right for play in plays),
        "told": share(said == label for said, label in zip(told, y, strict=True)),
    }


def report(runs: list[dict[str, Any]]) -> str:
    tables = []
    for limit in LIMITS:
        lines = []
        for booster in BOOSTERS:
            cells = []
            for stream in STREAMS:
                found = [
                    run for run in runs if (run["booster"], run["stream"], run["limit"]) == (booster, stream, limit)
                ]
                means = (
                    [np.mean([run[name] for run in found]) for name in ("greedy", "told", "played")] if found else []
                )
                cells.append("{:.1f} of {:.1f}, {:.1f}".format(*means) if found else "")
            if any(cells):
                lines.append([booster, *cells])
        title = "Weights 1 / P[y], as in the theorem:" if limit is None else f"Weights of at most {limit:g}:"
        tables.append(f"{title}\n\n" + studies.table(["booster", *STREAMS], lines))
    return "\n\n".join(tables)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--only", nargs="*", choices=list(BOOSTERS), default=list(BOOSTERS), help="boosters")
    options = parser.parse_args()
    if options.command == "run":
        studies.run_missing("bandit", jobs(options.only), work, options)
    else:
        studies.put(studies.DOCS / "bandit.md", report(studies.finished("bandit", options)))


if __name__ == "__main__":
    main()
