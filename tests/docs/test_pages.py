"""Every block of Python in the README and the guides runs, in order, and prints what the page says it prints."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

CHECKER = doctest.OutputChecker()


def lies(text, name):
    """The blocks that print something else than the page says."""
    ran = [block for block in pages.run(text, name) if block.expected is not None]
    return [b for b in ran if not CHECKER.check_output(b.expected[2], b.printed, doctest.NORMALIZE_WHITESPACE)]


@pytest.mark.slow  # half a minute in all
@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_is_what_happens(page):
    assert lies(page.read_text(), page.name) == []


def test_a_page_that_tells_a_lie_is_found_and_can_be_renewed():
    page = "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n\n```python\nprint(x + 1)\n```\nand\n```text\n5\n```\n"
    ((line, printed, expected),) = lies(page, "page")
    assert (line, printed, expected[2]) == (1, "1\n", "2\n")
    assert lies(pages.renewed(page, "page"), "page") == []
