"""``reproduce`` and ``compare``: what they print and write, that they are repeatable, and what Ctrl-C leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from urllib.error import URLError

import pytest
import sklearn.datasets
from typer.testing import CliRunner

from ocoboost.bench import datasets, paper, reproduce
from ocoboost.bench.datasets.files import DATA_VARIABLE
from ocoboost.bench.jobs import Store
from ocoboost.cli import app
from ocoboost.cli.comparison_table import sparkline

QUICK = ["reproduce", "--quick", "--datasets", "balance", "--jobs", "1"]
RACE = ["compare", "--datasets", "balance", "--models", "hoeffding,river-hoeffding-tree", "--rows", "200"]


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def without_times(text):
    found = json.loads(text)
    for cell in found["cells"]:
        cell.pop("seconds")
        cell.pop("bytes", None)  # River's own differ by a few bytes from run to run
    return found


@pytest.mark.slow
def test_reproduce_gives_the_same_numbers_twice_and_remembers_them(tmp_path):
    runs = [invoke(*QUICK, "--json", "--seed", 3, "--out", tmp_path / name) for name in ("one", "two")]
    found = [without_times(run.stdout) for run in runs]
    assert [cells.pop("report") for cells in found] == [str(tmp_path / n / "report.html") for n in ("one", "two")]
    assert found[0] == found[1]
    assert {cell["booster"] for cell in found[0]["cells"]} == set(reproduce.TITLES)
    again = invoke(*QUICK, "--seed", 3, "--out", tmp_path / "one")
    assert "18 of 18 runs found in" in again.stderr
    assert "Balance" in again.stdout
    assert "84.4" in again.stdout  # the paper's
    assert "Report written to" in again.stdout
    html = (tmp_path / "one" / "report.html").read_text()
    assert html.count("<svg") == 4 + 1 + 1 + 1 + 1  # intervals, curves, time, weights, confusion
    assert "seeds" in html


def test_a_dataset_that_cannot_be_had_is_left_out_and_the_reason_given(monkeypatch, tmp_path):
    def load(name, data_dir=None):
        if name == "mice":
            raise datasets.DatasetMissingError("OpenML could not be reached: no route to host")
        return real(name, data_dir)

    real = datasets.load
    monkeypatch.setattr(datasets, "load", load)
    arguments = ["--datasets", "balance,mice", "--models", "hoeffding", "--rows", 100, "--jobs", 1, "--out", tmp_path]
    result = invoke("compare", *arguments)
    assert result.exit_code == 0
    assert "Mice is missing: OpenML could not be reached: no route to host" in result.stdout
    assert "Mice is missing" in (tmp_path / "report.html").read_text()
    alone = invoke("compare", "--datasets", "mice", "--out", tmp_path)
    assert (alone.exit_code, "no route to host" in alone.stderr) == (2, True)


def test_compare_scores_every_model_under_every_noise(tmp_path):
    arguments = [*RACE, "--noise", "0,0.4", "--shuffles", 2, "--jobs", 1, "--out", tmp_path]
    cells = json.loads(invoke(*arguments, "--json").stdout)["cells"]
    assert [(c["noise"], c["model"]) for c in cells] == [
        (share, model) for share in (0.0, 0.4) for model in ("one Hoeffding tree", "River Hoeffding tree")
    ]
    ours, theirs = cells[0], cells[1]
    for measure in ("accuracy", "macro_f1"):  # the same tree, but for ties
        assert ours[measure][0] == pytest.approx(theirs[measure][0], abs=1.0)
    assert cells[2]["accuracy"] != ours["accuracy"]
    table = invoke(*arguments)
    assert "40% of the labels flipped" in table.stdout
    assert "Accuracy by noise" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_a_rerun_goes_on(tmp_path):
    arguments = [*RACE, "--shuffles", "40", "--rows", "600", "--jobs", "2", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "ocoboost", *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509, shells make what runs behind ignore it
    )
    kept = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 200
    while not (kept.exists() and kept.read_bytes().count(b"\n") >= 3):
        assert time.monotonic() < deadline, "nothing was finished"
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    for wait in (4, 60):  # once in a while Python loses the first: it raises where exceptions are ignored
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        with suppress(subprocess.TimeoutExpired):
            _, errors = process.communicate(timeout=wait)
            break
    assert process.returncode == 130
    assert "the same command resumes" in errors
    assert "Traceback" not in errors
    n_kept = len(Store(kept).results)
    assert 3 <= n_kept < 80
    assert (tmp_path / "report.html").exists()
    first = kept.read_text()
    with kept.open("a") as lines:
        lines.write('{"job": {"cut off')
    result = invoke(*RACE, "--shuffles", 2, "--rows", 600, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert kept.read_text().startswith(first)
    assert len(Store(kept).results) >= max(4, n_kept)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--datasets", "iris"], "--datasets: 'iris' is not one of balance, cars, landsat"),
        (["reproduce", "--jobs", "0"], "--jobs: must be -1 or at least 1, got 0"),
        (["reproduce", "--seed", "-1"], "'--seed'"),
        (["compare", "--models", "magic"], "--models: 'magic' is not one of "),
        (["compare", "--noise", "2"], "--noise: must be comma-separated numbers from 0 to 1"),
        (["compare", "--noise", "much"], "got 'much'"),
        (["compare", "--datasets", "nowhere"], "'nowhere' is not one of balance"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_is_shown_when_nothing_is_asked():
    result = invoke()
    assert result.exit_code == 0
    for command in ("reproduce", "compare", "datasets"):
        assert command in result.stdout


def test_the_datasets_are_listed(monkeypatch):
    def fetch(**options):
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    datasets.load_raw.cache_clear()
    listed = json.loads(invoke("datasets", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(paper.DATASETS)
    text = invoke("datasets", "--check").stdout
    assert "Siegler" in text
    assert "CC BY 4.0" in text
    assert text.count("checksum correct") == 6
    assert "missing:" in text


def test_sparklines_rise():
    assert sparkline([0.0, 50.0, 100.0]) == "▁▅█"
