"""The command line, a module a command: parse, call one function, show one thing."""

from __future__ import annotations

import typer

from ocoboost.cli.demo import demo
from ocoboost.cli.predict import predict
from ocoboost.cli.run import run

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Online multiclass boosting on streams.")
app.command()(demo)
app.command()(run)
app.command()(predict)


@app.callback()
def root() -> None:
    """Online multiclass boosting on streams."""
