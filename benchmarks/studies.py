"""What the studies in this folder share: their options, where runs are kept, and how tables get into a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from ocoboost.bench import measures
from ocoboost.bench.jobs import Job, Result, Store, run_all
from ocoboost.report import Table, markdown_table

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS = Path(__file__).resolve().parent / "results"


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every study has."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--data-dir", type=Path, help="folder with name.csv.gz files, for what the package does not hold")
    made.add_argument("--jobs", type=int, default=1, help="processes")
    made.add_argument("--results", type=Path, default=RESULTS, help="folder of the finished runs")
    made.add_argument("--fresh", action="store_true", help="also run what is finished, but by other sources")
    return made


def run_missing(
    name: str,
    jobs: Iterable[Job],
    work: Callable[[Job], Result],
    options: argparse.Namespace,
    *,
    lasting: Callable[[Job], bool] = lambda job: False,
) -> Store:
    """Run the jobs of a study that are not in its store yet, and return the store.

    Jobs that are ``lasting`` do not depend on our sources, and are not run again with ``--fresh``.
    """
    store = Store(options.results / f"{name}.jsonl", any_code=lasting if options.fresh else True)
    waiting = [job for job in jobs if store.get(job) is None]
    done: list[Job] = []

    def tick(job: Job) -> None:
        done.append(job)
        print(f"\r{len(done)} of {len(waiting)}", end="", file=sys.stderr, flush=True)

    run_all(waiting, work, store, n_jobs=options.jobs, tick=tick)
    print(f"\r{len(done)} runs done, {len(store.results)} in {store.path}", file=sys.stderr)
    return store


def finished(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every finished run of a study, whatever sources made it: its job and its result in one dict."""
    return Store(options.results / f"{name}.jsonl", any_code=True).records()


def shown(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard error, which a single value does not have."""
    mean, error = measures.mean_and_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if len(values) > 1 else f"{mean:.{digits}f}"


def scores(predictions: Sequence[Any], labels: Sequence[Any], digits: int) -> Result:
    """Accuracy over the whole stream and over its last fifth, as shares."""
    last = len(labels) * 4 // 5
    ends = {"accuracy": (predictions, labels), "last_fifth": (predictions[last:], labels[last:])}
    return {name: round(measures.accuracy(*rows) / 100.0, digits) for name, rows in ends.items()}


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text: Collection[int] = (0,),
    strong: Collection[tuple[int, int]] = (),
) -> str:
    """A table in Markdown; ``text`` are the columns that are no numbers, ``strong`` the cells that are bold."""
    return "\n".join(markdown_table(Table(columns, list(rows), strong=frozenset(strong)), text))


def put(page: Path, text: str, mark: str = "tables") -> None:
    """Replace what is between the marks in a page."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
    before, rest = page.read_text().split(begin)
    page.write_text(f"{before}{begin}{text.rstrip()}\n{end}{rest.split(end)[1]}")
