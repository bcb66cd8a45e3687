"""Run the code in the README and the guides, and put what it prints into the pages.

    python tools/pages.py [PAGE ...]
    python tools/pages.py examples

runs every block of Python and of shell, in order, in one namespace and in a folder of its own, and rewrites what the
page says they print: the text block that directly follows a block of Python, and the lines after each ``$ command`` of
a ``console`` block. The folder has two files for pages to use, ``rows.csv`` (with a column ``label``) and ``new.csv``.
The tests run the same blocks and compare. What installs, builds or does not end is not run: see ``NOT_RUN``.
"""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("start.md", "run.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LANGUAGES = ("python", "sh", "console", "text")  # the others are not code, or cannot be run here
NOT_RUN = ("pip install", "make ", "docker ", "curl ", "ocoboost serve", "ocoboost feed", "ocoboost compare")
SPEED = re.compile(r"^[\d,]+ rows/s", re.MULTILINE)  # is another one every time


class Ran(NamedTuple):
    """A piece of code that was run."""

    line: int
    printed: str
    expected: str | None  # what the page says; None if it says nothing
    span: tuple[int, int]  # where it says so


def run(text: str, name: str) -> Iterator[Ran]:
    """Run the blocks of a page one after another; raises if one of them fails."""
    names = {"__name__": "page"}
    found = list(FENCED.finditer(text))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        environment = _prepared(Path(folder))
        for block, after in zip(found, [*found[1:], None], strict=True):
            line = text[: block.start()].count("\n") + 1
            if block[1] == "python":
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile("\n" * line + block[2], name, "exec"), names)
                if after is not None and after[1] == "text" and not text[block.end() : after.start()].strip():
                    yield Ran(line, printed.getvalue(), after[2], after.span(2))
                else:
                    yield Ran(line, printed.getvalue(), None, (block.end(), block.end()))
            elif block[1] == "sh":
                printed_by_all = "".join(_shell(command, environment) for command in _commands(block[2]))
                yield Ran(line, printed_by_all, None, (block.end(), block.end()))
            elif block[1] == "console":
                for command in COMMAND.finditer(block[2]):
                    span = block.start(2) + command.start(2), block.start(2) + command.end(2)
                    yield Ran(line, _shell(command[1], environment), command[2], span)


def _prepared(folder: Path) -> dict[str, str]:
    """Put the files of pages and the command into a folder; returns the environment that finds it."""
    from ocoboost.bench import datasets

    rows = datasets.shuffled(datasets.load("segment"), seed=1)
    for name, part, label in (("rows.csv", rows[:600], ["label"]), ("new.csv", rows[600:700], [])):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*rows[0][0], *label])
            writer.writerows([*x.values(), *[y][: len(label)]] for x, y in part)
    (folder / "bin").mkdir()
    command = folder / "bin" / "ocoboost"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ocoboost "$@"\n')
    command.chmod(0o755)
    python = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": python, "COLUMNS": "80"}


def _commands(block: str) -> list[str]:
    """The lines of a block that can be run here; one that ends in a backslash goes on."""
    joined = block.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith(("#", *NOT_RUN))]


def _shell(command: str, environment: dict[str, str]) -> str:
    """What a command prints; raises if it fails."""
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return SPEED.sub("... rows/s", done.stdout)


def renewed(text: str, name: str) -> str:
    """The page with what its blocks print now."""
    for ran in reversed(list(run(text, name))):
        if ran.expected is not None:
            first, last = ran.span
            text = text[:first] + ran.printed + text[last:]
    return text


def example(path: Path) -> str:
    """What a script of the examples prints; raises if it fails."""
    python = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    return _shell(f'"{sys.executable}" "{path}"', {**os.environ, "PYTHONPATH": python})


def output_of(path: Path) -> Path:
    """The file in which the output of an example is kept."""
    return path.parent / "output" / f"{path.stem}.txt"


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))
    if sys.argv[1:] == ["examples"]:
        for script in EXAMPLES:
            output_of(script).write_text(example(script))
            print(f"{script.name}: renewed", flush=True)
        raise SystemExit
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        page.write_text(renewed(page.read_text(), page.name))
        print(f"{page.name}: renewed", flush=True)
