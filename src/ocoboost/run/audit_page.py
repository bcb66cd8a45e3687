"""The report of ``ocoboost audit``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ocoboost.report import figures
from ocoboost.report.page import Figure, Page, Part, Section
from ocoboost.report.page import Table as PageTable
from ocoboost.run.audit import Audit, Table, records, worth
from ocoboost.spelling import shortened, spelled

MOST_LABELS = 40  # in a matrix that stays readable
MOST_ROWS = 200  # in the table of the worst
LONGEST = 60  # characters of a cell


def page(audit: Audit, table: Table, name: str, target: str, facts: Mapping[str, str]) -> Page:
    """The whole report."""
    n_rows, n_issues = len(audit.given), int(audit.is_issue.sum())
    text = f"Of {n_rows:,} labels, {n_issues:,} look wrong ({n_issues / max(n_rows, 1):.1%}): what the other rows say "
    text += f"about a row speaks for another label. {worth(audit)}"
    sections = [Section("Labels that look wrong", [_worst(audit, table)]), Section("By label", _by_label(audit))]
    return Page(f"Audit of {name}: {target}", text, sections, facts)


def _worst(audit: Audit, table: Table) -> Part:
    issues = [record for record in records(audit, table) if record["is_label_issue"]]
    columns = ("line", *(["id"] if table.keys else []), "given label", "predicted label", "label quality")
    rows = [
        (
            f"{record['line']:,}",
            *([shortened(record["id"], LONGEST)] if table.keys else []),
            shortened(record["given_label"], LONGEST),
            shortened(record["predicted_label"], LONGEST),
            f"{record['label_quality']:.4f}",
        )
        for record in issues[:MOST_ROWS]
    ]
    caption = "Label quality is the probability of the given label, from models that had not learned it."
    if len(issues) > len(rows):
        caption += f" The worst {len(rows):,} of {len(issues):,}."
    return PageTable(columns, rows, caption, text=frozenset(range(1, len(columns) - 1)))


def _by_label(audit: Audit) -> list[Part]:
    names = spelled(audit.classes)
    pairs = Counter(zip(audit.given[audit.is_issue].tolist(), audit.predicted[audit.is_issue].tolist(), strict=True))
    rows = [(names[given], names[other], f"{count:,}") for (given, other), count in pairs.most_common(12)]
    parts: list[Part] = [
        PageTable(
            ("given label", "predicted label", "rows"), rows, "The most frequent label issues.", text=frozenset({1})
        )
    ]
    if len(names) <= MOST_LABELS:
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        np.add.at(counts, (audit.given, audit.predicted), 1)
        svg = figures.confusion("Rows by given and predicted label", names, counts, down="given")
        parts.append(Figure({"given and predicted labels": svg}, "Given labels down, predicted labels across."))
    return parts
