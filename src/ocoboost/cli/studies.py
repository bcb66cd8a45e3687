"""What the commands that run studies share: their options, the bar, and what Ctrl-C leaves behind."""

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

INTERRUPTED = 130  # what a shell expects of a program that was stopped by Ctrl-C

Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Number of the first shuffle; fixes every draw.")]
Jobs: TypeAlias = Annotated[int, typer.Option(min=-1, help="Processes; -1 for all cores. Changes no number but times.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")]
DataDir: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder with name.csv.gz files, for what the package does not hold.", show_default="OCOBOOST_DATA"
    ),
]


def n_processes(jobs: int) -> int:
    """The number of processes that ``--jobs`` stands for."""
    if jobs == 0:
        raise typer.BadParameter("must be -1 or at least 1, got 0", param_hint="--jobs")
    return jobs if jobs > 0 else os.cpu_count() or 1


def command() -> list[str]:
    """The command as it was given."""
    return ["ocoboost", *sys.argv[1:]]


def present(names: Iterable[str], data_dir: Path | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Which datasets can be had, and why the others cannot."""
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
    """Run what is not finished yet, with a bar on standard error; false if Ctrl-C came first."""
    from ocoboost.bench.jobs import run_all

    console = Console(stderr=True)
    n_kept = sum(store.get(job) is not None for job in jobs)
    if n_kept:
        console.print(f"{n_kept} of {len(jobs)} runs are in {store.path} already.", highlight=False)
    if n_kept == len(jobs):
        return True
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<34}"),
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
            f"Interrupted: {n_kept} of {len(jobs)} runs are kept; the same command goes on from there.", highlight=False
        )
        return False
    return True
