"""One wrong program for every testable statement of the paper, and the test that must notice it.

    python benchmarks/mutants.py run                 # those not run yet; exits with 1 if one survives
    python benchmarks/mutants.py run "Lemma 17"      # those of some statements
    python benchmarks/mutants.py run --fresh         # also those that were run on other sources
    python benchmarks/mutants.py report              # writes the table in docs/statements.md

The mutants are listed in ``mutants.toml``. The sources and tests are copied to a temporary folder, one line is changed,
and the test is run uncompiled, in a fork of a process that has already imported what the tests need of other libraries.
Every test is also run on the unchanged copy, where it must pass. Verdicts are kept in
``benchmarks/results/mutants.jsonl``, so an interrupted run resumes. ``tests/test_statements.py`` checks that every line
is there to be changed, that its test is there, and that docs/statements.md has the verdicts.
"""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import studies

from ocoboost.bench.jobs import Job, Result

STUDY = "mutants"
FAILED = 99  # before or after pytest
ROOT = Path(__file__).resolve().parent.parent
BORROWED = ("numba", "scipy.optimize", "scipy.stats", "sklearn.tree", "hypothesis", "river.tree", "pytest")


class Mutant(NamedTuple):
    """A statement, and a change that makes it false."""

    statement: str
    file: str  # in src/ocoboost
    line: str  # part of one line, which occurs once
    wrong: str
    test: str  # a file or a function
    only: str = ""  # of its cases, as for pytest's -k


MUTANTS = tuple(Mutant(**one) for one in tomllib.loads((ROOT / "benchmarks/mutants.toml").read_text())["mutant"])


def copied(folder: Path) -> None:
    """Sources and tests, and nothing else that could be found by accident."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "fingerprints"))
    shutil.copy(ROOT / "pyproject.toml", folder)


def passes(folder: Path, test: str, only: str) -> bool:
    """Whether a test passes there, uncompiled and in a process of its own."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = FAILED
        try:
            code = _tested(folder, test, only)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # and no further
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, 1):
        raise SystemExit(f"{test}, {only}: pytest ended with {code}.\n{(folder / 'output').read_text()[-4000:]}")
    return code == 0


def _tested(folder: Path, test: str, only: str) -> int:
    """The exit code of pytest, in a process that has not imported this package."""
    os.chdir(folder)
    output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    importlib.import_module("numba.core.config").reload_config()
    for name in [name for name in sys.modules if name.split(".")[0] == "ocoboost"]:
        del sys.modules[name]
    sys.path.insert(0, str(folder / "src"))
    command = [test, "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--assert=plain"]  # modules are already imported
    return int(importlib.import_module("pytest").main([*command, *(["-k", only] if only else [])]))


def judged(job: Job, folder: Path, is_sound: Any) -> Result:
    """Whether a test notices a mutant."""
    mutant, began = Mutant(**job), time.process_time() + sum(os.times()[2:4])
    path = folder / "src" / "ocoboost" / mutant.file
    verdict = "its test fails without it"
    if is_sound(folder, mutant.test, mutant.only):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(mutant.line, mutant.wrong), encoding="utf-8")
        try:
            verdict = "survives" if passes(folder, mutant.test, mutant.only) else "killed"
        finally:
            path.write_text(text, encoding="utf-8")
    print(f"\r{mutant.statement:<28} {verdict:<10} {mutant.file}: {mutant.wrong}", flush=True)
    seconds = time.process_time() + sum(os.times()[2:4]) - began
    return {"verdict": verdict, "seconds": round(seconds, 1)}


def table(mutants: Sequence[Mutant], runs: list[dict[str, Any]]) -> str:
    """What is changed for every statement, what notices it, and whether that was seen."""
    verdicts = {Mutant(*(run[name] for name in Mutant._fields)): run["verdict"] for run in runs}
    lines = ["| statement | changed line | wrong | test that fails | verdict |", "|---|---|---|---|---|"]
    for mutant in mutants:
        test = f"`{mutant.test}`" + (f', `-k "{mutant.only}"`' if mutant.only else "")
        change = f"`{mutant.file}`: `{mutant.line}` | `{mutant.wrong}`"
        lines.append(f"| {mutant.statement} | {change} | {test} | {verdicts.get(mutant, 'not run')} |")
    n_killed = sum(verdicts.get(mutant) == "killed" for mutant in mutants)
    return "\n".join([f"{n_killed} of {len(mutants)} were killed.", "", *lines])


def main() -> int:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("statements", nargs="*", help="only those whose name begins so")
    options = parser.parse_args()
    if options.command == "report":
        studies.put(studies.DOCS / "statements.md", table(MUTANTS, studies.finished(STUDY, options)), "mutants")
        return 0
    chosen = [one for one in MUTANTS if not options.statements or one.statement.startswith(tuple(options.statements))]
    for name in BORROWED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        work = functools.partial(judged, folder=folder, is_sound=functools.cache(passes))
        store = studies.run_missing(STUDY, (one._asdict() for one in chosen), work, options)
    results = [store.get(one._asdict()) for one in chosen]
    n_killed = sum(result is not None and result["verdict"] == "killed" for result in results)
    print(f"{n_killed} of {len(chosen)} killed")
    return int(n_killed < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
