"""Which tables of the documentation were made by other sources than the present ones.

    python benchmarks/stale.py            # every table, and how many of its runs are of the present sources
    python benchmarks/stale.py --check    # exit code 1 if a table has runs of other sources

A table stands between two marks in a page, or is a page that a study writes as a whole. Every run that a study has kept
carries a checksum of the sources of models and kernels that made it, without comments and docstrings
(``bench/jobs.py``); readers of files, commands and services are no part of it. Runs of other libraries' models do not
depend on our sources. Runs from before there were checksums count as of other sources.
A script belongs to a table if it names its page and its mark; which results it reads is found in its text, too.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import studies

from ocoboost.bench.jobs import code, key
from ocoboost.report import Table, markdown_table

ROOT = studies.DOCS.parent
MARK = re.compile(r"<!-- ([\w -]+): begin -->")
STORED = re.compile(
    r'results/(\w+)\.jsonl|"(\w+)\.jsonl"|(?:finished|run_missing|kept)\(\s*"(\w+)"|ST(?:ORE|UDY) = "(\w+)"'
)
WHOLE = "the whole page"
# Models of other libraries, and those that look at no features, as the studies call them.
OTHERS = re.compile(
    r"river|capymoa|vw\b|vowpal|arf\b|cleanlab|gradient boosting|adaboost, stumps|epsilon-greedy|hoeffding tree$|"
    r"last-label|majority",
    re.IGNORECASE,
)


class Made(NamedTuple):
    """A table, and by whom its runs were made."""

    page: str
    mark: str
    scripts: tuple[str, ...]
    results: tuple[str, ...]  # the names of the stores that these read; none if they measure anew
    n_present: int
    n_other: int
    n_lasting: int  # of other libraries' models

    @property
    def state(self) -> str:
        """In words."""
        if not self.n_present + self.n_other:
            return "nothing stored"
        return "present" if not self.n_other else "stale" if not self.n_present else "partly stale"


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


def _counted(results: tuple[str, ...]) -> tuple[int, int, int]:
    """The runs behind a table: of the present sources, of others, and of other libraries' models."""
    runs: dict[str, dict[str, Any]] = {}
    for name in results:
        for run in _lines(studies.RESULTS / f"{name}.jsonl"):
            runs[name + key(run["job"])] = run  # the last one counts
    n_lasting = sum(_is_of_others(run["job"]) for run in runs.values())
    ours = [run.get("code") == code() for run in runs.values() if not _is_of_others(run["job"])]
    return sum(ours), len(ours) - sum(ours), n_lasting


def _is_of_others(job: dict[str, Any]) -> bool:
    return OTHERS.match(str(job.get("model", ""))) is not None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            run = json.loads(line)
        except ValueError:  # truncated
            continue
        if "failed" not in run["result"]:
            yield run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if a table has runs of other sources")
    options = parser.parse_args()
    found = tables()
    columns = ("page", "table", "by", "present", "other", "others' models", "state")
    rows = [(m.page, m.mark, ", ".join(m.scripts), *map(str, m[4:]), m.state) for m in found]
    print(f"The present sources: {code()}")
    print("\n".join(markdown_table(Table(columns, rows), text=(0, 1, 2, 6))))
    for page, mark in unmade():
        print(f"{page}: no script writes the table {mark!r}")
    return int(options.check and any(made.n_other for made in found))


if __name__ == "__main__":
    raise SystemExit(main())
