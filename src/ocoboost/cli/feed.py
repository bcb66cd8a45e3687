"""``ocoboost feed``: a file sent to a service, with labels that arrive late."""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError
from ocoboost.cli.studies import AsJson

if TYPE_CHECKING:
    from ocoboost.files.sources import Source
    from ocoboost.serve.feeding import Feed, Line


def feed(
    file: File,
    target: Annotated[str, typer.Option(help="Column with the labels.", show_default=False)],
    url: Annotated[str, typer.Option(help="Address of the service.")] = "http://127.0.0.1:8000",
    delay: Annotated[int, typer.Option(min=0, help="Rows that are predicted before the label of a row is sent.")] = 0,
    rate: Annotated[
        float | None, typer.Option(min=0.01, help="Rows a second.", show_default="as fast as it goes")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Rows in a request.")] = 1,
    most: Annotated[int | None, typer.Option("--rows", min=1, help="Rows to send.", show_default="all")] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Name of this run, which begins the ids: the same file under it again changes nothing."),
    ] = None,
    token_file: Annotated[str | None, typer.Option(help="File with the token to send.", show_default=False)] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.", show_default=False)
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Numeric column to read as text; may be repeated.", show_default=False)
    ] = None,
    on_error: BadRows = OnError.STOP,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Send the rows of a file to a service, and their labels some rows later."""
    from ocoboost.files.columns import Columns
    from ocoboost.files.sources import Source
    from ocoboost.serve.feeding import Client, Feed

    with one_line():
        token = None if token_file is None else _token(token_file)
        columns = Columns(target, frozenset(drop or ()), frozenset(text or ()))
        kind = None if file_format is None else file_format.value
        client = Client(url, token)
        source = Source(file, columns, file_format=kind, delimiter=delimiter)
        this = Feed(client, run or secrets.token_hex(4), delay, rate, batch)
        began = time.monotonic()
        try:
            _send(this, _lines(source, skip=on_error is OnError.SKIP, most=most), is_quiet=as_json)
        finally:
            client.close()
            source.close()
        summary = _summary(this, time.monotonic() - began)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _show(summary)


def _token(path: str) -> str:
    from ocoboost.errors import DataFileError

    try:
        words = Path(path).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        words = []
    if not words:
        raise DataFileError(f"{path}: no token can be read from it.")
    return words[-1]


def _lines(source: Source, *, skip: bool, most: int | None) -> Iterator[Line]:
    from ocoboost.serve.feeding import Line

    n_rows = 0
    for chunk in source.chunks():
        for number, row, label in zip(chunk.lines, chunk.rows, chunk.labels, strict=True):
            if n_rows == most:
                return
            n_rows += 1
            yield Line(number, row, label)
        for bad in chunk.bad:
            if not skip or bad.is_last:
                raise bad.error(source.name)
            say(f"skipped {source.name}, line {bad.line:,}: {bad.why}")


def _send(this: Feed, lines: Iterator[Line], *, is_quiet: bool) -> None:
    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        said, began = 0.0, time.monotonic()
        for _ in this.steps(lines):
            now = time.monotonic()
            if now - said > 0.2 and not is_quiet and sys.stderr.isatty():
                said = now
                accuracy = this.n_right / max(1, this.n_labelled)
                speed = this.n_rows / max(now - began, 1e-9)
                live.update(Text(f"{this.n_rows:,} rows, {speed:,.0f}/s, accuracy {accuracy:.1%}"), refresh=True)


def _summary(this: Feed, seconds: float) -> dict[str, Any]:
    ordered = sorted(this.seconds)
    at = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None for share in (0.5, 0.99)]
    return {
        "run": this.run,
        "rows": this.n_rows,
        "accuracy": this.n_right / this.n_labelled if this.n_labelled else None,
        "labels": dict(this.statuses),
        "rows_per_second": this.n_rows / max(seconds, 1e-9),
        "predict_seconds": {"median": at[0], "99th": at[1]},
        "connections_lost": this.client.n_broken,
    }


def _show(summary: dict[str, Any]) -> None:
    console = Console(highlight=False)
    accuracy = "-" if summary["accuracy"] is None else f"{summary['accuracy']:.4f}"
    console.print(
        f"{summary['rows']:,} rows, accuracy {accuracy} as answered, {summary['rows_per_second']:,.0f} rows/s"
    )
    median, high = (summary["predict_seconds"][name] for name in ("median", "99th"))
    if median is not None:
        console.print(f"a prediction took {1e3 * median:.1f} ms (median), {1e3 * high:.1f} ms (99th percentile)")
    labels = ", ".join(f"{count:,} {status}" for status, count in sorted(summary["labels"].items()))
    console.print(f"labels: {labels or 'none'}; run {summary['run']}")
