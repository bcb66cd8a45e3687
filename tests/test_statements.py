"""Every statement of the paper's algorithms has one home in the sources, marked ``Alg. 1.9``; the mutants are current.

The mutants themselves are run by ``benchmarks/mutants.py``.
"""

from __future__ import annotations

import importlib.util
import re
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


def mutants():
    """The module ``benchmarks/mutants.py``."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_mutant_can_be_made_and_its_test_is_there():
    for mutant in mutants().MUTANTS:
        text = (ROOT / "src" / "ocoboost" / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.line) == 1, mutant
        assert mutant.wrong not in (mutant.line, "")
        file, _, function = mutant.test.partition("::")
        assert f"def {function}" in (ROOT / file).read_text(encoding="utf-8"), mutant


def test_the_page_of_statements_shows_the_mutants():
    page = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
    module = mutants()
    assert module.table(module.MUTANTS) in page
    for path in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py)", page):
        assert (ROOT / path).exists(), path
