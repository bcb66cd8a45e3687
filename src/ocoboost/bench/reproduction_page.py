"""The page of ``ocoboost reproduce``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ocoboost.bench import datasets, measures, paper, reproduce
from ocoboost.bench.reproduce import MEASURES, TITLES, UNTUNED, Cells
from ocoboost.report import figures
from ocoboost.report.page import Figure, Page, Section, Table

Account: TypeAlias = Sequence[tuple[str, str]]


def page(
    cells: Cells, missing: Mapping[str, str], facts: Mapping[str, str], accounts: Mapping[str, Account] | None = None
) -> Page:
    """The whole report; ``missing`` says why a dataset is not there, ``accounts`` where the regret comes from."""
    names = [name for name in paper.DATASETS if any(at[1] == name for at in cells)]
    sections = [
        Section("Table 1", [_LEGEND, table(cells, names), *_why(missing)]),
        Section("Standard errors", [errors(cells, names)]),
        Section("Every measure", [_MEASURES_TEXT, *(measure_table(cells, names, measure) for measure in MEASURES)]),
        Section("Run time", [_TIME_TEXT, seconds(cells, names)]),
        Section("Ours and the paper's", [intervals(cells, names)]),
        Section("Learning curves", [curves(cells, names)]),
        Section("Time against accuracy", [_time(cells, names)]),
        Section("Ranks", _ranks(cells, names)),
        Section("What gamma auto relies on", [_weights(cells, names)]),
        Section("Mistakes of the default", [_confusions(cells, names)]),
    ]
    if accounts:
        sections.append(Section("Where the regret comes from", [_ACCOUNT_TEXT, *_accounts(accounts)]))
    n_shuffles = max((len(cell.best) for cell in cells.values()), default=0)
    shuffles = "one shuffle" if n_shuffles == 1 else f"{n_shuffles} shuffles"
    summary = f"{len(names)} datasets, {shuffles}: the paper's four boosters over {paper.N_LEARNERS} stumps, "
    summary += "with gamma tuned in hindsight as in the paper, beside two boosters that are not tuned."
    return Page("Online agnostic multiclass boosting: the paper's table, remade", summary, sections, facts)


_LEGEND = (
    "Accuracy in percent, every row predicted before it is learned, with its standard error over the shuffles. The "
    "first four columns are the paper's (Agn, Opt, Ada, OCOR): of the sampled prediction, with the gamma that was best "
    "on each shuffle in hindsight, and the paper's own figure in brackets. OnlineMBBM does not sample. The last two "
    "columns tune nothing: the agnostic booster over the same stumps with gamma auto, and the library's default."
)
_MEASURES_TEXT = (
    "The paper does not say whether it counts the whole stream or its end, and its algorithms sample the label where a "
    "user would take the most probable one. Gamma is chosen in hindsight by the whole stream, as in the published code."
)
_TIME_TEXT = (
    "Seconds for one run on this machine, compiled beforehand; in brackets the paper's, in Python on cores of 2.27 GHz."
)


_ACCOUNT_TEXT = (
    f"The agnostic booster with gamma {reproduce.ACCOUNT_GAMMA:g}, first shuffle, beside the best stump in hindsight. "
    "Regrets are averages per row in gains, which is twice what they are in mistakes; the indented parts add up to it."
)


def _accounts(accounts: Mapping[str, Account]) -> list[Table]:
    return [Table((name.capitalize(), "account"), list(lines)) for name, lines in accounts.items()]


def shown(interval: tuple[float, float], digits: int = 1) -> str:
    """A mean and its error, which a single run does not have."""
    mean, error = interval
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if error else f"{mean:.{digits}f}"


def table(cells: Cells, names: Sequence[str]) -> Table:
    """Table 1 with the paper's figures in brackets; the best of each row is bold."""
    rows, strong = [], set()
    for i, name in enumerate(names):
        row = [name.capitalize()]
        best = max((cells[at].interval(reproduce.primary(at[0]))[0] for at in cells if at[1] == name), default=0.0)
        for j, booster in enumerate(TITLES, 1):
            cell = cells.get((booster, name))
            row.append("" if cell is None else shown(cell.interval(reproduce.primary(booster))))
            if cell is not None:
                if cell.published is not None:
                    row[-1] += f" ({cell.published.accuracy:.1f})"
                if cell.interval(reproduce.primary(booster))[0] == best:
                    strong.add((i, j))
        rows.append(row)
    return Table(("dataset", *TITLES.values()), rows, "Brackets: the paper's Table 1.", frozenset(strong))


def errors(cells: Cells, names: Sequence[str]) -> Table:
    """The standard errors, and the paper's in brackets."""
    rows = []
    for name in names:
        row = [name.capitalize()]
        for booster in TITLES:
            cell = cells.get((booster, name))
            if cell is None:
                row.append("")
                continue
            error = f"{cell.interval(reproduce.primary(booster))[1]:.2f}" if len(cell.best) > 1 else "–"
            row.append(error + (f" ({cell.published.error:.2f})" if cell.published else ""))
        rows.append(row)
    caption = "In points, over the shuffles; a single shuffle has none. Brackets: the paper's."
    return Table(("dataset", *TITLES.values()), rows, caption)


