"""Which tables of the documentation were made by other sources than the present ones.

    python benchmarks/stale.py            # every table, and how many of its runs are of the present sources
    python benchmarks/stale.py --check    # exit code 1 if a table has runs of other sources that are not confirmed

A table stands between two marks in a page, or is a page that a study writes as a whole. Every run that a study has kept
carries a checksum of the sources of models and kernels that made it, without comments and docstrings, and without batch
boosters where none takes part (``bench/jobs.py``); readers of files, commands and services are no part of it. Runs of
other libraries' models do not depend on our sources. Runs from before there were checksums count as of other sources.
Runs of other sources are confirmed if ``spot_check.py`` has made at least ten of their store again with the present
sources, or all if there are fewer, some of every kind of model, and all of them agree. Where one differs, all runs of
its kind are stale, and every other kind needs ten of its own.
A script belongs to a table if it names its page and its mark; which results it reads is found in its text, too.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import spot_check
import stored
import studies

from ocoboost.bench.jobs import code
from ocoboost.report import Table, markdown_table

ROOT = studies.DOCS.parent
MARK = re.compile(r"<!-- ([\w -]+): begin -->")
STORED = re.compile(
    r'results/(\w+)\.jsonl|"(\w+)\.jsonl"|(?:finished|run_missing|kept)\(\s*"(\w+)"|ST(?:ORE|UDY) = "(\w+)"'
)
WHOLE = "the whole page"


class Made(NamedTuple):
    """A table, and by whom its runs were made."""

    page: str
    mark: str
    scripts: tuple[str, ...]
    results: tuple[str, ...]  # the names of the stores that these read; none if they measure anew
    n_present: int
    n_other: int
    n_lasting: int  # of other libraries' models
    n_confirmed: int  # of those of other sources
    n_checked: int  # that the present sources have made again
    n_equal: int

    @property
    def is_stale(self) -> bool:
        """Whether it has runs of other sources that are not confirmed."""
        return self.n_confirmed < self.n_other

    @property
    def state(self) -> str:
        """In words."""
        if not self.n_present + self.n_other:
            return "nothing stored"
        if not self.n_other:
            return "present"
        checked = f"{self.n_equal} of {self.n_checked} runs made again agree" if self.n_checked else ""
        if not self.is_stale:
            return f"confirmed: {checked}"
        stale = "partly stale" if self.n_present or self.n_confirmed else "stale"
        return f"{stale}: {checked}" if checked else stale


def tables() -> list[Made]:
    """Every table that a study writes."""
    folder = studies.RESULTS.parent
    scripts = {path.name: path.read_text() for path in sorted(folder.glob("*.py")) if path.stem != "stale"}
    return [
        Made(page.relative_to(ROOT).as_posix(), mark, makers, results := _stores(makers, scripts), *_counted(results))
        for page in sorted([*studies.DOCS.rglob("*.md"), ROOT / "README.md"])
        for mark in _marks(page, scripts)
        if (makers := tuple(name for name, text in scripts.items() if _writes(text, page.name, mark)))
    ]


def unmade() -> list[tuple[str, str]]:
    """Marks that no script writes between, by page."""
    known = {(made.page, made.mark) for made in tables()}
    pages = [*studies.DOCS.rglob("*.md"), ROOT / "README.md"]
    every = [(page.relative_to(ROOT).as_posix(), mark) for page in pages for mark in MARK.findall(page.read_text())]
    return sorted(set(every) - known)


def _marks(page: Path, scripts: dict[str, str]) -> list[str]:
    """The marks of a page; of one without any, itself if a script writes it."""
    found = MARK.findall(page.read_text())
    is_written = any(f'"{page.name}").write_text(' in text for text in scripts.values())
    return found or ([WHOLE] if is_written else [])


def _writes(text: str, page: str, mark: str) -> bool:
    """Whether a script, by its text, writes this table."""
    if mark == WHOLE:
        return f'"{page}").write_text(' in text
    is_default = mark == "tables" and re.search(r"put\((?:[^\"]|\"[\w.]+\")*\)\)?$", text, re.MULTILINE) is not None
    return page in text and (f'"{mark}"' in text or is_default)


def _stores(makers: tuple[str, ...], scripts: dict[str, str]) -> tuple[str, ...]:
    """The stores that scripts name."""
    return tuple(
        sorted({name for maker in makers for found in STORED.findall(scripts[maker]) for name in found if name})
    )


def _counted(results: tuple[str, ...]) -> tuple[int, ...]:
    """The runs behind a table, as ``Made`` counts them."""
    checks = spot_check.known(studies.RESULTS)
    counts = [_counted_in(name, checks.get(name, {})) for name in results]
    return tuple(map(sum, zip(*counts, strict=True))) if counts else (0,) * 6


def _counted_in(name: str, checks: dict[str, tuple[int, int]]) -> tuple[int, ...]:
    """The same of one store; ``checks`` are by kind how many runs were made again and how many agree."""
    runs = stored.last_runs(studies.RESULTS / f"{name}.jsonl")
    ours = [run for run in runs if not stored.is_lasting(run["job"])]
    n_other = sum(not stored.is_present(run, name) for run in ours)
    n_confirmed = n_other - sum(unconfirmed(name, checks).values())
    n_checked, n_equal = (sum(counts[place] for counts in checks.values()) for place in (0, 1))
    used = (n_checked, n_equal) if n_other else (0, 0)  # nothing needs it otherwise
    return len(ours) - n_other, n_other, len(runs) - len(ours), n_confirmed, *used


def unconfirmed(name: str, checks: dict[str, tuple[int, int]]) -> Counter[str]:
    """How many runs of a store are of other sources and not confirmed, by kind of model."""
    runs = stored.last_runs(studies.RESULTS / f"{name}.jsonl")
    other = Counter(
        stored.kind(run["job"]) for run in runs if not (stored.is_lasting(run["job"]) or stored.is_present(run, name))
    )
    asked = {kind: checks[kind] for kind in other if kind in checks}
    n_run, n_equal = (sum(counts[place] for counts in asked.values()) for place in (0, 1))
    if n_run == n_equal and n_run >= min(spot_check.N_RUNS, other.total()):
        confirmed = set(asked)
    else:  # where one differs, or few were made, each kind speaks for itself
        enough = {kind: min(spot_check.N_RUNS, other[kind]) for kind in asked}
        confirmed = {kind for kind, (n_run, n_equal) in asked.items() if enough[kind] <= n_run == n_equal}
    return Counter({kind: count for kind, count in other.items() if kind not in confirmed})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if a table is stale and not confirmed")
    options = parser.parse_args()
    found = tables()
    columns = ("page", "table", "by", "present", "other", "others' models", "state")
    rows = [(m.page, m.mark, ", ".join(m.scripts), *map(str, m[4:7]), m.state) for m in found]
    print(f"The present sources: {code('batch')}, without batch boosters {code('online')}")
    print("\n".join(markdown_table(Table(columns, rows), text=(0, 1, 2, 6))))
    checks = spot_check.known(studies.RESULTS)
    for name in sorted({name for made in found if made.is_stale for name in made.results}):
        if kinds := unconfirmed(name, checks.get(name, {})):
            told = ", ".join(f"{kind} ({count:,})" for kind, count in sorted(kinds.items()))
            print(f"{name}: stale and not confirmed: {told}")
    for page, mark in unmade():
        print(f"{page}: no script writes the table {mark!r}")
    return int(options.check and any(made.is_stale for made in found))


if __name__ == "__main__":
    raise SystemExit(main())
