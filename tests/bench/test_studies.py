"""The studies of the repository: their pages are made from the runs that are kept, by the scripts that are there."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DOCS = BENCHMARKS.parent / "docs"
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
STORED = argparse.Namespace(results=BENCHMARKS / "results")


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name in SCRIPTS:
            del sys.modules[name]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_can_be_imported_and_asked_for_help(name, monkeypatch, capsys):
    script = importlib.import_module(name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    if hasattr(script, "main"):
        with pytest.raises(SystemExit, match="0"):
            script.main()
        assert script.__doc__.splitlines()[0] in capsys.readouterr().out


def between(page, mark):
    return page.split(f"<!-- {mark}: begin -->\n")[1].split(f"\n<!-- {mark}: end -->")[0]


def test_the_page_of_accuracies_is_made_from_the_runs():
    accuracy, studies = map(importlib.import_module, ("accuracy", "studies"))
    assert accuracy.report(studies.finished("accuracy", STORED)) == (DOCS / "accuracy.md").read_text()


def test_the_page_of_foreign_learners_is_made_from_the_runs():
    foreign, studies = map(importlib.import_module, ("foreign_learners", "studies"))
    page = foreign.HEADER + foreign.tables(studies.finished("foreign_learners", STORED))
    assert page == (DOCS / "foreign_learners.md").read_text()


def test_the_page_of_choices_is_made_from_the_runs():
    choices, studies = map(importlib.import_module, ("choices", "studies"))
    assert choices.page(studies.finished("choices", STORED)) == (DOCS / "choices.md").read_text()


def test_the_tables_of_batch_boosting_are_made_from_the_runs():
    batch, studies = map(importlib.import_module, ("batch", "studies"))
    page = (DOCS / "batch.md").read_text()
    assert batch.accuracy_tables(studies.finished("batch", STORED)).strip() == between(page, "accuracy")
    assert batch.gamma_table(studies.finished("batch_gamma", STORED)) == between(page, "gamma")


def test_the_tables_of_the_baselines_are_made_from_the_runs():
    baselines, speed, studies = map(importlib.import_module, ("baselines", "baselines_speed", "studies"))
    page = (DOCS / "baselines.md").read_text()
    runs = [run for run in studies.finished("baselines", STORED) if "speed" not in run]
    assert baselines.tables(runs) == between(page, "tables")
    store = speed.Store(STORED.results / "baselines.jsonl", any_code=True)
    assert speed.report(store) == between(page, "speed")


def test_the_tables_of_the_theorems_are_made_from_the_runs():
    theory, studies = map(importlib.import_module, ("theory", "studies"))
    page = (DOCS / "theory.md").read_text()
    assert theory.tables(studies.finished("theory", STORED)) == between(page, "tables")


def test_putting_text_between_marks_keeps_the_rest(tmp_path):
    studies = importlib.import_module("studies")
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter\n<!-- b: begin -->\n<!-- b: end -->\n")
    studies.put(page, "new\n\n", "a")
    studies.put(page, "other", "b")
    assert page.read_text() == (
        "before\n<!-- a: begin -->\nnew\n<!-- a: end -->\nafter\n<!-- b: begin -->\nother\n<!-- b: end -->\n"
    )
