"""OnlineMBBM and Adaboost.OLM beside the paper's columns Opt and Ada.

    python benchmarks/baselines.py run --jobs 2
    python benchmarks/baselines.py report

100 native Hoeffding stumps, five shuffles. Every finished run is kept in ``benchmarks/results/baselines.jsonl``, so an
interrupted study resumes; ``report`` writes its tables between the marks in ``docs/baselines.md``. How fast they are is
measured by ``baselines_speed.py``. UCI lists the four columns of Balance, numbers from 1 to 5, as categorical, and the
published code passes a list of nominal columns to its trees; so Balance is run both ways.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies

from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, OnlineMBBMClassifier
from ocoboost.bench import datasets, measures, paper
from ocoboost.bench.jobs import Job, Result
from ocoboost.stream.protocol import StreamClassifier

STUMP: dict[str, Any] = {"max_depth": 1, "split_criterion": "gini"}
GAMMAS = paper.GAMMAS["mbbm"]
AS_TEXT = " as text"
NAMES = ("balance", "balance" + AS_TEXT, "cars", "segment", "yeast")
COLUMNS = [name.capitalize() for name in NAMES]
ONE_GAMMA = 0.1  # for single deviations
MODES: dict[str, str | tuple[str, ...] | None] = {
    "none": None,
    "paper": "paper",
    **{name: (name,) for name in ("constants", "horizon", "monte-carlo", "ties", "min-cost")},
}
TITLES = {"mbbm": "OnlineMBBM", "adaboost-olm": "Adaboost.OLM"}
MEASURES = {
    "whole": "whole stream",
    "last": "last 20 %",
    "whole_drawn": "whole stream, drawn",
    "last_drawn": "last 20 %, drawn",
}
BOTH_MODES = {"none": "as defined", "paper": "paper mode"}
Runs = list[dict[str, Any]]

# -- accuracy ----------------------------------------------------------------------------------------------------------


def make(job: Job) -> StreamClassifier:
    options: dict[str, Any] = {"n_learners": paper.N_LEARNERS, "mode": MODES[job["mode"]], "seed": job["shuffle"]}
    if job["booster"] == "adaboost-olm":
        return AdaBoostOLMClassifier(HoeffdingTrees(**STUMP), **options)
    potential = job.get("potential", "exact")
    return OnlineMBBMClassifier(HoeffdingTrees(**STUMP), gamma=job["gamma"], potential=potential, **options)


def stream(name: str, data_dir: Path | None, shuffle: int) -> datasets.Stream:
    rows = datasets.load(name.removesuffix(AS_TEXT), data_dir)
    if name.endswith(AS_TEXT):
        rows = [({column: str(value) for column, value in x.items()}, y) for x, y in rows]
    return datasets.shuffled(rows, shuffle)


def run(job: Job, data_dir: Path | None) -> Result:
    """Prequential accuracy, in percent: of the mode, and as expected of a draw from the distribution."""
    rows = stream(job["dataset"], data_dir, job["shuffle"])
    X, labels = [x for x, _ in rows], [y for _, y in rows]
    right, drawn = np.zeros(len(rows)), np.zeros(len(rows))
    began = time.perf_counter()
    for answered in make(job).prequential(X, labels):
        for row, label in enumerate(answered.labels):
            truth = labels[answered.first_row + row]
            right[answered.first_row + row] = label == truth
            if truth in answered.classes:
                column = answered.classes.index(truth)
                drawn[answered.first_row + row] = answered.distributions[row, column]
    seconds = time.perf_counter() - began
    first = len(rows) - len(rows) // measures.LAST
    ends = dict(zip(MEASURES, (right, right[first:], drawn, drawn[first:]), strict=True))
    return {**{name: round(100 * float(np.mean(end)), 3) for name, end in ends.items()}, "seconds": round(seconds, 2)}


def plan(names: list[str], n_shuffles: int) -> Iterator[Job]:
    """What the published table needs comes first."""
    places = [{"dataset": name, "shuffle": s} for s, name in itertools.product(range(1, n_shuffles + 1), names)]
    for where, mode in itertools.product(places, BOTH_MODES):
        yield {**where, "booster": "adaboost-olm", "mode": mode}
        yield from ({**where, "booster": "mbbm", "mode": mode, "gamma": gamma} for gamma in GAMMAS)
    for where, mode in itertools.product(places, ("constants", "ties", "min-cost")):
        yield {**where, "booster": "adaboost-olm", "mode": mode}
    for where, mode in itertools.product(places, ("constants", "horizon", "ties", "monte-carlo", "min-cost")):
        yield {**where, "booster": "mbbm", "mode": mode, "gamma": ONE_GAMMA}
    for where in places:
        yield {**where, "booster": "mbbm", "mode": "none", "gamma": ONE_GAMMA, "potential": "fast"}


# -- report ------------------------------------------------------------------------------------------------------------


def published(booster: str, name: str) -> paper.Published:
    return paper.TABLE[booster, name.removesuffix(AS_TEXT)]


def measures_of(booster: str) -> list[str]:
    """OnlineMBBM predicts the plurality; nothing is drawn."""
    return list(MEASURES)[: 2 if booster == "mbbm" else None]


def pick(runs: Runs, **wanted: Any) -> Runs:
    return [run for run in runs if all(run.get(name) == value for name, value in wanted.items())]


def best_over_gamma(runs: Runs, booster: str, mode: str, name: str, measure: str) -> list[float]:
    """As the paper does: for each shuffle the accuracy of the gamma that is best in hindsight on the whole stream."""
    by_shuffle: dict[int, Runs] = {}
    for run in pick(runs, booster=booster, mode=mode, dataset=name, potential=None):
        by_shuffle.setdefault(run["shuffle"], []).append(run)
    whole = measure.replace("last", "whole")
    return [max(group, key=lambda run: run[whole])[measure] for group in by_shuffle.values()]


def shown(values: list[float]) -> str:
    return studies.shown(values) if len(values) > 1 else "–"


def published_table(runs: Runs) -> str:
    """Both boosters beside the paper's columns."""
    rows = []
    for booster, title in {"mbbm": "OnlineMBBM (Opt)", "adaboost-olm": "Adaboost.OLM (Ada)"}.items():
        theirs = [published(booster, name) for name in NAMES]
        rows.append([f"**{title}**", "published", *(f"{cell.accuracy:.1f} ± {cell.error:.1f}" for cell in theirs)])
        for mode, measure in itertools.product(BOTH_MODES, measures_of(booster)):
            cells = [shown(best_over_gamma(runs, booster, mode, name, measure)) for name in NAMES]
            rows.append([BOTH_MODES[mode], MEASURES[measure], *cells])
    return studies.table(["mode", "accuracy", *COLUMNS], rows, text=(0, 1))


