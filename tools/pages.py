"""Run the blocks of Python in the README and the guides, and put what they print into the pages.

``python tools/pages.py`` rewrites every text block that directly follows a block of Python. The tests run the same
blocks and compare.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Ran(NamedTuple):
    """A block of Python that was run."""

    line: int
    printed: str
    expected: re.Match[str] | None  # the text block that follows directly


def run(text: str, name: str) -> Iterator[Ran]:
    """Run the blocks of a page one after another, in one namespace and in an empty folder."""
    names = {"__name__": "page"}
    found = list(FENCED.finditer(text))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for block, after in zip(found, [*found[1:], None], strict=True):
            if block[1] != "python":
                continue
            line = text[: block.start()].count("\n") + 1
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile("\n" * line + block[2], name, "exec"), names)
            follows = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
            yield Ran(line, printed.getvalue(), after if follows else None)


def renewed(text: str, name: str) -> str:
    """The page with what its blocks print now."""
    for ran in reversed(list(run(text, name))):
        if ran.expected is not None:
            first, last = ran.expected.span(2)
            text = text[:first] + ran.printed + text[last:]
    return text


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else PAGES:
        page.write_text(renewed(page.read_text(), page.name))
        print(f"{page.name}: renewed")
