"""User errors: one line on standard error, and exit code 2. Warnings are one line too, each once."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from ocoboost.spelling import escaped

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
            sys.stdout.flush()
        except _UsageError as error:
            say(f"ocoboost: {error.format_message()}")
            sys.exit(error.exit_code)
        except (typer.Abort, KeyboardInterrupt):
            say("ocoboost: interrupted")
            sys.exit(130)
        except BrokenPipeError:  # the reader has closed the pipe, as `head` does
            _drop_output()
            sys.exit(1)
        except OSError as error:
            say(f"ocoboost: {error.filename or 'standard output'}: {error.strerror or error}")
            _drop_output()
            sys.exit(2)
        sys.exit(code if isinstance(code, int) else 0)


def _drop_output() -> None:
    """Send what is still buffered nowhere: Python would try again at exit, and complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(line: str) -> None:
    """Print one line on standard error, whatever the names and values in it are."""
    typer.echo(escaped(" ".join(line.split())), err=True)


def one_of(names: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The names in a comma-separated list; raises if one of them is not known."""
    chosen = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        got = repr(unknown[0] if unknown else names)
        raise typer.BadParameter(f"{got} is not one of {', '.join(known)}", param_hint=option)
    return chosen


@contextmanager
def one_line(*, has_drop: bool = True) -> Iterator[None]:
    """Turn the errors that a user can fix into one line and exit code 2, and warnings into one line each.

    ``has_drop`` says whether the command can leave a column out.
    """
    from ocoboost import errors

    try:
        with _warnings_as_lines(has_drop=has_drop):
            yield
    except (
        errors.DataFileError,
        errors.InvalidInputError,
        errors.InvalidParameterError,
        errors.ModelFileError,
        errors.OutputFileError,
    ) as error:
        say(f"ocoboost: {error}")
        raise typer.Exit(2) from None
    except MemoryError as error:
        say(f"ocoboost: out of memory ({error or 'no details'}); lower --max-memory or --budget.")
        raise typer.Exit(2) from None


def _with_options(message: str, *, has_drop: bool) -> str:
    """A warning in the words of the command line: without the model's name, and with the option that mends it.

    >>> _with_options("OnlineBoostClassifier: X: column 'no' holds identifiers; leave the column out.", has_drop=True)
    "column 'no' holds identifiers; leave the column out (--drop no)."
    """
    message = re.sub(r"^\w+: [Xy]: ", "", message)
    column = re.match(r"column '([^']+)' ", message)
    if column is None or not has_drop:
        return message
    option = f" (--drop {shlex.quote(column[1])})"
    return re.sub(r"leave (?:the column|it) out", lambda found: found[0] + option, message, count=1)


@contextmanager
def _warnings_as_lines(*, has_drop: bool) -> Iterator[None]:
    """What the library warns of, as one line each, once; warnings of other kinds go where they would go anyway."""
    said: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, UserWarning):
                show(message, category, *where, **more)
            elif str(message) not in said:
                said.add(str(message))
                say(f"ocoboost: warning: {_with_options(str(message), has_drop=has_drop)}")

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield
