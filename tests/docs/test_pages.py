"""Every block of code in the README and the guides runs, in order, and prints what the page says it prints."""

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
LOOSELY = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def lies(text, name):
    """The pieces of code that print something else than the page says."""
    ran = [piece for piece in pages.run(text, name) if piece.expected is not None]
    return [piece for piece in ran if not CHECKER.check_output(piece.expected, piece.printed, LOOSELY)]


@pytest.mark.slow  # two minutes in all
@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_is_what_happens(page):
    assert lies(page.read_text(), page.name) == []


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_block_is_run_or_cannot_be(page):
    text = page.read_text()
    for block in pages.FENCED.finditer(text):
        assert block[1] in (*pages.LANGUAGES, "dockerfile", "toml"), block[0]
    n_fences = sum(line.startswith("```") for line in text.splitlines())
    assert n_fences == 2 * len(pages.FENCED.findall(text))  # none without a language
    for block, before in zip([*pages.FENCED.finditer(text)][1:], pages.FENCED.finditer(text), strict=False):
        is_output = not text[before.end() : block.start()].strip() and before[1] == "python"
        assert block[1] != "text" or is_output, block[0]  # what nobody prints, nobody can check


def test_a_page_that_tells_a_lie_is_found_and_can_be_renewed():
    page = "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n\n```python\nprint(x + 1)\n```\nand\n```text\n5\n```\n"
    ((line, printed, expected, _),) = lies(page, "page")
    assert (line, printed, expected) == (1, "1\n", "2\n")
    assert lies(pages.renewed(page, "page"), "page") == []


def test_commands_are_run_too():
    page = "```sh\npip install nothing  # is not run\nhead -1 rows.csv | wc -l > n\n```\n"
    page += "```console\n$ cat n\n2\n$ echo 100 rows/s\n7 rows/s\n```\n"
    assert [(piece.printed, piece.expected) for piece in lies(page, "page")] == [
        ("1\n", "2\n"),
        ("... rows/s\n", "7 rows/s\n"),
    ]
    assert lies(pages.renewed(page, "page"), "page") == []
    with pytest.raises(RuntimeError, match="false"):
        list(pages.run("```sh\nfalse\n```\n", "page"))


@pytest.mark.slow
@pytest.mark.parametrize("script", pages.EXAMPLES, ids=lambda script: script.stem)
def test_examples_print_what_is_kept(script):
    assert pages.example(script) == pages.output_of(script).read_text()


def test_every_example_is_shown_with_its_output():
    page = (ROOT / "docs" / "examples.md").read_text()
    assert len(pages.EXAMPLES) >= 4
    for script in pages.EXAMPLES:
        assert f"../examples/{script.name}" in page
        assert f"../examples/output/{script.stem}.txt" in page
