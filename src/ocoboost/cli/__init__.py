"""The command line, one module per command: parse, call one function, print one thing."""

from __future__ import annotations

from typing import Annotated

import typer

from ocoboost.cli.audit import audit
from ocoboost.cli.compare import compare
from ocoboost.cli.datasets import datasets
from ocoboost.cli.feed import feed
from ocoboost.cli.inspect import inspect
from ocoboost.cli.mistakes import OneLineErrors
from ocoboost.cli.predict import predict
from ocoboost.cli.reproduce import reproduce
from ocoboost.cli.run import run
from ocoboost.cli.serve import serve
from ocoboost.cli.warmup import warmup

app = typer.Typer(add_completion=False, cls=OneLineErrors)
app.command()(run)
app.command()(predict)
app.command()(inspect)
app.command()(audit)
app.command()(compare)
app.command()(serve)
app.command()(feed)
app.command()(warmup)
app.command()(datasets)
app.command()(reproduce)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from ocoboost import __version__

        typer.echo(f"ocoboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Online multiclass boosting for streams whose labels may be wrong."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
