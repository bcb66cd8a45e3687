"""``ocoboost serve`` and ``ocoboost feed``: options, late labels, and a service that goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

import ocoboost
from command_line import GOOD, said, write_rows
from command_line import ocoboost as command
from ocoboost.cli.serve import NEEDED
from ocoboost.serve.feeding import Client
from services import begin, listening, log_of, wait_until


def test_a_file_is_predicted_and_labelled_late(tmp_path):
    folder = begin(tmp_path / "service")
    rows = write_rows(tmp_path / "rows.csv", 90, with_text=True)
    with listening(folder) as address:
        arguments = ("feed", rows, "--target", "label", "--url", address, "--delay", "10", "--batch", "7", "--run", "x")
        result = command(*arguments, "--json")
        assert result.exit_code == 0, result.output
        summary = json.loads(result.stdout)
        assert (summary["rows"], summary["labels"]) == (90, {"accepted": 90})
        assert 0 < summary["accuracy"] < 1
        again = json.loads(command(*arguments, "--json").stdout)
        assert (again["labels"], again["accuracy"]) == ({"duplicate": 90}, summary["accuracy"])
        shown = command(*arguments, "--rows", "14").stdout
        assert "14 rows, accuracy" in shown
        assert "labels: 14 duplicate; run x" in shown
    log = log_of(folder)
    assert [name for _, name, _, _ in log] == [f"x:{line}" for line in range(2, 92)]
    assert log[0][2].keys() == {"a", "b", "c"}


def test_a_service_that_is_away_is_waited_for(tmp_path):
    folder = begin(tmp_path / "service")
    with listening(folder) as address:
        port = int(address.rpartition(":")[2])
    client = Client(address, patience=0.1)
    with pytest.raises(ocoboost.errors.DataFileError, match=r"no service answers there \(.*refused\); start one"):
        client.post("/learn", {})
    client.patience = 60.0
    answers = []
    thread = threading.Thread(target=lambda: answers.append(client.post("/learn", {"features": {}, "label": "x"})))
    thread.start()
    wait_until(lambda: client.n_broken > 2)
    with listening(folder, port=port):
        thread.join()
    assert answers[0]["number"] == 1
    client.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere holds no service; begin one with --new or --from"),
        (("none", "--new", "--from", "model.oco"), "cannot stand beside --from"),
        (("none", "--new", "--host", "0.0.0.0"), "--tokens: needed when --host is not a loopback address"),
        (("none", "--new", "--tokens", "no file"), "no file: cannot be read"),
        (("none", "--new", "--model", "nothing"), "'nothing' is not one of"),
        (("none", "--new", "--model", "hoeffding", "--classes", "a,b"), "HoeffdingTrees does not take them"),
        (("none", "--new", "--model", "hoeffding", "--challenger", "x"), "must be NAME=MODEL or NAME=FILE"),
        (("none", "--new", "--feedback"), "needs --classes: the labels to choose from"),
        (("none", "--new", "--feedback", "--model", "hoeffding"), "needs a booster, and HoeffdingTrees is none"),
        (("none", "--from", "model.oco"), "model.oco: cannot be read"),
        (("there", "--new"), "there holds a service already"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    begin(tmp_path / "there")
    result = command("serve", *arguments)
    assert result.exit_code == 2
    (line,) = said(result.stderr)
    assert words in line
    assert not (tmp_path / "none" / "log.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "z"), "no column 'z'"),
        (("--target", "y", "--url", "ftp://x"), "is not the address of a service"),
        (("--target", "y", "--token-file", "none"), "no token can be read"),
    ],
)
def test_mistakes_of_feeding_are_one_line(tmp_path, arguments, words):
    path = tmp_path / "rows.csv"
    path.write_text(GOOD)
    result = command("feed", path, *arguments)
    assert result.exit_code == 2
    assert words in said(result.stderr)[0]


def test_the_packages_are_those_of_the_extra():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["serve"]
    faster = ["httptools"]  # uvicorn has another parser
    assert [requirement.partition(">=")[0] for requirement in extra] == [*faster, *NEEDED]


def test_without_them_the_command_says_how_to_install_them(monkeypatch):
    module = sys.modules["ocoboost.cli.serve"]  # the package has a function of the same name
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "uvicorn" else name)
    result = command("serve", "folder", "--new")
    assert result.exit_code == 2
    assert "missing packages (uvicorn); install them with: pip install 'ocoboost[cli,serve]'" in result.stderr


def test_from_nothing_to_a_service_and_back(tmp_path):
    """The command itself, ended by SIGTERM, and again."""
    for options in (["--new", "--model", "hoeffding"], []):
        command_line = [sys.executable, "-m", "ocoboost", "serve", str(tmp_path / "service"), "--port", "0", *options]
        process = subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True, env={**os.environ})
        line = next(line for line in process.stderr if "answers at" in line)
        assert "hoeffding answers at http://127.0.0.1:" in line
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)
        process.stderr.close()
