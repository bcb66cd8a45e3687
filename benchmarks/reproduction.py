"""The paper's table in full, and what the deviations of the published code do to it.

    python benchmarks/reproduction.py run --data-dir FOLDER --jobs 2
    python benchmarks/reproduction.py report

The table itself is that of ``ocoboost reproduce``. Every finished run is kept in
``benchmarks/results/reproduction.jsonl``, so an interrupted study resumes. ``report`` reads only that file: it writes
the tables between the marks in ``docs/reproduction.md`` and their figures, and ``docs/reproduction/report.html``.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import studies
from floored_lessons import FlooredAgnosticBoostClassifier

from ocoboost.bench import datasets, measures, paper, reproduce
from ocoboost.bench import reproduction_page as reproduction
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.online.members import GAMMAS
from ocoboost.report import Section, Table, markdown, provenance, write
from ocoboost.stream.protocol import StreamClassifier

STUDY = "reproduction"
FOLDER, PAGE = studies.DOCS / "reproduction", studies.DOCS / "reproduction.md"
TRAINING_ROWS = 4435  # of Landsat: all that the file published with the paper's code holds


class Variant(NamedTuple):
    """What the published code, or the data published with it, does differently, and where that matters."""

    boosters: tuple[str, ...]
    names: tuple[str, ...] = paper.DATASETS
    relabels: bool = False  # one drawn label is taught, not all of them, weighted
    as_published: bool = False  # every deviation that is known of the published code
    data: bool = False  # Balance's numbers are categories; Landsat has its training rows only
    order: str = ""  # of the labels' indices, which decide ties
    floored: bool = False  # p + 1e-10 is taught to every label


_DEVIATING = ("realizable", "mbbm", "adaboost-olm")  # boosters whose published code differs from the paper
FEWER = "100 stumps in all"  # as many as a single booster has, not as many for each gamma
VARIANTS = {
    "random relabelling": Variant(("agnostic",), relabels=True),
    "published code": Variant(_DEVIATING, as_published=True),
    "labels by appearance": Variant(("agnostic", "realizable"), order="by appearance"),
    "p + 1e-10": Variant(("agnostic",), floored=True),
    FEWER: Variant(("boost-stumps",)),
    "published data": Variant(tuple(paper.BOOSTERS), ("balance", "landsat"), data=True),
    "published code and data": Variant(_DEVIATING, ("balance", "landsat"), as_published=True, data=True),
}


def varied(settings: reproduce.Settings, cells: Collection[tuple[str, str]]) -> list[tuple[Job, Job]]:
    """The jobs of these cells, each with every job that varies it; the cheap ones first."""
    pairs = [
        (job, {**job, "variant": name, **changes(variant, job)})
        for job in reproduce.table_jobs(settings)
        for name, variant in VARIANTS.items()
        if ((job["booster"], job["dataset"]) in cells or job["booster"] in reproduce.UNTUNED)
        and job["booster"] in variant.boosters
        and job["dataset"] in variant.names
    ]
    return sorted(pairs, key=lambda pair: (pair[0]["booster"] == "mbbm", pair[0]["dataset"] == "landsat"))


def differing(settings: reproduce.Settings, store: Store) -> set[tuple[str, str]]:
    """The cells of the table that are more than two standard errors from the paper's."""
    cells = reproduce.cells(settings, store)
    return {at for at, cell in cells.items() if cell.differs(reproduce.primary(at[0]))}


