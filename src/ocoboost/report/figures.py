"""The figures of reports: plain numbers in, SVG out.

Drawn without pyplot, so nothing is global; without dates or random ids, so the same numbers give the same bytes. Text
stays text: it can be searched and read aloud, and has the page's font. Panels are small, so that they are legible on a
phone; pages lay them out side by side on wide screens.
"""

from __future__ import annotations

import io
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ocoboost.arrays import FloatArray
from ocoboost.report.palette import LIGHT, SERIES, with_variables
from ocoboost.spelling import escaped, shortened

PANEL = (4.0, 3.0)  # inches
WIDE = 11.0  # of a figure that spans a page
LONGEST = 24  # characters of a label
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ocoboost",
    "text.parse_math": False,  # a label may hold dollars
    "font.family": "sans-serif",
    "font.size": 9.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.6,
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "text.color": LIGHT["ink"],
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
}


class Band(NamedTuple):
    """A line and its limits, which may coincide with it."""

    middle: Sequence[float] | FloatArray
    low: Sequence[float] | FloatArray
    high: Sequence[float] | FloatArray

    @classmethod
    def of(cls, curves: Sequence[Sequence[float]]) -> Band:
        """The mean of several curves, two standard errors either way; a single curve has no errors."""
        values = np.array(curves)
        middle = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(len(middle))
        return cls(middle, middle - 2 * error, middle + 2 * error)

    def after(self, n_points: int) -> Band:
        """Without the first points."""
        return Band(*(values[n_points:] for values in self))


class Twice(NamedTuple):
    """One figure for two widths of a page: its text has the same size on a phone and across a desktop."""

    narrow: str
    wide: str

    @classmethod
    def drawn(cls, draw: Callable[..., str], *args: Any, **options: Any) -> Twice:
        """What ``lines`` or ``shares`` draws, in both widths."""
        return cls(draw(*args, **options), draw(*args, **options, width=WIDE))


class Interval(NamedTuple):
    """A number and its standard error; the error of a single run is not known, and 0 here."""

    mean: float
    error: float = 0.0


def lines(
    title: str,
    x: Sequence[float] | FloatArray,
    bands: Mapping[str, Band],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[float] = (),
    width: float = PANEL[0],
) -> str:
    """Lines with bands: learning curves, or accuracy by noise level; a dotted line at every mark."""
    with mpl.rc_context(_STYLE):
        figure, axes = _panel(title, y_label, height=_height(len(bands)), width=width)
        for number, (colour, (name, band)) in enumerate(zip(_colours(len(bands)), bands.items(), strict=True)):
            axes.fill_between(x, band.low, band.high, color=colour, alpha=0.18, linewidth=0)
            axes.plot(x, band.middle, "-" if number < len(SERIES) else "--", color=colour, label=name)
        _mark(axes, marks)
        axes.set_xlabel(x_label)
        axes.margins(x=0.01)
        _group_digits(axes, max(x), width)
        _legend(figure, len(bands), columns=_columns(width, 2))
        return _svg(figure)


def learning_curves(title: str, n_rows: int, bands: Mapping[str, Band]) -> str:
    """Accuracy so far at evenly spaced rows; the first point, which is of few rows, is left out."""
    n_points = max(len(band.middle) for band in bands.values())
    x = n_rows * np.arange(2, n_points + 1) / n_points
    shown = {name: band.after(1) for name, band in bands.items()}
    return lines(title, x, shown, x_label="rows", y_label="accuracy so far, %")


def time_against_accuracy(title: str, points: Mapping[str, tuple[Interval, Interval]]) -> str:
    """A point per model: seconds, on a logarithmic axis, against accuracy in percent. Up and left is better."""
    with mpl.rc_context(_STYLE):
        figure, axes = _panel(title, "accuracy, %", height=_height(len(points)))
        for number, (colour, (name, (seconds, accuracy))) in enumerate(
            zip(_colours(len(points)), points.items(), strict=True)
        ):
            axes.errorbar(
                seconds.mean,
                accuracy.mean,
                xerr=seconds.error,
                yerr=accuracy.error,
                color=colour,
                fmt="osD^v"[number % 5],
                markersize=6,
                label=name,
            )
        axes.set_xscale("log")
        times = [seconds.mean for seconds, _ in points.values()]
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if max(times) < 50 * min(times) else (1.0,)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("seconds")
        axes.margins(0.1)
        _legend(figure, len(points))
        return _svg(figure)