def gamma_table(runs: Runs) -> str:
    rows = []
    for mode, gamma in itertools.product(BOTH_MODES, GAMMAS):
        groups = [pick(runs, booster="mbbm", mode=mode, gamma=gamma, dataset=name, potential=None) for name in NAMES]
        cells = [", ".join(shown([run[end] for run in group]) for end in ("whole", "last")) for group in groups]
        rows.append([BOTH_MODES[mode], f"{gamma:g}", *cells])
    return studies.table(["mode", "gamma", *COLUMNS], rows, text=(0, 1))


def deviations_table(runs: Runs) -> str:
    rows = []
    for booster, title in TITLES.items():
        fixed = {"booster": booster, **({"gamma": ONE_GAMMA} if booster == "mbbm" else {})}
        wanted: dict[str, dict[str, Any]] = {
            "all of the paper mode" if mode == "paper" else mode: {"mode": mode, "potential": None} for mode in MODES
        }
        wanted["none, fast potentials"] = {"mode": "none", "potential": "fast"}
        for deviation, what in wanted.items():
            groups = [pick(runs, dataset=name, **fixed, **what) for name in NAMES]
            if any(groups):
                rows.append([title, deviation, *(shown([run["whole"] for run in group]) for group in groups)])
    return studies.table(["booster", "deviation", *COLUMNS], rows, text=(0, 1))


def differences(runs: Runs) -> Iterator[str]:
    """Where an accuracy differs from the published one by more than two standard errors."""
    for booster, name in itertools.product(TITLES, NAMES):
        theirs = published(booster, name)
        for mode, measure in itertools.product(BOTH_MODES, measures_of(booster)):
            values = best_over_gamma(runs, booster, mode, name, measure)
            if len(values) < 2:
                continue
            mean, error = measures.mean_and_error(values)
            if abs(mean - theirs.accuracy) > 2 * math.hypot(error, theirs.error):
                where = f"{TITLES[booster]}, {name.capitalize()}, {BOTH_MODES[mode]}, {MEASURES[measure]}"
                yield f"- {where}: {mean - theirs.accuracy:+.1f}"


def tables(runs: Runs) -> str:
    parts = [
        published_table(runs),
        "By gamma, whole stream, then last 20 %:",
        gamma_table(runs),
        f"Single deviations, whole stream (OnlineMBBM at gamma {ONE_GAMMA:g}):",
        deviations_table(runs),
        "Differences from the published figures of more than two standard errors (both errors taken together):",
        "\n".join(differences(runs)),
    ]
    return "\n\n".join(parts)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--datasets", default=",".join(NAMES))
    parser.add_argument("--shuffles", type=int, default=paper.N_SHUFFLES)
    options = parser.parse_args()
    if options.action == "run":
        jobs = plan(options.datasets.split(","), options.shuffles)
        studies.run_missing("baselines", jobs, partial(run, data_dir=options.data_dir), options)
    else:
        runs = [run for run in studies.finished("baselines", options) if "speed" not in run]
        studies.put(studies.DOCS / "baselines.md", tables(runs))


if __name__ == "__main__":
    main()
