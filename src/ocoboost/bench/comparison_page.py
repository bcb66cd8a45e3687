"""The page of ``ocoboost compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ocoboost.bench import measures
from ocoboost.bench.compare import MEASURES, Comparison, title_of
from ocoboost.bench.measures import shown
from ocoboost.report import figures
from ocoboost.report.figures import CONFUSION
from ocoboost.report.page import Figure, Page, Part, Section, Table
from ocoboost.spelling import shortened


def page(comparison: Comparison, notes: Sequence[str], facts: Mapping[str, str]) -> Page:
    """The whole report; ``notes`` say what is not there, and why."""
    settings = comparison.settings
    sections = [Section("Scores", [_LEGEND, *_scores(comparison), *notes])]
    sections.append(Section("Learning curves", [_curves(comparison)]))
    if len(settings.shares) > 1:
        sections.append(Section("Accuracy by noise", [_noise(comparison)]))
    sections += [
        Section("Time against accuracy", [_time(comparison)]),
        Section("Time and memory", [_cost(comparison, "seconds"), _cost(comparison, "bytes")]),
        Section("Ranks", ranks(comparison, "noise levels of one dataset are not")),
        Section("Confusion matrices", [_confusions(comparison)]),
    ]
    shuffles = "one shuffle" if len(settings.shuffles) == 1 else f"{len(settings.shuffles)} shuffles"
    summary = f"{len(settings.models)} models on {len(settings.names)} datasets, {shuffles}. "
    summary += "All are given the same rows in the same order, and the same flipped labels."
    return Page("Online classifiers, compared", summary, sections, facts)


def file_page(comparison: Comparison, target: str, notes: Sequence[str], facts: Mapping[str, str]) -> Page:
    """The report on a file of one's own."""
    ((name,), models) = comparison.settings.names, comparison.settings.models
    (first, *_) = comparison.runs.values()
    columns = {**MEASURES, "seconds": "seconds", "bytes": "MiB at the end"}
    rows, numbers = [], []
    for model in models:
        if runs := comparison.runs.get((name, 0.0, model)):
            found = runs[0]
            scores = [f"{found[measure]:.1f}" for measure in MEASURES]
            rows.append((model, *scores, f"{found['seconds']:.2f}", f"{found['bytes'] / 2**20:,.1f}"))
            numbers.append([found[measure] for measure in MEASURES])
    best = np.max(numbers, axis=0)
    strong = {(i, j + 1) for i, scores in enumerate(numbers) for j, score in enumerate(scores) if score == best[j]}
    table = Table(("model", *columns.values()), rows, "The best of each column is bold.", frozenset(strong))
    sections = [
        Section("Scores", [_FILE_LEGEND, table, *notes]),
        *_labels(comparison),
        Section("Learning curves", [replace(_curves(comparison), caption="Accuracy of all rows so far.")]),
        Section("Time against accuracy", [_time(comparison)]),
    ]
    confusion = _confusions(comparison)
    if confusion.panels:
        sections.append(Section("Confusion matrix", [replace(confusion, caption=f"{models[0]}. {CONFUSION}")]))
    summary = f"{len(rows)} models on {first[0]['rows']:,} rows in the order of the file; the label is {target!r}. "
    return Page(f"{name}: online classifiers, compared", summary, sections, facts)


def _labels(comparison: Comparison) -> list[Section]:
    """How well the models rank the rows of each label of a file, and what their predictions cost."""
    found = {model: runs[0] for (_, _, model), runs in comparison.runs.items()}
    (first, *_) = found.values()
    if not first["labels"]:
        return []
    titles = {
        "average_precision": "precision-recall area",
        "recall_at_alert_rate": f"recall at {first['alert_rate']:.0%} alerts",
    }
    parts: list[Part] = []
    for measure, title in titles.items():
        cells = np.array([run[measure] for run in found.values()]).T
        rows = [
            (shortened(label, 30), f"{n_rows:,}", *(f"{cell:.3f}" for cell in row))
            for label, n_rows, row in zip(first["labels"], first["label_rows"], cells, strict=True)
        ]
        strong = {(i, j + 2) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell == row.max()}
        parts.append(Table((title, "rows", *found), rows, strong=frozenset(strong)))
    if first["cost"] is not None:
        rows = [(model, f"{run['cost']:.4f}") for model, run in found.items()]
        caption = "Every model predicts the label with the least expected cost under its own probabilities."
        parts.append(Table(("model", "mean cost of a row"), rows, caption))
    legend = (
        "How well the probabilities rank the rows of each label: the area under the precision-recall curve, and the "
    )
    legend += f"share of its rows among the {first['alert_rate']:.0%} of all rows to which it was most probable. "
    return [Section("Each label", [legend + "The best of each row is bold.", *parts])]


_FILE_LEGEND = (
    "In percent. Every row is predicted before it is learned. All models have their defaults. Ours take text and "
    "missing cells as they are. River's trees take text as it is, and missing cells are left out of their rows. "
    "River's AMF takes complete numbers: text of up to 16 different values (in the first chunk of the file) has a "
    "column for each, other text is hashed into 16 columns, and a missing number is the mean of its column so far. "
    "Encoding is not timed; ours learn in blocks and are compiled beforehand, River's learn row by row."
)
_LEGEND = (
    "In percent, against the true labels, with the standard error over the shuffles. Every row is predicted before it "
    "is learned. The best of each column is bold. 'boost' is OnlineBoostClassifier(), 'boost-stumps' the same over "
    "the paper's stumps, which the agnostic and the realizable booster, OnlineMBBM and Adaboost.OLM have too. River's "
    "models have their library's defaults."
)


