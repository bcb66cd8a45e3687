"""``run --predictions``: every row once, in order, whatever is killed; never behind the checkpoint."""

from __future__ import annotations

import csv
import json

import pytest

import ocoboost
from command_line import GOOD, write_rows
from command_line import ocoboost as command
from ocoboost.errors import OutputFileError
from ocoboost.files import records
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings
from ocoboost.run.prediction_log import PredictionLog

SMALL = ("--target", "label", "--model", "hoeffding", "--budget", "3", "--save-every", "0")


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 5000)
    monkeypatch.setattr(runner, "BLOCK", 64)


def logged(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_says_what_the_model_said(tmp_path):
    path = write_rows(tmp_path / "rows.csv", 300)
    result = command("run", path, *SMALL, "--predictions", tmp_path / "said.csv", "--json")
    assert result.exit_code == 0, result.stderr
    rows = logged(path)
    model = ocoboost.HoeffdingTrees(n_learners=3, seed=1)
    X = [{name: float(row[name]) for name in "abc"} for row in rows]
    blocks = list(model.prequential(X, [row["label"] for row in rows]))
    labels = [label or "" for block in blocks for label in block.labels]
    probabilities = [max(row, default=0.0) for block in blocks for row in block.probabilities.tolist()]
    said = logged(tmp_path / "said.csv")
    assert [row["prediction"] for row in said] == labels
    assert [float(row["probability"]) for row in said] == probabilities
    assert [row["label"] for row in said] == [row["label"] for row in rows]
    assert [int(row["line"]) for row in said] == list(range(2, 302))
    right = sum(row["label"] == row["prediction"] for row in said)
    assert json.loads(result.stdout)["accuracy"] == pytest.approx(right / 300)


def test_with_costs_the_probability_is_that_of_the_cheapest_label(tmp_path):
    path = write_rows(tmp_path / "rows.csv", 200)
    costs = {"up": {"down": 9.0, "level": 9.0}}
    options = [
        "--target",
        "label",
        "--budget",
        "6",
        "--costs",
        json.dumps(costs),
        "--predictions",
        tmp_path / "said.csv",
    ]
    assert command("run", path, *options).exit_code == 0
    rows, said = logged(path), logged(tmp_path / "said.csv")
    model = ocoboost.OnlineBoostClassifier(budget=6, seed=1, costs=costs)
    X = [{name: float(row[name]) for name in "abc"} for row in rows]
    blocks = list(model.prequential(X, [row["label"] for row in rows]))
    expected, largest = [], []
    for block in blocks:
        for label, probabilities in zip(block.labels, block.probabilities.tolist(), strict=True):
            expected.append(0.0 if label is None else probabilities[block.classes.index(label)])
            largest.append(max(probabilities, default=0.0))
    assert [float(row["probability"]) for row in said] == pytest.approx(expected)
    assert expected != largest


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.usefixtures("small_chunks")
def test_a_resumed_run_leaves_the_same_file(tmp_path, delay):
    path = write_rows(tmp_path / "rows.csv", 600)
    options = [path, *SMALL, "--delay", delay]
    command("run", *options, "--save", tmp_path / "whole.oco", "--predictions", tmp_path / "whole.csv")

    model = ocoboost.HoeffdingTrees(n_learners=3, seed=1)
    run = runner.Run(model, str(path), Settings("label", delay=delay), save_to=str(tmp_path / "part.oco"), save_every=0)
    run.log_to(str(tmp_path / "part.csv"))
    steps = run.steps()
    for _ in range(4):
        next(steps)
    steps.close()
    run.log.add([9999], [], ["after"], ["the checkpoint"], [0.5])  # and then it was killed
    run.log.flush()
    resumed = command("run", path, "--resume", tmp_path / "part.oco", "--predictions", tmp_path / "part.csv", "--json")
    assert 0 < json.loads(resumed.stdout)["new_rows"] < 600
    assert (tmp_path / "part.csv").read_text() == (tmp_path / "whole.csv").read_text()
    again = command("run", path, "--resume", tmp_path / "part.oco", "--predictions", tmp_path / "part.csv")
    assert "; 0 new rows since it was saved" in again.stdout
    assert (tmp_path / "part.csv").read_text() == (tmp_path / "whole.csv").read_text()


def test_identifiers_are_passed_on_and_nothing_is_a_formula_or_a_second_line(tmp_path):
    rows = "".join(f'{i},"=k{i}\nx","=A"\n{-i},"=j{i}","b\x1b[0m"\n' for i in range(1, 12))
    (tmp_path / "rows.csv").write_text("a,name,y\n" + rows)
    options = ["--target", "y", "--id", "name", "--model", "hoeffding", "--predictions", tmp_path / "said.csv"]
    assert command("run", tmp_path / "rows.csv", *options).exit_code == 0
    assert len((tmp_path / "said.csv").read_text().splitlines()) == 23
    said = logged(tmp_path / "said.csv")
    assert [row["id"] for row in said[:2]] == ["'=k1\\nx", "'=j1"]
    assert {row["label"] for row in said} == {"'=A", "b\\x1b[0m"}


@pytest.mark.parametrize("content", ["", "line,id\n", "line,id,label,prediction,probability\n2,,u,u,1.0\n"])
def test_a_file_that_cannot_be_gone_on_with_is_refused(tmp_path, content):
    path = tmp_path / "said.csv"
    path.write_text(content)
    if content:
        with pytest.raises(OutputFileError, match="name another"):
            PredictionLog(str(path), 5)
        assert path.read_text() == content
    else:
        PredictionLog(str(path), 5).flush()  # rows to come


def test_it_overwrites_no_input_and_no_other_output(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD)
    for other in (["--predictions", tmp_path / "rows.csv"], ["--report", "x.csv", "--predictions", "x.csv"]):
        result = command("run", tmp_path / "rows.csv", "--target", "y", *other)
        assert result.exit_code == 2
        assert "--predictions would overwrite" in result.stderr
    assert (tmp_path / "rows.csv").read_text() == GOOD
