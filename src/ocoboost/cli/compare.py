"""``ocoboost compare``: models side by side, on the paper's datasets, a file of one's own, or streams that change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ocoboost.cli import compare_file, compare_streams, studies
from ocoboost.cli.comparison_table import numbers, score_table
from ocoboost.cli.mistakes import one_line, one_of
from ocoboost.cli.options import BadRows, Delimiter, FileFormat, OnError, is_given, no_target
from ocoboost.cli.pages import say_written, write_page
from ocoboost.cli.rare import Costs, costs_of_a_job
from ocoboost.cli.studies import AsJson, DataDir, Jobs, Seed
from ocoboost.spelling import escaped

if TYPE_CHECKING:
    from ocoboost.bench.compare import Comparison, Settings

_DATASETS = "balance,cars,segment,yeast"
OF_A_FILE = ("target", "costs", "drop", "text", "file_format", "delimiter", "on_error")
OF_DATASETS = ("datasets", "noise", "shuffles", "data_dir")
NOT_OF_STREAMS = ("noise", "shuffles", *OF_A_FILE[1:])


def compare(
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(
            help="CSV, ARFF, JSON lines or Parquet; without it, the datasets of the paper.", show_default=False
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Column of FILE with the labels; with --streams of all files.", show_default="the last, for --streams"
        ),
    ] = None,
    streams: Annotated[
        bool,
        typer.Option(
            "--streams",
            help="Run on streams that change: generated ones, and the CSV files in --data-dir; --datasets chooses "
            "among them by name or use (development, reported).",
        ),
    ] = False,
    models: Annotated[
        str,
        typer.Option(help="Comma-separated names; `--models help` lists them.", show_default="boost and River's"),
    ] = "",
    datasets: Annotated[
        str, typer.Option(help="Comma-separated names; files in the data folder count too.")
    ] = _DATASETS,
    noise: Annotated[str, typer.Option(help="Comma-separated fractions of labels to flip.")] = "0",
    shuffles: Annotated[int, typer.Option(min=1, help="Number of shuffles of each dataset.")] = 1,
    rows: Annotated[
        int | None, typer.Option(min=10, help="Maximum number of rows per dataset.", show_default="all")
    ] = None,
    seed: Seed = 1,
    jobs: Jobs = -1,
    out: Annotated[Path, typer.Option(help="Folder for results and the report.")] = Path("ocoboost-compare"),
    report: Annotated[
        str | None, typer.Option(help="HTML file for the report.", show_default="report.html in --out")
    ] = None,
    data_dir: DataDir = None,
    costs: Costs = None,
    on_error: BadRows = OnError.STOP,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column of FILE to leave out; may be repeated.", show_default=False)
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Numeric column of FILE to read as text; may be repeated.", show_default=False),
    ] = None,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Compare models on the same rows in the same order: accuracy, macro F1, precision-recall area, time and memory.

    Without FILE, on shuffles of the paper's datasets, with the same labels flipped for all. With --costs every model
    predicts the label with the least expected cost under its own probabilities.
    """
    # Most of its lines are options.
    from ocoboost.bench import compare as bench
    from ocoboost.bench import peers

    if models == "help":
        listed = "\n".join(f"{name:28}{title}" for name, title in bench.NAMES.items())
        typer.echo(compare_streams.help_on_models() if streams else listed)
        return
    n_jobs = studies.n_processes(jobs)
    if streams:
        _refuse_for_streams(context, file)
        asked = datasets if is_given(context, "datasets") else "reported"
        where = compare_streams.Paths(data_dir, out, Path(report) if report else out / "report.html")
        which = compare_streams.Reading(asked, target, rows)
        with one_line():
            compare_streams.compare_streams(where, which, models, seed=seed, n_jobs=n_jobs, as_json=as_json)
        return
    everyone = ",".join(name for name, title in bench.NAMES.items() if name == "boost" or title in peers.RIVER)
    titles = tuple(bench.NAMES[name] for name in one_of(models or everyone, tuple(bench.NAMES), "--models"))
    with one_line():
        if file is None:
            _refuse(context, OF_A_FILE, "needs a FILE")
            shares = _shares(noise)
            chosen = tuple(dict.fromkeys(name.strip() for name in datasets.split(",") if name.strip()))
            settings = bench.Settings(titles, chosen, shares, tuple(range(seed, seed + shuffles)), rows)
            _compare_datasets(settings, n_jobs, out, report, data_dir, as_json=as_json)
            return
        _refuse(context, OF_DATASETS, "is for the paper's datasets, not for a FILE")
        if target is None:
            raise no_target(file, None if file_format is None else file_format.value, delimiter)
        reading = {
            "target": target,
            "drop": sorted(drop or ()),
            "text": sorted(text or ()),
            "file_format": None if file_format is None else file_format.value,
            "delimiter": delimiter,
            "on_error": on_error.value,
            **({} if costs is None else {"costs": costs_of_a_job(costs)}),
        }
        paths = compare_file.Paths(file, out, Path(report) if report else out / "report.html")
        compare_file.compare_file(paths, titles, reading, most_rows=rows, seed=seed, n_jobs=n_jobs, as_json=as_json)


