"""``ocoboost compare``: models side by side with River's on the same datasets, optionally with label noise."""

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
from ocoboost.cli.studies import AsJson, DataDir, Jobs, Seed

if TYPE_CHECKING:
    from ocoboost.bench.compare import Comparison

_DATASETS = "balance,cars,segment,yeast"
_BLOCKS = "▁▂▃▄▅▆▇█"


def compare(
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
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Compare models on the same shuffles and the same label noise: accuracy, macro F1, time, memory and ranks."""
    from ocoboost.bench import compare as bench
    from ocoboost.bench import peers
    from ocoboost.bench.jobs import Store

    if models == "help":
        typer.echo("\n".join(f"{name:28}{title}" for name, title in bench.NAMES.items()))
        return
    everyone = ",".join(name for name, title in bench.NAMES.items() if name == "boost" or title in peers.RIVER)
    titles = tuple(bench.NAMES[name] for name in one_of(models or everyone, tuple(bench.NAMES), "--models"))
    chosen = tuple(dict.fromkeys(name.strip() for name in datasets.split(",") if name.strip()))
    shares = _shares(noise)
    n_jobs = studies.n_processes(jobs)
    names, missing = studies.present(chosen, data_dir)
    if not names:
        raise typer.BadParameter("; ".join(missing.values()) or "no dataset named", param_hint="--datasets")
    settings = bench.Settings(titles, names, shares, tuple(range(seed, seed + shuffles)), rows)
    store = Store(out / "results.jsonl")
    done = studies.run_study(
        bench.plan(settings), partial(bench.run, data_dir=data_dir), store, n_jobs=n_jobs, name=_name
    )
    comparison = bench.finished(settings, store)
    path = _write_report(comparison, missing, out) if comparison.runs else None
    if as_json:
        report = None if path is None else str(path)
        typer.echo(json.dumps({"cells": _numbers(comparison), "missing": missing, "report": report}))
    elif comparison.runs:
        console = Console()
        for share in shares:
            console.print(_table(comparison, share))
        for name, why in missing.items():
            console.print(f"{name.capitalize()} is missing: {why}", highlight=False)
        console.print(f"Report: {path}", highlight=False, soft_wrap=True)
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


def _write_report(comparison: Comparison, missing: Mapping[str, str], out: Path) -> Path:
    from ocoboost import report
    from ocoboost.bench import comparison_page as pages

    facts = report.provenance(studies.command(), seeds=", ".join(map(str, comparison.settings.shuffles)))
    path = out / "report.html"
    report.write(pages.page(comparison, missing, facts), path)
    return path


def _numbers(comparison: Comparison) -> list[dict[str, Any]]:
    """Means and standard errors over the shuffles."""
    measured = ("accuracy", "last", "macro_f1", "seconds", "bytes")
    return [
        {
            "dataset": name,
            "noise": share,
            "model": model,
            "shuffles": len(runs),
            **{measure: comparison.interval(name, share, model, measure) for measure in measured},
        }
        for (name, share, model), runs in comparison.runs.items()
    ]


def _table(comparison: Comparison, share: float) -> Table:
    """One row per dataset and model."""
    from ocoboost.bench.measures import shown

    title = "Prequential accuracy: every row is predicted before it is learned"
    caption = f"{share:.0%} of the labels flipped; scored against the true labels." if share else None
    look: Any = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False}  # fits 80 characters
    table = Table(title=title, caption=caption, **look)
    table.add_column("", no_wrap=True)
    for column in ("accuracy", "last 20 %", "macro F1", "curve", "seconds", "KiB"):
        table.add_column(f" {column}", justify="right", no_wrap=True)
    for name in comparison.settings.names:
        models = [model for model in comparison.settings.models if (name, share, model) in comparison.runs]
        scores = {model: comparison.runs[name, share, model] for model in models}
        ranked = sorted(models, key=lambda model: -sum(run["accuracy"] for run in scores[model]) / len(scores[model]))
        table.add_row(f"[bold]{name.capitalize()}[/]", style="cyan")
        for model in ranked:
            cells = [comparison.interval(name, share, model, m) for m in ("accuracy", "last", "macro_f1")]
            seconds, size = (comparison.interval(name, share, model, m) for m in ("seconds", "bytes"))
            table.add_row(
                f" {model}",
                *(shown(cell).replace(" ", "") for cell in cells if cell is not None),
                sparkline(scores[model][0]["curve"][4::5]),
                f"{seconds[0]:.1f}" if seconds else "",
                f"{size[0] / 1024:,.0f}" if size else "",
                style="bold" if not model.startswith("River") else None,
            )
        table.add_section()
    return table


def sparkline(percents: list[float]) -> str:
    """Percentages as a row of bars."""
    return "".join(_BLOCKS[min(int(percent / 100 * len(_BLOCKS)), len(_BLOCKS) - 1)] for percent in percents)
