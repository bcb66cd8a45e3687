"""Runs that are killed, interrupted or stopped: they resume from their checkpoint, bit-identically."""

from __future__ import annotations

import csv
import gzip
import io
import json
import signal
import subprocess
import sys
import time

import pytest

import ocoboost
from command_line import GOOD, write_rows
from command_line import ocoboost as command
from ocoboost.files import opening, records
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings

SMALL = ("--target", "label", "--budget", "6", "--save-every", "0")


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 5000)
    monkeypatch.setattr(runner, "BLOCK", 64)


@pytest.mark.parametrize("delay", [0, 5, 200])
@pytest.mark.parametrize(
    "n_steps", [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(8, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("small_chunks")
def test_a_resumed_run_ends_in_the_same_file(tmp_path, delay, n_steps):
    path = write_rows(tmp_path / "rows.csv", 1000, with_text=True)
    options = [path, *SMALL, "--delay", str(delay)]
    assert command("run", *options, "--save", tmp_path / "whole.oco").exit_code == 0

    model = ocoboost.OnlineBoostClassifier(budget=6, seed=1, n_jobs=1)
    run = runner.Run(model, str(path), Settings("label", delay=delay), save_to=str(tmp_path / "part.oco"))
    run.save_every = 0.0
    steps = run.steps()
    for _ in range(n_steps):
        next(steps)
    steps.close()  # as if killed: nothing is saved from here on
    result = command("run", path, "--resume", tmp_path / "part.oco", "--save-every", 0, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["rows"] == 1000
    assert (tmp_path / "part.oco").read_bytes() == (tmp_path / "whole.oco").read_bytes()


@pytest.mark.parametrize(
    "n_saves", [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(6, marks=pytest.mark.slow)]
)
def test_a_killed_process_leaves_a_model_that_resumes_bit_identically(tmp_path, n_saves):
    path = write_rows(tmp_path / "rows.csv", 20_000)
    process = [sys.executable, "-m", "ocoboost", "run", str(path), *SMALL, "--model", "mondrian", "--save"]
    subprocess.run([*process, str(tmp_path / "whole.oco")], check=True, capture_output=True)
    part = tmp_path / "part.oco"
    with subprocess.Popen([*process, str(part)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        seen = set()
        while len(seen) < n_saves and killed.poll() is None:
            if part.exists():
                seen.add(part.stat().st_mtime_ns)
            time.sleep(0.002)
        killed.send_signal(signal.SIGKILL)
    assert 0 < ocoboost.load(part).n_rows_ <= 20_000
    assert command("run", path, "--resume", part).exit_code == 0
    assert part.read_bytes() == (tmp_path / "whole.oco").read_bytes()


def test_ctrl_c_saves_and_shows_what_is_finished(tmp_path):
    path = write_rows(tmp_path / "rows.csv", 60_000)
    part = tmp_path / "part.oco"
    process = [sys.executable, "-m", "ocoboost", "run", str(path), *SMALL, "--save", str(part), "--json"]
    with subprocess.Popen(process, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as interrupted:
        while not part.exists() and interrupted.poll() is None:
            time.sleep(0.01)
        interrupted.send_signal(signal.SIGINT)
        out, err = interrupted.communicate()
    assert interrupted.returncode == 130, err
    assert json.loads(out)["rows"] == ocoboost.load(part).n_rows_ < 60_000


def test_a_file_that_has_grown_is_read_on_and_another_one_from_its_first_row(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    write_rows(path, 3000)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:1001]))
    assert command("run", path, *SMALL, "--save", model).exit_code == 0
    path.write_text("".join(lines))
    grown = json.loads(command("run", path, "--resume", model, "--json").stdout)
    assert grown["rows"] == ocoboost.load(model).n_rows_ == 3000
    again = json.loads(command("run", path, "--resume", model, "--json").stdout)
    assert again["rows"] == 3000
    other = write_rows(tmp_path / "other.csv", 500, seed=1)
    result = json.loads(command("run", other, "--resume", model, "--json").stdout)
    assert (result["rows"], ocoboost.load(model).n_rows_) == (500, 3500)


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_a_run_resumes_at_the_bad_row_once_it_is_corrected(tmp_path, name, delay):
    """The rows before it are learned once: the model is that of a file that was right from the beginning."""
    path, model, whole = tmp_path / name, tmp_path / "model.oco", tmp_path / "whole.oco"
    pack = gzip.compress if name.endswith("gz") else bytes
    options = ["--target", "y", "--model", "hoeffding", "--delay", delay]
    path.write_bytes(pack((GOOD + "5,6\n" + "7,8,u\n" * 10).encode()))
    stopped = command("run", path, *options, "--save", model)
    assert stopped.exit_code == 2
    assert "line 42: 2 cells" in stopped.stderr
    assert ocoboost.load(model).n_rows_ == 40 - delay
    path.write_bytes(pack((GOOD + "5,6,v\n" + "7,8,u\n" * 10).encode()))
    assert json.loads(command("run", path, "--resume", model, "--json").stdout)["rows"] == 51
    assert command("run", path, *options, "--save", whole).exit_code == 0
    assert model.read_bytes() == whole.read_bytes()


def test_a_run_that_stopped_at_a_bad_row_does_not_take_another_file_for_its_own(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    path.write_text(GOOD + "5,6\n")
    assert command("run", path, "--target", "y", "--model", "hoeffding", "--save", model).exit_code == 2
    path.write_text(GOOD.replace("1,2,u", "1,9,u", 1) + "5,6,u\n")
    assert json.loads(command("run", path, "--resume", model, "--json").stdout)["rows"] == 41
    assert ocoboost.load(model).n_rows_ == 40 + 41


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl"])
@pytest.mark.usefixtures("small_chunks")
def test_a_file_whose_learned_rows_have_changed_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(opening, "FINGERPRINT_SIZE", 100)
    path = write_rows(tmp_path / "rows.csv", 600)
    rows = path.read_text()
    if "json" in name:
        rows = "".join(json.dumps(row) + "\n" for row in csv.DictReader(io.StringIO(rows)))

    def write(text):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())

    write(rows)
    saved = tmp_path / "model.oco"
    assert command("run", tmp_path / name, *SMALL, "--model", "hoeffding", "--save", saved).exit_code == 0
    before = saved.read_bytes()
    lines = rows.splitlines(keepends=True)
    for changed in ([*lines[:200], *lines[201:]], [*lines[:200], lines[200][:-1] + "  \n", *lines[201:]]):
        write("".join(changed) + "".join(lines[1:9]))
        result = command("run", tmp_path / name, "--resume", saved)
        assert result.exit_code == 2
        assert "was changed before line" in result.stderr
        assert saved.read_bytes() == before
    write(rows + "".join(lines[1:9]))
    result = command("run", tmp_path / name, "--resume", saved, "--json")
    assert json.loads(result.stdout)["new_rows"] == 8


@pytest.mark.parametrize("content", ["label,a\n", "label,a\nx\n", "label,a\nx,1,2\nx,1\n"])
def test_a_run_that_learns_nothing_leaves_everything_as_it_was(tmp_path, content):
    path, saved, said = write_rows(tmp_path / "rows.csv", 50), tmp_path / "model.oco", tmp_path / "said.csv"
    options = ("--model", "hoeffding", "--save", saved, "--predictions", said)
    assert command("run", path, *SMALL, *options).exit_code == 0
    before = saved.read_bytes(), said.read_bytes()
    (tmp_path / "other.csv").write_text(content)
    assert command("run", tmp_path / "other.csv", *SMALL, *options).exit_code == 2
    assert (saved.read_bytes(), said.read_bytes()) == before
    assert command("run", tmp_path / "other.csv", "--resume", saved).exit_code == 2
    assert saved.read_bytes() == before[0]
    result = command("run", path, "--resume", saved, "--json")
    assert json.loads(result.stdout)["new_rows"] == 0


def test_what_a_resumed_run_cannot_change(tmp_path, rows_csv):
    model = tmp_path / "model.oco"
    assert command("run", rows_csv, "--target", "label", "--model", "hoeffding", "--save", model).exit_code == 0
    for option in (["--target", "a"], ["--delay", "3"], ["--seed", "2"], ["--drop", "a"], ["--format", "csv"]):
        result = command("run", rows_csv, "--resume", model, *option)
        assert result.exit_code == 2
        assert f"{option[0]}: cannot change in a run resumed from" in result.stderr
    assert command("run", rows_csv, "--resume", model, "--target", "label", "--on-error", "skip").exit_code == 0


def test_a_forged_checkpoint_is_refused(tmp_path, rows_csv):
    from ocoboost.saving.model import read_model, write_model

    path = tmp_path / "model.oco"
    assert command("run", rows_csv, "--target", "label", "--model", "hoeffding", "--save", path).exit_code == 0
    model, notes = read_model(path)
    places = (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, "six"), (10, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, "", 7)
    forged = [{}, {**notes, "settings": {"colour": "red"}}, {**notes, "source": 3}]
    forged += [{**notes, "place": place} for place in places]
    for notes in forged:
        write_model(model, path, notes)
        result = command("run", rows_csv, "--resume", path)
        assert result.exit_code == 2
        assert "model.oco: invalid checkpoint" in result.stderr
