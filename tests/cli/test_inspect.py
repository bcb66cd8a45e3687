"""``ocoboost inspect`` and ``--version``: what is in a model file, and which version reads it."""

from __future__ import annotations

import json

import ocoboost
from command_line import ocoboost as command
from command_line import write_rows


def test_the_version_is_that_of_the_package():
    result = command("--version")
    assert (result.stdout, result.exit_code) == (f"ocoboost {ocoboost.__version__}\n", 0)


def test_a_run_is_shown_with_its_target_labels_columns_and_members(tmp_path):
    path = write_rows(tmp_path / "rows.csv", 300, with_text=True)
    command("run", path, "--target", "label", "--budget", "6", "--save", tmp_path / "model.oco")
    told = json.loads(command("inspect", tmp_path / "model.oco", "--json").stdout)
    model = ocoboost.load(tmp_path / "model.oco")
    assert told["rows"] == 300
    assert told["target"] == "label"
    assert told["labels"] == model.classes_
    assert told["columns"] == {"a": "numbers", "b": "numbers", "c": "text"}
    assert told["member_weights"] == model.member_weights_
    assert told["memory_bytes"] == model.memory_usage_
    assert told["file_bytes"] == (tmp_path / "model.oco").stat().st_size
    shown = command("inspect", tmp_path / "model.oco").stdout
    for words in ("300", "label", "3 (2 of numbers, 1 of text): a, b, c", "Who decides at present"):
        assert words in shown


def test_a_model_from_python_that_has_learned_nothing(tmp_path):
    ocoboost.save(ocoboost.HoeffdingTrees(), tmp_path / "model.oco")
    shown = command("inspect", tmp_path / "model.oco")
    assert shown.exit_code == 0
    assert "not kept in this file" in shown.stdout
    assert "none yet" in shown.stdout


def test_names_are_data(tmp_path):
    model = ocoboost.HoeffdingTrees()
    model.learn_one({"[red]a": 1.0, "\x1b[31m": 2.0}, "[/]")
    ocoboost.save(model, tmp_path / "model.oco")
    shown = command("inspect", tmp_path / "model.oco").stdout
    assert "[red]a" in shown
    assert "\x1b" not in shown
    assert "[/]" in shown


def test_what_is_not_a_model_is_one_line(tmp_path):
    (tmp_path / "junk").write_bytes(b"junk")
    result = command("inspect", tmp_path / "junk")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
