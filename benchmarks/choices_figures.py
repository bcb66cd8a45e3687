"""The study of choices: its figures."""

from __future__ import annotations

import io
import itertools
from typing import Any

import studies
from choices_plan import BOOST, GAMMAS, SHARES, STREAMS, WATCH_EVERY, WATCHED, WATCHED_SHARES
from choices_results import Results
from matplotlib import pyplot
from PIL import Image

from ocoboost.bench import synthetic

COLOURS = {
    "one hoeffding": "#56b4e9",
    "one mondrian": "#e69f00",
    "hoeffding": "#0072b2",
    "eager": "#009e73",
    "mondrian": "#d55e00",
    "smooth": "#cc79a7",
    BOOST: "black",
}
NAMES = {
    "one hoeffding": "one Hoeffding tree",
    "one mondrian": "one Mondrian tree",
    "hoeffding": "20 boosted Hoeffding trees",
    "eager": "20 boosted eager Hoeffding trees",
    "mondrian": "20 boosted Mondrian trees",
    "smooth": "20 boosted Mondrian trees, smoothing=5",
    BOOST: "OnlineBoostClassifier",
}


def title(stream: str) -> str:
    return stream if stream in synthetic.STREAMS else stream.capitalize()


def panels() -> tuple[Any, Any]:
    """A figure with one panel for each stream."""
    figure, axes = pyplot.subplots(3, 4, figsize=(11, 8), sharex=True, layout="constrained")
    for axis, stream in zip(axes.flat, STREAMS, strict=True):
        axis.set_title(title(stream), fontsize=10)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=8)
    return figure, dict(zip(STREAMS, axes.flat, strict=True))


def finish(figure: Any, name: str, x: str, y: str = "accuracy, %") -> None:
    """Name the axes, explain the lines once for all panels, and write the file."""
    for axis in figure.axes:
        is_at = axis.get_subplotspec()
        axis.set_xlabel(x if is_at.is_last_row() else "", fontsize=9)
        axis.set_ylabel(y if is_at.is_first_col() else "", fontsize=9)
    handles, _ = figure.axes[-1].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    (studies.DOCS / "figures").mkdir(exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100)
    # A palette of 64 colours makes files a third of the size; the software's name and version are left out.
    Image.open(drawn).convert("RGB").quantize(64).save(studies.DOCS / "figures" / f"choices_{name}.png", optimize=True)
    pyplot.close(figure)


def draw_noise(results: Results, kind: str) -> None:
    settings = [{"noise": share, "kind": kind if share else "uniform"} for share in SHARES]
    figure, axes = panels()
    for stream, axis in axes.items():
        for learner, colour in COLOURS.items():
            means, errors = results.curve(stream, learner, settings)
            dashes = ":" if learner.startswith("one ") else "-"
            axis.errorbar(
                [100 * share for share in SHARES], means, errors, color=colour, linestyle=dashes, label=NAMES[learner],
                linewidth=2.0 if learner == BOOST else 1.2, elinewidth=0.8, capsize=1.5,
            )  # fmt: skip
        if stream in synthetic.STREAMS:
            best = results.best_accuracy(stream)
            axis.axhline(best, color="grey", linestyle="--", linewidth=1, label="best hypothesis, where it is known")
    finish(figure, f"noise_{kind}", "flipped labels, %")


def draw_gamma(results: Results, share: float) -> None:
    figure, axes = panels()
    for stream, axis in axes.items():
        for learner in ("hoeffding", "eager", "mondrian", "smooth"):
            for start, dashes in (("label", "-"), ("uniform", ":")):
                settings = [{"gamma": gamma, "start": start, "noise": share} for gamma in GAMMAS]
                means, errors = results.curve(stream, learner, settings)
                axis.errorbar(
                    GAMMAS, means, errors, color=COLOURS[learner], linestyle=dashes, linewidth=1.4, elinewidth=0.8,
                    capsize=1.5, label=f"{NAMES[learner].removeprefix('20 boosted ')}, {start} start",
                )  # fmt: skip
        axis.set_xscale("log")
        axis.set_xticks(GAMMAS, [f"{gamma:g}" for gamma in GAMMAS])
        axis.minorticks_off()
    finish(figure, "gamma", "gamma")


def draw_weights(runs: list[dict[str, Any]]) -> None:
    watched = {(run["stream"], run.get("noise", 0.0)): run["weights"] for run in runs if "weights" in run}
    figure, axes = pyplot.subplots(2, 3, figsize=(11, 6), sharey=True, layout="constrained")
    colours = ["#e69f00", "#cc79a7", "#d55e00", "#0072b2", "#56b4e9", "#bbbbbb"]
    for (share, stream), axis in zip(itertools.product(WATCHED_SHARES, WATCHED), axes.flat, strict=True):
        weights = watched[stream, share]
        rows = range(WATCH_EVERY, WATCH_EVERY * len(next(iter(weights.values()))) + 1, WATCH_EVERY)
        *members, single = weights
        axis.stackplot(rows, *weights.values(), colors=colours, labels=[*members, f"not boosted: {single}"])
        axis.set_title(f"{title(stream)}, {share:.0%} flipped", fontsize=10)
        axis.set_xlim(WATCH_EVERY, rows[-1])
        axis.set_ylim(0, 1)
        axis.tick_params(labelsize=8)
    finish(figure, "weights", "rows", "share in the mixture")
