"""What ``ocoboost compare`` prints: one row per dataset and model, or the same numbers as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ocoboost.spelling import escaped, shortened

if TYPE_CHECKING:
    from ocoboost.bench.compare import Comparison

_BLOCKS = "▁▂▃▄▅▆▇█"


def numbers(comparison: Comparison) -> list[dict[str, Any]]:
    """Means and standard errors over the shuffles."""
    from ocoboost.bench.heard import OF_LABELS

    measured = ("accuracy", "last", "macro_f1", "area", "cost", "seconds", "bytes")
    return [
        {
            "dataset": name,
            "noise": share,
            "model": model,
            "shuffles": len(runs),
            **{measure: comparison.interval(name, share, model, measure) for measure in measured},
            "labels": runs[0]["labels"],
            **{measure: comparison.by_label(name, share, model, measure) for measure in OF_LABELS},
            "alert_rate": runs[0]["alert_rate"],
        }
        for (name, share, model), runs in comparison.runs.items()
    ]


def score_table(comparison: Comparison, share: float) -> Table:
    """One row per dataset and model."""
    from ocoboost.bench.compare import title_of
    from ocoboost.bench.measures import shown

    title = "Prequential accuracy: every row is predicted before it is learned"
    caption = f"{share:.0%} of the labels flipped; scored against the true labels." if share else None
    look: Any = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False}  # fits 80 characters
    table = Table(title=title, caption=caption, **look)
    table.add_column("", no_wrap=True)
    for column in ("accuracy", "last 20%", "macro F1", "curve", "seconds", "MiB"):
        table.add_column(f" {column}", justify="right", no_wrap=True)
    for name in comparison.settings.names:
        models = [model for model in comparison.settings.models if (name, share, model) in comparison.runs]
        scores = {model: comparison.runs[name, share, model] for model in models}
        ranked = sorted(models, key=lambda model: -sum(run["accuracy"] for run in scores[model]) / len(scores[model]))
        table.add_row(Text(escaped(title_of(name)), style="bold"), style="cyan")
        for model in ranked:
            cells = [comparison.interval(name, share, model, m) for m in ("accuracy", "last", "macro_f1")]
            seconds, size = (comparison.interval(name, share, model, m) for m in ("seconds", "bytes"))
            table.add_row(
                Text(f" {model}"),
                *(shown(cell).replace(" ", "") for cell in cells if cell is not None),
                sparkline(scores[model][0]["curve"][4::5]),
                f"{seconds[0]:.1f}" if seconds else "",
                f"{size[0] / 2**20:,.1f}" if size else "",
                style="bold" if not model.startswith("River") else None,
            )
        table.add_section()
    return table


def rare_table(comparison: Comparison) -> Table | None:
    """How well the models rank the rows of the rarest label of a file, and what they cost; None with many labels."""
    found = {model: runs[0] for (_, _, model), runs in comparison.runs.items()}
    (first, *_) = found.values()
    if not first["labels"]:
        return None
    place = min(range(len(first["labels"])), key=lambda place: first["label_rows"][place])
    share = first["label_rows"][place] / first["rows"]
    look: Any = {"box": box.SIMPLE_HEAD, "padding": 0, "show_edge": False}
    title = f"The rarest label, {shortened(first['labels'][place], 30)}: {share:.2%} of the rows"
    table = Table(title=Text(title), **look)
    table.add_column("", no_wrap=True)
    columns = ["precision-recall area", f"recall at {first['alert_rate']:.0%} alerts", "area, mean of the labels"]
    columns += [] if first["cost"] is None else ["mean cost"]
    for column in columns:
        table.add_column(f" {column}", justify="right")
    for model, run in sorted(found.items(), key=lambda item: -item[1]["average_precision"][place]):
        cells = [run["average_precision"][place], run["recall_at_alert_rate"][place], run["area"] / 100.0]
        cells += [] if run["cost"] is None else [run["cost"]]
        style = "bold" if not model.startswith("River") else None
        table.add_row(Text(f" {model}"), *(f"{cell:.4f}" for cell in cells), style=style)
    return table


def sparkline(percents: list[float]) -> str:
    """Percentages as a row of bars."""
    return "".join(_BLOCKS[min(int(percent / 100 * len(_BLOCKS)), len(_BLOCKS) - 1)] for percent in percents)
