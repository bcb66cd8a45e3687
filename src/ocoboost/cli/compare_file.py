"""``ocoboost compare FILE``: every model on the rows of one file, each in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ocoboost.cli import studies
from ocoboost.cli.comparison_table import numbers, rare_table, score_table
from ocoboost.cli.mistakes import say
from ocoboost.cli.pages import say_written, write_page

if TYPE_CHECKING:
    from ocoboost.bench.compare import Comparison
    from ocoboost.bench.jobs import Job, Store


class Paths(NamedTuple):
    """What is read and written."""

    file: str
    out: Path
    report: Path

    def check(self) -> None:
        """Raise if an output cannot be written, or would overwrite the file."""
        from ocoboost.errors import OutputFileError
        from ocoboost.files.outputs import check_outputs

        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputFileError(f"{self.out}: cannot be made a folder ({error.strerror}); see --out.") from error
        check_outputs({"--out": str(self.results), "--report": str(self.report)}, {"the input": self.file})

    @property
    def results(self) -> Path:
        """Finished runs."""
        return self.out / "results.jsonl"


def compare_file(
    paths: Paths,
    titles: tuple[str, ...],
    reading: dict[str, Any],
    *,
    most_rows: int | None,
    seed: int,
    n_jobs: int,
    as_json: bool,
) -> None:
    """Run what is not in the store yet; print the scores, write the report, and name the models that failed."""
    from ocoboost.bench import compare, on_file
    from ocoboost.bench.jobs import Store

    jobs = on_file.plan(paths.file, titles, reading, most_rows=most_rows, seed=seed)
    paths.check()
    store = Store(paths.results)
    failed, is_done = _run(jobs, store, n_jobs)
    name = Path(paths.file).name
    settings = compare.Settings(titles, (name,), (0.0,), (seed,), most_rows)
    found = {(name, 0.0, job["model"]): [result] for job in jobs if (result := store.get(job)) is not None}
    comparison = compare.Comparison(settings, found)
    if found:
        _write_report(comparison, reading["target"], failed, paths)
    report = str(paths.report) if found else None
    if as_json:
        about = {"file": paths.file, "target": reading["target"]}
        typer.echo(json.dumps({**about, "cells": numbers(comparison), "failed": failed, "report": report}))
    elif found:
        console = Console()
        console.print(score_table(comparison, 0.0))
        if (table := rare_table(comparison)) is not None:
            console.print(table)
        say_written("Report", report)
    for title, why in failed.items():
        say(f"ocoboost: {title} failed: {why}")
    if not is_done:
        say(f"ocoboost: interrupted: {len(found)} of {len(jobs)} runs are saved; the same command resumes")
        raise typer.Exit(studies.INTERRUPTED)
    if not found:
        raise typer.Exit(1)


def _run(jobs: list[Job], store: Store, n_jobs: int) -> tuple[dict[str, str], bool]:
    """The models that failed, with the reason, and whether all others are finished."""
    from ocoboost.bench import on_file
    from ocoboost.bench.apart import Apart

    columns = (SpinnerColumn(), TextColumn("{task.description:<26}"), BarColumn(), TaskProgressColumn())
    progress = Progress(
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    failed: dict[str, str] = {}
    bars: dict[str, Any] = {}

    class Watched(Apart):
        def on_start(self, job: Job) -> None:
            bars[job["model"]] = progress.add_task(job["model"], total=1.0)

        def on_progress(self, job: Job, fraction: float) -> None:
            progress.update(bars[job["model"]], completed=fraction)

        def on_result(self, job: Job, result: Any) -> None:
            store.add(job, result)
            progress.update(bars[job["model"]], completed=1.0)

        def on_failure(self, job: Job, why: str) -> None:
            failed[job["model"]] = why
            progress.update(bars[job["model"]], description=f"{job['model']} failed")

    waiting = [job for job in jobs if store.get(job) is None]
    try:
        with progress:
            Watched().run(waiting, on_file.run, n_jobs)
    except KeyboardInterrupt:
        return failed, False
    return failed, True


def _write_report(comparison: Comparison, target: str, failed: dict[str, str], paths: Paths) -> None:
    from ocoboost import report
    from ocoboost.bench import comparison_page as pages

    facts = report.provenance(studies.command(), seed=comparison.settings.shuffles[0], file=paths.file)
    notes = [f"{title} failed: {why}." for title, why in failed.items()]
    write_page(pages.file_page(comparison, target, notes, facts), paths.report)
