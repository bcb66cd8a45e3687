"""The study of choices: accuracies by setting, what a change gains, and the table of all changes."""

from __future__ import annotations

import itertools
import json
import statistics
from typing import Any

import studies
from choices_plan import (
    BOOST,
    CENTRE,
    FAMILIES,
    FEW_SHARES,
    GAMMAS,
    LEARNERS,
    MOST_ROWS,
    ONE_AT_A_TIME,
    STREAMS,
    setting,
)

from ocoboost.bench import measures, synthetic
from ocoboost.bench.jobs import Job


class Results:
    """Accuracy by setting, stream and shuffle."""

    def __init__(self, runs: list[dict[str, Any]], measure: str = "accuracy") -> None:
        self.cells: dict[str, dict[str, dict[int, float]]] = {}
        for result in runs:
            if measure in result:
                row = self.cells.setdefault(setting(result), {})
                row.setdefault(result["stream"], {})[result["shuffle"]] = 100.0 * result[measure]

    def of(self, learner: str, **changes: Any) -> dict[str, dict[int, float]]:
        """Percent by stream and shuffle."""
        return self.cells[setting({"learner": learner, **changes})]

    def curve(self, stream: str, learner: str, settings: list[Job]) -> tuple[list[float], list[float]]:
        """Means and standard errors over the shuffles of one stream."""
        cells = [list(self.of(learner, **setting)[stream].values()) for setting in settings]
        means, errors = zip(*map(measures.mean_and_error, cells), strict=True)
        return list(means), list(errors)

    def gains(self, learner: str, other: str, changes: Job, shared: Job) -> dict[str, float]:
        """By how much ``learner`` with ``changes`` is better than ``other``, by stream, shuffle against shuffle."""
        first, second = self.of(learner, **{**shared, **changes}), self.of(other, **shared)
        return {
            stream: statistics.fmean(first[stream][shuffle] - second[stream][shuffle] for shuffle in second[stream])
            for stream in STREAMS
        }

    def fixed(self, share: float) -> dict[str, dict[str, float]]:
        """Accuracy of every booster with fixed choices, by setting and stream."""
        means: dict[str, dict[str, float]] = {}
        for name, cells in self.cells.items():
            job = {**CENTRE, **json.loads(name)}
            if job["learner"] in LEARNERS and job["noise"] == share and job["kind"] == "uniform":
                means[name] = {stream: statistics.fmean(values.values()) for stream, values in cells.items()}
        return means

    def mean(self, learner: str, **changes: Any) -> float:
        """Over all streams."""
        return statistics.fmean(statistics.fmean(cells.values()) for cells in self.of(learner, **changes).values())

    def mean_of(self, stream: str, learner: str, **changes: Any) -> float:
        """Over the shuffles of one stream."""
        return statistics.fmean(self.of(learner, **changes)[stream].values())

    def best_accuracy(self, stream: str) -> float:
        """What the best hypothesis of a synthetic stream is expected to reach, over the same draws."""
        seeds = self.of(BOOST)[stream]
        return 100.0 * statistics.fmean(synthetic.load(stream, MOST_ROWS, seed).best_accuracy for seed in seeds)


def signed(gains: dict[str, float]) -> str:
    """The mean gain over streams, and its standard error over streams."""
    mean, error = measures.mean_and_error(list(gains.values()))
    return f"{round(mean, 1) + 0.0:+.1f} ± {error:.1f}"  # not -0.0


def counts(gains: dict[str, float]) -> str:
    """On how many streams it is more than a point better, and worse."""
    return f"{sum(gain > 1.0 for gain in gains.values())} : {sum(gain < -1.0 for gain in gains.values())}"


def table(results: Results) -> str:
    """Markdown: a row per change, its gain over the centre for both families and three shares of flipped labels."""
    changes: dict[str, Job] = {f"gamma {gamma:g}": {"gamma": gamma} for gamma in GAMMAS if gamma != CENTRE["gamma"]}
    for gamma in GAMMAS:
        changes[f"uniform start, gamma {gamma:g}"] = {"start": "uniform", "gamma": gamma}
    for factor, levels in ONE_AT_A_TIME.items():
        for level in levels:
            changes[f"{'N' if factor == 'n' else factor} {level}"] = {factor: level}
    rows = {name: {family: (family, change) for family in FAMILIES} for name, change in changes.items()}
    rows["`max_depth=1`, gini"] = {"hoeffding": ("stump", {})}
    rows["`grace_period=50, delta=0.01, tau=0.2`"] = {"hoeffding": ("eager", {})}
    rows["`smoothing=5`"] = {"mondrian": ("smooth", {})}
    rows["one tree, not boosted"] = {family: (f"one {family}", {}) for family in FAMILIES}
    rows["`OnlineBoostClassifier()`"] = {family: (BOOST, {}) for family in FAMILIES}
    columns = list(itertools.product(FAMILIES, FEW_SHARES))
    centre = [f"{results.mean(family, noise=share):.1f}" for family, share in columns]
    lines = [["*the centre itself*", *centre]]
    for name, row in rows.items():
        cells = []
        for family, share in columns:
            if family not in row:
                cells.append("")
                continue
            learner, change = row[family]
            gains = results.gains(learner, family, change, {"noise": share})
            cells.append(f"{signed(gains)} ({counts(gains)})")
        lines.append([name, *cells])
    return studies.table(["instead", *(f"{family.capitalize()}, {share:.0%}" for family, share in columns)], lines)
