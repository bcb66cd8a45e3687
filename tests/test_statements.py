"""Every statement of the paper's algorithms has one home in the sources, marked ``Alg. 1.9``; the mutants are current.

The mutants themselves are run by ``benchmarks/mutants.py``.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

import pytest

import ocoboost

# Statements, counted from the first after the input; loops count.
ALGORITHMS = {
    1: [
        "for t",
        "receive x",
        "accumulate h",
        "set D",
        "predict",
        "receive y",
        "for i",
        "obtain p",
        "reveal the loss",
        "sample a label and pass it",
        "reset A",
    ],
    2: [
        "for t",
        "set P_1",
        "pass m0 examples",
        "draw rows and relabel them",
        "let h_t",
        "reveal the loss",
        "set P_{t+1}",
        "return the projection",
    ],
    3: ["for t", "A plays", "B plays", "payoff", "define the loss", "A updates"],
    4: [
        "for t",
        "receive x",
        "accumulate h",
        "set D",
        "predict",
        "receive y",
        "for i",
        "obtain p",
        "reveal the loss",
        "pass with probability p",
        "reset A",
    ],
    5: [
        "for t",
        "set P_1",
        "pass m0 examples",
        "draw rows in proportion to P",
        "let h_t",
        "reveal the loss",
        "set P_{t+1}",
        "return the projection",
    ],
}
STATEMENTS = [
    pytest.param(algorithm, number, id=f"Alg. {algorithm}.{number}: {words}")
    for algorithm, statements in ALGORITHMS.items()
    for number, words in enumerate(statements, 1)
]


def lines():
    """Every line of the sources, with where it is."""
    root = Path(ocoboost.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(root)}:{number}", line


LINES = list(lines())


@pytest.mark.parametrize(("algorithm", "statement"), STATEMENTS)
def test_every_statement_has_one_home(algorithm, statement):
    mark = re.compile(rf"Alg\. {algorithm}\.{statement}\b")
    homes = [place for place, line in LINES if mark.search(line)]
    assert len(homes) == 1, homes


def test_no_mark_names_a_statement_that_is_not_there():
    known = {(algorithm, number) for algorithm, words in ALGORITHMS.items() for number in range(1, len(words) + 1)}
    for place, line in LINES:
        for mark in re.findall(r"\bAlg\. ?([\d.]*)", line):
            assert tuple(map(int, mark.rstrip(".").split("."))) in known, f"{place}: {line.strip()}"


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def mutants(monkeypatch):
    """The module ``benchmarks/mutants.py``."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("mutants")
    for name in ("mutants", "studies"):
        sys.modules.pop(name, None)


def test_every_mutant_can_be_made_and_its_test_is_there(mutants):
    for mutant in mutants.MUTANTS:
        text = (ROOT / "src" / "ocoboost" / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.line) == 1, mutant
        assert mutant.wrong not in (mutant.line, "")
        file, _, function = mutant.test.partition("::")
        assert f"def {function}" in (ROOT / file).read_text(encoding="utf-8"), mutant


def test_the_page_of_statements_shows_the_mutants_and_that_they_were_killed(mutants):
    page = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    runs = mutants.studies.finished("mutants", argparse.Namespace(results=ROOT / "benchmarks" / "results"))
    table, n = mutants.table(mutants.MUTANTS, runs), len(mutants.MUTANTS)
    assert table.startswith(f"{n} of {n} were killed.")
    assert table in page
    for path in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py)", page):
        assert (ROOT / path).exists(), path


def test_a_mutant_that_was_changed_counts_as_not_run(mutants):
    mutant, other = mutants.MUTANTS[0], mutants.MUTANTS[0]._replace(wrong="shares / 2.0")
    table = mutants.table([mutant, other], [{**mutant._asdict(), "verdict": "killed", "seconds": 1.0}])
    assert table.startswith("1 of 2 were killed.")
    assert [line.rsplit(" | ", 1)[1] for line in table.splitlines()[-2:]] == ["killed |", "not run |"]
