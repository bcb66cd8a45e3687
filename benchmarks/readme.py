"""The table of the README, from the runs that `accuracy.py` and `streams.py` have kept.

    python benchmarks/readme.py

reads ``benchmarks/results/accuracy.jsonl`` and ``benchmarks/results/streams.jsonl`` and writes the table between the
marks in ``README.md``. A cell that was not run is empty; the best of a column is bold.
"""

from __future__ import annotations

from typing import Any

import studies

PAGE = studies.DOCS.parent / "README.md"
STREAMS = {
    "covtype": "covtype",
    "elec": "elec-rest",
    "moving squares": "moving_squares-rest",
    "weather": "weather-rest",
    "flights": "flights",
}
TABLES = {"Segment, shuffled": 0.0, "and 40 % of labels flipped": 0.4}
# What a model is called in the README, in the streams' runs and in those of the tables.
MODELS = {
    "**ocoboost**": ("boost", "boost"),
    "CapyMOA ARF, 30 trees (Segment: its default)": ("capymoa-arf-30", "CapyMOA ARF"),
    "CapyMOA SRP, 30 trees (Segment: its default)": ("capymoa-srp-30", "CapyMOA SRP"),
    "River AMF": (None, "River AMF"),
    "River ARF": (None, "River ARF"),
    "repeating the last label": ("last-label", None),
}


def mean(runs: list[dict[str, Any]], scale: float, **wanted: Any) -> float | None:
    """The mean accuracy of the runs of one model on one stream, in percent."""
    found = [scale * run["accuracy"] for run in runs if all(run.get(name) == value for name, value in wanted.items())]
    return sum(found) / len(found) if found else None


def table(streams: list[dict[str, Any]], tables: list[dict[str, Any]]) -> str:
    """The table in Markdown."""
    cells = [
        [
            *(mean(streams, 1.0, stream=name, model=in_streams, seed=1) for name in STREAMS.values()),
            *(mean(tables, 100.0, dataset="segment", model=in_tables, noise=share) for share in TABLES.values()),
        ]
        for in_streams, in_tables in MODELS.values()
    ]
    best = [max(value for value in column if value is not None) for column in zip(*cells, strict=True)]
    rows = [
        (name, *("" if value is None else f"{value:.1f}" for value in row))
        for name, row in zip(MODELS, cells, strict=True)
    ]
    strong = [(i, j + 1) for i, row in enumerate(cells) for j, value in enumerate(row) if value == best[j]]
    return studies.table(("", *STREAMS, *TABLES), rows, strong=strong)


if __name__ == "__main__":
    options = studies.parser(__doc__).parse_args()
    runs = studies.finished("streams", options), studies.finished("accuracy", options)
    studies.put(PAGE, table(*runs), "accuracy")
