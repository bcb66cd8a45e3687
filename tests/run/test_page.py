"""The report of ``ocoboost run``, as a reader sees it."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import browser
from ocoboost.cli import app


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    with (folder / "rows.csv").open("w") as file:
        file.write("a,b,<label>\n")
        for a, b in rng.normal(size=(2500, 2)).round(4).tolist():
            is_wrong = rng.random() < 0.05
            file.write(f"{a},{b},{'up & away' if (a > b) != is_wrong else 'down'}\n")
    path = folder / "out.html"
    options = ["--target", "<label>", "--budget", "6", "--report", str(path), "--json"]
    result = CliRunner().invoke(app, ["run", str(folder / "rows.csv"), *options])
    assert result.exit_code == 0, result.output
    return path


def test_the_page_says_how_it_was_made_and_asks_for_nothing(report):
    page = report.read_text()
    for words in (
        "2,500 rows",
        "balanced accuracy",
        "command",
        "seed",
        "versions",
        "&lt;label&gt;",
        "cumulative",
        "Confusion matrix",
        "precision-recall area",
        "Calibration",
        "What matters",
        "Labels that look wrong",
        "Where the regret",
    ):
        assert words in page
    assert "http" not in page


def test_a_report_that_cannot_be_written_is_one_line(report):
    rows = report.with_name("rows.csv")
    options = ["--target", "<label>", "--model", "hoeffding", "--report", str(rows / "out.html")]
    result = CliRunner().invoke(app, ["run", str(rows), *options])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize(("size", "scheme"), [("phone", "dark"), ("desktop", "light")])
def test_a_browser_renders_it_and_nothing_overflows(report, size, scheme):
    if reason := browser.missing():
        pytest.skip(f"no browser: {reason}")
    with browser.browser() as chromium:
        chromium.open(report, size, scheme)
        assert len(chromium.ask(browser.FIGURES)) == 6
        assert chromium.ask(browser.OVERFLOWS) == []
        assert chromium.errors() == []
        assert chromium.requests() == []
