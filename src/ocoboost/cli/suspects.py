"""The suspects of a run: on the terminal, and as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ocoboost.spelling import abbreviated, as_cell, shortened, spelled

if TYPE_CHECKING:
    from ocoboost.online.mixture.judging import Suspect
    from ocoboost.run.runner import Run

MOST_SHOWN = 5
LONGEST = 20  # characters of a label


def check_suspects(this: Run, suspects: str | None) -> None:
    """Raise if suspects are asked for and the model keeps none."""
    from ocoboost.online.boost import OnlineBoostClassifier

    if suspects is not None and not isinstance(this.model, OnlineBoostClassifier):
        raise typer.BadParameter(
            f"{type(this.model).__name__} keeps no suspects; use --model boost", param_hint="--suspects"
        )


def suspects_of(this: Run) -> list[Suspect]:
    """The rows whose label looks wrong, worst first; none if the model keeps none."""
    from ocoboost.online.boost import OnlineBoostClassifier

    return this.model.suspects_ if isinstance(this.model, OnlineBoostClassifier) else []


def count_issues(this: Run) -> int:
    """How many labels are taken for wrong, of the rows that are kept."""
    return sum(suspect.is_label_issue for suspect in suspects_of(this))


def show_issues(console: Console, this: Run) -> None:
    """The labels that look most wrong."""
    issues = [suspect for suspect in suspects_of(this) if suspect.is_label_issue]
    if not issues:
        return
    title = f"Labels that look wrong: {len(issues):,}, worst first"
    console.print(title + (" (--suspects writes all of them)" if len(issues) > MOST_SHOWN else ""), highlight=False)
    shown = [
        (suspect.row, suspect.key, suspect.given_label, suspect.predicted_label, suspect.label_quality)
        for suspect in issues[:MOST_SHOWN]
    ]
    console.print(issue_table("row", shown, this.model.classes_))


def issue_table(place: str, issues: Sequence[tuple[int, Any, Any, Any, float]], known: Sequence[Any]) -> Table:
    """Rows by their place, with what identifies them if anything does, given and predicted label, and quality."""
    table = Table()
    has_keys = any(key is not None for _, key, *_ in issues)
    for column in (place, *(["id"] if has_keys else []), "given label", "predicted label", "label quality"):
        table.add_column(column, justify="right" if column in (place, "label quality") else "left")
    names = dict(zip(known, abbreviated(spelled(known), LONGEST), strict=True))
    for number, key, given, predicted, quality in issues:
        identified = [Text("" if key is None else shortened(key, LONGEST))] if has_keys else []
        labels = Text(names[given]), Text(names[predicted])
        table.add_row(f"{number:,}", *identified, *labels, f"{quality:.4f}")
    return table


def write_suspects(this: Run, path: str) -> None:
    """Write all suspects to a CSV file, worst first; rows are counted from 0."""
    from ocoboost.files.outputs import writing

    found = suspects_of(this)
    names = dict(zip(this.model.classes_, map(as_cell, spelled(this.model.classes_)), strict=True))
    with writing(path) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["row", "id", "label_quality", "given_label", "predicted_label", "is_label_issue"])
        for suspect in found:
            key = "" if suspect.key is None else as_cell(str(suspect.key))
            labels = names[suspect.given_label], names[suspect.predicted_label]
            writer.writerow([suspect.row, key, f"{suspect.label_quality:.6g}", *labels, suspect.is_label_issue])
