"""The committed reproduction says something about every cell that is not the paper's."""

from __future__ import annotations

from pathlib import Path

import pytest

from ocoboost.bench import jobs, paper, reproduce

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def cells():
    store = jobs.Store(ROOT / "benchmarks" / "results" / "reproduction.jsonl", any_code=True)
    return reproduce.cells(reproduce.Settings(), store)


def test_every_cell_was_run_on_five_shuffles(cells):
    assert len(cells) == len(paper.DATASETS) * len(reproduce.TITLES)
    assert {len(cell.best) for cell in cells.values()} == {paper.N_SHUFFLES}


def test_every_cell_that_differs_is_explained(cells):
    text = PAGE.read_text()
    differing = {at for at, cell in cells.items() if cell.differs(reproduce.primary(at[0]))}
    explained = {
        (booster, name)
        for booster in paper.BOOSTERS
        for name in paper.DATASETS
        if f"- **{reproduce.TITLES[booster]}, {name.capitalize()}**" in text
    }
    assert explained == differing


def test_the_tables_are_those_of_the_runs(cells):
    text = PAGE.read_text()
    for (booster, name), cell in cells.items():
        mean, error = cell.interval(reproduce.primary(booster))
        published = f" ({cell.published.accuracy:.1f})" if cell.published else ""
        assert f"{mean:.1f} ± {error:.1f}{published}" in text, (booster, name)
