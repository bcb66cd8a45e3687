"""``ocoboost datasets``: the datasets of the paper, their sources, and whether they are available."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ocoboost.cli.studies import AsJson, DataDir


def datasets(
    data_dir: DataDir = None,
    check: Annotated[bool, typer.Option("--check", help="Load each dataset and verify its checksum.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the seven datasets of the paper: shape, source, licence, and whether they are available."""
    from ocoboost.bench import datasets as bench

    entries = []
    for name, dataset in bench.PAPER.items():
        entry = {**asdict(dataset), "url": dataset.url, "status": bench.status(name, data_dir)}
        if check:
            try:
                found = bench.checksum(bench.load_raw(name, data_dir))
                entry["status"] += "; checksum correct" if found == dataset.sha256 else f"; wrong checksum {found}"
            except bench.DatasetMissingError as error:
                entry["status"] = f"missing: {error}"
        entries.append(entry)
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    table = Table(title="The datasets of the paper", box=None, padding=(0, 2, 0, 0))
    for column in ("name", "rows", "features", "classes", "columns", "where"):
        table.add_column(column, justify="right" if column in ("rows", "features", "classes") else "left")
    for entry in entries:
        shape = [f"{entry[column]:,}" for column in ("n_rows", "n_features", "n_classes")]
        table.add_row(entry["name"], *shape, entry["columns"], entry["status"])
    console = Console()
    console.print(table)
    console.print()
    for entry in entries:
        console.print(f"[bold]{entry['name']}[/]: {entry['citation']} {entry['url']}", highlight=False)
    console.print("All are distributed by UCI under CC BY 4.0. --json shows the checksums.", highlight=False)