def intervals(title: str, groups: Mapping[str, Mapping[str, Interval]], *, x_label: str) -> str:
    """A row per group, and in it a dot with two standard errors per series, one above the other."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    with mpl.rc_context(_STYLE):
        height = 0.9 + len(groups) * (0.16 + 0.13 * len(names)) + 0.2 * -(-len(names) // 2)
        figure, axes = _panel(title, "", height=height)
        for number, (colour, name) in enumerate(zip(_colours(len(names)), names, strict=True)):
            places = [i for i, group in enumerate(groups.values()) if name in group]
            shown = [group[name] for group in groups.values() if name in group]
            offset = (number - (len(names) - 1) / 2) * 0.8 / max(len(names), 1)
            axes.errorbar(
                [interval.mean for interval in shown],
                [place + offset for place in places],
                xerr=[2 * interval.error for interval in shown],
                color=colour,
                fmt="osD^v"[number % 5],
                markersize=3.5,
                elinewidth=1.1,
                label=name,
            )
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(x_label)
        _legend(figure, len(names))
        return _svg(figure)


def critical_difference(title: str, ranks: Mapping[str, float], distance: float) -> str:
    """Mean ranks, best on top; a bar joins models that do not differ significantly (Demšar, 2006, turned upright)."""
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    groups = indistinguishable([rank for _, rank in ordered], distance)
    with mpl.rc_context(_STYLE):
        figure, axes = _panel(title, "mean rank, 1 is best", height=1.1 + 0.25 * len(ordered))
        step = 0.4 * max(1.0, len(ordered) / 8)  # between bars, in ranks: many models have many ranks
        edge = ordered[-1][1] + step
        for place, (_, rank) in enumerate(ordered):
            axes.plot([rank, edge], [place, place], color=LIGHT["line"], linewidth=1)
            axes.plot(rank, place, "o", color=LIGHT["ink"], markersize=5)
            axes.annotate(
                f"{rank:.1f}", (rank, place), (-5, 0), textcoords="offset points", ha="right", va="center", size=8.5
            )
        for number, (first, last) in enumerate(groups):
            at = edge + step * number
            axes.plot([at, at], [first - 0.12, last + 0.12], color=SERIES[number % 2], linewidth=4)
        axes.plot([1, 1 + distance], [-1, -1], "|-", color=SERIES[1], linewidth=2, markersize=8.5)
        names = [f"critical difference {distance:.1f}", *(name for name, _ in ordered)]
        axes.set_yticks(range(-1, len(ordered)), names)
        axes.set_ylim(len(ordered) - 0.4, -1.6)
        axes.set_xticks(range(1, len(ordered) + 1, 1 + len(ordered) // 6))
        axes.set_xlim(1.0 - 4.0 * step, max(edge + step * len(groups), 1.2 + distance))
        axes.grid(visible=False)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        return _svg(figure)


def indistinguishable(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """The longest runs of sorted ranks that lie within the critical difference, as first and last place.

    >>> indistinguishable([1.0, 1.5, 2.8, 4.0], 1.4)
    [(0, 1), (1, 2), (2, 3)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other <= rank + distance)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def shares(
    title: str,
    x: Sequence[float] | FloatArray,
    parts: Mapping[str, Sequence[float] | FloatArray],
    *,
    marks: Sequence[float] = (),
    y_label: str = "weight",
    width: float = PANEL[0],
) -> str:
    """Shares of a whole over time, such as the weights of a mixture's members; a dotted line at every mark."""
    with mpl.rc_context(_STYLE):
        height = PANEL[1] + 0.09 * len(parts) / _columns(width, 1)
        figure, axes = _panel(title, y_label, height=height, width=width)
        axes.stackplot(x, *parts.values(), labels=list(parts), colors=_colours(len(parts)), alpha=0.85, linewidth=0)
        _mark(axes, [mark for mark in marks if min(x) <= mark <= max(x)])
        axes.set_xlabel("rows")
        _group_digits(axes, max(x), width)
        axes.margins(0)
        _legend(figure, len(parts), columns=_columns(width, 1 if max(map(len, parts)) > 22 else 2))
        return _svg(figure)


