"""The page of ``ocoboost reproduce``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ocoboost.bench import datasets, measures, paper, reproduce
from ocoboost.bench.measures import shown
from ocoboost.bench.reproduce import MEASURES, TITLES, UNTUNED, Cell, Cells
from ocoboost.online.members import GAMMAS
from ocoboost.report import figures
from ocoboost.report.figures import CONFUSION
from ocoboost.report.page import Figure, Page, Section, Table

Account: TypeAlias = Sequence[tuple[str, str]]


def page(
    cells: Cells, missing: Mapping[str, str], facts: Mapping[str, str], accounts: Mapping[str, Account] | None = None
) -> Page:
    """The whole report; ``missing`` says why a dataset is left out, ``accounts`` where the regret comes from."""
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
        Section("Weights of the gammas", [_weights(cells, names)]),
        Section("Confusion matrices", [_confusions(cells, names)]),
    ]
    if accounts:
        sections.append(Section("Where the regret comes from", [_ACCOUNT_TEXT, *_accounts(accounts)]))
    n_shuffles = max((len(cell.best) for cell in cells.values()), default=0)
    shuffles = "one shuffle" if n_shuffles == 1 else f"{n_shuffles} shuffles"
    summary = f"{len(names)} datasets, {shuffles}: the paper's four boosters over {paper.N_LEARNERS} stumps, "
    summary += "with gamma tuned in hindsight as in the paper, and two boosters that need no tuning."
    return Page("Online Agnostic Multiclass Boosting: Table 1 reproduced", summary, sections, facts)


_LEGEND = (
    "Prequential accuracy in percent (every row is predicted before it is learned), with its standard error over the "
    "shuffles. The first four columns are the paper's (Agn, Opt, Ada, OCOR): the sampled prediction, with the gamma "
    "that was best on each shuffle in hindsight, and the paper's own figure in brackets. OnlineMBBM does not sample. "
    "The last two columns tune nothing. Both are OnlineBoostClassifier, a mixture of boosters whose games start at the "
    f"label and which pool distributions. 'boost-stumps' mixes {len(GAMMAS)} gammas over the same stumps, "
    f"{paper.N_LEARNERS} each, and a stump that is not boosted: OnlineBoostClassifier(stump, "
    f"budget={len(GAMMAS) * paper.N_LEARNERS}). 'boost' is the default, OnlineBoostClassifier(), which also "
    "chooses the learner."
)
_MEASURES_TEXT = (
    "The paper does not say whether it counts the whole stream or its end, and its algorithms sample the label where a "
    "user would take the most probable one. Gamma is chosen in hindsight on the whole stream, as in the published code."
)
_TIME_TEXT = (
    "Seconds for one run on this machine, compiled beforehand; in brackets the paper's, in Python on cores of 2.27 GHz."
)
_ACCOUNT_TEXT = (
    f"The agnostic booster with gamma {reproduce.ACCOUNT_GAMMA:g}, first shuffle, compared with the best stump in "
    "hindsight. Regrets are averages per row in gains, which is twice what they are in mistakes; the indented parts "
    "add up to it."
)


def _accounts(accounts: Mapping[str, Account]) -> list[Table]:
    return [Table((name.capitalize(), "account"), list(lines)) for name, lines in accounts.items()]


def _rows(cells: Cells, names: Sequence[str], text: Callable[[Cell], str]) -> list[list[str]]:
    """A row per dataset, a column per booster; what was not run is left empty."""
    return [
        [name.capitalize(), *(text(cells[booster, name]) if (booster, name) in cells else "" for booster in TITLES)]
        for name in names
    ]


def _bracketed(ours: str, published: float | None, digits: int = 1) -> str:
    """Our figure, and the paper's in brackets if it has one."""
    return ours if published is None else f"{ours} ({published:,.{digits}f})"


def table(cells: Cells, names: Sequence[str]) -> Table:
    """Table 1 with the paper's figures in brackets; the best of each row is bold."""

    def mean(cell: Cell) -> float:
        return cell.interval(reproduce.primary(cell.booster))[0]

    def text(cell: Cell) -> str:
        ours = shown(cell.interval(reproduce.primary(cell.booster)))
        return _bracketed(ours, cell.published and cell.published.accuracy)

    best = {name: max(mean(cell) for cell in cells.values() if cell.dataset == name) for name in names}
    strong = frozenset(
        (names.index(name), list(TITLES).index(booster) + 1)
        for (booster, name), cell in cells.items()
        if name in names and mean(cell) == best[name]
    )
    return Table(("dataset", *TITLES.values()), _rows(cells, names, text), "Brackets: the paper's Table 1.", strong)


def errors(cells: Cells, names: Sequence[str]) -> Table:
    """The standard errors, and the paper's in brackets."""

    def text(cell: Cell) -> str:
        error = cell.interval(reproduce.primary(cell.booster))[1]
        return _bracketed(f"{error:.2f}" if len(cell.best) > 1 else "–", cell.published and cell.published.error, 2)

    caption = "In points, over the shuffles; a single shuffle has none. Brackets: the paper's."
    return Table(("dataset", *TITLES.values()), _rows(cells, names, text), caption)


def measure_table(cells: Cells, names: Sequence[str], measure: str) -> Table:
    """One of the four accuracies; an asterisk where it is more than two standard errors from the paper's figure."""

    def text(cell: Cell) -> str:
        if cell.booster == "mbbm" and measure.endswith("drawn"):
            return "–"
        return shown(cell.interval(measure)) + ("*" if cell.differs(measure) else "")

    caption = f"Accuracy, {MEASURES[measure]}. An asterisk: more than two standard errors from the paper's figure."
    return Table((MEASURES[measure], *TITLES.values()), _rows(cells, names, text), caption)


def seconds(cells: Cells, names: Sequence[str]) -> Table:
    """Run times, and the paper's in brackets."""

    def text(cell: Cell) -> str:
        return _bracketed(shown(cell.seconds, 2), cell.published and cell.published.seconds)

    return Table(("dataset", *TITLES.values()), _rows(cells, names, text))


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
    return Figure(
        panels,
        "Of the prediction that the paper makes: sampled, or OnlineMBBM's plurality. Bars are two standard errors.",
    )


def curves(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        bands, n_rows = {}, 0
        for booster, title in TITLES.items():
            if (booster, name) in cells:
                runs = cells[booster, name].best
                n_rows = runs[0]["rows"]
                bands[title] = figures.Band.of([run["curve"] for run in runs])
        panels[f"{name.capitalize()}: accuracy so far by rows"] = figures.learning_curves(
            name.capitalize(), n_rows, bands
        )
    return Figure(panels, "Accuracy of all rows so far. Bands are two standard errors; a single shuffle has none.")


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
    caption = "By Table 1. A bar joins boosters whose ranks do not differ significantly (Nemenyi's test, 5 %)."
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
    return Figure(panels, "'boost-stumps': weights of its boosters in the mixture, first shuffle.")


def _confusions(cells: Cells, names: Sequence[str]) -> Figure:
    panels = {}
    for name in names:
        if (UNTUNED[1], name) in cells:
            run = cells[UNTUNED[1], name].best[0]
            counts = np.array(run["confusion"])
            title = name.capitalize()
            panels[f"{title}: confusion matrix"] = figures.confusion(title, run["labels"], counts)
    return Figure(panels, f"{TITLES[UNTUNED[1]]}, first shuffle, mode. {CONFUSION}")
