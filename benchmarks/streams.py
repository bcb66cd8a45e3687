"""`OnlineBoostClassifier` beside River's and CapyMOA's ensembles on streams that change: the leaderboard in the docs.

    python benchmarks/stream_files.py WHEELS FOLDER
    python benchmarks/streams.py run --data-dir FOLDER --streams development --models boost
    python benchmarks/streams.py run --data-dir FOLDER --streams reported
    python benchmarks/streams.py report --data-dir FOLDER

What ``ocoboost compare --streams`` runs, with the peers' ensembles in three sizes. ``--streams`` and ``--models`` are
comma-separated names; ``development`` and ``reported`` stand for all streams of that use. Every finished run is kept in
``benchmarks/results/streams.jsonl``; after a change to the library, ``--fresh --models boost`` runs ours again.
``report`` writes the tables of ``docs/streams.md``.
"""

from __future__ import annotations

import statistics
from functools import partial

import studies

from ocoboost.bench import comparison_page, contestants, leaderboard, leaderboard_page, peers
from ocoboost.bench.compare import Comparison
from ocoboost.bench.jobs import Store
from ocoboost.report import Section, Table, markdown

SIZES = (10, 30, 100)
ENSEMBLES = ("capymoa-arf", "capymoa-srp", "capymoa-leveraging-bagging")
OTHERS = tuple(name for name in (*contestants.DEFAULTS, *contestants.CAPYMOA_DEFAULTS) if not name.endswith("-30"))
SIZED = tuple(f"{name}-{size}" for name in ENSEMBLES for size in SIZES)
MODELS = (*OTHERS, *SIZED)


def chosen(names: str, known: leaderboard.Catalogue) -> tuple[str, ...]:
    """Streams by name or by use, in the order of the catalogue."""
    asked = set(names.split(","))
    if unknown := asked - {"development", "reported", *known}:
        raise SystemExit(f"--streams: no {', '.join(sorted(unknown))}; there are {', '.join(known)}.")
    return tuple(name for name, entry in known.items() if {name, entry.use} & asked)


def ranks_by_size(comparison: Comparison) -> list[Section]:
    """Ranks with the ensembles in all sizes, over the streams on which all of them were run."""
    settings = comparison.settings
    models = (*leaderboard.complete(comparison).settings.models, *SIZED)
    models = tuple(model for model in settings.models if model in models)
    names = tuple(name for name in settings.names if all((name, 0.0, model) in comparison.runs for model in models))
    if not set(SIZED) <= set(models) or len(names) < 2:
        return []
    chosen = Comparison(settings._replace(models=models, names=names), comparison.runs)
    told = f"Over the {len(names)} streams on which all sizes were run: {', '.join(names)}."
    parts = comparison_page.ranks(chosen, leaderboard_page.CAUTION)
    return [Section("Ranks with ensembles of 10, 30 and 100", [told, *parts, _duels(chosen)])]


def _duels(comparison: Comparison) -> Table:
    """The first model against each of the others, stream by stream: with many models, ranks tell few pairs apart."""
    first, *others = comparison.settings.models
    scores, rows = comparison.scores(), list[tuple[str, ...]]()
    for other in others:
        gains = [row[first] - row[other] for row in scores]
        n_ahead = sum(gain > 0.0 for gain in gains)
        rows.append((other, f"{n_ahead} of {len(gains)}", f"{min(gains):+.2f}", f"{statistics.fmean(gains):+.2f}"))
    return Table(("model", f"{first} is ahead on", "least gain", "mean gain"), rows)


def report(store: Store, settings: leaderboard.Settings, known: leaderboard.Catalogue) -> None:
    """Write the tables of the docs, one part for each use; models that were not run at all are left out."""
    page = studies.DOCS / "streams.md"
    for use in ("reported", "development"):
        names = tuple(name for name in settings.streams if known[name].use == use)
        comparison, _ = leaderboard.finished(settings._replace(streams=names), known, store)
        ran = tuple(model for model in settings.models if any(at[2] == model for at in comparison.runs))
        if ran:
            comparison = comparison._replace(settings=comparison.settings._replace(models=ran))
            folder = studies.DOCS / "streams" / use
            parts = leaderboard_page.sections(comparison)
            parts[1:1] = ranks_by_size(comparison)
            if use == "development":  # ranks and accuracy are enough
                parts = [*parts[:-2], Section("Accuracy", [leaderboard_page.scores(comparison, "accuracy")])]
            text = markdown(parts, folder, f"streams/{use}").replace("## ", "### ")
            studies.put(page, text, use)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--streams", default="development,reported")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rows", type=int, help="at most; without it 20,000 of a generated stream, 50,000 of a file")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    known = leaderboard.catalogue(options.data_dir)
    settings = leaderboard.Settings(
        tuple(options.models.split(",")), chosen(options.streams, known), options.rows, options.seed
    )
    if options.action == "report":
        report(Store(options.results / "streams.jsonl", any_code=True), settings, known)
        return
    if not peers.has_capymoa() and any(name.startswith("capymoa") for name in settings.models):
        raise SystemExit("CapyMOA's models need `pip install capymoa` and Java; or name others with --models.")
    jobs = leaderboard.plan(settings, known)
    studies.run_missing("streams", jobs, partial(leaderboard.run, data_dir=options.data_dir), options)


if __name__ == "__main__":
    main()
