"""The command line, one module per command: parse, call one function, print one thing."""

from __future__ import annotations

import typer

from ocoboost.cli.compare import compare
from ocoboost.cli.datasets import datasets
from ocoboost.cli.mistakes import OneLineErrors
from ocoboost.cli.predict import predict
from ocoboost.cli.reproduce import reproduce
from ocoboost.cli.run import run
from ocoboost.cli.warmup import warmup

app = typer.Typer(add_completion=False, cls=OneLineErrors)
app.command()(reproduce)
app.command()(compare)
app.command()(run)
app.command()(predict)
app.command()(datasets)
app.command()(warmup)


@app.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Online multiclass boosting."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