def changes(variant: Variant, job: Job) -> Job:
    """What a variant changes about the model."""
    if job["booster"] in reproduce.UNTUNED:
        return {"n_learners": paper.N_LEARNERS // len(GAMMAS)}
    if variant.order or variant.floored:
        return {"order": variant.order} if variant.order else {"floored": True}
    if job["booster"] in ("mbbm", "adaboost-olm"):
        return {"mode": "paper"} if variant.as_published else {}
    changed: dict[str, Any] = {}
    if variant.relabels or variant.as_published:
        changed["relabel"] = "random"
    if variant.as_published:
        changed["step_size"] = 1.0 / ((1.0 + 1.0 / job["gamma"]) * paper.N_LEARNERS**0.5)
    return {"oco": changed} if changed else {}


def run(job: Job, data_dir: Path | None) -> Result:
    """One run of the table or of a variant of it."""
    rows = datasets.load(job["dataset"], data_dir)
    if "variant" in job and VARIANTS[job["variant"]].data:
        if job["dataset"] == "landsat":
            rows = rows[:TRAINING_ROWS]
        else:
            rows = [({name: str(value) for name, value in x.items()}, y) for x, y in rows]
    return reproduce.run_on(datasets.shuffled(rows, job["shuffle"])[: job["most_rows"]], job, make)


def make(job: Job, classes: Sequence[str]) -> StreamClassifier:
    """The model of a job or of a variant of it."""
    model = reproduce.make(job, classes)
    if not job.get("floored"):
        return model
    parameters = inspect.signature(FlooredAgnosticBoostClassifier).parameters
    return FlooredAgnosticBoostClassifier(**{name: getattr(model, name) for name in parameters})


# -- report ------------------------------------------------------------------------------------------------------------


def tables(store: Store, settings: reproduce.Settings) -> dict[str, reproduce.Cells]:
    """The cells of the table, under "", and of its variants."""
    runs: dict[str, list[tuple[Job, Result | None]]] = {}
    for job, other in varied(settings, differing(settings, store)):
        runs.setdefault(other["variant"], []).append((job, store.get(other)))
    return {"": reproduce.cells(settings, store), **{variant: reproduce.choose(runs[variant]) for variant in VARIANTS}}


def sections(found: dict[str, reproduce.Cells]) -> list[Section]:
    cells, names = found[""], list(paper.DATASETS)
    return [
        Section("Table 1", [reproduction.table(cells, names)]),
        Section("Standard errors", [reproduction.errors(cells, names)]),
        Section("Which accuracy", [reproduction.measure_table(cells, names, m) for m in reproduce.MEASURES]),
        Section("Ours beside the paper's", [reproduction.intervals(cells, names)]),
        Section("Learning curves", [reproduction.curves(cells, names)]),
        Section("Run time", [TIMES, reproduction.seconds(cells, names)]),
        Section("Like with like", [LIKE_WITH_LIKE, like_with_like(found)]),
        Section("Which cells agree", [AGREEMENT, agreement(found)]),
        Section("Single deviations", [DEVIATIONS, *map(partial(deviations, found), paper.BOOSTERS)]),
    ]


DEVIATIONS = (
    "Accuracy over the whole stream, then over its last 20 %, as the paper predicts; an asterisk: more than two "
    "standard errors from the paper's figure. Where fewer than five shuffles were run, their number stands in brackets."
)


TIMES = "Seconds by the clock, and rough, on a machine with other work; [performance.md](performance.md) has speeds."
LIKE_WITH_LIKE = (
    "Accuracy over the whole stream, sampled and mode. The agnostic booster has 100 stumps and the best gamma in "
    "hindsight; the mixture over four gammas chooses nothing in hindsight, with 100 stumps for each gamma or in all. "
    "Sampled labels of the mixture are nearly modes, because it follows votes: modes are compared like with like."
)
AGREEMENT = (
    "Within two standard errors of the paper's figure, both taken together; within two if the paper's figure is of one "
    "shuffle, as its script has it; or with which single deviation it is within the latter. Up to four deviations were "
    "tried for a cell, so some of these may agree by chance. The rest differ."
)


def like_with_like(found: dict[str, reproduce.Cells]) -> Table:
    """The agnostic booster and the mixture over its gammas, of the same and of four times the number of stumps."""
    rows = []
    for title, variant, booster in (
        ("agnostic, 100 stumps, best gamma", "", "agnostic"),
        ("mixture, 100 stumps in all", FEWER, "boost-stumps"),
        ("mixture, 400 stumps in all", "", "boost-stumps"),
    ):
        cells = [found[variant].get((booster, name)) for name in paper.DATASETS]
        if any(cells):
            shown = [
                ", ".join(f"{cell.interval(m)[0]:.1f}" for m in ("whole_drawn", "whole")) if cell else ""
                for cell in cells
            ]
            rows.append([title, *shown])
    return Table(("sampled, mode", *(name.capitalize() for name in paper.DATASETS)), rows)


def _agrees(cell: reproduce.Cell | None, measure: str) -> bool:
    """Judged as the cells without a deviation are; one shuffle has no error, and says nothing."""
    return cell is not None and len(cell.best) > 1 and not cell.differs_between_shuffles(measure)


def agreement(found: dict[str, reproduce.Cells]) -> Table:
    """For every cell of the paper's table, under what it agrees."""
    rows = []
    for booster in paper.BOOSTERS:
        measure = reproduce.primary(booster)
        row = []
        for name in paper.DATASETS:
            cell = found[""][booster, name]
            within = [
                variant for variant, cells in found.items() if variant and _agrees(cells.get((booster, name)), measure)
            ]
            if not cell.differs(measure):
                row.append("yes")
            elif not cell.differs_between_shuffles(measure):
                row.append("one shuffle")
            else:
                row.append(" or ".join(within) if within else "no")
        rows.append([reproduce.TITLES[booster], *row])
    return Table(("", *(name.capitalize() for name in paper.DATASETS)), rows)


def deviations(found: dict[str, reproduce.Cells], booster: str) -> Table:
    """What each deviation of the published code or data does to a column of the table."""
    whole = reproduce.primary(booster)
    rows = [["the paper's", *(f"{paper.TABLE[booster, n].accuracy:.1f}" for n in paper.DATASETS)]]
    for variant, cells in found.items():
        row = []
        for name in paper.DATASETS:
            cell = cells.get((booster, name))
            if cell is None:
                row.append("")
                continue
            texts = [
                measures.shown(cell.interval(m)) + ("*" if cell.differs(m) else "")
                for m in (whole, whole.replace("whole", "last"))
            ]
            count = "" if len(cell.best) == paper.N_SHUFFLES else f" ({len(cell.best)})"
            row.append(", ".join(texts) + count)
        if any(row):
            rows.append([variant or "as defined", *row])
    return Table((reproduce.TITLES[booster], *(name.capitalize() for name in paper.DATASETS)), rows)


def report(store: Store, n_shuffles: int) -> None:
    settings = reproduce.Settings(shuffles=tuple(range(1, n_shuffles + 1)))
    found = tables(store, settings)
    facts = provenance(["python", "benchmarks/reproduction.py", "report"], seeds=", ".join(map(str, settings.shuffles)))
    write(reproduction.page(found[""], {}, facts), FOLDER / "report.html")
    studies.put(PAGE, markdown(sections(found), FOLDER, FOLDER.name))
    for (booster, name), cell in found[""].items():
        if cell.differs(reproduce.primary(booster)):
            mean, _ = cell.interval(reproduce.primary(booster))
            gap = mean - paper.TABLE[booster, name].accuracy
            print(f"to be explained in {PAGE.name}: {reproduce.TITLES[booster]}, {name.capitalize()} ({gap:+.1f})")


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--boosters", help="only these columns, anew if other sources made them, and no deviations")
    parser.add_argument("--variants", help="only these deviations, of the columns that --boosters names")
    parser.add_argument("--datasets", default=",".join(paper.DATASETS))
    parser.add_argument("--shuffles", type=int, default=paper.N_SHUFFLES)
    parser.add_argument("--variant-shuffles", type=int, default=3, help="of the single deviations")
    options = parser.parse_args()
    if options.action == "run":
        names = tuple(options.datasets.split(","))
        settings = reproduce.Settings(names, tuple(range(1, options.shuffles + 1)))
        some = settings._replace(shuffles=settings.shuffles[: options.variant_shuffles])
        work = partial(run, data_dir=options.data_dir)
        boosters = options.boosters.split(",") if options.boosters else list(reproduce.TITLES)
        if options.boosters and not options.variants:
            options.fresh = True
            columns = [job for job in reproduce.table_jobs(settings) if job["booster"] in boosters]
            studies.run_missing(STUDY, columns, work, options)
            return
        store = studies.run_missing(STUDY, reproduce.plan(settings), work, options)
        chosen = options.variants.split(",") if options.variants else list(VARIANTS)
        deviating = [
            job
            for _, job in varied(some, differing(settings, store))
            if job["variant"] in chosen and job["booster"] in boosters
        ]
        studies.run_missing(STUDY, deviating, work, options)
    else:
        report(Store(options.results / f"{STUDY}.jsonl", any_code=True), options.shuffles)


if __name__ == "__main__":
    main()
