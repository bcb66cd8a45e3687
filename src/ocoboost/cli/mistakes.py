"""User errors: one line on standard error, and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

# Click's base class of usage errors; some versions of Typer bring a Click of their own.
_UsageError: Any = typer.BadParameter.__mro__[2]


class OneLineErrors(TyperGroup):
    """A group of commands that prints an error without the usage in front of it."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        is_alone = kwargs.pop("standalone_mode", True)
        run: Any = super().main
        if not is_alone:
            return run(*args, **kwargs, standalone_mode=False)
        try:
            code = run(*args, **kwargs, standalone_mode=False)
        except _UsageError as error:
            typer.echo(f"ocoboost: {' '.join(error.format_message().split())}", err=True)
            sys.exit(error.exit_code)
        except (typer.Abort, KeyboardInterrupt):
            typer.echo("ocoboost: interrupted", err=True)
            sys.exit(130)
        sys.exit(code if isinstance(code, int) else 0)


def one_of(names: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The names in a comma-separated list; raises if one of them is not known."""
    chosen = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        got = repr(unknown[0] if unknown else names)
        raise typer.BadParameter(f"{got} is not one of {', '.join(known)}", param_hint=option)
    return chosen


@contextmanager
def one_line() -> Iterator[None]:
    """Turn the errors that a user can fix into one line and exit code 2."""
    from ocoboost.errors import DataFileError, InvalidInputError, InvalidParameterError, ModelFileError

    try:
        yield
    except (DataFileError, InvalidInputError, InvalidParameterError, ModelFileError) as error:
        typer.echo(f"ocoboost: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from None
