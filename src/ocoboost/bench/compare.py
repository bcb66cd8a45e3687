"""Chosen models on chosen datasets, on the same shuffles and the same flipped labels."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from river import base

from ocoboost import registry
from ocoboost.bench import datasets, measures, noise, peers, prequential, reproduce
from ocoboost.bench.heard import Heard
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.learners.hoeffding.classifier import HoeffdingTrees

_STUMP = {"learner": HoeffdingTrees(max_depth=1, split_criterion="gini")}
# What is not left at its default, by the registry's keys; the paper's boosters have its stumps.
_OPTIONS: dict[str, dict[str, Any]] = {
    "agnostic": _STUMP,
    "realizable": {**_STUMP, "gamma": 0.7},
    "mbbm": {**_STUMP, "potential": "fast"},
    "adaboost-olm": _STUMP,
}
_TREES = {"hoeffding": "one Hoeffding tree", "mondrian": "ten Mondrian trees"}
_TITLES = {**reproduce.TITLES, **_TREES}


def _make(model: registry.Model, options: dict[str, Any], seed: int) -> Any:
    return model.load()(**options, seed=seed)


_MODELS = {model.key: model for model in registry.models() if model.protocol == registry.BOOSTER or model.key in _TREES}
_MAKERS = {
    "boost": partial(_make, _MODELS["boost"], {}),
    "boost-stumps": partial(_make, _MODELS["boost"], {**_STUMP, "budget": 400}),
    **{key: partial(_make, model, _OPTIONS.get(key, {})) for key, model in _MODELS.items() if key != "boost"},
}
# Models by their titles: every booster that is registered, two learners by themselves, and River's.
OURS: dict[str, Callable[[int], Any]] = {_TITLES.get(key, key): make for key, make in _MAKERS.items()}
MODELS: dict[str, Callable[[int], base.Classifier]] = {**OURS, **peers.RIVER}
# Titles by what the command line calls the models.
NAMES = {
    **{key: _TITLES.get(key, key) for key in _MAKERS},
    **{title.lower().replace(" ", "-"): title for title in peers.RIVER},
}
MEASURES = {
    "accuracy": "accuracy, %",
    "last": "accuracy of the last 20 %, %",
    "macro_f1": "macro-F1, %",
    "area": "precision-recall area, mean of the labels, %",
}
WARM_UP_ROWS = 20


def title_of(name: str) -> str:
    """What a table calls a dataset: a file keeps its name."""
    return name.capitalize() if name in datasets.PAPER else name


class Settings(NamedTuple):
    """What is run: models by their titles."""

    models: tuple[str, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]  # of the labels that are flipped
    shuffles: tuple[int, ...]
    most_rows: int | None


def plan(settings: Settings) -> list[Job]:
    """Shuffle by shuffle, so that an interrupted study has all models."""
    return [
        {"model": model, "dataset": name, "noise": share, "shuffle": shuffle, "most_rows": settings.most_rows}
        for shuffle, share, name, model in itertools.product(
            settings.shuffles, settings.shares, settings.names, settings.models
        )
    ]


def run(job: Job, data_dir: Path | None = None) -> Result:
    """One model on one shuffle, taught the flipped labels and scored against the clean ones."""
    rows = datasets.load(job["dataset"], data_dir)
    if job["model"] in peers.NUMBERS_ONLY:
        rows = datasets.ranked(rows)
    rows = datasets.shuffled(rows, job["shuffle"])[: job["most_rows"]]
    X, clean = [x for x, _ in rows], [y for _, y in rows]
    taught = noise.flip(clean, job["noise"], seed=job["shuffle"])
    model = MODELS[job["model"]](job["shuffle"])
    if job["model"] in OURS:  # compile before the clock starts
        prequential.stream(model.clone(), X[:WARM_UP_ROWS], taught[:WARM_UP_ROWS])
    heard = Heard()
    trace = prequential.stream(model, X, taught, heard, clean)
    known = sorted(set(clean))
    return {
        "accuracy": round(measures.accuracy(trace.predictions, clean), 4),
        "last": round(measures.accuracy(measures.last(trace.predictions), measures.last(clean)), 4),
        "macro_f1": round(measures.macro_f1(trace.predictions, clean), 4),
        "seconds": round(trace.seconds, 3),
        "bytes": trace.n_bytes,
        "rows": len(rows),
        **heard.summary(known),
        "curve": measures.curve(trace.predictions, clean, prequential.N_BLOCKS),
        "labels": known,
        "confusion": measures.confusion(trace.predictions, clean, known).tolist(),
    }


class Comparison(NamedTuple):
    """The finished runs, by dataset, share of flipped labels and model: one result per shuffle."""

    settings: Settings
    runs: Mapping[tuple[str, float, str], Sequence[Result]]

    def interval(self, name: str, share: float, model: str, measure: str) -> tuple[float, float] | None:
        """Mean and standard error over the shuffles; None where that was not run, or cannot be measured."""
        found = [result[measure] for result in self.runs.get((name, share, model), ())]
        return measures.mean_and_error(found) if found and None not in found else None

    def by_label(self, name: str, share: float, model: str, measure: str) -> list[float]:
        """Means over the shuffles, for each label; all of them have the same rows."""
        found = [result[measure] for result in self.runs[name, share, model]]
        return [statistics.fmean(values) for values in zip(*found, strict=True)]

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
