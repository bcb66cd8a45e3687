"""Tables of the documentation: each has a script that writes it, and it is known which sources its runs came from."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from ocoboost.bench import jobs
from ocoboost.bench.jobs import code, without_words

FIGURE = re.compile(r"[+-]?[\d,.]+( ?%| ?±.*| ?\(.*\)| (to|of) .*)?")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def stale(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    yield importlib.import_module("stale")
    for name in ("stale", "studies", "stored", "spot_check"):
        sys.modules.pop(name, None)


def test_every_table_is_written_by_a_script_from_stored_runs(stale):
    assert stale.unmade() == []
    made = stale.tables()
    assert {("README.md", "accuracy"), ("docs/streams.md", "reported"), ("docs/accuracy.md", stale.WHOLE)} <= {
        (table.page, table.mark) for table in made
    }
    assert [table for table in made if not table.results] == []


def test_no_table_of_figures_is_typed_by_hand(stale):
    """Between marks a script writes; elsewhere a table is words, or formulas."""
    written = {stale.ROOT / made.page for made in stale.tables() if made.mark == stale.WHOLE}
    for page in {*stale.studies.DOCS.rglob("*.md"), stale.ROOT / "README.md"} - written:
        text = re.sub(r"<!-- ([\w -]+): begin -->.*?<!-- \1: end -->", "", page.read_text(), flags=re.DOTALL)
        for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
            _, _, *rows = table.splitlines()
            cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")[1:]]
            figures = [cell for cell in cells if FIGURE.fullmatch(cell)]
            assert len(figures) <= len(cells) / 4, (page.name, rows[0])


def test_no_table_is_empty(stale):
    for page in [*stale.studies.DOCS.rglob("*.md"), stale.ROOT / "README.md"]:
        text = page.read_text()
        for mark in stale.MARK.findall(text):
            assert text.split(f"<!-- {mark}: begin -->")[1].split(f"<!-- {mark}: end -->")[0].strip(), (page.name, mark)


def test_runs_of_other_sources_are_told_from_present_ones(stale, tmp_path, monkeypatch):
    studies = sys.modules["studies"]
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("")
    (tmp_path / "docs" / "page.md").write_text("<!-- one: begin -->\n<!-- one: end -->\n<!-- lost: begin -->\n")
    folder = tmp_path / "benchmarks"
    (folder / "results").mkdir(parents=True)
    (folder / "study.py").write_text('studies.put(DOCS / "page.md", report(studies.finished("study", options)), "one")')
    job = {"dataset": "cars", "model": "boost"}
    runs = [
        {"job": job, "code": "old", "result": {}},
        {"job": job, "code": code("study"), "result": {}},  # the last one counts
        {"job": {**job, "model": "River ARF"}, "code": "old", "result": {}},
        {"job": {**job, "dataset": "mice"}, "result": {}},
        {"job": {**job, "dataset": "yeast"}, "code": code("study"), "result": {"failed": "no"}},
    ]
    (folder / "results" / "study.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs) + '{"job"')
    for name, path in {"DOCS": tmp_path / "docs", "RESULTS": folder / "results"}.items():
        monkeypatch.setattr(studies, name, path)
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    (table,) = stale.tables()
    assert table == ("docs/page.md", "one", ("study.py",), ("study",), 1, 1, 1, 0, 0, 0)
    assert table.state == "partly stale"
    assert stale.unmade() == [("docs/page.md", "lost")]


def test_words_about_a_source_are_no_part_of_it():
    source = 'def f(x):\n    """Why."""\n    text = """# kept\n"""  # a comment\n\n    return x + 1\n'
    plain = 'def f(x):\n    text = """# kept\n"""\n    return x + 1'
    assert without_words(source) == without_words(plain) == plain
    assert without_words(source.replace("x + 1", "x - 1")) != plain


def test_only_studies_with_batch_boosters_depend_on_their_sources(tmp_path, monkeypatch):
    known = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        (folder / "batch").mkdir(parents=True)
        (folder / "batch" / "boost.py").write_text(f"x = {number}")
        (folder / "__init__.py").write_text("")
        monkeypatch.setattr(jobs.ocoboost, "__file__", str(folder / "__init__.py"))
        known.append([code(study) for study in ("batch_accuracy", "audits", "streams")])
    assert [old == new for old, new in zip(*known, strict=True)] == [False, False, True]
