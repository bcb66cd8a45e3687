"""Commands never overwrite an input, or one output by another, and say so before they learn."""

from __future__ import annotations

import subprocess
import sys

import pytest

from command_line import GOOD
from command_line import ocoboost as command

HOEFFDING = ("--target", "y", "--model", "hoeffding")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows, and a model of them; links lead to both."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(GOOD)
    (tmp_path / "other.csv").write_text(GOOD)
    assert command("run", "s.csv", *HOEFFDING, "--save", "m.oco").exit_code == 0
    for name in ("s.csv", "m.oco"):
        (tmp_path / f"soft-{name}").symlink_to(name)
        (tmp_path / f"hard-{name}").hardlink_to(name)
    (tmp_path / "folder").mkdir()
    return tmp_path


REFUSED = [
    (["run", "s.csv", *HOEFFDING, "--save", "s.csv"], "--save would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "./folder/../s.csv"], "--save would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "soft-s.csv"], "--save would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "hard-s.csv"], "--save would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "other.csv"], "exists and is not a model"),
    (["run", "s.csv", "--resume", "m.oco", "--save", "other.csv"], "exists and is not a model"),
    (["run", "soft-s.csv", *HOEFFDING, "--report", "s.csv"], "--report would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "new", "--report", "./new"], "--report would overwrite --save"),
    (["run", "s.csv", "--resume", "m.oco", "--report", "hard-m.oco"], "--report would overwrite --resume"),
    (["run", "s.csv", "--resume", "s.csv"], "--resume would overwrite the input"),
    (["run", "s.csv", *HOEFFDING, "--save", "folder"], "it is a folder"),
    (["run", "s.csv", *HOEFFDING, "--report", "folder"], "it is a folder"),
    (["run", "s.csv", *HOEFFDING, "--report", "no/report.html"], "there is no folder"),
    (["run", "s.csv", *HOEFFDING, "--save", "/dev/null"], "not a regular file"),
    (["predict", "m.oco", "s.csv", "--output", "s.csv"], "--output would overwrite the input"),
    (["predict", "m.oco", "s.csv", "--output", "hard-s.csv"], "--output would overwrite the input"),
    (["predict", "m.oco", "s.csv", "--output", "soft-m.oco"], "--output would overwrite the model"),
    (["predict", "m.oco", "s.csv", "--output", "folder"], "it is a folder"),
    (["compare", "s.csv", "--target", "y", "--report", "s.csv"], "--report would overwrite the input"),
    (["compare", "s.csv", "--target", "y", "--out", "s.csv"], "cannot be made a folder"),
    (["compare", "s.csv", "--target", "y", "--report", "folder"], "it is a folder"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_it_is_refused_before_anything_is_learned(folder, arguments, message):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = command(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in before} == before


def test_standard_streams_are_files_too(folder):
    ocoboost = f"{sys.executable} -m ocoboost"
    for line in (
        f"{ocoboost} predict m.oco s.csv >> s.csv",
        f"{ocoboost} predict m.oco - --output s.csv < s.csv",
        f"{ocoboost} run - --target y --model hoeffding --save s.csv < s.csv",
    ):
        result = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        assert result.returncode == 2, line
        assert result.stderr.count("\n") == 1, line
    assert (folder / "s.csv").read_text() == GOOD


def test_a_model_may_be_saved_to_where_it_was_resumed_from(folder):
    (folder / "s.csv").write_text(GOOD + "5,6,u\n")
    for options in (["--resume", "m.oco"], ["--resume", "m.oco", "--save", "soft-m.oco"]):
        assert command("run", "s.csv", *options).exit_code == 0
    assert (folder / "soft-m.oco").is_symlink()


def test_predictions_replace_a_file_only_when_they_are_complete(folder):
    (folder / "out.csv").write_text("old")
    (folder / "bad.csv").write_text("a,b\n1,2\nx,2\n")
    assert command("predict", "m.oco", "bad.csv", "--output", "out.csv").exit_code == 2
    assert (folder / "out.csv").read_text() == "old"
    assert command("predict", "m.oco", "s.csv", "--output", "out.csv").exit_code == 0
    assert len((folder / "out.csv").read_text().splitlines()) == 41
    assert command("predict", "m.oco", "s.csv", "--output", "/dev/null").exit_code == 0
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]
