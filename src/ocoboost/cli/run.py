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
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn

from ocoboost.cli.cluster import Cluster, on_cluster
from ocoboost.cli.keyed import Key, refuse_with_key, run_by_key
from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.models import DEFAULT, list_models, make_model
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError, Threads, is_given, no_target
from ocoboost.cli.rare import ClassWeight, Costs, reweighted, warn_of_unknown
from ocoboost.cli.run_output import say_where, show, summarize, write_pages
from ocoboost.cli.studies import AsJson
from ocoboost.cli.suspects import check_suspects, write_suspects

if TYPE_CHECKING:
    from ocoboost.run.runner import Run

# What a resumed run cannot change.
FIXED = {
    name: f"--{name.replace('_', '-')}"
    for name in ("target", "model", "budget", "max_memory", "class_weight", "costs", "seed", "delay")
}
FIXED |= {"drop": "--drop", "text": "--text", "file_format": "--format", "delimiter": "--delimiter"}
OF_THE_MODEL = {"model", "budget", "max_memory", "class_weight", "costs", "seed"}
FIXED |= {"identifier": "--id"}


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
        int | None,
        typer.Option(
            min=1, help="Total number of weak learners.", show_default="270 for boost, 200 for other boosters"
        ),
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
    regret: Annotated[
        str | None,
        typer.Option(
            help="Write an account of the regret to this HTML file, for readers of the paper.", show_default=False
        ),
    ] = None,
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
    from ocoboost.run import resuming, runner
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
        outputs = {"--report": report, "--regret": regret, "--suspects": suspects, "--predictions": predictions}
        _check_paths(file, save, resume, outputs)
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
                raise no_target(file, None if file_format is None else file_format.value, delimiter)
            made = reweighted(make_model(model, budget, max_memory, seed, jobs), class_weight, costs)
            this = runner.Run(made, file, settings)
        else:
            this = resuming.resume(resume, file, jobs, settings)
            _check_unchanged(context, this, resume, is_new=this.settings is settings)
            if is_given(context, "on_error"):
                this.settings = replace(this.settings, on_error=on_error.value)
        check_suspects(this, suspects)
        if predictions is not None:
            this.log_to(predictions)
        this.save_to, this.save_every = save or resume, save_every
        _watch(this, report, regret, cluster)
        clock, signum, unsaved = Clock(), None, None
        with on_cluster(this, cluster):
            try:
                signum = _complete(this, clock, is_quiet=as_json)
            except ModelFileError as error:
                unsaved = error  # the scores are worth having all the same
        warn_of_unknown(this, class_weight, costs, has_ended=signum is None)
        summary = summarize(this, clock.speed, clock.seconds)
        if as_json:
            typer.echo(json.dumps(summary, indent=2))
        else:
            show(this, summary)
        write_pages(this, summary, report, regret)
        if suspects is not None:
            write_suspects(this, suspects)
        if not as_json:
            say_where(outputs)
        if unsaved is not None:
            raise unsaved
    if signum is not None:
        _say_stopped(this, signum)
        raise typer.Exit(128 + signum)


def _watch(this: Run, report: str | None, regret: str | None, cluster: str | None) -> None:
    """Keep what the pages show."""
    if report is not None and cluster is None:
        this.watch()
    if regret is not None:
        if cluster is not None:
            raise typer.BadParameter("does not go with --cluster", param_hint="--regret")
        this.keep_account()


def _check_replaceable(save: str | None) -> None:
    """Raise if a model would be saved in the place of something else, such as a file of rows."""
    from ocoboost.errors import OutputFileError
    from ocoboost.files.outputs import unwritable
    from ocoboost.saving.container import MAGIC

    if save is None or not Path(save).is_file():
        return
    try:
        with Path(save).open("rb") as there:
            start = there.read(len(MAGIC))
    except OSError as error:
        raise unwritable(save, error) from error
    if start and start != MAGIC:
        raise OutputFileError(f"{save}: exists and is not a model; name another file for --save, or remove it.")


def _check_paths(file: str, save: str | None, resume: str | None, outputs: dict[str, str | None]) -> None:
    """Raise if an output cannot be written, or would overwrite anything but the model that is resumed."""
    from ocoboost.files.outputs import check_outputs

    if resume is None or save is not None:
        check_outputs({"--save": save}, {"the input": file})
        _check_replaceable(save)
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
        self._began = time.perf_counter()
        self._first: tuple[float, int] | None = None
        self.speed = 0.0

    @property
    def seconds(self) -> float:
        """Since the clock was made."""
        return time.perf_counter() - self._began

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
                scores, fraction = this.scores, this.fraction
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
