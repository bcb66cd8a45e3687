"""``ocoboost run``: prequential evaluation of a model on a file or a pipe."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from ocoboost.cli.cluster import Cluster, on_cluster
from ocoboost.cli.keyed import Key, refuse_with_key, run_by_key
from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.models import DEFAULT, list_models, make_model
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError, Threads, is_given
from ocoboost.cli.rare import ClassWeight, Costs, cost_of, reweighted, show_ranks, unpredicted
from ocoboost.cli.studies import AsJson, command
from ocoboost.cli.suspects import check_suspects, count_issues, show_issues, write_suspects
from ocoboost.spelling import as_json as label_as_json
from ocoboost.spelling import escaped, shortened, spelled

if TYPE_CHECKING:
    from ocoboost.online.mixture.drift import Change
    from ocoboost.run.runner import Run

# What a resumed run cannot change.
FIXED = {
    name: f"--{name.replace('_', '-')}"
    for name in ("target", "model", "budget", "max_memory", "class_weight", "costs", "seed", "delay")
}
FIXED |= {"drop": "--drop", "text": "--text", "file_format": "--format", "delimiter": "--delimiter"}
OF_THE_MODEL = {"model", "budget", "max_memory", "class_weight", "costs", "seed"}
FIXED |= {"identifier": "--id"}
MOST_LABELS = 12  # in a confusion matrix on a terminal
MOST_CHANGES = 8  # that are named there
LONGEST = 40  # characters of a label there


def run(
    context: typer.Context,
    file: File,
    target: Annotated[
        str | None, typer.Option(help="Column with the labels; not needed with --resume.", show_default=False)
    ] = None,
    model: Annotated[
        str, typer.Option(help="Model to run; `--model help` lists them.", callback=list_models, is_eager=True)
    ] = DEFAULT,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Total number of weak learners.", show_default="200 for boosters")
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Memory for all that the model holds, in MiB.",
            show_default="512",
        ),
    ] = None,
    class_weight: ClassWeight = None,
    costs: Costs = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    jobs: Threads = 1,
    delay: Annotated[int, typer.Option(min=0, help="Rows that are predicted before the label of a row arrives.")] = 0,
    cluster: Cluster = None,
    key: Key = None,
    save: Annotated[
        str | None, typer.Option(help="Save the model to this file, periodically and at the end.", show_default=False)
    ] = None,
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between periodic saves.")] = 30.0,
    resume: Annotated[
        str | None,
        typer.Option(help="Resume from this model file, and save to it unless --save is given.", show_default=False),
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write a report to this HTML file.", show_default=False)] = None,
    suspects: Annotated[
        str | None,
        typer.Option(help="Write the rows whose label looks wrong to this CSV file.", show_default=False),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(help="Write what is predicted for each row to this CSV file.", show_default=False),
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", help="Column that identifies a row; not learned from.", show_default=False),
    ] = None,
    on_error: BadRows = OnError.STOP,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.", show_default=False)
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Numeric column to read as text; may be repeated.", show_default=False),
    ] = None,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Predict each row of a file before learning it, and print the scores."""
    # Over 60 lines because Typer reads the options off the signature.
    from ocoboost.errors import ModelFileError
    from ocoboost.run import runner
    from ocoboost.run.checkpoint import Settings

    with one_line():
        if key is not None:
            refuse_with_key(context)
            run_by_key(
                file,
                key,
                None if target is None else make_model(model, budget, max_memory, seed, jobs),
                target=target,
                drop=tuple(drop or ()),
                text=tuple(text or ()),
                file_format=None if file_format is None else file_format.value,
                delimiter=delimiter,
                on_error=on_error.value,
                folder=save or resume,
                is_resumed=resume is not None,
                save_every=save_every,
                as_json=as_json,
            )
            return
        _check_paths(file, save, resume, {"--report": report, "--suspects": suspects, "--predictions": predictions})
        settings = None
        if target is not None:
            settings = Settings(
                target=target,
                drop=tuple(drop or ()),
                text=tuple(text or ()),
                file_format=None if file_format is None else file_format.value,
                delimiter=delimiter,
                delay=delay,
                identifier=identifier,
                on_error=on_error.value,
            )
        if resume is None:
            if settings is None:
                raise typer.BadParameter("name the column with the labels", param_hint="--target")
            made = reweighted(make_model(model, budget, max_memory, seed, jobs), class_weight, costs)
            this = runner.Run(made, file, settings)
        else:
            this = runner.resume(resume, file, jobs, settings)
            _check_unchanged(context, this, resume, is_new=this.settings is settings)
            if is_given(context, "on_error"):
                this.settings = replace(this.settings, on_error=on_error.value)
        check_suspects(this, suspects)
        if predictions is not None:
            this.log_to(predictions)
        this.save_to, this.save_every = save or resume, save_every
        if report is not None and cluster is None:
            this.watch()
        clock, signum, unsaved = Clock(), None, None
        with on_cluster(this, cluster):
            try:
                signum = _complete(this, clock, is_quiet=as_json)
            except ModelFileError as error:
                unsaved = error  # the scores are worth having all the same
        summary = _summary(this, clock.speed)
        if as_json:
            typer.echo(json.dumps(summary, indent=2))
        else:
            _show(this, summary)
        if report is not None:
            _write_report(report, this, summary)
        if suspects is not None:
            write_suspects(this, suspects)
        for what, path in (("Report", report), ("Suspects", suspects), ("Predictions", predictions)):
            if path is not None and not as_json:
                Console().print(Text(escaped(f"{what} written to {path}")), soft_wrap=True)
        if unsaved is not None:
            raise unsaved
    if signum is not None:
        _say_stopped(this, signum)
        raise typer.Exit(128 + signum)