CONFUSION = "Blue is right, orange is wrong; the darker, the larger the share of the true label."


def confusion(title: str, labels: Sequence[str], counts: np.ndarray[Any, Any], down: str = "true") -> str:
    """A confusion matrix: true labels, or others, down, predictions across; counts are shown while they fit."""
    n_labels = len(labels)
    labels = [shortened(label, LONGEST) for label in labels]
    rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    with mpl.rc_context(_STYLE):
        figure, axes = _panel(title, "", height=PANEL[0] * 0.92)
        axes.grid(visible=False)
        for (truth, predicted), share in np.ndenumerate(rows):
            if share == 0.0:
                continue
            colour = SERIES[0] if truth == predicted else SERIES[1]
            shade = 0.6 * share  # the darkest still leaves the number legible
            axes.fill_between(
                [predicted - 0.47, predicted + 0.47], truth - 0.47, truth + 0.47, color=colour, alpha=shade, linewidth=0
            )
            if n_labels <= 12:
                axes.text(predicted, truth, f"{int(counts[truth, predicted])}", ha="center", va="center", size=7)
        places = range(n_labels)
        axes.set_xticks(places, labels, rotation=90 if max(map(len, labels)) > 2 else 0, size=min(8, 110 / n_labels))
        axes.set_yticks(places, labels, size=min(8, 110 / n_labels))
        axes.tick_params(length=0)
        axes.set_xlim(-0.5, n_labels - 0.5)
        axes.set_ylim(n_labels - 0.5, -0.5)
        axes.set_xlabel("predicted")
        axes.set_ylabel(down)
        return _svg(figure)


def _panel(title: str, y_label: str, *, height: float = PANEL[1], width: float = PANEL[0]) -> tuple[Figure, Axes]:
    """One panel. The label of the vertical axis stands under the title, so that no text is rotated."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(escaped(title), x=0.048 / width, ha="left", weight="bold", size=11)
    axes = figure.subplots()
    axes.set_title(y_label, loc="left", color=LIGHT["muted"], size=8.5)
    return figure, axes


def _mark(axes: Axes, marks: Sequence[float]) -> None:
    for mark in marks:
        axes.axvline(mark, color=LIGHT["ink"], linewidth=1.0, linestyle=":")


def _group_digits(axes: Axes, most: float, width: float) -> None:
    """Commas in the numbers of the horizontal axis, if they are large; of longer ones fewer."""
    if most >= 1000:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if most >= 10_000:
        axes.xaxis.set_major_locator(MaxNLocator(round(5 * width / PANEL[0])))


def _height(n_entries: int) -> float:
    """Of a panel: three lines of legend fit, more of them make it taller."""
    return PANEL[1] + 0.17 * max(0, -(-n_entries // 2) - 3)


def _columns(width: float, n_columns: int) -> int:
    """Of a legend that has so many in a panel of the usual width."""
    return round(n_columns * width / PANEL[0])


def _legend(figure: Figure, n_entries: int, columns: int = 2) -> None:
    if n_entries > 1:
        figure.legend(loc="outside lower left", ncols=columns, handlelength=1.4, columnspacing=1.2)


def _colours(n: int) -> list[str]:
    return [SERIES[i % len(SERIES)] for i in range(n)]


def _svg(figure: Figure) -> str:
    """The figure for a page: no header, no fixed size, colours as variables, ids that no other figure has."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about glyphs, which the reader's own fonts will have
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    view = re.search(r'viewBox="[^"]*"', text)
    assert view is not None
    body = text[text.index("<g ") :]
    prefix = f"f{zlib.crc32(body.encode()):08x}"  # the same on every run, which Python's own hash is not

    def rewrite(tag: re.Match[str]) -> str:
        attributes = re.sub(r'\bid="', f'id="{prefix}-', tag.group()).replace("xlink:href", "href")
        return with_variables(re.sub(r"(url\(|href=\")#", rf"\g<1>#{prefix}-", attributes))

    body = re.sub(r"<[^>]*>", rewrite, body)  # tags only: text is data
    return f'<svg {view.group()} style="stroke-linejoin: round; stroke-linecap: butt">{body}'
