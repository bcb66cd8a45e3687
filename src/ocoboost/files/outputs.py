"""Outputs that cannot be written, or would overwrite an input or each other, are refused before any work is done."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ocoboost.errors import OutputFileError
from ocoboost.files.opening import STANDARD_INPUT
from ocoboost.writing import replacing


def check_outputs(outputs: Mapping[str, str | None], inputs: Mapping[str, str | None], *, pipes: bool = False) -> None:
    """Raise if an output is a bad path, an input or another output; keys are what the messages call them.

    With ``pipes``, an output may be something else than a regular file, such as ``/dev/null``.
    """
    taken = {name: path for name, path in inputs.items() if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        for name, other in taken.items():
            if is_same_file(path, other):
                raise OutputFileError(f"{path}: {option} would overwrite {name} ({other}); name another file.")
        check_output(path, pipes=pipes)
        taken[option] = path


def check_output(path: str, *, pipes: bool = False) -> None:
    """Raise if a file cannot be written."""
    target = Path(path).resolve()
    try:
        mode = target.stat().st_mode if target.exists() else stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise OutputFileError(f"{path}: cannot be written (it is a folder); name a file.")
        if not stat.S_ISREG(mode):
            if pipes:
                return
            raise OutputFileError(f"{path}: cannot be written (it is not a regular file).")
        if not target.parent.is_dir():
            raise OutputFileError(f"{path}: cannot be written (there is no folder {target.parent}).")
        if target.exists() and not os.access(target, os.W_OK):
            raise OutputFileError(f"{path}: cannot be written (it is read-only).")
        with tempfile.TemporaryFile(dir=target.parent):  # the only way to know
            pass
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: str, error: OSError) -> OutputFileError:
    """The error for a file that the system does not let us write."""
    return OutputFileError(f"{path}: cannot be written ({error.strerror or error}).")


def is_same_file(one: str | int, other: str | int) -> bool:
    """Whether two paths or descriptors lead to the same regular file, through links too; ``-`` is standard input."""
    try:
        first, second = map(_status, (one, other))
        return stat.S_ISREG(first.st_mode) and os.path.samestat(first, second)
    except (OSError, ValueError):  # one of them does not exist yet, or has no descriptor
        if isinstance(one, int) or isinstance(other, int) or STANDARD_INPUT in (one, other):
            return False
        return os.path.realpath(one) == os.path.realpath(other)


def _status(path: str | int) -> os.stat_result:
    if path == STANDARD_INPUT:
        path = sys.stdin.fileno()
    return os.fstat(path) if isinstance(path, int) else Path(path).stat()


@contextmanager
def writing(path: str) -> Iterator[TextIO]:
    """Text for a file, which is replaced when all of it is there, or for a pipe or device, as it comes."""
    options: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    try:
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("w", **options) as out:
                yield out
            return
        with replacing(path) as file, os.fdopen(os.dup(file.fileno()), "w", **options) as out:
            yield out
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(path, error) from error