def _check_paths(file: str, save: str | None, resume: str | None, outputs: dict[str, str | None]) -> None:
    """Raise if an output cannot be written, or would overwrite anything but the model that is resumed."""
    from ocoboost.files.outputs import check_outputs

    if resume is None or save is not None:
        check_outputs({"--save": save}, {"the input": file})
    else:
        check_outputs({"--resume": resume}, {"the input": file})
    check_outputs(outputs, {"the input": file, "--save": save, "--resume": resume})


def _say_stopped(this: Run, signum: int) -> None:
    """One line on what is saved, and how to go on."""
    what = f"ocoboost: stopped by {signal.Signals(signum).name} after {this.scores.n_rows:,} rows"
    if this.save_to is None:
        say(f"{what}; nothing is saved without --save")
    elif not this.has_learned:
        say(f"{what}; there was nothing to save")
    else:
        say(f"{what}; --resume {shlex.quote(this.save_to)} continues from there")


def _check_unchanged(context: typer.Context, this: Run, saved: str, *, is_new: bool) -> None:
    """Raise if an option would change what is fixed: the model, and unless the run is new, how the file is read."""
    for name, option in FIXED.items():
        is_free = (is_new and name not in OF_THE_MODEL) or (
            name == "target" and context.params[name] == this.settings.target
        )
        if is_given(context, name) and not is_free:
            raise typer.BadParameter(f"cannot change in a run resumed from {saved}", param_hint=option)


class Clock:
    """Rows per second since the first block, during which kernels may be compiled."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self.speed = 0.0

    def tick(self, n_rows: int) -> None:
        """``n_rows`` are done."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now, n_rows
        else:
            self.speed = (n_rows - self._first[1]) / max(now - self._first[0], 1e-9)


def _complete(this: Run, clock: Clock, *, is_quiet: bool) -> int | None:
    """Run to the end of the file, or until Ctrl-C or SIGTERM; returns the signal that ended it.

    The first signal waits for the end of the block, because a partly learned row cannot be saved. A second one does
    not: then the last periodic save is what there is.
    """
    received: list[int] = []

    def on_signal(signum: int, frame: FrameType | None) -> None:
        received.append(signum)
        if len(received) > 1:
            raise KeyboardInterrupt
        this.interrupt()

    before = {signum: signal.signal(signum, on_signal) for signum in (signal.SIGINT, signal.SIGTERM)}
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
    except KeyboardInterrupt:
        if len(received) != 1:
            raise
        if this.has_learned:
            this.finish()
        return received[0]
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    return None


def _progress(is_quiet: bool) -> Progress:
    columns = (
        SpinnerColumn(),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows, {task.fields[speed]:,.0f}/s, accuracy {task.fields[accuracy]:.1%}"),
    )
    return Progress(*columns, console=Console(stderr=True), disable=is_quiet or not sys.stderr.isatty(), transient=True)


