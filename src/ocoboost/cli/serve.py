"""``ocoboost serve``: a model as a service, with labels that arrive late."""

from __future__ import annotations

import asyncio
import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.models import DEFAULT, list_models, make_model
from ocoboost.cli.options import Threads

if TYPE_CHECKING:
    from ocoboost.serve.database import Database
    from ocoboost.serve.folder import Folder
    from ocoboost.serve.limits import Limits
    from ocoboost.stream.protocol import StreamClassifier

NEEDED = ("starlette", "uvicorn")  # the extra ``serve``


def serve(
    folder: Annotated[str, typer.Argument(help="Folder of the service: its log and its models.")],
    new: Annotated[bool, typer.Option("--new", help="Begin with an empty model.")] = False,
    trained: Annotated[
        str | None, typer.Option("--from", help="Begin with the model in this file.", show_default=False)
    ] = None,
    model: Annotated[
        str, typer.Option(help="Model to begin with; `--model help` lists them.", callback=list_models, is_eager=True)
    ] = DEFAULT,
    classes: Annotated[
        str | None, typer.Option(help="All labels, separated by commas, if no others may come.", show_default=False)
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Learn from right and wrong, not from labels; needs --classes.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Total number of weak learners.", show_default="270 for boost, 200 for other boosters"
        ),
    ] = None,
    max_memory: Annotated[
        float | None, typer.Option(min=1, help="Memory for all that the model holds, in MiB.", show_default="512")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    jobs: Threads = 1,
    challenger: Annotated[
        list[str] | None,
        typer.Option(help="Add a model that learns and does not answer: NAME=MODEL or NAME=FILE.", show_default=False),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    tokens: Annotated[
        str | None,
        typer.Option(help="File of roles and tokens; needed unless the address is this machine's.", show_default=False),
    ] = None,
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between saves of a model.")] = 30.0,
    pending_rows: Annotated[int, typer.Option(min=1, help="Rows that may wait for their labels.")] = 100_000,
    pending_hours: Annotated[float, typer.Option(min=0, help="Hours that a row waits for its label.")] = 168.0,
    keep_log: Annotated[
        int | None,
        typer.Option(min=0, help="Rows of the log to keep once every model has learned them.", show_default="all"),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.1, help="Rows a second that one client may send.", show_default="any number")
    ] = None,
) -> None:
    """Serve predictions over HTTP, and learn from labels that arrive late, each exactly once."""
    # Over 60 lines because Typer reads the options off the signature.
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        say(f"ocoboost: missing packages ({', '.join(missing)}); install them with: pip install 'ocoboost[cli,serve]'")
        raise typer.Exit(2)
    from ocoboost.serve.folder import Folder
    from ocoboost.serve.limits import Limits
    from ocoboost.serve.listening import is_loopback, listen
    from ocoboost.serve.service import Service
    from ocoboost.serve.tokens import Tokens

    with one_line(has_drop=False):
        if tokens is None and not is_loopback(host):
            raise typer.BadParameter("needed when --host is not a loopback address", param_hint="--tokens")
        known = Tokens() if tokens is None else Tokens.read(tokens)
        limits = Limits(pending_rows=pending_rows, pending_seconds=3600.0 * pending_hours, log_rows=keep_log, rate=rate)
        place = Folder(folder)
        first = _first_model(place, new, trained, model, classes, feedback, budget, max_memory, seed, jobs)
        _prepare(place, limits, first, challenger or [], seed, jobs)
        logging.basicConfig(level=logging.WARNING, format="ocoboost: %(message)s")
        service = Service(place, limits, save_every, jobs)
        asyncio.run(listen(service, known, host, port, say))


def _first_model(
    place: Folder,
    new: bool,
    trained: str | None,
    model: str,
    classes: str | None,
    feedback: bool,
    budget: int | None,
    max_memory: float | None,
    seed: int,
    jobs: int,
) -> tuple[str, StreamClassifier] | None:
    """The model to begin with, and its name; None if the service has begun before."""
    from pathlib import Path

    from ocoboost.saving.model import read_model

    if new and trained is not None:
        raise typer.BadParameter("cannot stand beside --from", param_hint="--new")
    begins = new or trained is not None
    if place.exists and begins:
        option = "--new" if new else "--from"
        raise typer.BadParameter(f"{place.path} holds a service already; leave it out to go on", param_hint=option)
    if not place.exists and not begins:
        raise typer.BadParameter(f"{place.path} holds no service; begin one with --new or --from", param_hint="FOLDER")
    if trained is not None:
        return Path(trained).stem, read_model(trained, jobs)[0]
    if not new:
        return None
    made = make_model(model, budget, max_memory, seed, jobs)
    if classes is not None:
        labels = [label.strip() for label in classes.split(",")]
        if "classes" not in vars(made):
            raise typer.BadParameter(f"{type(made).__name__} does not take them", param_hint="--classes")
        made = made.clone({"classes": labels})
    if feedback:
        made = _playing(made, classes, seed)
    made.check_parameters()
    return model, made


def _playing(booster: StreamClassifier, classes: str | None, seed: int) -> StreamClassifier:
    """A model that plays labels, and learns whether they were right."""
    from ocoboost.online.bandit import OnlineBanditBoostClassifier
    from ocoboost.online.booster import LearnerBooster

    if not isinstance(booster, LearnerBooster):
        raise typer.BadParameter(f"needs a booster, and {type(booster).__name__} is none", param_hint="--feedback")
    if classes is None:
        raise typer.BadParameter("needs --classes: the labels to choose from", param_hint="--feedback")
    return OnlineBanditBoostClassifier(booster, classes=booster.classes_, seed=seed)


def _prepare(
    place: Folder,
    limits: Limits,
    first: tuple[str, StreamClassifier] | None,
    challengers: list[str],
    seed: int,
    jobs: int,
) -> None:
    """Put new models into the folder, and compile what they need before anybody waits for it."""
    from ocoboost.cli.warmup import use

    wanted = [_challenger(text, seed, jobs) for text in challengers]
    with place.locked():
        database: Database = place.open(limits)
        try:
            for name, made in [*([first] if first is not None else []), *wanted]:
                place.add(name, made, database)
            served = place.read(database)
        finally:
            database.close()
    for one in {type(one.model): one.model for one in served.values()}.values():
        one = getattr(one, "booster", None) or one  # noqa: PLW2901, what a model that plays learns with
        use(one.clone({"classes": None} if "classes" in vars(one) else {}))


def _challenger(text: str, seed: int, jobs: int) -> tuple[str, StreamClassifier]:
    from pathlib import Path

    from ocoboost.saving.model import read_model

    name, _, source = text.partition("=")
    if not source:
        raise typer.BadParameter(f"must be NAME=MODEL or NAME=FILE, got {text!r}", param_hint="--challenger")
    if Path(source).suffix == ".oco":
        return name, read_model(source, jobs)[0]
    return name, make_model(source, None, None, seed, jobs)
