"""The pages of the commands, from made-up runs of every dataset: complete, and well laid out in a real browser."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

import browser
from ocoboost.bench import compare, datasets, jobs, paper, reproduce
from ocoboost.bench import comparison_page as comparison
from ocoboost.bench import reproduction_page as reproduction
from ocoboost.report import Figure, provenance, render, write

LABELS = {"cars": ["acc", "good", "unacc", "vgood"], "abalone": [str(i) for i in range(1, 29)]}


def made_up(job, store):
    """A result of the right shape."""
    rng = np.random.default_rng(zlib.crc32(jobs.key(job).encode()))
    entry = datasets.PAPER[job["dataset"]]
    labels = LABELS.get(entry.name, [f"label {i}" for i in range(entry.n_classes)])
    accuracy = float(rng.uniform(30, 95))
    result = {name: round(accuracy - i, 3) for i, name in enumerate((*reproduce.MEASURES, *compare.MEASURES))}
    result |= {"seconds": float(rng.uniform(0.1, 60)), "rows": entry.n_rows, "bytes": int(rng.integers(1e4, 1e7))}
    result |= {"curve": (accuracy * (1 - np.exp(-np.arange(1, 41) / 5))).tolist(), "labels": labels}
    result["confusion"] = (rng.integers(0, 9, (len(labels),) * 2) + 90 * np.eye(len(labels), dtype=int)).tolist()
    members = ["gamma=1", "gamma=0.7", "gamma=0.4", "gamma=0.2", "unboosted"]
    result |= {"members": [f"Trees(), {m}" for m in members], "weights": rng.dirichlet(np.ones(5), 40).tolist()}
    store.add(job, result)


def reproduction_page(folder):
    settings, store = reproduce.Settings(shuffles=(1, 2)), jobs.Store(folder / "results.jsonl")
    for job in reproduce.plan(settings):
        if job["dataset"] != "mice":
            made_up(job, store)
    why = {"mice": "there is no mice.csv.gz, and OpenML could not be reached: [Errno -2] Name or service not known"}
    facts = provenance(["ocoboost", "reproduce", "--out", "a" * 80], seeds="1, 2")
    line = ("advice", "Use better learners, or give them more rows: most regret comes from them (0.284).")
    accounts = {"balance": [("regret", "+0.297 per row in gains"), ("  players", "+0.075"), line]}
    return reproduction.page(reproduce.cells(settings, store), why, facts, accounts)


def comparison_page(folder):
    models = tuple(compare.MODELS)
    settings = compare.Settings(models, ("balance", "cars", "yeast", "abalone"), (0.0, 0.2, 0.4), (1, 2), None)
    store = jobs.Store(folder / "results.jsonl")
    for job in compare.plan(settings):
        made_up(job, store)
    return comparison.page(compare.finished(settings, store), [], provenance(["ocoboost", "compare"], seeds="1, 2"))


@pytest.fixture(scope="module", params=[reproduction_page, comparison_page], ids=["reproduce", "compare"])
def page(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("study"))


def n_pictures(page):
    return sum(len(part.panels) for section in page.sections for part in section.parts if isinstance(part, Figure))


@pytest.mark.slow
def test_reproduction_shows_every_cell_beside_the_papers(tmp_path):
    html = render(reproduction_page(tmp_path))
    for (booster, name), published in paper.TABLE.items():
        if name != "mice":
            assert f"({published.accuracy:.1f})" in html, (booster, name)
    assert "Mice Protein Expression is missing" in html
    for title in (
        "Learning curves",
        "Time against accuracy",
        "Ranks",
        "Weights of the gammas",
        "Confusion matrices",
        "Where the regret comes from",
    ):
        assert f"<h2>{title}</h2>" in html


@pytest.mark.slow
def test_comparison_shows_noise_ranks_time_and_memory(tmp_path):
    html = render(comparison_page(tmp_path))
    for title in ("Accuracy by noise", "Time against accuracy", "Time and memory", "Ranks", "Confusion matrices"):
        assert f"<h2>{title}</h2>" in html
    assert re.search(r"critical difference [0-9.]+", html)


def test_a_study_of_one_cell_is_a_page_too(tmp_path):
    settings, store = reproduce.Settings(("balance",), (1,)), jobs.Store(tmp_path / "results.jsonl")
    for job in reproduce.plan(settings)[:1]:
        made_up(job, store)
    assert reproduce.cells(settings, store) == {}
    for job in reproduce.plan(settings):
        if job["booster"] == "adaboost-olm":
            made_up(job, store)
    assert "Ranks need two datasets" in render(reproduction.page(reproduce.cells(settings, store), {}, {}))


@pytest.fixture(scope="module")
def chromium():
    if reason := browser.missing():
        pytest.skip(f"no browser: {reason}")
    with browser.browser() as opened:
        yield opened


@pytest.mark.slow  # a browser, and a study to show
@pytest.mark.parametrize("scheme", browser.SCHEMES)
@pytest.mark.parametrize("size", browser.SIZES)
def test_a_browser_renders_every_figure_and_nothing_overflows(chromium, page, tmp_path, size, scheme):
    write(page, tmp_path / "report.html")
    chromium.open(tmp_path / "report.html", size, scheme)
    drawn = chromium.ask(browser.FIGURES)
    assert len(drawn) == n_pictures(page)
    for name, width, height, n_shapes in drawn:
        assert (width > 250, height > 100, n_shapes > 5) == (True, True, True), name
    assert chromium.ask(browser.OVERFLOWS) == []
    assert chromium.ask(browser.SMALLEST_TEXT) >= 4  # the 28 labels of Abalone
    assert chromium.errors() == []
    assert chromium.requests() == []
    folder = Path(os.environ.get("OCOBOOST_SCREENSHOTS", tmp_path))
    name = "reproduce" if "reproduced" in page.title else "compare"
    chromium.photograph(folder / f"{name}-{size}-{scheme}.png")
