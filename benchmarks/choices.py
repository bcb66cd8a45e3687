"""What to choose when: learner, gamma, start, player, relabelling, votes, pool and N, under label noise.

    python benchmarks/choices.py run --data-dir FOLDER --jobs 2
    python benchmarks/choices.py report

Prequential accuracy of the mode against the clean labels, over the whole stream and over its last fifth. Every
finished run is kept in ``benchmarks/results/choices.jsonl``, so an interrupted study resumes. ``report`` reads only
that file; it needs matplotlib and Jinja, and writes ``docs/choices.md`` (from ``choices.md.j2``) and its figures.
"""

from __future__ import annotations

import itertools
import re
import statistics
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import studies
from choices_plan import BOOST, FAMILIES, FEW_SHARES, MOST_ROWS, ONE_AT_A_TIME, STREAMS, WATCH_EVERY, plan, run
from choices_results import Results, signed, table

from ocoboost.bench import noise
from ocoboost.bench.jobs import Job

TEMPLATE = Path(__file__).with_name("choices.md.j2")
TEXT = ("cars", "rule table")  # streams whose features are text


def beside_fixed(results: Results) -> dict[str, Any]:
    """The mixture beside every booster with fixed choices: the best on average, and the best on each stream."""
    against, beside, n_fixed = [], [], 0
    for share in FEW_SHARES:
        fixed, ours = results.fixed(share), results.of(BOOST, noise=share)
        n_fixed = len(fixed)
        steady = max(statistics.fmean(means.values()) for means in fixed.values())
        against.append(f"{results.mean(BOOST, noise=share):.1f} against {steady:.1f}")
        best = {stream: max(means[stream] for means in fixed.values()) for stream in STREAMS}
        beside.append(signed({stream: statistics.fmean(ours[stream].values()) - best[stream] for stream in STREAMS}))
    return {"against": against, "beside": beside, "n_fixed": n_fixed}


def as_deep_trees(results: Results) -> list[bool]:
    """Of every run with stumps, whether the same run with trees of any depth has the same accuracy."""
    return [
        values[shuffle] == results.cells[name.replace('"stump"', '"hoeffding"')][stream][shuffle]
        for name, row in results.cells.items()
        if '"stump"' in name
        for stream, values in row.items()
        for shuffle in values
    ]


def numbers(results: Results) -> dict[str, Any]:
    """The numbers of the page that need a word of code."""
    clean = {"noise": 0.0}
    smooth = results.gains("smooth", "mondrian", {}, clean)
    harder = results.gains(BOOST, BOOST, {"kind": "neighbour"}, {"noise": 0.4})
    pays = results.gains("hoeffding", "one hoeffding", {}, clean)
    eager = results.gains("eager", "hoeffding", {}, clean)
    same = as_deep_trees(results)
    changes = [{"relabel": "random"}, *({"player": player} for player in ONE_AT_A_TIME["player"])]
    largest = max(
        abs(statistics.fmean(results.gains(family, family, change, {"noise": share}).values()))
        for family, change, share in itertools.product(FAMILIES, changes, FEW_SHARES)
    )
    return {
        **beside_fixed(results),
        "cars": [results.mean_of("cars", "one hoeffding", noise=share) for share in (0.0, 0.2)],
        "checkers": [results.mean_of("checkers", family) for family in FAMILIES],
        "worse_smooth": sum(gain < -1.0 for gain in smooth.values()),
        "n_harder": sum(gain < 0.0 for gain in harder.values()),
        "without_text": signed({stream: gain for stream, gain in pays.items() if stream not in TEXT}),
        "eager_on_checkers": eager["checkers"],
        "elsewhere": signed({stream: gain for stream, gain in eager.items() if stream != "checkers"}),
        "n_same": sum(same),
        "n_stumps": len(same),
        "largest": largest,
        "n_shuffles": len(results.of(BOOST)["ordinal"]),
    }


def page(runs: list[dict[str, Any]]) -> str:
    """Numbers are filled in from the runs; if they change much, the sentences around them must too."""
    import jinja2

    results, last_fifth = Results(runs), Results(runs, "last_fifth")

    def gain(learner: str, other: str, change: Job | None = None, measured: Results = results, **shared: Any) -> str:
        return signed(measured.gains(learner, other, change or {}, shared))

    def three(learner: str, other: str, change: Job | None = None, measured: Results = results) -> str:
        return "{}, {} and {}".format(*(gain(learner, other, change, measured, noise=share) for share in FEW_SHARES))

    def boosting(family: str, measured: Results = results) -> str:
        """Of the centre over gamma 1."""
        losses = [measured.gains(family, family, {"gamma": 1.0}, {"noise": share}) for share in FEW_SHARES]
        flipped = [{stream: -loss for stream, loss in by_stream.items()} for by_stream in losses]
        return "{}, {} and {}".format(*map(signed, flipped))

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    environment.filters["thousands"] = lambda count: f"{count:,}"
    environment.filters["digits"] = lambda value, digits: f"{value:.{digits}f}"
    text = environment.from_string(TEMPLATE.read_text()).render(
        numbers(results),
        results=results,
        last_fifth=last_fifth,
        gain=gain,
        three=three,
        boosting=boosting,
        table=table(results),
        n_runs=len(runs),
        n_streams=len(STREAMS),
        most_rows=MOST_ROWS,
        watch_every=WATCH_EVERY,
    )
    return wrapped(text)


def wrapped(text: str) -> str:
    """Paragraphs and list items filled again, now that they have their numbers; tables, code and figures are kept."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith(("#", "|", "```", "![")):
            blocks.append(block)
            continue
        items = re.split(r"\n(?=- )", block)
        blocks.append("\n".join(_filled(item) for item in items))
    return "\n\n".join(blocks).rstrip("\n") + "\n"


def _filled(item: str) -> str:
    indent = "  " if item.startswith("- ") else ""
    return textwrap.fill(
        " ".join(item.split()), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def report(runs: list[dict[str, Any]]) -> None:
    import choices_figures

    results = Results(runs)
    for kind in noise.KINDS:
        choices_figures.draw_noise(results, kind)
    choices_figures.draw_gamma(results, share=0.2)
    choices_figures.draw_weights(runs)
    (studies.DOCS / "choices.md").write_text(page(runs))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--shuffles", type=int, default=3)
    options = parser.parse_args()
    if options.action == "run":
        jobs = plan(options.streams.split(","), options.shuffles)
        studies.run_missing("choices", jobs, partial(run, data_dir=options.data_dir), options)
    else:
        report(studies.finished("choices", options))


if __name__ == "__main__":
    main()
