"""Chosen models on chosen datasets, on the same shuffles and the same flipped labels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from river import base

from ocoboost.bench import datasets, jobs, measures, noise, peers, prequential
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.learners.mondrian.classifier import MondrianTrees
from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.mbbm import OnlineMBBMClassifier
from ocoboost.online.realizable import OnlineRealizableBoostClassifier
from ocoboost.stream.protocol import StreamClassifier

OURS: dict[str, Callable[[int], StreamClassifier]] = {
    "ocoboost default": lambda seed: OnlineBoostClassifier(seed=seed),
    "agnostic": lambda seed: OnlineBoostClassifier(_stump(), budget=400, seed=seed),
    "realizable": lambda seed: OnlineRealizableBoostClassifier(_stump(), gamma=0.7, n_learners=100, seed=seed),
    "OnlineMBBM": lambda seed: OnlineMBBMClassifier(_stump(), potential="fast", seed=seed),
    "Adaboost.OLM": lambda seed: AdaBoostOLMClassifier(_stump(), seed=seed),
    "one Hoeffding tree": lambda seed: HoeffdingTrees(seed=seed),
    "ten Mondrian trees": lambda seed: MondrianTrees(seed=seed),
}
MODELS: dict[str, Callable[[int], base.Classifier]] = {**OURS, **peers.RIVER}
# What the command line calls them.
NAMES = {
    **dict(
        zip(("default", "agnostic", "realizable", "mbbm", "adaboost-olm", "hoeffding", "mondrian"), OURS, strict=True)
    ),
    **{name.lower().replace(" ", "-"): name for name in peers.RIVER},
}
MEASURES = {"accuracy": "accuracy, %", "last": "accuracy of the last 20 %, %", "macro_f1": "macro-F1, %"}
WARM_UP_ROWS = 20


def _stump() -> HoeffdingTrees:
    return HoeffdingTrees(max_depth=1, split_criterion="gini")


class Settings(NamedTuple):
    """What is run: models by their titles."""

    models: tuple[str, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]  # of the labels that are flipped
    shuffles: tuple[int, ...]
    most_rows: int | None


def plan(settings: Settings) -> list[Job]:
    """Shuffle by shuffle, so that a study that is cut short still has all models."""
    return [
        {
            "model": model,
            "dataset": name,
            "noise": share,
            "shuffle": shuffle,
            "most_rows": settings.most_rows,
            "code": jobs.code(),
        }
        for shuffle, share, name, model in itertools.product(
            settings.shuffles, settings.shares, settings.names, settings.models
        )
    ]


def run(job: Job, data_dir: Path | None = None) -> Result:
    """One model through one shuffle, taught flipped labels and held against the clean ones."""
    rows = datasets.load(job["dataset"], data_dir)
    if job["model"] in peers.NUMBERS_ONLY:
        rows = datasets.ranked(rows)
    rows = datasets.shuffled(rows, job["shuffle"])[: job["most_rows"]]
    X, clean = [x for x, _ in rows], [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], seed=job["shuffle"])
    model = MODELS[job["model"]](job["shuffle"])
    if job["model"] in OURS:  # compile before the clock starts
        prequential.stream(model.clone(), X[:WARM_UP_ROWS], taught[:WARM_UP_ROWS])
    trace = prequential.stream(model, X, taught)
    known = sorted(set(clean))
    return {
        "accuracy": round(measures.accuracy(trace.predictions, clean), 4),
        "last": round(measures.accuracy(measures.last(trace.predictions), measures.last(clean)), 4),
        "macro_f1": round(measures.macro_f1(trace.predictions, clean), 4),
        "seconds": round(trace.seconds, 3),
        "bytes": trace.n_bytes,
        "rows": len(rows),
        "curve": measures.curve(trace.predictions, clean, prequential.N_BLOCKS),
        "labels": known,
        "confusion": measures.confusion(trace.predictions, clean, known).tolist(),
    }


class Comparison(NamedTuple):
    """The finished runs, by dataset, share of flipped labels and model: one result per shuffle."""

    settings: Settings
    runs: Mapping[tuple[str, float, str], Sequence[Result]]

    def interval(self, name: str, share: float, model: str, measure: str) -> tuple[float, float] | None:
        """Mean and standard error over the shuffles."""
        found = self.runs.get((name, share, model))
        return measures.mean_and_error([result[measure] for result in found]) if found else None

    def scores(self, measure: str = "accuracy") -> list[dict[str, float]]:
        """A row of means for every dataset and share on which every model was run."""
        rows: list[dict[str, float]] = []
        for name, share in itertools.product(self.settings.names, self.settings.shares):
            cells = {model: self.interval(name, share, model, measure) for model in self.settings.models}
            row = {model: cell[0] for model, cell in cells.items() if cell is not None}
            if len(row) == len(self.settings.models):
                rows.append(row)
        return rows


def finished(settings: Settings, store: Store) -> Comparison:
    """What the store knows of these settings."""
    runs: dict[tuple[str, float, str], list[Any]] = {}
    for job in plan(settings):
        result = store.get(job)
        if result is not None:
            runs.setdefault((job["dataset"], job["noise"], job["model"]), []).append(result)
    return Comparison(settings, runs)
