"""What ``reproduce`` and ``compare`` share: options, the progress bar, and the handling of Ctrl-C."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from ocoboost.bench.jobs import Job, Result, Store

INTERRUPTED = 130  # the exit code that shells expect after Ctrl-C

Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed of the first shuffle and of all draws.")]
Jobs: TypeAlias = Annotated[int, typer.Option(min=-1, help="Processes; -1 for all cores. Changes only the times.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
DataDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder with NAME.csv.gz files for datasets that the package does not include.",
        show_default="OCOBOOST_DATA",
    ),
]


def n_processes(jobs: int) -> int:
    """The number of processes that ``--jobs`` stands for."""
    if jobs == 0:
        raise typer.BadParameter("must be -1 or at least 1, got 0", param_hint="--jobs")
    return jobs if jobs > 0 else os.cpu_count() or 1


def command() -> list[str]:
    """The command line as given."""
    return ["ocoboost", *sys.argv[1:]]


def present(names: Iterable[str], data_dir: Path | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """The datasets that are available, and why the others are not."""
    from ocoboost.bench import datasets

    found, missing = [], {}
    for name in names:
        try:
            datasets.load(name, data_dir)
            found.append(name)
        except datasets.DatasetMissingError as error:
            missing[name] = str(error)
    return tuple(found), missing


def run_study(
    jobs: list[Job], work: Callable[[Job], Result], store: Store, *, n_jobs: int, name: Callable[[Job], str]
) -> bool:
    """Run the unfinished jobs, with a progress bar on standard error; false if interrupted."""
    from ocoboost.bench.jobs import run_all

    console = Console(stderr=True)
    n_kept = sum(store.get(job) is not None for job in jobs)
    if n_kept:
        console.print(f"{n_kept} of {len(jobs)} runs found in {store.path}.", highlight=False, markup=False)
    if n_kept == len(jobs):
        return True
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<34}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            bar = progress.add_task("starting, compiling", total=len(jobs), completed=n_kept)
            run_all(
                jobs,
                work,
                store,
                n_jobs=n_jobs,
                tick=lambda job: progress.update(bar, advance=1, description=name(job)),
            )
    except KeyboardInterrupt:
        n_kept = sum(store.get(job) is not None for job in jobs)
        console.print(
            f"Interrupted: {n_kept} of {len(jobs)} runs are saved; the same command resumes.", highlight=False
        )
        return False
    return True
