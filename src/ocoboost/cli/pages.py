"""Pages that commands write, and the line that says where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ocoboost.spelling import escaped

if TYPE_CHECKING:
    from ocoboost.report import Page


def write_page(page: Page, path: str | Path) -> None:
    """Render a page into a file."""
    from ocoboost import report
    from ocoboost.files.outputs import unwritable

    try:
        report.write(page, Path(path))
    except OSError as error:
        raise unwritable(str(path), error) from error


def say_written(what: str, path: str | Path | None) -> None:
    """Name a file that was written, if one was asked for."""
    if path is not None:
        Console().print(Text(escaped(f"{what} written to {path}")), soft_wrap=True)
