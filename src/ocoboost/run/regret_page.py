"""The account of the regret of ``ocoboost run --regret``: for those who know the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ocoboost.report.page import Page, Section, Table
from ocoboost.run.runner import Run
from ocoboost.theory.meters import Account
from ocoboost.theory.reports import Report


def page(run: Run, account: Account, summary: Mapping[str, Any], facts: Mapping[str, str]) -> Page:
    """The whole page."""
    report = account.report()
    text = f"Averages over {report.n_rows:,} rows of this run, in gains: 1 for a correct label and -1 for a wrong one."
    sections = [Section("Advice", [report.advice])]
    if report.n_members > 1:
        sections.append(Section("Whose regret", [_whose(run, report, summary)]))
    rows = [(name.strip(), value) for name, value in report.rows() if name != "advice"]
    caption = "The terms from players to relabelling add up to the regret (docs/theory.md)."
    table = Table(("term", "per row"), rows, caption, text=frozenset({1}))
    sections.append(Section("Where the regret comes from", [table]))
    return Page(f"{summary['file']}: account of the regret", text, sections, facts)


def _whose(run: Run, report: Report, summary: Mapping[str, Any]) -> str:
    """Which member the account is of, beside the whole: their accuracies are two different numbers."""
    name, share = list(run.model.member_weights_.items())[report.member]
    return (
        f"An account is of one booster: here {name}, of the long-lived members the one with the least regret, which "
        f"decides {share:.1%} of what is predicted at present. By itself it was right for "
        f"{report.accuracy_of_mode:.1%} of these rows; the mixture was right for {summary['accuracy'] or 0:.1%} of the "
        f"{summary['rows']:,} rows of the run."
    )
