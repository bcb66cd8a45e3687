"""``ocoboost run --key``: a model for every value of a column."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from ocoboost.cli.options import is_given, no_target
from ocoboost.spelling import escaped, shortened

if TYPE_CHECKING:
    from ocoboost.stream.protocol import StreamClassifier

Key = Annotated[
    str | None,
    typer.Option(
        help="Column whose values have a model of their own each; not learned from. --save and --resume name a folder.",
        show_default=False,
    ),
]
REFUSED = ("cluster", "class_weight", "costs", "delay", "report", "regret", "suspects", "predictions", "identifier")
N_WORST = 10
LEAST_ROWS = 10  # of a key that is shown among the worst


def refuse_with_key(context: typer.Context) -> None:
    """Raise for options that go with a single model only."""
    for name in REFUSED:
        if is_given(context, name):
            option = "--id" if name == "identifier" else f"--{name.replace('_', '-')}"
            raise typer.BadParameter("does not go with --key", param_hint=option)


def run_by_key(
    path: str,
    key: str,
    model: StreamClassifier | None,
    *,
    folder: str | None,
    is_resumed: bool,
    save_every: float,
    as_json: bool,
    **told: Any,
) -> None:
    """Predict each row of a file with the model of its key before learning it, and print the scores."""
    from ocoboost.run.by_key import RunByKey

    if told["target"] is None or model is None:
        raise no_target(path, told["file_format"], told["delimiter"])
    run = RunByKey.begin(model, path, key, folder=folder, is_resumed=is_resumed, save_every=save_every, **told)
    started, n_before = time.perf_counter(), run.n_rows
    quiet = as_json or not sys.stderr.isatty()
    columns = SpinnerColumn(), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rows]:,} rows")
    with run, Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as progress:
        bar = progress.add_task("", total=None, rows=0)
        try:
            for fraction in run.steps():
                progress.update(
                    bar, total=None if fraction is None else 1.0, completed=fraction or 0.0, rows=run.n_rows
                )
        except KeyboardInterrupt:
            run.flush()
            raise
        speed = (run.n_rows - n_before) / max(time.perf_counter() - started, 1e-9)
        summary = run.summary(N_WORST, LEAST_ROWS) | {"rows_per_second": speed, "saved": folder}
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _show(path, key, summary)


def _show(path: str, key: str, summary: dict[str, Any]) -> None:
    console = Console()
    title = f"{path}: {summary['rows']:,} rows of {summary['keys']:,} keys, each predicted before it was learned"
    console.print(Text(escaped(title)), soft_wrap=True)
    console.print(f"accuracy {summary['accuracy']:.4f}, log loss {summary['log_loss']:.4f}", highlight=False)
    if summary["worst"]:
        table = Table(title=f"the worst keys of at least {LEAST_ROWS} rows")
        for name in (escaped(key), "rows", "accuracy", "log loss"):
            table.add_column(Text(name), justify="left" if name == key else "right")
        for worst in summary["worst"]:
            cells = shortened(str(worst["key"]), 40), f"{worst['rows']:,}"
            table.add_row(*cells, f"{worst['accuracy']:.4f}", f"{worst['log_loss']:.4f}")
        console.print(table)
    console.print(f"{summary['rows_per_second']:,.0f} rows/s", highlight=False)
    if summary["saved"] is not None:
        console.print(Text(escaped(f"Models saved to {summary['saved']}")), soft_wrap=True)