def measure_table(cells: Cells, names: Sequence[str], measure: str) -> Table:
    """One of the four accuracies; an asterisk where it is not within two standard errors of the paper's figure."""
    rows = []
    for name in names:
        row = [name.capitalize()]
        for booster in TITLES:
            cell = cells.get((booster, name))
            text = "" if cell is None else shown(cell.interval(measure)) + ("*" if cell.differs(measure) else "")
            row.append("–" if booster == "mbbm" and measure.endswith("drawn") else text)
        rows.append(row)
    caption = f"Accuracy, {MEASURES[measure]}. An asterisk: more than two standard errors from the paper's figure."
    return Table((MEASURES[measure], *TITLES.values()), rows, caption)


def seconds(cells: Cells, names: Sequence[str]) -> Table:
    """Run times."""
    rows = []
    for name in names:
        row = [name.capitalize()]
        for booster in TITLES:
            cell = cells.get((booster, name))
            text = "" if cell is None else shown(cell.seconds, 2)
            row.append(text + (f" ({cell.published.seconds:,.1f})" if cell and cell.published else ""))
        rows.append(row)
    return Table(("dataset", *TITLES.values()), rows)


def _why(missing: Mapping[str, str]) -> list[str]:
    return [f"{datasets.PAPER[name].title} is missing: {why}." for name, why in missing.items()]


def intervals(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for booster in paper.BOOSTERS:
        groups = {}
        for name in names:
            if (booster, name) in cells:
                cell = cells[booster, name]
                published = paper.TABLE[booster, name]
                groups[name.capitalize()] = {
                    "paper": figures.Interval(published.accuracy, published.error),
                    "whole stream": figures.Interval(*cell.interval(reproduce.primary(booster))),
                    "last 20 %": figures.Interval(*cell.interval(reproduce.primary(booster).replace("whole", "last"))),
                }
        if groups:
            title = TITLES[booster]
            panels[f"{title}: accuracy in the paper and here"] = figures.intervals(title, groups, x_label="accuracy, %")
    return Figure(panels, "As the paper predicts: sampled, or OnlineMBBM's plurality. Bars are two standard errors.")


def curves(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        bands, n_rows = {}, 0
        for booster, title in TITLES.items():
            if (booster, name) in cells:
                runs = cells[booster, name].best
                n_rows = runs[0]["rows"]
                bands[title] = band([run["curve"] for run in runs])
        x = n_rows * np.arange(1, len(next(iter(bands.values())).middle) + 1) / len(next(iter(bands.values())).middle)
        panels[f"{name.capitalize()}: accuracy so far by rows"] = figures.lines(
            name.capitalize(), x[1:], {title: band.after(1) for title, band in bands.items()}, **_CURVE_LABELS
        )
    return Figure(panels, "Accuracy of all rows so far. Bands are two standard errors; a single shuffle has none.")


_CURVE_LABELS = {"x_label": "rows", "y_label": "accuracy so far, %"}


def band(curves: Sequence[Sequence[float]]) -> figures.Band:
    """The mean of several curves, two standard errors either way."""
    values = np.array(curves)
    middle = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(len(middle))
    return figures.Band(middle, middle - 2 * error, middle + 2 * error)


def _time(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        points = {
            TITLES[booster]: (
                figures.Interval(*cell.seconds),
                figures.Interval(*cell.interval(reproduce.primary(booster))),
            )
            for (booster, where), cell in cells.items()
            if where == name
        }
        title = name.capitalize()
        panels[f"{title}: seconds against accuracy"] = figures.time_against_accuracy(title, points)
    return Figure(panels, "One run of each; tuning gamma took five. Up and left is better.")


def _ranks(cells: Cells, names: Sequence[str]) -> list[str | Figure]:
    scores = []
    for name in names:
        row = {
            TITLES[booster]: cell.interval(reproduce.primary(booster))[0]
            for (booster, where), cell in cells.items()
            if where == name
        }
        if len(row) == len(TITLES):
            scores.append(row)
    if len(scores) < 2:
        return ["Ranks need two datasets."]
    distance = measures.critical_difference(len(TITLES), len(scores))
    svg = figures.critical_difference(f"Over {len(scores)} datasets", measures.mean_ranks(scores), distance)
    caption = "Accuracy as the paper predicts. A bar joins boosters that Nemenyi's test at 5 % does not tell apart."
    return [Figure({"mean ranks of the boosters, with the critical difference": svg}, caption)]


def _weights(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        if (UNTUNED[0], name) in cells:
            run = cells[UNTUNED[0], name].best[0]
            weights = np.array(run["weights"])
            x = run["rows"] * np.arange(1, len(weights) + 1) / len(weights)
            titles = [member.rsplit(", ", 1)[-1] for member in run["members"]]
            parts = dict(zip(titles, weights.T, strict=True))
            panels[f"{name.capitalize()}: weight of each gamma by rows"] = figures.shares(name.capitalize(), x, parts)
    return Figure(panels, "Weights of the boosters in the mixture, first shuffle.")


def _confusions(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        if (UNTUNED[1], name) in cells:
            run = cells[UNTUNED[1], name].best[0]
            counts = np.array(run["confusion"])
            title = name.capitalize()
            panels[f"{title}: true and predicted labels"] = figures.confusion(title, run["labels"], counts)
    return Figure(panels, "First shuffle, mode. Blue is right, orange is wrong; shades are shares of a true label.")