def _scores(comparison: Comparison) -> list[Table]:
    return [_table(comparison, share, measure) for share in comparison.settings.shares for measure in MEASURES]


def _table(comparison: Comparison, share: float, measure: str) -> Table:
    """A row per model, a column per dataset; the best of each column is bold."""
    settings, strong = comparison.settings, set()
    columns = []
    for j, name in enumerate(settings.names, 1):
        cells = [comparison.interval(name, share, model, measure) for model in settings.models]
        best = max((cell[0] for cell in cells if cell is not None), default=None)
        strong |= {(i, j) for i, cell in enumerate(cells) if cell is not None and cell[0] == best}
        columns.append(["" if cell is None else shown(cell) for cell in cells])
    rows = list(zip(settings.models, *columns, strict=True))
    names = (title_of(name) for name in settings.names)
    return Table((MEASURES[measure], *names), rows, f"{share:.0%} of the labels flipped.", frozenset(strong))


def _cost(comparison: Comparison, measure: str) -> Table:
    """Seconds, or MiB at the end of the stream, at the first share of flipped labels."""
    settings, columns = comparison.settings, []
    for name in settings.names:
        cells = [comparison.interval(name, settings.shares[0], model, measure) for model in settings.models]
        columns.append(
            ["" if c is None else f"{c[0]:.2f}" if measure == "seconds" else f"{c[0] / 2**20:,.1f}" for c in cells]
        )
    title = "seconds" if measure == "seconds" else "MiB at the end"
    caption = "Ours in blocks, compiled beforehand; River's row by row." if measure == "seconds" else ""
    rows = list(zip(settings.models, *columns, strict=True))
    return Table((title, *(title_of(name) for name in settings.names)), rows, caption)


def _curves(comparison: Comparison) -> Figure:
    share, panels = comparison.settings.shares[0], {}
    for name in comparison.settings.names:
        bands, n_rows = {}, 0
        for model in comparison.settings.models:
            runs = comparison.runs.get((name, share, model))
            if runs:
                bands[model] = figures.Band.of([run["curve"] for run in runs])
                n_rows = runs[0]["rows"]
        if bands:
            panels[f"{title_of(name)}: accuracy so far by rows"] = figures.learning_curves(
                title_of(name), n_rows, bands
            )
    return Figure(panels, f"{share:.0%} of the labels flipped. Bands are two standard errors; one shuffle has none.")


def _noise(comparison: Comparison) -> Figure:
    panels = {}
    for name in comparison.settings.names:
        bands = {}
        for model in comparison.settings.models:
            cells = [comparison.interval(name, share, model, "accuracy") for share in comparison.settings.shares]
            if all(cell is not None for cell in cells):
                known = [cell for cell in cells if cell is not None]
                middle = [mean for mean, _ in known]
                low, high = ([mean + sign * 2 * error for mean, error in known] for sign in (-1, 1))
                bands[model] = figures.Band(middle, low, high)
        if bands:
            x = [100 * share for share in comparison.settings.shares]
            svg = figures.lines(title_of(name), x, bands, x_label="labels flipped, %", y_label="accuracy, %")
            panels[f"{title_of(name)}: accuracy by share of flipped labels"] = svg
    return Figure(panels, "Accuracy against the true labels. Bands are two standard errors; one shuffle has none.")


def _time(comparison: Comparison) -> Figure:
    share, panels = comparison.settings.shares[0], {}
    for name in comparison.settings.names:
        points = {}
        for model in comparison.settings.models:
            seconds, accuracy = (comparison.interval(name, share, model, m) for m in ("seconds", "accuracy"))
            if seconds is not None and accuracy is not None:
                points[model] = (figures.Interval(*seconds), figures.Interval(*accuracy))
        if points:
            title = title_of(name)
            panels[f"{title}: seconds against accuracy"] = figures.time_against_accuracy(title, points)
    return Figure(panels, "Up and left is better.")


def ranks(comparison: Comparison, exception: str) -> list[Part]:
    """Mean ranks by accuracy with the critical difference; ``exception`` says which streams are not independent."""
    scores, n_models = comparison.scores(), len(comparison.settings.models)
    if len(scores) < 2 or n_models < 2:
        return ["Ranks need two models, and two datasets or noise levels on which all of them were run."]
    mean_ranks = measures.mean_ranks(scores)
    distance = measures.critical_difference(n_models, len(scores))
    svg = figures.critical_difference(f"Over {len(scores)} streams", mean_ranks, distance)
    caption = "By accuracy. A bar joins models whose ranks do not differ significantly (Nemenyi's test, 5 %). "
    caption += f"The test assumes independent streams, which {exception}."
    rows = [(model, f"{rank:.2f}") for model, rank in sorted(mean_ranks.items(), key=lambda item: item[1])]
    return [
        Figure({"mean ranks of the models, with the critical difference": svg}, caption),
        Table(("model", "mean rank"), rows),
    ]


def _confusions(comparison: Comparison) -> Figure:
    model, share, panels = comparison.settings.models[0], comparison.settings.shares[0], {}
    for name in comparison.settings.names:
        runs = comparison.runs.get((name, share, model))
        if runs and runs[0]["labels"]:
            title = title_of(name)
            svg = figures.confusion(title, runs[0]["labels"], np.array(runs[0]["confusion"]))
            panels[f"{title}: confusion matrix"] = svg
    return Figure(panels, f"{model}, first shuffle. {CONFUSION}")
