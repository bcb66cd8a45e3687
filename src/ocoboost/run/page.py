"""The report of ``ocoboost run``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.mixture.standing import LONG_LIVED
from ocoboost.report import figures
from ocoboost.report.page import Figure, Page, Part, Section, Table
from ocoboost.run.calibration import N_BINS
from ocoboost.run.runner import Run
from ocoboost.run.scores import TITLES
from ocoboost.spelling import shortened, spelled
from ocoboost.theory.meters import Account

MOST_LABELS = 40  # in a confusion matrix that stays readable
MOST_POINTS = 40  # of a curve
MOST_FEATURES = 10
MOST_SUSPECTS = 20


def page(run: Run, summary: Mapping[str, Any], facts: Mapping[str, str]) -> Page:
    """The whole report; ``summary`` holds the numbers that the command prints."""
    sections = [Section("Scores", _scores(summary)), *_labels(summary), Section("Learning curve", [_curve(run)])]
    sections += [*_calibration(run), *_sets(run)]
    if isinstance(run.model, OnlineBoostClassifier):
        sections += [*_mixture(run, run.model), *_importances(run, run.model), *_suspects(run.model)]
    sections.append(Section("Confusion matrix", [_confusion(summary)]))
    if run.account is not None and run.account.record.n_rows > 0:
        sections.append(Section("Where the regret comes from", _account(run.account)))
    title = f"{summary['file']}: {summary['target']}"
    text = f"Prequential evaluation of {summary['rows']:,} rows, each predicted before it was learned: "
    text += f"accuracy {summary['accuracy'] or 0:.1%}."
    return Page(title, text, sections, facts)


def _scores(summary: Mapping[str, Any]) -> list[Part]:
    rows = [(title, "-" if summary[name] is None else f"{summary[name]:.4f}") for name, title in TITLES.items()]
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


def _labels(summary: Mapping[str, Any]) -> list[Section]:
    """How well probabilities rank the rows of each label, and what mistakes cost."""
    labels, areas, recalls = summary["labels"], summary["average_precision"], summary["recall_at_alert_rate"]
    if not 0 < len(labels) <= MOST_LABELS:
        return []
    n_rows = [sum(row) + n for row, n in zip(summary["confusion"], summary["not_predicted"], strict=True)]
    rows = [
        (shortened(label), f"{n:,}", *("-" if value is None else f"{value:.4f}" for value in values))
        for label, n, *values in zip(spelled(labels), n_rows, areas, recalls, strict=True)
    ]
    columns = ("label", "rows", "precision-recall area", f"recall at {summary['alert_rate']:.0%} alerts")
    caption = (
        "How well the probabilities rank the rows of each label; alerts are the rows to which it is most probable."
    )
    parts: list[Part] = [Table(columns, rows, caption)]
    if summary["cost"] is not None:
        parts.append(f"Mean cost of a row: {summary['cost']:.4f}.")
    return [Section("Each label", parts)]


def _curve(run: Run) -> Figure:
    curve = run.scores.curve
    n_joined = max(1, -(-len(curve.right) // MOST_POINTS))  # windows per point
    n_points = len(curve.right) // n_joined
    right = np.array(curve.right[: n_points * n_joined], dtype=float).reshape(n_points, n_joined).sum(axis=1)
    window = n_joined * curve.window
    ends = window * np.arange(1.0, n_points + 1)
    accuracy = right / window
    error = 200.0 * np.sqrt(accuracy * (1.0 - accuracy) / window)  # two standard errors
    recent, so_far = 100.0 * accuracy, 100.0 * np.cumsum(right) / ends
    bands = {
        f"per {window:,} rows": figures.Band(
            recent, np.maximum(recent - error, 0.0), np.minimum(recent + error, 100.0)
        ),
        "cumulative": figures.Band(so_far, so_far, so_far),
    }
    marks = _changes(run.model) if isinstance(run.model, OnlineBoostClassifier) else []
    svg = figures.lines("Accuracy", ends, bands, x_label="rows", y_label="accuracy, %", marks=marks)
    caption = "The band is two standard errors wide on either side, as if the rows were independent."
    if marks:
        caption += " Dotted: where the stream changed."
    return Figure({"accuracy through the stream": svg}, caption)


def _changes(model: OnlineBoostClassifier) -> list[float]:
    return [float(change.row) for change in model.drift_.changes]


def _mixture(run: Run, model: OnlineBoostClassifier) -> list[Section]:
    """Who decides, and where the stream changed."""
    groups, marks = model.member_groups_, _changes(model)
    points = [(n_rows, weights) for n_rows, weights in run.weights.points if len(weights) == len(groups)]
    sections = []
    if len(points) > 1 and len(groups) > 1:
        by_age: dict[str, FloatArray] = {}
        by_member: dict[str, FloatArray] = {}
        for number, (name, group) in enumerate(groups.items()):
            weights = np.array([weights[number] for _, weights in points])
            by_age[group] = by_age.get(group, 0.0) + weights
            if group == LONG_LIVED:
                by_member[name] = weights
        x = [n_rows for n_rows, _ in points]
        panels = {
            "weights of the members by age through the stream": figures.shares("By age", x, by_age, marks=marks),
            "weights of the long-lived members through the stream": figures.shares(
                "Long-lived members", x, by_member, marks=marks
            ),
        }
        caption = "Young members know only what came after their birth: where they count, the stream has changed."
        sections.append(Section("Who decides", [Figure(panels, caption)]))
    drift = model.drift_
    if drift.n_changes:
        rows = [(f"{change.row:,}", f"{change.noticed:,}") for change in drift.changes]
        caption = f"The latest of {drift.n_changes:,}." if drift.n_changes > len(rows) else ""
        sections.append(Section("Changes of the stream", [Table(("began at row", "noticed at row"), rows, caption)]))
    return sections


def _calibration(run: Run) -> list[Section]:
    """Whether probabilities are what they say."""
    bins = run.scores.calibration.bins
    if len(bins) < 2:
        return []
    n_rows, said, right = np.array(bins).T
    said, right = 100.0 * said, 100.0 * right
    error = 2.0 * np.sqrt(right * (100.0 - right) / n_rows)
    bands = {
        "predictions": figures.Band(right, np.maximum(right - error, 0.0), np.minimum(right + error, 100.0)),
        "perfect": figures.Band(said, said, said),
    }
    x_label = "probability of the prediction, %"
    svg = figures.lines("Calibration", said, bands, x_label=x_label, y_label="correct, %")
    caption = f"Expected calibration error {run.scores.calibration.error or 0.0:.3f}, in {N_BINS} bins of equal width; "
    caption += "the band is two standard errors wide on either side."
    return [Section("Calibration", [Figure({"accuracy by the probability of the prediction": svg}, caption)])]


def _sets(run: Run) -> list[Section]:
    """How large prediction sets were, and how often the right label was in them."""
    rows = [(f"{size.level:.0%}", f"{size.coverage:.1%}", f"{size.mean_size:.2f}") for size in run.set_sizes]
    caption = "Sets are never empty; a row counts with the set that it was predicted with."
    return [Section("Prediction sets", [Table(("level", "coverage", "mean size"), rows, caption)])] if rows else []


def _importances(run: Run, model: OnlineBoostClassifier) -> list[Section]:
    """What the votes of the trees rest on, through the stream."""
    points = [] if run.importances is None else run.importances.points
    points = [*points, (model.n_rows_, model.feature_importances_)]
    names = [name for name, share in points[-1][1].items() if share > 0.0]
    if not names:
        return []
    total = {name: sum(shares.get(name, 0.0) for _, shares in points) for name in points[-1][1]}
    shown = sorted(total, key=lambda name: -total[name])[:MOST_FEATURES]
    spelling = dict(zip(total, spelled(list(total)), strict=True))
    rows = [(shortened(spelling[name]), f"{points[-1][1][name]:.3f}") for name in names[:MOST_FEATURES]]
    parts: list[Part] = [Table(("feature", "importance"), rows, "At the end, most important first.")]
    x = [n_rows for n_rows, _ in points]
    if len(set(x)) > 1:
        lines = {
            shortened(spelling[name], 24): np.array([shares.get(name, 0.0) for _, shares in points]) for name in shown
        }
        if len(total) > len(shown):
            lines["others"] = np.maximum(1.0 - sum(lines.values()), 0.0)
        svg = figures.shares("Importances", x, lines, marks=_changes(model), y_label="share")
        caption = "What the votes of the trees rest on (docs/explanations.md), through the rows of this run."
        parts.insert(0, Figure({"importances of features through the stream": svg}, caption))
    return [Section("What matters", parts)]


def _suspects(model: OnlineBoostClassifier) -> list[Section]:
    """Rows whose label looks wrong."""
    issues = [suspect for suspect in model.suspects_ if suspect.is_label_issue]
    if not issues:
        return []
    has_keys = any(suspect.key is not None for suspect in issues)
    rows = [
        (
            f"{suspect.row:,}",
            *([shortened(suspect.key)] if has_keys else []),
            shortened(suspect.given_label),
            shortened(suspect.predicted_label),
            f"{suspect.label_quality:.4f}",
        )
        for suspect in issues[:MOST_SUSPECTS]
    ]
    columns = ("row", *(["id"] if has_keys else []), "given label", "predicted label", "label quality")
    caption = "Label quality is the probability of the given label before it was learned; rows count from 0."
    if len(issues) > len(rows):
        caption += f" The worst {len(rows)} of {len(issues):,} that are kept; --suspects writes all."
    return [Section("Labels that look wrong", [Table(columns, rows, caption)])]


def _account(account: Account) -> list[Part]:
    report = account.report()
    rows = [(name.strip(), value) for name, value in report.rows() if name != "advice"]
    caption = (
        f"Over the first {report.n_rows:,} rows of this run. The gain is 1 for a correct label and -1 for a wrong "
    )
    caption += "one; the terms from players to relabelling add up to the regret (docs/theory.md)."
    return [report.advice, Table(("term", "per row"), rows, caption)]


def _confusion(summary: Mapping[str, Any]) -> Part:
    labels = spelled(summary["labels"])
    if len(labels) > MOST_LABELS:
        return f"{len(labels):,} labels are too many to show."
    svg = figures.confusion("Rows by true and predicted label", labels, np.array(summary["confusion"]))
    return Figure(
        {"true and predicted labels": svg},
        "Blue: correct; orange: wrong. Shades show the fraction of each true label's rows.",
    )
