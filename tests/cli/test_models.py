"""``--model``: any registered model on streams that can be made without arguments."""

from __future__ import annotations

import csv
import io
import json

import pytest

import ocoboost
from command_line import GOOD, write_rows
from command_line import ocoboost as command
from ocoboost import registry
from ocoboost.cli.models import DEFAULT, make_model, names


@pytest.fixture(scope="module")
def rows_csv(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.csv", 1500)


@pytest.mark.parametrize("name", names())
def test_every_model_runs_saves_resumes_and_predicts(tmp_path, rows_csv, name):
    model = tmp_path / "model.oco"
    budget = [] if name == "stump-experts" else ["--budget", 6]
    options = ["--target", "label", "--model", name, *budget, "--save", model, "--json"]
    assert json.loads(command("run", rows_csv, *options).stdout)["accuracy"] > 0.5
    result = command("predict", model, rows_csv)
    table = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(table) == 1500
    loaded = ocoboost.load(model)
    assert type(loaded).__name__ == registry.find(name).name
    assert loaded.n_rows_ == 1500
    x = {"a": 0.1, "b": 0.2, "c": 0.3}
    (tmp_path / "one.csv").write_text("c,a,b\n0.3,0.1,0.2\n")
    (row,) = csv.DictReader(io.StringIO(command("predict", model, tmp_path / "one.csv").stdout))
    assert row["prediction"] == loaded.predict_one(x)
    assert {f"p({label})": str(share) for label, share in loaded.predict_proba_one(x).items()}.items() <= row.items()
    more = write_rows(tmp_path / "more.csv", 200, seed=1)
    assert json.loads(command("run", more, "--resume", model, "--json").stdout)["rows"] == 200
    assert ocoboost.load(model).n_rows_ == 1700


@pytest.mark.parametrize("name", ["forest", "boost,hoeffding", "OnlineBoostClassifier", "batch-agnostic", "bandit"])
def test_an_unknown_model_is_one_line_that_lists_the_known_ones(tmp_path, name):
    (tmp_path / "rows.csv").write_text(GOOD)
    result = command("run", tmp_path / "rows.csv", "--target", "y", "--model", name)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert (
        f"--model: {name!r} is not one of boost, agnostic, realizable, pairwise, mbbm, adaboost-olm, ho"
        in result.stderr
    )


def test_a_model_that_needs_arguments_says_which(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD)
    result = command("run", tmp_path / "rows.csv", "--target", "y", "--model", "finite-experts")
    assert result.exit_code == 2
    assert "FiniteExperts needs hypotheses and n_classes; make one in Python, or choose from boost" in result.stderr


def test_the_models_are_listed_without_a_file():
    result = command("run", "--model", "help")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == names()
    assert "OnlineBoostClassifier" in result.stdout


@pytest.mark.parametrize("option", ["--budget", "--max-memory"])
def test_an_option_that_a_model_does_not_have_is_refused(tmp_path, option):
    (tmp_path / "rows.csv").write_text(GOOD)
    result = command("run", tmp_path / "rows.csv", "--target", "y", "--model", "stump-experts", option, 50)
    assert result.exit_code == 2
    assert f"{option}: " in result.stderr
    assert "StumpExperts" in result.stderr


def test_budget_and_memory_reach_the_model():
    assert DEFAULT == "boost"
    default = make_model(DEFAULT, None, None, 1, 1)
    assert isinstance(default, ocoboost.OnlineBoostClassifier)
    assert (default.budget, default.seed, default.n_jobs) == (270, 1, 1)
    assert default.max_size == ocoboost.OnlineBoostClassifier().max_size
    small = make_model(DEFAULT, 10, 32.0, 2, 2)
    assert (small.budget, small.max_size, small.seed, small.n_jobs) == (10, 32.0, 2, 2)
    booster = make_model("realizable", None, 64.0, 1, 1)
    assert (booster.n_learners, booster.learner.max_size) == (200, 64.0)
    tree = make_model("hoeffding", None, None, 1, 1)
    assert (tree.n_learners, tree.max_size) == (1, ocoboost.HoeffdingTrees().max_size)
    assert make_model("mondrian", 40, 50.0, 1, 1).max_size == 50.0
