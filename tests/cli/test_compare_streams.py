"""``compare --streams``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ocoboost.bench import contestants, peers
from ocoboost.cli import app

RACE = ["compare", "--streams", "--rows", "300", "--jobs", "1", "--models", "majority,last-label,river-hoeffding-tree"]


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    rows = "\n".join(f"{row % 7},{'red' if row % 3 else 'blue'},{row // 50 % 2}" for row in range(120))
    (tmp_path / "data" / "mine.csv").write_text(f"x,colour,label\n{rows}\n")
    return tmp_path


def test_generated_streams_and_files_are_run_once_and_ranked(folder):
    arguments = [*RACE, "--datasets", "sea-abrupt-1,mine", "--data-dir", folder / "data", "--out", folder / "out"]
    cells = json.loads(invoke(*arguments, "--json").stdout)["cells"]
    assert [(cell["stream"], cell["use"], cell["model"]) for cell in cells] == [
        (stream, use, model)
        for stream, use in (("sea-abrupt-1", "development"), ("mine", "reported"))
        for model in ("majority", "last-label", "river-hoeffding-tree")
    ]
    by_place = {(cell["stream"], cell["model"]): cell for cell in cells}
    assert by_place["mine", "last-label"]["accuracy"] == pytest.approx(100 * 117 / 120, abs=1e-4)  # 0, 50 and 100
    assert by_place["mine", "last-label"]["kappa_temporal"] == 0.0
    assert by_place["mine", "majority"]["after"] is None
    assert len(by_place["sea-abrupt-1", "majority"]["after_each"]) == 3
    again = invoke(*arguments)
    assert "6 of 6 runs found in" in again.stderr
    assert "Mean over 2 streams that change" in again.stdout
    assert "critical difference" in (folder / "out" / "report.html").read_text()


@pytest.mark.slow
def test_a_use_stands_for_all_streams_that_have_it(folder):
    arguments = ["compare", "--streams", "--rows", 60, "--models", "last-label", "--jobs", 1, "--out", folder / "out"]
    cells = json.loads(invoke(*arguments, "--datasets", "development", "--json").stdout)["cells"]
    assert {cell["use"] for cell in cells} == {"development"}
    assert len(cells) > 15
    cells = json.loads(invoke(*arguments, "--data-dir", folder / "data", "--json").stdout)["cells"]
    assert {cell["use"] for cell in cells} == {"reported"}
    assert "mine" in {cell["stream"] for cell in cells}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["rows.csv"], "takes no FILE"),
        (["--noise", "0.1"], "is not for --streams"),
        (["--drop", "x"], "is not for --streams"),
        (["--datasets", "segment"], "'segment' is not one of development, reported"),
        (["--models", "capymoa-knn-3"], "'capymoa-knn-3' is not one of"),
        (["--data-dir", "nowhere"], "nowhere is no folder"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, why, tmp_path):
    result = invoke("compare", "--streams", "--out", tmp_path, *arguments)
    assert result.exit_code == 2
    assert why in " ".join(result.stderr.split())


def test_without_capymoa_its_models_are_left_out_and_cannot_be_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "has_capymoa", lambda: False)
    monkeypatch.setattr(contestants, "DEFAULTS", ("majority", "last-label"))
    arguments = ["compare", "--streams", "--rows", 60, "--datasets", "squares-1", "--jobs", 1, "--out", tmp_path]
    result = invoke(*arguments, "--json")
    assert {cell["model"] for cell in json.loads(result.stdout)["cells"]} == {"majority", "last-label"}
    assert "CapyMOA's models are left out" in result.stderr
    refused = invoke(*arguments, "--models", "majority,capymoa-arf-30")
    assert (refused.exit_code, "capymoa-arf-30 needs `pip install capymoa`" in refused.stderr) == (2, True)


def test_help_lists_the_models_of_the_leaderboard():
    listed = invoke("compare", "--streams", "--models", "help").stdout
    assert "capymoa-sam-knn" in listed
    assert "last-label" in listed
