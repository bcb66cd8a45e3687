"""``ocoboost demo``: one tree, two forests and two boosters on a built-in stream."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

_NUMERIC = ("balance", "segment")
_BLOCKS = "▁▂▃▄▅▆▇█"


def demo(
    dataset: Annotated[str, typer.Option(help="balance or segment.")] = "segment",
    budget: Annotated[int, typer.Option(min=1, help="Weak learners of the default booster, in all.")] = 200,
    noise: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the labels that are flipped.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the shuffle and every draw.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Stream a dataset past one tree, two forests and two boosters, and compare their accuracy."""
    from ocoboost.bench import datasets
    from ocoboost.bench.demo import Run, contestants, race
    from ocoboost.bench.noise import flip

    if dataset not in _NUMERIC:  # River's Mondrian trees take numbers only
        choices = ", ".join(_NUMERIC)
        raise typer.BadParameter(f"must be one of {choices}, got {dataset!r}", param_hint="--dataset")
    rows = datasets.shuffled(datasets.load(dataset), seed)
    taught = flip([y for _, y in rows], noise, seed=seed)
    models = contestants(budget=budget, seed=seed)
    console = Console()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("accuracy {task.fields[accuracy]:6.1%}"),
    )
    with Progress(*columns, console=console, disable=as_json) as progress:
        bars = {name: progress.add_task(name, total=len(rows), accuracy=0.0) for name in models}

        def tick(run: Run) -> None:
            progress.update(bars[run.name], advance=1, accuracy=run.accuracy)

        runs = race(models, rows, taught, tick)
    if as_json:
        typer.echo(json.dumps([run.summary() for run in runs], indent=2))
        return
    table = Table(
        title=f"{dataset.capitalize()}: {len(rows):,} rows, each predicted before it is learned",
        caption=f"{noise:.0%} of the labels flipped; accuracy against the true ones." if noise else None,
    )
    table.add_column("model", no_wrap=True)
    table.add_column("accuracy", justify="right")
    table.add_column("last 20 %", justify="right")
    table.add_column("through the stream", no_wrap=True)
    table.add_column("rows/s", justify="right")
    for run in runs:
        table.add_row(
            run.name,
            f"{run.accuracy:.1%}",
            f"{run.last_fifth:.1%}",
            sparkline(run.curve(20)),
            f"{run.rows_per_second:,.0f}",
            style="bold" if "boosted" in run.name else None,
        )
    console.print(table)


def sparkline(shares: list[float]) -> str:
    """Numbers from 0 to 1 as a row of bars."""
    return "".join(_BLOCKS[min(int(share * len(_BLOCKS)), len(_BLOCKS) - 1)] for share in shares)
