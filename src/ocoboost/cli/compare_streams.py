"""``ocoboost compare --streams``: models on streams that change, generated ones and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ocoboost.cli import studies
from ocoboost.cli.mistakes import one_of, say
from ocoboost.cli.pages import say_written, write_page

if TYPE_CHECKING:
    from ocoboost.bench.compare import Comparison
    from ocoboost.bench.leaderboard import Catalogue

USES = ("development", "reported")
_COLUMNS = {"accuracy": "accuracy", "kappa": "kappa", "kappa_temporal": "temporal", "after": "after"}


class Paths(NamedTuple):
    """What is read and written."""

    data_dir: Path | None
    out: Path
    report: Path


class Reading(NamedTuple):
    """Which rows: streams by name or use, the column with the labels of files, and how many rows at most."""

    streams: str
    target: str | None
    most_rows: int | None


def compare_streams(paths: Paths, reading: Reading, models: str, *, seed: int, n_jobs: int, as_json: bool) -> None:
    """Run what is not in the store yet; print mean scores and ranks, write the report, and name what failed."""
    from ocoboost.bench import leaderboard
    from ocoboost.bench.jobs import Store
    from ocoboost.files.outputs import check_output

    if paths.data_dir is not None and not paths.data_dir.is_dir():
        raise typer.BadParameter(f"{paths.data_dir} is no folder", param_hint="--data-dir")
    known = leaderboard.catalogue(paths.data_dir, reading.target)
    settings = leaderboard.Settings(_models(models), _streams(reading.streams, known), reading.most_rows, seed)
    if paths.report.parent != paths.out:  # which is made when there is something to put into it
        check_output(str(paths.report))
    store = Store(paths.out / "results.jsonl", any_code=leaderboard.is_of_others)
    jobs = leaderboard.plan(settings, known)
    work = partial(leaderboard.run, data_dir=paths.data_dir)
    is_done = studies.run_study(jobs, work, store, n_jobs=n_jobs, name=lambda job: f"{job['stream']}, {job['model']}")
    comparison, failed = leaderboard.finished(settings, known, store)
    uses = {name: known[name].use for name in settings.streams}
    if comparison.runs:
        _write_report(comparison, uses, failed, paths.report)
    report = str(paths.report) if comparison.runs else None
    if as_json:
        typer.echo(json.dumps({"cells": _cells(comparison, uses), "failed": failed, "report": report}))
    elif comparison.runs:
        console = Console()
        console.print(summary(comparison))
        say_written("Report", report)
    for run, why in failed.items():
        say(f"ocoboost: {run} failed: {why}")
    if not is_done:
        raise typer.Exit(studies.INTERRUPTED)


def help_on_models() -> str:
    """The names of all models."""
    from ocoboost.bench import contestants

    lines = [f"{name:28}{title}" for name, title in contestants.NAMES_AND_TITLES.items()]
    return "\n".join([*lines, "With a number at the end an ensemble has that size: capymoa-arf-30."])


def _models(names: str) -> tuple[str, ...]:
    from ocoboost.bench import contestants, peers

    has_capymoa = peers.has_capymoa()
    if not names:
        if not has_capymoa:
            say("ocoboost: CapyMOA's models are left out: they need `pip install capymoa`, and Java")
        return contestants.default_names()
    asked = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    sized = {name for name in asked if contestants.find(name) is not None}
    chosen = one_of(names, (*contestants.NAMES_AND_TITLES, *sized), "--models")
    foreign = [name for name in chosen if name.startswith("capymoa")]
    if foreign and not has_capymoa:
        raise typer.BadParameter(f"{foreign[0]} needs `pip install capymoa`, and Java", param_hint="--models")
    return chosen


def _streams(names: str, known: Catalogue) -> tuple[str, ...]:
    """Streams by their names; a use stands for all streams that have it."""
    asked = one_of(names, (*USES, *known), "--datasets")
    return tuple(name for name, entry in known.items() if name in asked or entry.use in asked)


def _cells(comparison: Comparison, uses: Mapping[str, str]) -> list[dict[str, Any]]:
    from ocoboost.bench.leaderboard import MEASURES

    measured = (*MEASURES, "after_each", "changes", "rows", "cpu_seconds", "seconds", "bytes")
    return [
        {"stream": name, "use": uses[name], "model": model, **{measure: runs[0][measure] for measure in measured}}
        for (name, _, model), runs in comparison.runs.items()
    ]


def summary(comparison: Comparison) -> Table:
    """A row per model, best rank first: means over the streams on which all of them were run."""
    from ocoboost.bench import leaderboard, measures

    comparison = leaderboard.complete(comparison)
    scores = comparison.scores()
    ranks = measures.mean_ranks(scores) if scores else {}
    title = f"Mean over {len(scores)} streams that change, %"
    look: Any = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False}  # fits 80 characters
    table = Table(title=title, **look)
    table.add_column("", no_wrap=True)
    for column in ("rank", *_COLUMNS.values(), "CPU s", "MiB"):
        table.add_column(f" {column}", justify="right", no_wrap=True)
    for model in sorted(ranks, key=ranks.__getitem__):
        means = [_mean(comparison, model, measure) for measure in (*_COLUMNS, "cpu_seconds", "bytes")]
        *percents, seconds, size = ["" if mean is None else f"{mean:.1f}" for mean in means]
        size = "" if means[-1] is None else f"{means[-1] / 2**20:,.1f}"
        style = "bold" if not model.startswith(("river", "capymoa")) else None
        table.add_row(Text(model), f"{ranks[model]:.2f}", *percents, seconds, size, style=style)
    return table


def _mean(comparison: Comparison, model: str, measure: str) -> float | None:
    """Over the streams on which it can be measured."""
    cells = [comparison.interval(name, 0.0, model, measure) for name in comparison.settings.names]
    values = [cell[0] for cell in cells if cell is not None]
    return sum(values) / len(values) if values else None


def _write_report(comparison: Comparison, uses: Mapping[str, str], failed: Mapping[str, str], path: Path) -> None:
    from ocoboost import report
    from ocoboost.bench import leaderboard_page as pages

    facts = report.provenance(studies.command(), seed=comparison.settings.shuffles[0])
    notes = [f"{run} failed: {why}." for run, why in failed.items()]
    write_page(pages.page(comparison, uses, notes, facts), path)
