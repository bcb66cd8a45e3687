"""``ocoboost inspect``: what is in a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ocoboost.cli.mistakes import one_line
from ocoboost.cli.studies import AsJson
from ocoboost.spelling import abbreviated, as_call, escaped, shortened, spelled
from ocoboost.spelling import as_json as label_as_json

if TYPE_CHECKING:
    from ocoboost.stream.protocol import StreamClassifier

MOST_NAMES = 12  # of labels, columns and members
MOST_CHANGES = 8


def inspect(
    model: Annotated[str, typer.Argument(help="Model file, written by `ocoboost run --save` or `ocoboost.save`.")],
    as_json: AsJson = False,
) -> None:
    """Show what a model file holds: the model, its rows, labels, columns, members and memory."""
    from ocoboost.saving.model import read_model

    with one_line(has_drop=False):
        loaded, notes = read_model(model)
        told = described(loaded, notes)
        told["file"], told["file_bytes"] = model, Path(model).stat().st_size
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        _show(told)


def described(model: StreamClassifier, notes: Any) -> dict[str, Any]:
    """A model in words and numbers that JSON has."""
    from ocoboost.online.boost import OnlineBoostClassifier

    labels = model.classes_
    is_mixture = isinstance(model, OnlineBoostClassifier)
    settings = notes.get("settings") if isinstance(notes, dict) else None
    target = settings.get("target") if isinstance(settings, dict) else None
    return {
        "model": as_call(model),
        "rows": model.n_rows_,
        "target": target if isinstance(target, str) else None,
        "labels": [label_as_json(label, name) for label, name in zip(labels, spelled(labels), strict=True)],
        "columns": dict(zip(spelled(list(model.columns_)), model.columns_.values(), strict=True)),
        "memory_bytes": model.memory_usage_,
        "member_weights": model.member_weights_ if is_mixture and model.n_rows_ else {},
        "changes": [change._asdict() for change in model.drift_.changes] if is_mixture else [],
    }


def _show(told: dict[str, Any]) -> None:
    console = Console(highlight=False)
    kinds = list(told["columns"].values())
    counts = {kind: kinds.count(kind) for kind in ("numbers", "text", None)}
    counted = [f"{n:,} of {kind or 'missing values only'}" for kind, n in counts.items() if n]
    facts = {
        "model": told["model"],
        "rows learned": f"{told['rows']:,}",
        "target": told["target"] or "not kept in this file",
        "labels": f"{len(told['labels']):,}: {_listed(spelled(told['labels']))}" if told["labels"] else "none yet",
        "columns": f"{len(kinds):,} ({', '.join(counted)}): {_listed(told['columns'])}" if kinds else "none yet",
        "memory": f"{_mebibytes(told['memory_bytes'])} as loaded, {_mebibytes(told['file_bytes'])} in the file",
    }
    if told["changes"]:
        rows = [f"{change['row']:,}" for change in told["changes"][-MOST_CHANGES:]]
        earlier = len(told["changes"]) - len(rows)
        facts["changes"] = f"about row {', '.join(rows)}" + (f" and {earlier} earlier ones" if earlier else "")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, fact in facts.items():
        table.add_row(name, Text(escaped(fact)))
    console.print(table)
    weights = sorted(told["member_weights"].items(), key=lambda item: -item[1])
    if weights:
        console.print()
        console.print("Who decides at present")
        members = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        members.add_column(justify="right")
        members.add_column()
        for name, weight in weights[:MOST_NAMES]:
            members.add_row(f"{weight:.1%}", Text(shortened(name)))
        if len(weights) > MOST_NAMES:
            rest = sum(weight for _, weight in weights[MOST_NAMES:])
            members.add_row(f"{rest:.1%}", f"{len(weights) - MOST_NAMES} others")
        console.print(members)


def _listed(names: Any) -> str:
    names = list(names)
    return ", ".join(abbreviated(names[:MOST_NAMES], 24)) + (", ..." if len(names) > MOST_NAMES else "")


def _mebibytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MiB"