def _summary(this: Run, speed: float) -> dict[str, Any]:
    labels = this.model.classes_
    this.scores.grow(len(labels))  # a run of no rows has counted none
    counts = this.scores.counts
    return {
        "file": this.path,
        "target": this.settings.target,
        "model": " ".join(repr(this.model).split()),
        **this.scores.summary(),
        **this.scores.ranks.summary(),
        "prediction_sets": [size._asdict() for size in this.set_sizes],
        **cost_of(this),
        "labels": [label_as_json(label, name) for label, name in zip(labels, spelled(labels), strict=True)],
        "confusion": counts[:, :-1].tolist(),
        "not_predicted": counts[:, -1].tolist(),
        "skipped_rows": this.n_bad,
        "delay": this.settings.delay,
        "seed": this.model.seed,
        "rows_per_second": speed,  # 0 if there was only one block
        "changes": [change._asdict() for change in _changes(this)],
        "label_issues": count_issues(this),
        "new_rows": this.n_new,
        "saved": this.save_to,
    }


def _changes(this: Run) -> list[Change]:
    """Where the stream changed, if the model can tell."""
    from ocoboost.online.boost import OnlineBoostClassifier

    return this.model.drift_.changes if isinstance(this.model, OnlineBoostClassifier) else []


def _show(this: Run, summary: dict[str, Any]) -> None:
    from ocoboost.run.scores import TITLES

    console = Console()
    errors = Console(stderr=True, highlight=False)
    for bad in this.bad:
        errors.print(Text(escaped(f"skipped {this.source.name}, line {bad.line:,}: {bad.why}")), soft_wrap=True)
    if this.n_bad > len(this.bad):
        errors.print(f"... and {this.n_bad - len(this.bad):,} more rows")
    plural = "" if summary["rows"] == 1 else "s"
    title = f"{this.path}: {summary['rows']:,} row{plural}, each predicted before it was learned"
    title += "" if this.n_new == summary["rows"] else f"; {this.n_new:,} new rows since it was saved"
    console.print(Text(escaped(title)), soft_wrap=True)
    table = Table()
    table.add_column("score")
    table.add_column("value", justify="right")
    table.add_column("", style="dim")
    n_clipped, least = summary["log_loss_clipped_rows"], summary["log_loss_clipped_at"]
    notes = {
        "balanced_accuracy": "mean recall over the labels",
        "macro_f1": "mean F1 over the labels",
        "kappa": "0 is chance agreement",
        "log_loss": f"{unpredicted(summary)}clipped at {least:g} in {n_clipped / max(summary['rows'], 1):.1%} of rows",
        "calibration_error": "probability of the prediction against its accuracy, 15 bins",
    }
    for name, title in TITLES.items():
        value = summary[name]
        table.add_row(title, "-" if value is None else f"{value:.4f}", notes.get(name, ""))
    console.print(table)
    if len(summary["labels"]) <= MOST_LABELS:
        console.print("Confusion matrix (true labels down, predicted labels across)", highlight=False)
        console.print(_confusion(spelled(summary["labels"]), summary["confusion"]))
    show_ranks(console, summary)
    if changes := _changes(this):
        rows = ", ".join(f"{change.row:,}" for change in changes[-MOST_CHANGES:])
        earlier = f" and {len(changes) - MOST_CHANGES} earlier ones" if len(changes) > MOST_CHANGES else ""
        console.print(f"The stream changed about row {rows}{earlier}.", highlight=False)
    show_issues(console, this)
    speed = f"{summary['rows_per_second']:,.0f} rows/s, " if summary["rows_per_second"] else ""
    console.print(f"{speed}seed {summary['seed']}")
    if this.save_to is not None:
        console.print(Text(escaped(f"Model saved to {this.save_to}")), soft_wrap=True)


def _confusion(labels: list[str], confusion: list[list[int]]) -> Table:
    table = Table()
    table.add_column("")
    names = [Text(shortened(label, LONGEST)) for label in labels]
    for name in names:
        table.add_column(name, justify="right")
    for name, counts in zip(names, confusion, strict=True):
        table.add_row(name, *(f"{count:,}" for count in counts))
    return table


def _write_report(path: str, this: Run, summary: dict[str, Any]) -> None:
    from ocoboost import report
    from ocoboost.files.outputs import unwritable
    from ocoboost.run import page as stream

    facts = report.provenance(command(), seed=summary["seed"], model=summary["model"], file=summary["file"])
    try:
        report.write(stream.page(this, summary, facts), Path(path))
    except OSError as error:
        raise unwritable(path, error) from error
