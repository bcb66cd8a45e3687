"""The page of ``ocoboost compare --streams``: a row per stream, a column per model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ocoboost.bench import compare, measures
from ocoboost.bench.comparison_page import ranks
from ocoboost.bench.leaderboard import MEASURES, complete
from ocoboost.report import figures
from ocoboost.report.page import Figure, Page, Section, Table

MOST_LINES = 6  # in a panel that stays readable
_LEGEND = (
    "Every model is given the same rows in the same order, and predicts each of them before it learns it. In percent; "
    "the best of each row is bold. Kappa compares with guessing by frequency, kappa-temporal with repeating the last "
    "label (last-label is 0). 'boost' is OnlineBoostClassifier(); a number at the end of a name is the size of an "
    "ensemble, and all else is left at its authors' defaults. Ours sees text as it is and learns a label when it first "
    "comes; CapyMOA's models are told all labels beforehand, and text becomes numbers for them and for River's kNN."
)
_COST = (
    "Seconds of processor time for predicting and learning, all threads; ours in blocks and compiled beforehand, the "
    "others row by row, as their libraries have it. Memory is at the end of the stream: for CapyMOA what Java's heap "
    "has grown by, which the rows themselves are no part of."
)
CAUTION = "streams of one generator are not"


def page(
    comparison: compare.Comparison, uses: Mapping[str, str], notes: Sequence[str], facts: Mapping[str, str]
) -> Page:
    """The whole report; ``uses`` says which streams are for development, ``notes`` what is not there, and why."""
    settings = comparison.settings
    summary = f"{len(settings.models)} models on {len(settings.names)} streams that change."
    made = sections(comparison, notes)
    made.insert(0, Section("Streams", [_streams(comparison, uses)]))
    return Page("Online classifiers on streams that change", summary, [*made, curves(comparison)], facts)


def sections(comparison: compare.Comparison, notes: Sequence[str] = ()) -> list[Section]:
    """Ranks, scores and costs: what the docs have too."""
    ranked = complete(comparison)
    left_out = [model for model in comparison.settings.models if model not in ranked.settings.models]
    without = [f"Not run on every stream, hence without a rank: {', '.join(left_out)}."] if left_out else []
    tables = [scores(comparison, measure) for measure in MEASURES]
    return [
        Section("Ranks", [*ranks(ranked, CAUTION), *without]),
        Section("Scores", [_LEGEND, *(table for table in tables if table.rows), *notes]),
        Section("Time and memory", [_COST, *(_costs(comparison, kind) for kind in ("cpu_seconds", "bytes"))]),
    ]


def _streams(comparison: compare.Comparison, uses: Mapping[str, str]) -> Table:
    rows = []
    for name in comparison.settings.names:
        found = next((comparison.runs[at][0] for at in comparison.runs if at[0] == name), None)
        if found is not None:
            changes = ", ".join(f"{row:,}" for row in found["changes"])
            rows.append((name, uses[name], f"{found['rows']:,}", f"{len(found['labels']) or 'many'}", changes))
    return Table(("stream", "use", "rows", "labels", "changes begin at rows"), rows)


def scores(comparison: compare.Comparison, measure: str) -> Table:
    """The scores by one of the measures."""
    return _table(comparison, measure, MEASURES[measure], lambda value: f"{round(value, 1) + 0.0:.1f}", has_best=True)


def _costs(comparison: compare.Comparison, kind: str) -> Table:
    if kind == "bytes":
        return _table(comparison, kind, "MiB at the end", lambda value: f"{value / 2**20:,.1f}")
    return _table(comparison, kind, "CPU seconds", lambda value: f"{value:,.1f}")


def _table(
    comparison: compare.Comparison,
    measure: str,
    title: str,
    spell: Callable[[float], str],
    *,
    has_best: bool = False,
) -> Table:
    """Streams down, models across; a stream on which nothing can be measured is left out."""
    models, rows, strong = comparison.settings.models, list[tuple[str, ...]](), set[tuple[int, int]]()
    for name in comparison.settings.names:
        cells = [comparison.interval(name, 0.0, model, measure) for model in models]
        values = [cell[0] for cell in cells if cell is not None]
        if not values:
            continue
        if has_best:
            best = max(values)
            strong |= {(len(rows), j) for j, cell in enumerate(cells, 1) if cell is not None and cell[0] == best}
        rows.append((name, *("" if cell is None else spell(cell[0]) for cell in cells)))
    return Table((title, *models), rows, strong=frozenset(strong))


def curves(comparison: compare.Comparison) -> Section:
    """Accuracy block by block, which shows what a change costs and how long."""
    ranked = complete(comparison).scores()
    models = list(comparison.settings.models)
    if ranked:
        order = measures.mean_ranks(ranked)
        models = sorted(order, key=order.__getitem__)
    first = comparison.settings.models[0]
    shown = [first, *(model for model in models if model != first)][:MOST_LINES]
    panels = {}
    for name in comparison.settings.names:
        bands, n_rows = {}, 0
        for model in shown:
            if runs := comparison.runs.get((name, 0.0, model)):
                middle = by_block(runs[0]["curve"], runs[0]["rows"])
                bands[model], n_rows = figures.Band(middle, middle, middle), runs[0]["rows"]
        if bands:
            n_points = max(len(band.middle) for band in bands.values())
            x = [n_rows * (point + 1) / n_points for point in range(n_points)]
            panels[f"{name}: accuracy by rows"] = figures.lines(name, x, bands, x_label="rows", y_label="accuracy, %")
    caption = f"Accuracy in each fortieth of a stream: {first} and the best others by mean rank."
    return Section("Accuracy over time", [Figure(panels, caption)])


def by_block(so_far: Sequence[float], n_rows: int) -> list[float]:
    """Accuracy in each block, in percent, from the accuracy of all rows up to its end.

    >>> by_block([100.0, 75.0], n_rows=8)
    [100.0, 50.0]
    """
    ends = np.linspace(0, n_rows, len(so_far) + 1).astype(int)
    right = np.concatenate([[0.0], np.array(so_far) * ends[1:]])
    return [round(float(share), 2) for share in np.clip(np.diff(right) / np.maximum(np.diff(ends), 1), 0.0, 100.0)]