def _refuse_for_streams(context: typer.Context, file: str | None) -> None:
    """Raise if a file or an option was given that streams have no use for."""
    if file is not None:
        raise typer.BadParameter("takes no FILE: put it into a folder, named with --data-dir", param_hint="--streams")
    _refuse(context, NOT_OF_STREAMS, "is not for --streams")


def _refuse(context: typer.Context, names: tuple[str, ...], why: str) -> None:
    """Raise if one of these options was given."""
    for name in names:
        if is_given(context, name):
            raise typer.BadParameter(why, param_hint=f"--{name.replace('_', '-').replace('file-', '')}")


def _compare_datasets(
    settings: Settings, n_jobs: int, out: Path, report: str | None, data_dir: Path | None, *, as_json: bool
) -> None:
    from ocoboost.bench import compare as bench
    from ocoboost.bench.jobs import Store
    from ocoboost.files.outputs import check_output

    names, missing = studies.present(settings.names, data_dir)
    if not names:
        raise typer.BadParameter("; ".join(missing.values()) or "no dataset named", param_hint="--datasets")
    if report is not None:
        check_output(report)
    settings = settings._replace(names=names)
    store = Store(out / "results.jsonl")
    done = studies.run_study(
        bench.plan(settings), partial(bench.run, data_dir=data_dir), store, n_jobs=n_jobs, name=_name
    )
    comparison = bench.finished(settings, store)
    why = [f"{bench.title_of(name)} is missing: {reason}" for name, reason in missing.items()]
    path = Path(report) if report else out / "report.html"
    if comparison.runs:
        _write_report(comparison, why, path)
    if as_json:
        written = str(path) if comparison.runs else None
        typer.echo(json.dumps({"cells": numbers(comparison), "missing": missing, "report": written}))
    elif comparison.runs:
        console = Console()
        for share in settings.shares:
            console.print(score_table(comparison, share))
        for line in why:
            console.print(Text(escaped(line)), soft_wrap=True)
        say_written("Report", path)
    if not done:
        raise typer.Exit(studies.INTERRUPTED)


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(dict.fromkeys(float(part) for part in text.split(",") if part.strip()))
    except ValueError:
        shares = ()
    if not shares or not all(0.0 <= share <= 1.0 for share in shares):
        raise typer.BadParameter(f"must be comma-separated numbers from 0 to 1, got {text!r}", param_hint="--noise")
    return shares


def _name(job: Mapping[str, Any]) -> str:
    return f"{job['dataset']}, {job['model']}"


def _write_report(comparison: Comparison, notes: list[str], path: Path) -> None:
    from ocoboost import report
    from ocoboost.bench import comparison_page as pages

    facts = report.provenance(studies.command(), seeds=", ".join(map(str, comparison.settings.shuffles)))
    write_page(pages.page(comparison, notes, facts), path)
