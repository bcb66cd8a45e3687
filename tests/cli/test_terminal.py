"""What commands print fits a terminal of 80 columns, and tells labels apart whose names do not."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from ocoboost.bench.compare import Comparison, Settings
from ocoboost.cli import app
from ocoboost.cli.comparison_table import score_table
from ocoboost.spelling import abbreviated


def ran(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("n_labels", [2, 12])
def test_tables_of_labels_with_long_names_fit(tmp_path, n_labels):
    labels = [f"東京 a rather long label, number {number}, of the lot" for number in range(n_labels)]
    picks = np.random.default_rng(0).integers(n_labels, size=400).tolist()
    rows = "".join(f'{pick},"{labels[pick]}"\n' for pick in picks)
    (tmp_path / "rows.csv").write_text("a,label\n" + rows)
    shown = ran("run", tmp_path / "rows.csv", "--target", "label", "--model", "hoeffding")
    table = shown[shown.index("┏") :].splitlines()
    assert max(map(cell_len, table)) <= 80
    named = re.findall(r"^│ (\d+ )?(.*?)\s+│ +\d+ │ +(?:\d\.\d{4}|-) │", shown, re.MULTILINE)
    assert len({name for _, name in named}) == n_labels
    assert "Confusion matrix" in shown


def test_a_matrix_that_does_not_fit_says_where_it_is(tmp_path):
    labels = [f"l{number}" for number in range(12)]
    (tmp_path / "rows.csv").write_text("a,label\n" + "".join(f"{n % 12},{labels[n % 12]}\n" for n in range(24_000)))
    shown = ran("run", tmp_path / "rows.csv", "--target", "label", "--model", "hoeffding")
    assert "The confusion matrix is wider than the terminal; --report and --json have it." in shown


def test_names_that_cannot_be_told_apart_stay_as_they_are():
    long = "x" * 50
    assert abbreviated([f"{long}a{long}", f"{long}b{long}"], 10) == ["…a" + "x" * 7 + "…", "…b" + "x" * 7 + "…"]
    assert abbreviated([long, long], 10) == ["x" * 9 + "…"] * 2
    assert abbreviated([f"a{long}1", f"b{long}1", f"a{long}2"], 10) == ["axxxx…xxx1", "bxxxx…xxx1", "axxxx…xxx2"]


@pytest.mark.parametrize("n_shuffles", [1, 5])
def test_a_comparison_loses_no_digit(n_shuffles):
    run = {"accuracy": 81.25, "last": 72.3, "macro_f1": 72.9, "curve": [80.0] * 40, "seconds": 1234.5}
    models = ("boost", "River leveraging bagging")
    runs = {
        ("rows.csv", 0.0, model): [{**run, "bytes": 500.5 * 2**20, "last": 72.3 + n} for n in range(n_shuffles)]
        for model in models
    }
    settings = Settings(models, ("rows.csv",), (0.0,), tuple(range(n_shuffles)), None)
    console = Console(width=80, file=io.StringIO())
    console.print(score_table(Comparison(settings, runs), 0.0))
    shown = console.file.getvalue()
    assert "…" not in shown
    assert "▇" * 8 in shown or "█" * 8 in shown
    assert "1234.5" in shown
    assert "500.5" in shown
