"""What the default model adds to the report of ``ocoboost run``: changes, who decides, importances, suspects."""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.mixture.standing import LONG_LIVED
from ocoboost.report import figures
from ocoboost.report.page import Figure, Part, Section, Table
from ocoboost.run.runner import Run
from ocoboost.spelling import shortened, spelled

MOST_FEATURES = 10
MOST_SUSPECTS = 20
BESIDE_A_CHANGE = 1000  # rows whose accuracy is shown before and after it


def marks(run: Run) -> list[float]:
    """Where the stream changed, in rows of this run."""
    if not isinstance(run.model, OnlineBoostClassifier):
        return []
    places = [float(change.row - n_earlier(run)) for change in run.model.drift_.changes]
    return [place for place in places if place >= 0]


def n_earlier(run: Run) -> int:
    """Rows that the model learned before this run, from another file or in Python."""
    return run.model.n_rows_ - run.scores.n_rows


def drift(run: Run, model: OnlineBoostClassifier) -> Section:
    """Where the stream changed, and who decided when."""
    parts: list[Part] = []
    found, curve = model.drift_, run.scores.curve
    if found.n_changes:
        rows = []
        for change in found.changes:
            place, noticed = change.row - n_earlier(run), change.noticed - n_earlier(run)
            sides = (place - BESIDE_A_CHANGE, place), (place, place + BESIDE_A_CHANGE)
            shares = [None if place < 0 else curve.accuracy(*side) for side in sides]
            rows.append((f"{place:,}", f"{noticed:,}", *("-" if s is None else f"{s:.1%}" for s in shares)))
        caption = f"Accuracy over {BESIDE_A_CHANGE:,} rows on either side. Rows count from the first of this run."
        if found.n_changes > len(rows):
            caption = f"The latest of {found.n_changes:,} changes. {caption}"
        parts.append(Table(("began at row", "noticed at row", "accuracy before", "after"), rows, caption))
    else:
        parts.append("No change was noticed: rows of every age agree about what the features mean.")
    groups = model.member_groups_
    points = [(n_rows - n_earlier(run), weights) for n_rows, weights in run.weights.points]
    points = [(n_rows, weights) for n_rows, weights in points if len(weights) == len(groups)]
    if len(points) > 1 and len(groups) > 1:
        by_age: dict[str, FloatArray] = {}
        by_member: dict[str, FloatArray] = {}
        for number, (name, group) in enumerate(groups.items()):
            weights = np.array([weights[number] for _, weights in points])
            by_age[group] = by_age.get(group, 0.0) + weights
            if group == LONG_LIVED:
                by_member[name] = weights
        x, at = [n_rows for n_rows, _ in points], marks(run)
        by_name = figures.Twice.drawn(figures.shares, "Weights of the long-lived members", x, by_member, marks=at)
        panels = {
            "weights of the members by age through the stream": figures.Twice.drawn(
                figures.shares, "Weights of the members by age", x, by_age, marks=at
            ),
            "weights of the long-lived members through the stream": by_name,
        }
        caption = "Young members know only what came after their birth: where their weight jumps, the stream may have "
        caption += "changed."
        parts.append(Figure(panels, caption))
    return Section("Changes of the stream", parts)


def importances(run: Run, model: OnlineBoostClassifier) -> list[Section]:
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
    x = [n_rows - n_earlier(run) for n_rows, _ in points]
    if len(set(x)) > 1:
        lines = {
            shortened(spelling[name], 24): np.array([shares.get(name, 0.0) for _, shares in points]) for name in shown
        }
        if len(total) > len(shown):
            lines["others"] = np.maximum(1.0 - sum(lines.values()), 0.0)
        svg = figures.Twice.drawn(figures.shares, "Importances", x, lines, marks=marks(run), y_label="share")
        caption = "What the votes of the trees rest on, through the rows of this run."
        parts.append(Figure({"importances of features through the stream": svg}, caption))
    return [Section("What matters", parts)]


def suspects(model: OnlineBoostClassifier) -> Section:
    """Rows whose label looks wrong."""
    issues = [suspect for suspect in model.suspects_ if suspect.is_label_issue]
    title = "Labels that look wrong"
    if not issues:
        return Section(title, ["None of the labels that are kept looks wrong."])
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
    return Section(title, [Table(columns, rows, caption, text=frozenset(range(1, len(columns) - 1)))])
