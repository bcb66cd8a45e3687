"""Asking for few labels: where the votes disagree, at random, and by the margin alone.

    python benchmarks/few_labels.py run
    python benchmarks/few_labels.py report

10,000 rows of synthetic streams; a booster of 20 trees, label rates of 5 and 10 %. "doubt" is the default, "random"
asks blindly, and "margin" spends nearly all of the rate where the votes disagree. ``report`` writes the accuracy over
the whole stream between the marks in ``docs/bandit.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import studies

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineFewLabelsClassifier, OnlinePairwiseBoostClassifier
from ocoboost.bench import synthetic
from ocoboost.bench.jobs import Job, Result

N_ROWS = 10_000
STREAMS = ("gaussians", "axis rule", "checkers")
TREES: dict[str, Any] = {"Hoeffding": (HoeffdingTrees, 0.3), "Mondrian": (MondrianTrees, 0.7)}
RATES = (0.05, 0.1)
BLIND_SHARES = {"random": 1.0, "doubt": 0.5, "margin": 0.1}


def jobs() -> Iterator[Job]:
    for stream, tree, rate in itertools.product(STREAMS, TREES, (*RATES, 1.0)):
        for way in BLIND_SHARES if rate < 1.0 else ["random"]:
            yield {"stream": stream, "tree": tree, "rate": rate, "way": way}


def work(job: Job) -> Result:
    rows = synthetic.load(job["stream"], N_ROWS, 1).rows
    kind, gamma = TREES[job["tree"]]
    booster = OnlinePairwiseBoostClassifier(kind(), n_learners=20, gamma=gamma)
    labels = [y for _, y in rows]
    model = OnlineFewLabelsClassifier(
        booster, label_rate=job["rate"], blind_share=BLIND_SHARES[job["way"]], classes=sorted(set(labels)), seed=1
    )
    said = model.ask_learn_many([x for x, _ in rows], labels)
    return {"accuracy": round(100.0 * float(np.mean([a == b for a, b in zip(said, labels, strict=True)])), 2)}


def report(runs: list[dict[str, Any]]) -> str:
    lines = []
    for stream, tree in itertools.product(STREAMS, TREES):
        found = {
            (run["rate"], run["way"]): run["accuracy"] for run in runs if (run["stream"], run["tree"]) == (stream, tree)
        }
        every = [(rate, way) for rate in RATES for way in BLIND_SHARES] + [(1.0, "random")]
        if found:
            lines.append([f"{stream}, {tree}", *(f"{found[key]:.1f}" if key in found else "" for key in every)])
    columns = [f"{rate:.0%}, {way}" for rate in RATES for way in BLIND_SHARES] + ["all labels"]
    return studies.table(["stream, trees", *columns], lines)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    options = parser.parse_args()
    if options.command == "run":
        studies.run_missing("few_labels", jobs(), work, options)
    else:
        studies.put(studies.DOCS / "bandit.md", report(studies.finished("few_labels", options)), "few labels")


if __name__ == "__main__":
    main()
