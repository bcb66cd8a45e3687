"""What ``ocoboost run`` prints and writes at its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ocoboost.cli.pages import say_written, write_page
from ocoboost.cli.rare import cost_of
from ocoboost.cli.studies import command
from ocoboost.cli.suspects import count_issues, show_issues
from ocoboost.spelling import abbreviated, as_call, escaped, spelled
from ocoboost.spelling import as_json as label_as_json

if TYPE_CHECKING:
    from ocoboost.online.mixture.drift import Change
    from ocoboost.run.runner import Run

MOST_LABELS = 12  # in a table on a terminal
MOST_CHANGES = 8  # that are named there
SHORTEST, LONGEST = 8, 24  # characters of a label there
BESIDE_LABELS = 68  # columns of a terminal that the scores of a label take


def summarize(this: Run, speed: float, seconds: float) -> dict[str, Any]:
    """All that is known at the end, as JSON has it."""
    labels = this.model.classes_
    this.scores.grow(len(labels))  # a run of no rows has counted none
    counts, by_label = this.scores.counts, this.scores.by_label
    return {
        "file": this.path,
        "target": this.settings.target,
        "model": as_call(this.model),
        **this.scores.summary(),
        **this.scores.ranks.summary(),
        "prediction_sets": [size._asdict() for size in this.set_sizes],
        **cost_of(this),
        "labels": [label_as_json(label, name) for label, name in zip(labels, spelled(labels), strict=True)],
        "precision": [scores.precision for scores in by_label],
        "recall": [scores.recall for scores in by_label],
        "f1": [scores.f1 for scores in by_label],
        "confusion": counts[:, :-1].tolist(),
        "not_predicted": counts[:, -1].tolist(),
        "skipped_rows": this.n_bad,
        "delay": this.settings.delay,
        "seed": this.model.seed,
        "seconds": seconds,
        "rows_per_second": speed,  # 0 if there was only one block
        "memory_bytes": this.model.memory_usage_,
        "max_memory_mib": getattr(this.model, "max_size", None),
        "changes": [change._asdict() for change in _changes(this)],
        "label_issues": count_issues(this),
        "new_rows": this.n_new,
        "saved": this.save_to,
        "saved_bytes": _size(this.save_to),
    }


def _size(path: str | None) -> int | None:
    return None if path is None or not Path(path).exists() else Path(path).stat().st_size


def _changes(this: Run) -> list[Change]:
    """Where the stream changed, if the model can tell."""
    from ocoboost.online.boost import OnlineBoostClassifier

    return this.model.drift_.changes if isinstance(this.model, OnlineBoostClassifier) else []


def show(this: Run, summary: dict[str, Any]) -> None:
    """Print the scores, and what else is worth knowing."""
    console = Console()
    errors = Console(stderr=True, highlight=False)
    for bad in this.bad:
        errors.print(Text(escaped(f"skipped {this.source.name}, line {bad.line:,}: {bad.why}")), soft_wrap=True)
    if this.n_bad > len(this.bad):
        errors.print(f"... and {this.n_bad - len(this.bad):,} more rows")
    console.print(Text(escaped(_title(this, summary))), soft_wrap=True)
    console.print(_scores(summary))
    if 0 < len(summary["labels"]) <= MOST_LABELS:
        _show_labels(console, this, summary)
    if summary["cost"] is not None:
        console.print(f"Mean cost of a row: {summary['cost']:.4f}", highlight=False)
    if changes := _changes(this):
        rows = ", ".join(f"{change.row:,}" for change in changes[-MOST_CHANGES:])
        earlier = f" and {len(changes) - MOST_CHANGES} earlier ones" if len(changes) > MOST_CHANGES else ""
        console.print(f"The stream changed about row {rows}{earlier}.", highlight=False)
    show_issues(console, this)
    speed = f"{summary['rows_per_second']:,.0f} rows/s, " if summary["rows_per_second"] else ""
    console.print(f"{speed}seed {summary['seed']}")
    if this.save_to is not None:
        console.print(Text(escaped(f"Model saved to {this.save_to}")), soft_wrap=True)


def _title(this: Run, summary: dict[str, Any]) -> str:
    n_rows, n_new = summary["rows"], this.n_new
    title = f"{this.path}: {n_rows:,} row{'s' * (n_rows != 1)}, each predicted before it was learned"
    return title if n_new == n_rows else f"{title}; {n_new:,} new row{'s' * (n_new != 1)} since it was saved"


def _scores(summary: dict[str, Any]) -> Table:
    from ocoboost.run.scores import TITLES

    n_clipped, least, n_without = (
        summary[name] for name in ("log_loss_clipped_rows", "log_loss_clipped_at", "rows_without_prediction")
    )
    trivial = (summary["accuracy_of_most_frequent_label"], summary["accuracy_of_last_label"])
    clipped = f"clipped at {least:g} in {n_clipped / max(summary['rows'], 1):.1%} of rows"
    without = f"without {n_without:,} row{'s' * (n_without != 1)} that had no prediction, " if n_without else ""
    notes = {
        "accuracy": "most frequent label {}, last label {}".format(*map(_digits, trivial)),
        "balanced_accuracy": "mean recall over the labels",
        "macro_f1": "mean F1 over the labels",
        "kappa": "0 is chance agreement",
        "log_loss": without + clipped,
        "calibration_error": "probabilities against how often they are right",
    }
    table = Table()
    table.add_column("score", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("", style="dim")
    for name, title in TITLES.items():
        table.add_row(title, _digits(summary[name]), notes.get(name, ""))
    return table


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _show_labels(console: Console, this: Run, summary: dict[str, Any]) -> None:
    """How well each label is predicted, and for what it is taken; labels are numbered if their names do not fit."""
    names = abbreviated(spelled(summary["labels"]), max(SHORTEST, min(LONGEST, console.width - BESIDE_LABELS)))
    cells = [[f"{count:,}" for count in counts] for counts in summary["confusion"]]
    widest = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numbers = list(map(str, range(1, len(names) + 1)))
    heads = next((heads for heads in (names, numbers) if _width(heads, widest) <= console.width), None)
    labels = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)] if heads is numbers else names
    console.print(_by_label(this, labels, summary))
    if heads is None:
        console.print("The confusion matrix is wider than the terminal; --report and --json have it.", highlight=False)
        return
    console.print("Confusion matrix (true labels down, predicted labels across)", highlight=False)
    table = Table()
    for head in ("", *heads):
        table.add_column(Text(head), justify="right" if head else "left", no_wrap=True)
    for head, counts in zip(heads, cells, strict=True):
        table.add_row(Text(head), *counts)
    console.print(table)


def _width(heads: list[str], widest: list[int]) -> int:
    """How wide a matrix is with these names of rows and columns, around cells that are so wide."""
    widths = [max(map(cell_len, heads)), *(max(cell_len(head), n) for head, n in zip(heads, widest, strict=True))]
    return 1 + sum(width + 3 for width in widths)


def _by_label(this: Run, labels: list[str], summary: dict[str, Any]) -> Table:
    """How well each label is predicted, and how well its probability ranks the rows."""
    table = Table()
    table.add_column("label", no_wrap=True)
    rate = f"recall at {summary['alert_rate']:.0%} alerts"
    for title in ("rows", "precision", "recall", "F1", "PR area", rate):
        table.add_column(title, justify="right")
    ranks = zip(summary["average_precision"], summary["recall_at_alert_rate"], strict=True)
    for label, scores, ranked in zip(labels, this.scores.by_label, ranks, strict=True):
        table.add_row(Text(label), f"{scores.n_rows:,}", *map(_digits, (*scores[1:], *ranked)))
    return table


def say_where(outputs: dict[str, str | None]) -> None:
    """Name the files that were written."""
    for option, path in outputs.items():
        say_written("Account of the regret" if option == "--regret" else option.removeprefix("--").capitalize(), path)


def write_pages(this: Run, summary: dict[str, Any], report: str | None, regret: str | None) -> None:
    """The report for practitioners, and the account of the regret."""
    from ocoboost.run import page, regret_page

    if report is not None:
        write_page(page.page(this, summary, _facts(summary)), report)
    if regret is not None and this.account is not None:
        write_page(regret_page.page(this, this.account, summary, _facts(summary)), regret)


def _facts(summary: dict[str, Any]) -> dict[str, str]:
    from ocoboost import report

    return report.provenance(command(), seed=summary["seed"], model=summary["model"], file=summary["file"])
