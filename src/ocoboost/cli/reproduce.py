"""``ocoboost reproduce``: Table 1 of the paper on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ocoboost.cli import studies
from ocoboost.cli.mistakes import one_of
from ocoboost.cli.pages import say_written
from ocoboost.cli.studies import AsJson, DataDir, Jobs, Seed

if TYPE_CHECKING:
    from ocoboost.bench.reproduce import Cell, Cells


def reproduce(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One shuffle of at most 2,000 rows per dataset, fast potentials; about a minute."),
    ] = False,
    datasets: Annotated[str, typer.Option(help="Comma-separated names.", show_default="all seven")] = "",
    shuffles: Annotated[int, typer.Option(min=1, help="Number of shuffles of each dataset.")] = 5,
    seed: Seed = 1,
    jobs: Jobs = -1,
    out: Annotated[Path, typer.Option(help="Folder for results and the report.")] = Path("ocoboost-reproduce"),
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce Table 1 of the paper: seven datasets, four boosters tuned in hindsight, and two untuned models."""
    from ocoboost.bench import paper
    from ocoboost.bench import reproduce as bench
    from ocoboost.bench.jobs import Store

    names = one_of(datasets or ",".join(paper.DATASETS), paper.DATASETS, "--datasets")
    n_jobs = studies.n_processes(jobs)
    names, missing = studies.present(names, data_dir)
    settings = bench.Settings(names, tuple(range(seed, seed + shuffles)))
    if quick:
        settings = bench.Settings.quick(names, seed)
    store = Store(out / "results.jsonl")
    done = studies.run_study(
        bench.plan(settings), partial(bench.run, data_dir=data_dir), store, n_jobs=n_jobs, name=_name
    )
    cells = bench.cells(settings, store)
    accounts = {job["dataset"]: found["account"] for job in bench.accounts(settings) if (found := store.get(job))}
    path = _write_report(cells, missing, accounts, settings.shuffles, out) if cells else None
    if as_json:
        report = None if path is None else str(path)
        typer.echo(json.dumps({"cells": list(map(_numbers, cells.values())), "missing": missing, "report": report}))
    elif cells:
        console = Console()
        console.print(_table(cells, settings.most_rows))
        for name, why in missing.items():
            console.print(f"{name.capitalize()} is missing: {why}", highlight=False)
        say_written("Report", path)
    if not done:
        raise typer.Exit(studies.INTERRUPTED)


def _name(job: Mapping[str, Any]) -> str:
    gamma = "" if job["gamma"] is None else f", gamma {job['gamma']:g}"
    return f"{job['dataset']}, {job['booster']}{gamma}"


def _write_report(
    cells: Cells, missing: Mapping[str, str], accounts: Mapping[str, Any], shuffles: tuple[int, ...], out: Path
) -> Path:
    from ocoboost import report
    from ocoboost.bench import reproduction_page as reproduction

    facts = report.provenance(studies.command(), seeds=", ".join(map(str, shuffles)))
    path = out / "report.html"
    report.write(reproduction.page(cells, missing, facts, accounts), path)
    return path


def _numbers(cell: Cell) -> dict[str, Any]:
    """The means and standard errors of a cell."""
    from ocoboost.bench.reproduce import MEASURES

    numbers: dict[str, Any] = {"dataset": cell.dataset, "booster": cell.booster, "gammas": cell.gammas}
    numbers |= {measure: cell.interval(measure) for measure in MEASURES}
    return numbers | {"seconds": cell.seconds, "paper": cell.published and cell.published._asdict()}


_LINES = {"whole_drawn": "sampled", "last_drawn": " last 20 %", "whole": "mode", "last": " last 20 %"}


def _table(cells: Cells, most_rows: int | None) -> Table:
    """For each dataset: the paper's accuracy, our four accuracies, and seconds."""
    from ocoboost.bench.measures import shown
    from ocoboost.bench.reproduce import TITLES, primary

    some = "" if most_rows is None else f", at most {most_rows:,} rows each"
    caption = (
        "Accuracy in percent, of sampled predictions (as in the paper) and of the mode; bold marks what the paper "
        "reports. Four columns are tuned in hindsight as in the paper, the last two are not tuned."
    )
    look: Any = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False}  # fits 80 characters
    table = Table(title=f"Table 1 of the paper, reproduced{some}", caption=caption, **look)
    table.add_column("", no_wrap=True)
    for title in TITLES.values():
        table.add_column(f" {title}", justify="right", no_wrap=True)
    for name in dict.fromkeys(name for _, name in cells):
        row = {booster: cells.get((booster, name)) for booster in TITLES}
        table.add_row(f"[bold]{name.capitalize()}[/]")
        published = [f"{cell.published.accuracy:.1f}" if cell and cell.published else "" for cell in row.values()]
        table.add_row(" paper", *published, style="cyan")
        for measure, title in _LINES.items():
            texts = []
            for booster, cell in row.items():
                is_drawn = measure.endswith("drawn") and booster == "mbbm"  # which the paper does not do
                text = "" if cell is None or is_drawn else shown(cell.interval(measure)).replace(" ", "")
                texts.append(f"[bold]{text}[/]" if measure == primary(booster) else text)
            table.add_row(f" {title}", *texts)
        seconds = [f"{cell.seconds[0]:.1f}" if cell else "" for cell in row.values()]
        table.add_row(" seconds", *seconds, style="dim", end_section=True)
    return table
