"""The report of ``ocoboost run``, in the order in which a practitioner asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.data.text import MOST_CATEGORIES
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.report import figures
from ocoboost.report.page import Figure, Page, Part, Section, Table
from ocoboost.run import mixture_sections
from ocoboost.run.calibration import N_BINS, wilson_interval
from ocoboost.run.column_counts import ColumnCounts, Limits
from ocoboost.run.curves import Curve
from ocoboost.run.runner import Run
from ocoboost.run.scores import TITLES
from ocoboost.spelling import shortened, spelled

MOST_LABELS = 40  # in a confusion matrix that stays readable
MOST_POINTS = 40  # of a curve
MOST_COLUMNS = 200  # whose reading is shown
MOST_TEXTS = 5  # of a column of text
MIB = 2**20


def page(run: Run, summary: Mapping[str, Any], facts: Mapping[str, str]) -> Page:
    """The whole report; ``summary`` holds the numbers that the command prints."""
    title = f"{summary['file']}: {summary['target']}"
    text = f"{summary['rows']:,} rows, each predicted before it was learned: {summary['accuracy'] or 0:.1%} right. "
    text += f"Always saying the most frequent label so far: {summary['accuracy_of_most_frequent_label'] or 0:.1%}; "
    text += f"repeating the last label: {summary['accuracy_of_last_label'] or 0:.1%}."
    return Page(title, text, list(_sections(run, summary)), facts)


def _sections(run: Run, summary: Mapping[str, Any]) -> Iterator[Section]:
    yield Section("Accuracy", [_curve(run), *_scores(summary)])
    yield Section("Labels", [_labels(run, summary)])
    yield Section("Confusion matrix", [_confusion(summary)])
    yield from _calibration(run)
    yield from _sets(run)
    if isinstance(run.model, OnlineBoostClassifier):
        yield mixture_sections.drift(run, run.model)
        yield from mixture_sections.importances(run, run.model)
        yield mixture_sections.suspects(run.model)
    yield Section("Columns", _columns(run))
    yield Section("Memory and time", [_cost(summary)])


def _scores(summary: Mapping[str, Any]) -> list[Part]:
    rows = [(title, _digits(summary[name])) for name, title in TITLES.items()]
    rows[1:1] = [
        ("accuracy of the most frequent label", _digits(summary["accuracy_of_most_frequent_label"])),
        ("accuracy of the last label", _digits(summary["accuracy_of_last_label"])),
    ]
    if summary["cost"] is not None:
        rows.append(("mean cost of a row", _digits(summary["cost"])))
    clipped = f"For the log loss, probabilities are clipped at {summary['log_loss_clipped_at']:g}; "
    clipped += f"this affected {summary['log_loss_clipped_rows']:,} of {summary['rows']:,} rows."
    if n_without := summary["rows_without_prediction"]:
        clipped += f" It leaves out {n_without:,} row{'s' * (n_without > 1)} without a prediction."
    parts: list[Part] = [Table(("score", "value"), rows, clipped)]
    if summary["skipped_rows"]:
        parts.append(f"Skipped {summary['skipped_rows']:,} rows that could not be used.")
    if summary["delay"]:
        parts.append(f"Each label arrived after {summary['delay']:,} more rows had been predicted.")
    return parts


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _curve(run: Run) -> Figure:
    scores = run.scores
    right, window = _joined(scores.curve)
    ends = window * np.arange(1.0, len(right) + 1)
    accuracy = right / window
    low, high = wilson_interval(accuracy, np.full(len(right), window))
    recent, so_far = 100.0 * accuracy, 100.0 * np.cumsum(right) / ends
    bands = {
        f"per {window:,} row{'s' * (window > 1)}": figures.Band(recent, 100.0 * low, 100.0 * high),
        "all rows so far": figures.Band(so_far, so_far, so_far),
    }
    trivial = {"most frequent label": scores.baselines.most_frequent, "last label": scores.baselines.last_label}
    for name, curve in trivial.items():
        shares = 100.0 * _joined(curve)[0] / window
        bands[name] = figures.Band(shares, shares, shares)
    marks = mixture_sections.marks(run)
    svg = figures.Twice.drawn(figures.lines, "Accuracy", ends, bands, x_label="rows", y_label="correct, %", marks=marks)
    caption = "The band is a 95 % interval (Wilson's), as if the rows were independent. The most frequent "
    caption += "label so far and the last label need no features."
    if marks:
        caption += " Dotted: where the stream changed."
    return Figure({"accuracy through the stream": svg}, caption)


def _joined(curve: Curve) -> tuple[Any, int]:
    """Correct rows in windows, of which there are not too many, and their length."""
    n_joined = max(1, -(-len(curve.right) // MOST_POINTS))  # windows per point
    n_points = len(curve.right) // n_joined
    right = np.array(curve.right[: n_points * n_joined], dtype=float).reshape(n_points, n_joined).sum(axis=1)
    return right, n_joined * curve.window


def _labels(run: Run, summary: Mapping[str, Any]) -> Table:
    """How well every label is predicted, and how well its probability ranks the rows."""
    names, areas, recalls = spelled(summary["labels"]), summary["average_precision"], summary["recall_at_alert_rate"]
    rows = []
    for number, (name, scores) in enumerate(zip(names, run.scores.by_label, strict=True)):
        ranks = [values[number] if number < len(values) else None for values in (areas, recalls)]
        rows.append((shortened(name), f"{scores.n_rows:,}", *map(_digits, (*scores[1:], *ranks))))
    rate = f"recall at {summary['alert_rate']:.0%} alerts"
    caption = "Precision: how often a predicted label was right. Recall: how many rows of a label were found; at 1 % "
    caption += "alerts, among the hundredth of all rows for which the label was most probable."
    return Table(("label", "rows", "precision", "recall", "F1", "precision-recall area", rate), rows, caption)


def _confusion(summary: Mapping[str, Any]) -> Part:
    labels = spelled(summary["labels"])
    if len(labels) > MOST_LABELS:
        return f"{len(labels):,} labels are too many to show."
    svg = figures.confusion("Rows by true and predicted label", labels, np.array(summary["confusion"]))
    return Figure(
        {"true and predicted labels": svg},
        "Blue: correct; orange: wrong. Shades show the fraction of each true label's rows.",
    )


def _calibration(run: Run) -> list[Section]:
    """Whether probabilities are what they say."""
    bins = run.scores.calibration.bins
    if len(bins) < 2:
        return []
    n_rows, said, right = np.array(bins).T
    said, right = 100.0 * said, 100.0 * right
    bands = {
        "predictions": figures.Band(right, *(100.0 * limit for limit in wilson_interval(right / 100.0, n_rows))),
        "perfect": figures.Band(said, said, said),
    }
    x_label = "probability of the prediction, %"
    svg = figures.lines("Calibration", said, bands, x_label=x_label, y_label="correct, %")
    caption = f"Expected calibration error {run.scores.calibration.error or 0.0:.3f}, in {N_BINS} bins of equal width; "
    caption += "the band is a 95 % interval (Wilson's)."
    return [Section("Calibration", [Figure({"accuracy by the probability of the prediction": svg}, caption)])]


def _sets(run: Run) -> list[Section]:
    """How large prediction sets were, and how often the right label was in them."""
    rows = [(f"{size.level:.0%}", f"{size.coverage:.1%}", f"{size.mean_size:.2f}") for size in run.set_sizes]
    caption = "Sets are never empty; a row counts with the set that it was predicted with."
    return [Section("Prediction sets", [Table(("level", "coverage", "mean size"), rows, caption)])] if rows else []


def _columns(run: Run) -> list[Part]:
    """How each column was read, and what is in it."""
    counts = ColumnCounts() if run.column_counts is None else run.column_counts
    kinds, texts = run.model.columns_, run.model.categories_
    shown = list(kinds)[:MOST_COLUMNS]
    rows = []
    for column, name in zip(shown, spelled(shown), strict=True):
        missing, limits = counts.missing(column), counts.limits.get(column, Limits())
        what = "-"
        if kinds[column] == TEXT:
            what = _some(texts.get(column, []))
        elif kinds[column] == NUMBER and limits.n_present:
            what = f"{limits.least:g} to {limits.most:g}"
        read = kinds[column] or "nothing: missing so far"
        rows.append((shortened(name), read, "-" if missing is None else f"{missing:.1%}", what))
    settings = run.settings
    left_out = {settings.target: "the label"} | dict.fromkeys(settings.drop, "left out (--drop)")
    left_out |= {} if settings.identifier is None else {settings.identifier: "identifies rows (--id)"}
    rows += [(shortened(name), use, "-", "-") for name, use in left_out.items()]
    caption = f"Missing cells and limits are of the {counts.n_rows:,} rows of this run."
    if len(kinds) > len(shown):
        caption += f" {len(kinds) - len(shown):,} more columns are not shown."
    return [Table(("column", "read as", "missing", "holds"), rows, caption, text=frozenset({1, 3}))]


def _some(texts: list[str]) -> str:
    """The first texts of a column."""
    shown = ", ".join(shortened(text, 24) for text in texts[:MOST_TEXTS])
    number = f"{len(texts):,} texts" if len(texts) < MOST_CATEGORIES else f"{len(texts):,} texts and perhaps more"
    return f"{number}: {shown}{', ...' if len(texts) > MOST_TEXTS else ''}" if texts else "-"


def _cost(summary: Mapping[str, Any]) -> Table:
    limit, file_bytes = summary["max_memory_mib"], summary["saved_bytes"]
    rows = [
        ("rows learned in this run", f"{summary['new_rows']:,}"),
        ("seconds, compiling included", f"{summary['seconds']:,.1f}"),
        ("rows per second", f"{summary['rows_per_second']:,.0f}" if summary["rows_per_second"] else "-"),
        ("memory of the model, MiB", f"{summary['memory_bytes'] / MIB:,.1f}"),
        ("its limit, MiB", "-" if limit is None else f"{limit:,.0f}"),
        ("model file, MiB", "-" if file_bytes is None else f"{file_bytes / MIB:,.1f}"),
    ]
    return Table(("what", "amount"), rows)
