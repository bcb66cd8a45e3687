"""Models on streams that change: every one is given the same rows in the same order, and predicts each of them first.

Streams are those of ``drifting`` and the files of a folder. What decides a run is in its job, so that finished runs are
found again whatever the folder is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ocoboost.bench import compare, contestants, drifting, measures, prequential, stream_files
from ocoboost.bench.drifting import Drifting, Entry
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.bench.stream_files import FileEntry

Catalogue: TypeAlias = Mapping[str, Entry | FileEntry]
MEASURES = {
    "accuracy": "accuracy, %",
    "kappa": "kappa, %",
    "kappa_temporal": "kappa-temporal, %",
    "macro_f1": "macro-F1, %",
    "after": "accuracy in the 1,000 rows after a change, %",
}
MOST_LABELS = 40  # in a confusion matrix that stays readable


class Settings(NamedTuple):
    """What is run: models and streams by their names."""

    models: tuple[str, ...]
    streams: tuple[str, ...]
    most_rows: int | None  # None: 20,000 of a generated stream, 50,000 of a file
    seed: int  # of the models; a generated stream has its own


def catalogue(data_dir: Path | None = None, target: str | None = None) -> Catalogue:
    """All streams by name: generated ones, and those of the folder."""
    files = {} if data_dir is None else stream_files.find(data_dir, target)
    return {**drifting.CATALOGUE, **files}


def plan(settings: Settings, known: Catalogue) -> list[Job]:
    """Stream by stream, so that an interrupted study has all models."""
    jobs: list[Job] = []
    for name in settings.streams:
        entry = known[name]
        is_file = isinstance(entry, FileEntry)
        n_rows = settings.most_rows or (stream_files.N_ROWS if is_file else drifting.N_ROWS)
        told = entry.told() if isinstance(entry, FileEntry) else {}
        jobs += [
            {"stream": name, **told, "rows": n_rows, "model": model, "seed": settings.seed} for model in settings.models
        ]
    return jobs


def is_of_others(job: Job) -> bool:
    """Whether the run does not depend on our sources: after a change to them it need not be run again."""
    contestant = contestants.find(job["model"])
    return contestant is not None and contestant.title not in compare.OURS


def run(job: Job, data_dir: Path | None = None) -> Result:
    """One model on one stream. What another library's model raises is its result: the others go on."""
    contestant = contestants.find(job["model"])
    if contestant is None:
        raise ValueError(f"no model {job['model']!r} in the leaderboard")
    stream = _load(job["stream"], job["rows"], data_dir, job.get("target"))
    X, labels = [x for x, _ in stream.rows], [y for _, y in stream.rows]
    try:
        trace = contestant.stream(X, labels, job["seed"])
    except Exception as error:
        if contestant.title in compare.OURS:
            raise
        return {"failed": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}
    return {"changes": list(stream.changes), **scores(trace.predictions, labels, stream.changes), **_cost(trace)}


@lru_cache(maxsize=1)
def _load(name: str, n_rows: int, data_dir: Path | None, target: str | None) -> Drifting:
    """The stream, kept for the next model."""
    return catalogue(data_dir, target)[name].load(n_rows)


def scores(predictions: Sequence[Any], labels: Sequence[Any], changes: Sequence[int]) -> Result:
    """Everything that predictions are scored by; ``after`` is the mean over the changes, None if none is known."""
    after = measures.after_changes(predictions, labels, changes)
    known = sorted(set(labels), key=lambda label: (str(label), repr(label)))
    is_shown = len(known) <= MOST_LABELS
    kinds: dict[str, Callable[[Sequence[Any], Sequence[Any]], float]] = {
        "accuracy": measures.accuracy,
        "kappa": measures.kappa,
        "kappa_temporal": measures.kappa_temporal,
        "macro_f1": measures.macro_f1,
    }
    return {
        **{kind: round(measure(predictions, labels), 4) for kind, measure in kinds.items()},
        "last": round(measures.accuracy(measures.last(predictions), measures.last(labels)), 4),
        "after": round(sum(after) / len(after), 4) if after else None,
        "after_each": [round(percent, 2) for percent in after],
        "rows": len(labels),
        "curve": measures.curve(predictions, labels, prequential.N_BLOCKS),
        "labels": [str(label) for label in known] if is_shown else [],
        "confusion": measures.confusion(predictions, labels, known).tolist() if is_shown else [],
    }


def _cost(trace: prequential.Trace) -> Result:
    return {"seconds": round(trace.seconds, 3), "cpu_seconds": round(trace.cpu_seconds, 3), "bytes": trace.n_bytes}


def finished(settings: Settings, known: Catalogue, store: Store) -> tuple[compare.Comparison, dict[str, str]]:
    """What the store knows of these settings as a comparison, and which runs failed, with the reason."""
    runs: dict[tuple[str, float, str], list[Result]] = {}
    failed: dict[str, str] = {}
    for job in plan(settings, known):
        result = store.get(job)
        if result is not None and "failed" in result:
            failed[f"{job['model']} on {job['stream']}"] = result["failed"]
        elif result is not None:
            runs[job["stream"], 0.0, job["model"]] = [result]
    shown = compare.Settings(settings.models, settings.streams, (0.0,), (settings.seed,), settings.most_rows)
    return compare.Comparison(shown, runs), failed


def complete(comparison: compare.Comparison) -> compare.Comparison:
    """The same without the models that were not run on every stream: ranks need all of them."""
    settings = comparison.settings
    models = tuple(
        model for model in settings.models if all((name, 0.0, model) in comparison.runs for name in settings.names)
    )
    return compare.Comparison(settings._replace(models=models), comparison.runs)
