"""``ocoboost audit``: which labels of a table look wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from ocoboost.cli.mistakes import one_line, say
from ocoboost.cli.options import BadRows, Delimiter, File, FileFormat, OnError, Threads
from ocoboost.cli.pages import say_written, write_page
from ocoboost.cli.studies import AsJson, command
from ocoboost.cli.suspects import issue_table
from ocoboost.spelling import as_json as label_as_json
from ocoboost.spelling import escaped

if TYPE_CHECKING:
    from ocoboost.files.columns import BadRecord
    from ocoboost.run.audit import Audit
    from ocoboost.run.audit import Table as Rows

MOST_SHOWN = 10


def audit(
    file: File,
    target: Annotated[str, typer.Option(help="Column with the labels.", show_default=False)],
    output: Annotated[
        str | None, typer.Option(help="Write all rows, worst first, to this CSV file.", show_default=False)
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write a report to this HTML file.", show_default=False)] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Column that identifies a row; not learned from.", show_default=False)
    ] = None,
    passes: Annotated[int, typer.Option(min=2, help="Passes over the rows.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    jobs: Threads = 1,
    on_error: BadRows = OnError.STOP,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.", show_default=False)
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Numeric column to read as text; may be repeated.", show_default=False)
    ] = None,
    file_format: FileFormat = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Rank the rows of a table by how wrong their labels look."""
    from ocoboost.errors import DataFileError
    from ocoboost.files.columns import Columns, check_labels
    from ocoboost.files.outputs import check_outputs, writing
    from ocoboost.files.sources import Source
    from ocoboost.report import provenance
    from ocoboost.run import audit as auditing
    from ocoboost.run import audit_page

    def on_bad(bad: BadRecord) -> None:
        if on_error == OnError.STOP or bad.is_last:
            raise bad.error(source.name)
        say(f"skipped {source.name}, line {bad.line:,}: {bad.why}")

    with one_line():
        check_outputs({"--output": output, "--report": report}, {"the input": file})
        columns = Columns(target, frozenset(drop or ()), frozenset(text or ()), identifier=identifier)
        kind = None if file_format is None else file_format.value
        source = Source(file, columns, file_format=kind, delimiter=delimiter)
        rows = auditing.read_table(source, on_bad)
        if len(rows.labels) < passes:
            raise DataFileError(f"{source.name}: {len(rows.labels):,} usable rows are too few for {passes} passes.")
        n_labels = len(set(rows.labels))
        if n_labels == 1:
            only = rows.labels[0]
            raise DataFileError(f"{source.name}: every row has the label {only!r}; there is nothing to compare.")
        if not any(len(row) for row in rows.rows):  # lines of JSON may hold anything
            raise DataFileError(f"{source.name}: no columns besides the target; there is nothing to learn from.")
        check_labels(source.name, target, n_labels, len(rows.labels))
        found = _audited(rows, passes, seed, jobs, is_quiet=as_json)
        if output is not None:
            with writing(output) as out:
                auditing.write_csv(out, found, rows)
        if report is not None:
            facts = provenance(command(), seed=seed, file=file)
            write_page(audit_page.page(found, rows, Path(file).name, target, facts), report)
        if as_json:
            typer.echo(json.dumps(_summary(found, rows, file, target, seed), indent=2))
        else:
            _show(found, rows, file, output)
            say_written("All rows, worst first,", output)
            say_written("Report", report)


def _audited(rows: Rows, passes: int, seed: int, jobs: int, *, is_quiet: bool) -> Audit:
    from ocoboost.online.boost import OnlineBoostClassifier
    from ocoboost.run import audit as auditing

    columns = (SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TextColumn("passes"))
    is_hidden = is_quiet or not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=is_hidden, transient=True) as progress:
        bar = progress.add_task("", total=passes)
        return auditing.audit(
            rows.rows,
            rows.labels,
            lambda number, classes: OnlineBoostClassifier(
                classes=classes, seed=seed + number, n_jobs=jobs, n_suspects=0
            ),
            n_passes=passes,
            seed=seed,
            n_jobs=jobs,
            on_pass=lambda number: progress.update(bar, completed=number),
        )


def _summary(found: Audit, rows: Rows, file: str, target: str, seed: int) -> dict[str, Any]:
    from ocoboost.run.audit import records

    issues = [record for record in records(found, rows) if record["is_label_issue"]]
    for record in issues:
        for name in record.keys() & {"id", "given_label", "predicted_label"}:
            record[name] = label_as_json(record[name], str(record[name]))
    return {
        "file": file,
        "target": target,
        "seed": seed,
        "rows": len(found.given),
        "label_issues": len(issues),
        "foretold": found.foretold,
        "most_frequent": found.most_frequent,
        "issues": issues,
    }


def _show(found: Audit, rows: Rows, file: str, output: str | None) -> None:
    from ocoboost.run.audit import records, worth

    console = Console()
    n_rows, n_issues = len(found.given), int(found.is_issue.sum())
    title = f"{file}: {n_issues:,} of {n_rows:,} labels look wrong ({n_issues / n_rows:.1%})"
    console.print(Text(escaped(title)), soft_wrap=True)
    console.print(worth(found), highlight=False)
    shown = [record for record in records(found, rows) if record["is_label_issue"]][:MOST_SHOWN]
    names = "given_label", "predicted_label", "label_quality"
    issues = [(record["line"], record.get("id"), *(record[name] for name in names)) for record in shown]
    if issues:
        console.print(issue_table("line", issues, found.classes))
    if output is None and n_issues > len(shown):
        console.print(f"... and {n_issues - len(shown):,} more; --output writes all rows", highlight=False)
