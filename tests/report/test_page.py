"""Reports: one file that needs nothing else, the same for the same numbers, and right in a real browser."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import browser
from ocoboost.report import Figure, Page, Section, Table, figures, markdown, palette, provenance, render, write

ROWS = np.arange(100, 2001, 100)
MODELS = ("agnostic", "OnlineMBBM", "Adaboost.OLM", "realizable", "River leveraging bagging", "River ADWIN boosting")
LABELS = ("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW")


def band(height):
    middle = height * (1 - np.exp(-ROWS / 400))
    return figures.Band(middle, middle - 2, middle + 2)


def every_figure():
    bands = {model: band(60 + 5 * i) for i, model in enumerate(MODELS)}
    points = {m: (figures.Interval(10.0**i, 0.1), figures.Interval(70 + i, 1)) for i, m in enumerate(MODELS)}
    groups = {name: {m: figures.Interval(60 + i, 0.5) for i, m in enumerate(MODELS)} for name in ("Balance", "Cars")}
    ranks = {model: 1 + 0.8 * i for i, model in enumerate(MODELS)}
    counts = np.eye(len(LABELS), dtype=int) * 200 + 3
    return {
        "curves": figures.lines("Segment", ROWS, bands, x_label="rows", y_label="accuracy so far, %"),
        "time": figures.time_against_accuracy("Segment", points),
        "intervals": figures.intervals("Ours and the paper's", groups, x_label="accuracy, %"),
        "ranks": figures.critical_difference("Mean ranks over seven datasets", ranks, 2.1),
        "weights": figures.shares("Segment", ROWS, {f"MondrianTrees(), gamma={g}": ROWS * 0 + 0.25 for g in range(4)}),
        "confusion": figures.confusion("Segment", LABELS, counts),
        "twice": figures.Twice.drawn(figures.lines, "Both widths", ROWS, bands, x_label="rows", y_label="accuracy, %"),
        "one label": figures.confusion("One", ["a"], np.array([[0]])),
    }


def a_page():
    table = Table(("dataset", *MODELS), [(n, *["84.4 ± 0.7"] * 6) for n in ("Balance", "Cars")], "A caption.")
    sections = [
        Section("The table", ["Text with <tags> & signs.", table]),
        Section("Figures", [Figure({f'"{name}"': svg for name, svg in every_figure().items()}, "All of them.")]),
        Section("A word", ["x" * 300]),
    ]
    facts = provenance(["ocoboost", "reproduce", "--out", "a folder"], seeds="1, 2")
    return Page("A report with a long title that has to be broken on a phone", "What it says.", sections, facts)


def test_a_page_is_one_file_that_asks_for_nothing():
    html = render(a_page())
    assert not re.search(r'(src|href)="(?!#)', html)
    assert "http" not in html
    assert "@import" not in html


def test_text_is_escaped_and_the_command_can_be_pasted():
    html = render(a_page())
    assert "Text with &lt;tags&gt; &amp; signs." in html
    assert "ocoboost reproduce --out &#39;a folder&#39;" in html
    assert 'aria-label="&#34;curves&#34;"' in html


def test_the_same_numbers_give_the_same_bytes():
    assert render(a_page()) == render(a_page())


def test_ids_are_unique_and_references_meet_them():
    html = render(a_page())
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', html)) <= set(ids)


def test_no_colour_is_left_that_does_not_follow_the_page():
    drawn = [figure if isinstance(figure, tuple) else (figure,) for figure in every_figure().values()]
    for svg in (svg for figure in drawn for svg in figure):
        assert set(re.findall(r"(?<!, )#[0-9a-f]{3,6}\b(?!-)", svg)) == set()


def test_light_and_dark_name_the_same_colours():
    assert list(palette.LIGHT) == list(palette.DARK)
    assert len(set(palette.LIGHT.values())) == len(palette.LIGHT)


def test_a_page_is_written_whole(tmp_path):
    write(a_page(), tmp_path / "new" / "report.html")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]


def test_markdown_has_the_same_words_and_its_pictures_as_files(tmp_path):
    text = markdown(a_page().sections, tmp_path / "figures", "figures")
    assert "| Balance | 84.4 ± 0.7 |" in text
    for name in re.findall(r"\(figures/([^)]+)\)", text):
        assert (tmp_path / "figures" / name).read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')


@pytest.fixture(scope="module")
def chromium():
    if reason := browser.missing():
        pytest.skip(f"no browser: {reason}")
    with browser.browser() as opened:
        yield opened


@pytest.mark.parametrize("scheme", browser.SCHEMES)
@pytest.mark.parametrize("size", browser.SIZES)
def test_a_browser_renders_every_figure_and_nothing_overflows(chromium, tmp_path, size, scheme):
    page = a_page()
    write(page, tmp_path / "report.html")
    chromium.open(tmp_path / "report.html", size, scheme)
    drawn = chromium.ask(browser.FIGURES)
    n_figures = sum(len(part.panels) for s in page.sections for part in s.parts if isinstance(part, Figure))
    assert len(drawn) == n_figures
    for name, width, height, n_shapes in drawn:
        assert width > 250, name
        assert height > 100, name
        assert n_shapes > 5, name
    assert chromium.ask(browser.OVERFLOWS) == []
    assert chromium.ask(browser.SMALLEST_TEXT) >= 8  # pixels
    widths = {name: width for name, width, *_ in drawn}
    assert (widths['"twice"'] > 2 * widths['"curves"']) == (size == "desktop")
    assert chromium.errors() == []
    assert chromium.requests() == []
    background = {"light": palette.LIGHT, "dark": palette.DARK}[scheme]["paper"]
    red, green, blue = (int(background[i : i + 2], 16) for i in (1, 3, 5))
    shown = chromium.ask("return getComputedStyle(document.documentElement).backgroundColor")
    assert shown == f"rgb({red}, {green}, {blue})"
    folder = Path(os.environ.get("OCOBOOST_SCREENSHOTS", tmp_path))
    chromium.photograph(folder / f"report-{size}-{scheme}.png")
    assert (folder / f"report-{size}-{scheme}.png").stat().st_size > 10_000
