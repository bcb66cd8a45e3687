"""``ocoboost run``: your own stream, predicted row by row before it is learned."""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.table import Table

from ocoboost.cli.mistakes import one_line
from ocoboost.cli.models import DEFAULT, make_model
from ocoboost.cli.studies import INTERRUPTED, AsJson, command

if TYPE_CHECKING:
    from ocoboost.run.runner import Run

# What a run that goes on cannot change.
FIXED = {name: f"--{name.replace('_', '-')}" for name in ("target", "model", "budget", "max_memory", "seed", "delay")}
FIXED |= {"drop": "--drop", "text": "--text", "file_format": "--format", "delimiter": "--delimiter"}


class Format(StrEnum):
    """What can be read."""

    CSV = "csv"
    PARQUET = "parquet"
    ARFF = "arff"
    JSONL = "jsonl"


class OnError(StrEnum):
    """What becomes of a row that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


def run(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="CSV (also gzipped), Parquet, ARFF or JSON lines; - for standard input.")],
    target: Annotated[str | None, typer.Option(help="The column that holds the labels.")] = None,
    model: Annotated[
        str, typer.Option(help="The model: boost (the default), or any other that is registered.")
    ] = DEFAULT,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Weak learners in all; 200 for boosters if not given.")
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(min=1, help="MiB for the learners; if not given 1.25 a Mondrian, 0.2 a Hoeffding tree."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes every draw.")] = 1,
    jobs: Annotated[int, typer.Option(min=-1, help="Threads; -1 for all cores. Changes no number.")] = 1,
    delay: Annotated[int, typer.Option(min=0, help="Rows that are predicted before a row's label comes.")] = 0,
    save: Annotated[str | None, typer.Option(help="Keep the model in this file, now and then and in the end.")] = None,
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between two saves.")] = 30.0,
    resume: Annotated[str | None, typer.Option(help="Go on with the model of this file, and keep it there.")] = None,
    report: Annotated[str | None, typer.Option(help="Write a report to this HTML file.")] = None,
    on_error: Annotated[OnError, typer.Option(help="What to do with a row that cannot be used.")] = OnError.STOP,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given again.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="A column of numbers to read as text.")] = None,
    file_format: Annotated[Format | None, typer.Option("--format", help="If the ending does not tell.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Of CSV, if the first line does not tell.")] = None,
    as_json: AsJson = False,
) -> None:
    """Predict each row of a file, then learn it; tell how well that went."""
    from ocoboost.run import runner

    with one_line():
        if resume is None:
            if target is None:
                raise typer.BadParameter("say which column holds the labels", param_hint="--target")
            settings = runner.Settings(
                target=target,
                drop=tuple(drop or ()),
                text=tuple(text or ()),
                file_format=None if file_format is None else file_format.value,
                delimiter=character(delimiter),
                delay=delay,
                on_error=on_error.value,
            )
            this = runner.Run(make_model(model, budget, max_memory, seed, jobs), file, settings)
        else:
            this = runner.resume(resume, file, jobs)
            given = {name for name in context.params if context.get_parameter_source(name).name == "COMMANDLINE"}  # type: ignore[union-attr]
            if target == this.settings.target:
                given.discard("target")
            for name in sorted(given & FIXED.keys()):
                raise typer.BadParameter(f"is settled by {resume}; leave it out", param_hint=FIXED[name])
            if "on_error" in given:
                this.settings = replace(this.settings, on_error=on_error.value)
        this.save_to, this.save_every = save or resume, save_every
        if report is not None:
            this.open_account()
        clock = Clock()
        was_interrupted = _go(this, clock, is_quiet=as_json)
        summary = _summary(this, clock.speed)
        if report is not None:
            write_report(report, this, summary)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _show(this, summary)
    if was_interrupted:
        raise typer.Exit(INTERRUPTED)


def character(delimiter: str | None) -> str | None:
    if delimiter is None or len(delimiter) == 1:
        return delimiter
    if delimiter in ("\\t", "tab"):
        return "\t"
    raise typer.BadParameter(f"must be one character, or tab, got {delimiter!r}", param_hint="--delimiter")


class Clock:
    """Rows per second since the first block: before that, kernels are compiled."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self.speed = 0.0

    def tick(self, n_rows: int) -> None:
        """So many rows are done."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now, n_rows
        else:
            self.speed = (n_rows - self._first[1]) / max(now - self._first[0], 1e-9)


def _go(this: Run, clock: Clock, *, is_quiet: bool) -> bool:
    """Run to the end, or until Ctrl-C; whether it was that."""
    was_asked: list[bool] = []

    def ask(signum: int, frame: FrameType | None) -> None:
        if this.is_learning and not was_asked:  # half a row cannot be saved
            was_asked.append(True)
        else:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask)
    try:
        with _progress(is_quiet) as progress:
            bar = progress.add_task("", total=None, rows=0, speed=0.0, accuracy=0.0)
            for _ in this.steps():
                scores, fraction = this.scores, this.source.fraction
                clock.tick(scores.n_rows)
                progress.update(
                    bar,
                    total=None if fraction is None else 1.0,
                    completed=fraction or 0.0,
                    rows=scores.n_rows,
                    speed=clock.speed,
                    accuracy=scores.accuracy,
                )
                if was_asked:
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        this.finish()
        return True
    finally:
        signal.signal(signal.SIGINT, before)
    return False


def _progress(is_quiet: bool) -> Progress:
    columns = (
        SpinnerColumn(),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows, {task.fields[speed]:,.0f}/s, accuracy {task.fields[accuracy]:.1%}"),
    )
    return Progress(*columns, console=Console(stderr=True), disable=is_quiet or not sys.stderr.isatty(), transient=True)


def _summary(this: Run, speed: float) -> dict[str, Any]:
    counts = this.scores.counts
    return {
        "file": this.path,
        "target": this.settings.target,
        "model": " ".join(repr(this.model).split()),
        **this.scores.summary(),
        "labels": this.model.classes_,
        "confusion": counts[:, :-1].tolist(),
        "not_predicted": counts[:, -1].tolist(),
        "skipped_rows": this.n_bad,
        "delay": this.settings.delay,
        "seed": this.model.seed,
        "rows_per_second": speed,  # 0 if all was one block
        "saved": this.save_to,
    }


def _show(this: Run, summary: dict[str, Any]) -> None:
    console = Console()
    errors = Console(stderr=True, highlight=False)
    for bad in this.bad:
        errors.print(f"skipped {this.source.name}, line {bad.line:,}: {bad.why}", soft_wrap=True, markup=False)
    if this.n_bad > len(this.bad):
        errors.print(f"... and {this.n_bad - len(this.bad):,} more rows")
    table = Table(
        title=f"{this.path}: {summary['rows']:,} rows, each predicted before it was learned", title_justify="left"
    )
    table.add_column("score")
    table.add_column("", justify="right")
    table.add_column("", style="dim")
    share = this.scores.n_clipped / max(this.scores.n_rows, 1)
    for name, note in (
        ("accuracy", ""),
        ("balanced_accuracy", "mean over the labels"),
        ("macro_f1", "mean over the labels"),
        ("kappa", "0: as good as chance"),
        ("log_loss", f"clipped at {summary['log_loss_clipped_at']:g}, {share:.1%} of the rows"),
    ):
        value = summary[name]
        table.add_row(name.replace("_", " "), "-" if value is None else f"{value:.4f}", note)
    console.print(table)
    if len(summary["labels"]) <= 12:
        console.print(_confusion(summary))
    speed = f"{summary['rows_per_second']:,.0f} rows/s, " if summary["rows_per_second"] else ""
    console.print(f"{speed}seed {summary['seed']}")
    if this.save_to is not None:
        console.print(f"model saved in {this.save_to}", soft_wrap=True)


def _confusion(summary: dict[str, Any]) -> Table:
    table = Table(title="rows by label (down) and prediction (across)", title_justify="left")
    table.add_column("")
    for label in summary["labels"]:
        table.add_column(str(label), justify="right")
    for label, counts in zip(summary["labels"], summary["confusion"], strict=True):
        table.add_row(str(label), *(f"{count:,}" for count in counts))
    return table


def write_report(path: str, this: Run, summary: dict[str, Any]) -> None:
    from ocoboost import report
    from ocoboost.run import page as stream

    facts = report.provenance(command(), seed=summary["seed"], model=summary["model"], file=summary["file"])
    try:
        report.write(stream.page(this, summary, facts), Path(path))
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written ({error.strerror})", param_hint="--report") from error
