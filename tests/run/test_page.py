"""The report of ``ocoboost run``, as a reader sees it."""

from __future__ import annotations

import re

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
        file.write("a,b,c,<label>\n")
        for number, (a, b) in enumerate(rng.normal(size=(2500, 2)).round(4).tolist()):
            is_wrong = rng.random() < 0.05
            cell = a if number % 10 else ""
            file.write(f"{cell},{b},{'<i>' if number % 3 else 'j'},{'up & away' if (a > b) != is_wrong else 'down'}\n")
    path = folder / "out.html"
    options = ["--target", "<label>", "--budget", "6", "--report", str(path), "--json"]
    options += ["--regret", str(folder / "regret.html")]
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
        "all rows so far",
        "most frequent label",
        "last label",
        "precision-recall area",
    ):
        assert words in page
    assert "http" not in page


def test_sections_come_in_the_order_in_which_a_practitioner_asks(report):
    assert re.findall("<h2>(.*?)</h2>", report.read_text()) == [
        "Accuracy",
        "Labels",
        "Confusion matrix",
        "Calibration",
        "Prediction sets",
        "Changes of the stream",
        "What matters",
        "Labels that look wrong",
        "Columns",
        "Memory and time",
        "How it was made",
    ]


def test_it_says_how_each_column_was_read(report):
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', report.read_text())
    cells = {name: re.findall("<td.*?>(.*?)</td>", rest) for name, rest in rows}
    numbers = [line.split(",") for line in report.with_name("rows.csv").read_text().splitlines()[1:]]
    a = [float(row[0]) for row in numbers if row[0]]
    assert cells["a"] == ["numbers", f"{1 - len(a) / 2500:.1%}", f"{min(a):g} to {max(a):g}"]
    assert cells["c"] == ["text", "0.0%", "2 texts: j, &lt;i&gt;"]
    assert cells["&lt;label&gt;"] == ["the label", "-", "-"]


def test_the_account_of_the_regret_is_a_page_of_its_own_and_contradicts_nothing(report):
    page, regret = report.read_text(), report.with_name("regret.html").read_text()
    assert "regret" not in page.split("How it was made")[0]
    assert "Where the regret comes from" in regret
    headline = re.search(r"each predicted before it was learned: ([\d.]+%) right", page)[1]
    assert f"the mixture was right for {headline} of the 2,500 rows of the run" in regret


def test_a_model_without_an_account_says_so(report, tmp_path):
    rows = report.with_name("rows.csv")
    options = ["--target", "<label>", "--model", "hoeffding", "--regret", str(tmp_path / "out.html")]
    result = CliRunner().invoke(app, ["run", str(rows), *options])
    message = "ocoboost: HoeffdingTrees keeps no account of its regret; boosters do, such as the default.\n"
    assert (result.exit_code, result.stderr) == (2, message)


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
