"""Pipes, damage, full disks and signals: one line that says what happened, and nothing lost that was saved."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import ocoboost
from command_line import GOOD, said, write_rows
from command_line import ocoboost as command
from ocoboost.files import records
from ocoboost.run import runner
from ocoboost.saving.model import read_model, write_model

RUN = ("--target", "y", "--model", "hoeffding")
PYTHON = (sys.executable, "-m", "ocoboost")


def one_line(result):
    return result.exit_code == 2 and len(said(result.stderr)) == 1 and "Traceback" not in result.stderr


# -- inputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_named_pipe_is_read_like_standard_input(tmp_path, pack):
    path = tmp_path / "rows.csv"
    path.write_text(GOOD)
    whole = json.loads(command("run", path, *RUN, "--json").stdout)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(pack(GOOD.encode())))
    writer.start()
    result = command("run", pipe, *RUN, "--save", tmp_path / "model.oco", "--json")
    writer.join()
    assert json.loads(result.stdout)["confusion"] == whole["confusion"]
    assert command("run", path, "--resume", tmp_path / "model.oco").exit_code == 0
    assert ocoboost.load(tmp_path / "model.oco").n_rows_ == 80  # the file is not taken for what the pipe held


def test_parquet_and_comparisons_need_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.parquet")
    result = command("run", tmp_path / "pipe.parquet", *RUN)
    assert one_line(result)
    assert "give the path of a regular file" in result.stderr
    result = command("compare", tmp_path / "pipe.parquet", "--target", "y", "--out", tmp_path / "out")
    assert one_line(result)
    assert "not a regular file" in result.stderr


def test_damaged_parquet_is_one_line_wherever_the_damage_is(tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.table(
        {"a": [0.5 * i for i in range(500)], "b": [f"t{i % 7}" for i in range(500)], "y": ["u", "v"] * 250}
    )
    parquet.write_table(table, path, row_group_size=100, compression="none")
    data = path.read_bytes()
    n_refused = 0
    for at in range(4, len(data), 97):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) * 6 + data[at + 6 :])
        result = command("run", path, *RUN)
        assert result.exit_code == 0 or one_line(result), result.output
        n_refused += result.exit_code == 2
    assert n_refused > 5


def test_what_was_learned_before_the_damage_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 5000)
    whole = write_rows(tmp_path / "whole.csv", 9000)
    path, model = tmp_path / "rows.csv.gz", tmp_path / "model.oco"
    packed = gzip.compress(whole.read_bytes(), mtime=0)
    path.write_bytes(packed[: len(packed) // 2])
    result = command("run", path, "--target", "label", "--model", "hoeffding", "--save", model)
    assert one_line(result)
    assert "damaged or truncated gzip file" in result.stderr
    assert 0 < ocoboost.load(model).n_rows_ < 9000
    path.write_bytes(packed)
    assert json.loads(command("run", path, "--resume", model, "--json").stdout)["rows"] == 9000


@pytest.mark.parametrize("line", ['{"a": 1, "y": "\\ud800"}', '{"a": "\\udfff", "y": "u"}', '{"\\ud800": 1, "y": "u"}'])
def test_half_a_surrogate_pair_is_a_bad_row(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": "x", "y": "u"}\n' + line + "\n" + '{"a": "\\ud83d\\ude00", "y": "\\u00e9"}\n')
    result = command("run", path, *RUN)
    assert one_line(result)
    assert "line 2: " in result.stderr
    assert "half of a surrogate pair" in result.stderr
    assert json.loads(command("run", path, *RUN, "--on-error", "skip", "--json").stdout)["labels"] == ["u", "é"]


def test_exact_decimals_are_labels(tmp_path):
    from decimal import Decimal

    table = pa.table({"a": [1, 2] * 9, "y": [Decimal("1.5"), Decimal("2.5")] * 9})
    parquet.write_table(table, tmp_path / "rows.parquet")
    result = command("run", tmp_path / "rows.parquet", *RUN, "--save", tmp_path / "m.oco", "--json")
    assert json.loads(result.stdout)["labels"] == [1.5, 2.5]


# -- outputs -----------------------------------------------------------------------------------------------------------


def limited(n_bytes):
    """No file of the process may become larger: writing then fails as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def test_a_disk_that_fills_up_is_one_line_and_leaves_the_old_file(tmp_path, rows_csv):
    model = tmp_path / "model.oco"
    options = ["--target", "label", "--model", "hoeffding"]
    assert command("run", rows_csv, *options, "--save", model).exit_code == 0
    subprocess.run([*PYTHON, "predict", model, rows_csv], capture_output=True, check=True)  # the cache is a file too
    for arguments, name in (
        (["run", rows_csv, *options, "--save", tmp_path / "new.oco"], "new.oco"),
        (["run", rows_csv, *options, "--report", tmp_path / "out.html"], "out.html"),
        (["predict", model, rows_csv, "--output", tmp_path / "out.csv"], "out.csv"),
    ):
        old = model.read_bytes() if name == "new.oco" else b"old"
        (tmp_path / name).write_bytes(old)
        process = [*PYTHON, *map(str, arguments)]
        result = subprocess.run(process, capture_output=True, text=True, check=False, preexec_fn=limited(1024))
        assert result.returncode == 2, result.stderr
        assert len(said(result.stderr)) == 1
        assert f"{name}: cannot be written" in result.stderr
        assert (tmp_path / name).read_bytes() == old
        if arguments[0] == "run":
            assert "accuracy" in result.stdout  # it is not lost with the file
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]


@pytest.mark.parametrize("arguments", [["run", "--target", "label", "--model", "hoeffding", "--json"], ["predict"]])
def test_a_full_standard_output_is_one_line(tmp_path, rows_csv, arguments):
    name, *options = arguments
    if name == "predict":
        model = tmp_path / "model.oco"
        command("run", rows_csv, "--target", "label", "--model", "hoeffding", "--save", model)
        options = [str(model)]
    with Path("/dev/full").open("w") as full:
        process = [*PYTHON, name, *options, str(rows_csv)]
        result = subprocess.run(process, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    assert said(result.stderr) == ["ocoboost: standard output: No space left on device"]


# -- signals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_saves_what_is_learned_and_says_how_to_go_on(tmp_path, signum, code):
    path = write_rows(tmp_path / "rows.csv", 60_000)
    part = tmp_path / "a model.oco"
    options = ["--target", "label", "--model", "mondrian", "--save-every", "0", "--save", str(part), "--json"]
    with subprocess.Popen(
        [*PYTHON, "run", str(path), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not part.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signum)
        out, err = process.communicate()
    assert process.returncode == code, err
    n_rows = json.loads(out)["rows"]
    assert n_rows == ocoboost.load(part).n_rows_ < 60_000
    name = signal.Signals(signum).name
    assert said(err) == [f"ocoboost: stopped by {name} after {n_rows:,} rows; --resume '{part}' continues from there"]


def test_an_interrupt_while_waiting_for_rows_ends_at_once_and_saves(tmp_path):
    model = tmp_path / "model.oco"
    process = subprocess.Popen(
        [*PYTHON, "run", "-", *RUN, "--save", str(model), "--save-every", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process:
        process.stdin.write(GOOD.encode())
        process.stdin.write(b"1,2,u\n" * 20_000)
        process.stdin.flush()
        while not model.exists() and process.poll() is None:
            time.sleep(0.01)
        process.terminate()  # standard input stays open: no more rows come
        err = process.stderr.read().decode()
    assert process.returncode == 143, err
    assert ocoboost.load(model).n_rows_ > 0


def test_there_is_nothing_to_save_before_the_first_row_is_learned(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD)
    run = runner.Run(ocoboost.HoeffdingTrees(), str(tmp_path / "rows.csv"), runner.Settings("y"))
    run.interrupt()
    with pytest.raises(KeyboardInterrupt):
        next(run.steps())
    assert not run.has_learned


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_a_warning_is_one_line_once(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text(GOOD)
    learn = runner.Run._predict_and_learn

    def warn(self, rows, labels):
        for text in ("column 'a'\nlooks like \x1b[1mdates", "another", "another"):
            warnings.warn(text, UserWarning, stacklevel=1)
        learn(self, rows, labels)

    monkeypatch.setattr(runner.Run, "_predict_and_learn", warn)
    monkeypatch.setattr(runner, "BLOCK", 10)
    result = command("run", tmp_path / "rows.csv", *RUN, "--json")
    assert result.exit_code == 0
    assert said(result.stderr) == [
        "ocoboost: warning: column 'a' looks like \\x1b[1mdates",
        "ocoboost: warning: another",
    ]


# -- model files -------------------------------------------------------------------------------------------------------


def test_odd_notes_in_a_model_file_are_one_line(tmp_path, rows_csv):
    path = tmp_path / "model.oco"
    assert command("run", rows_csv, "--target", "label", "--model", "hoeffding", "--save", path).exit_code == 0
    model, notes = read_model(path)
    scores = notes["scores"]
    forged = [
        *({**notes, "settings": {**notes["settings"], **change}} for change in SETTINGS),
        *({**notes, "place": place} for place in ((-1, 1, 0, 0), (0, "1", 0, 0), (0, 1, 2**70, 0))),
        *({**notes, "kinds": kinds} for kinds in ({1: None}, {"a": "colour"}, [1], {"a": [1]})),
        *({**notes, "scores": {**scores, **change}} for change in SCORES),
        *({**notes, "weights": weights} for weights in WEIGHTS),
        *({**notes, "waiting": waiting} for waiting in ([(0, 0.5)], [1], [("x", 1.0)])),
        *({**notes, "source": source} for source in ((1, 2), ("x", -1), ("x", "y"))),
    ]
    for odd in forged:
        write_model(model, path, odd)
        result = command("run", rows_csv, "--resume", path)
        assert one_line(result), (odd, result.output, result.exception)
        assert "invalid checkpoint" in result.stderr
        assert command("predict", path, rows_csv).exit_code == 0, odd


SETTINGS = [
    {"target": 3},
    {"drop": ("a", 1)},
    {"text": "a"},
    {"file_format": "xml"},
    {"delimiter": ",,"},
    {"delay": -1},
    {"delay": 1.5},
    {"on_error": "panic"},
]
WEIGHTS = [{"points": 3}, {"every": 0}, {"points": [(1, ["x"])]}, {"x": 1}]
SCORES = [
    {"counts": 3},
    {"counts": [[1]]},
    {"n_rows": -1},
    {"n_rows": True},
    {"n_right": 10**9},
    {"log_loss_sum": "x"},
    {"curve": {}},
    {"curve": {"window": 0, "n_open": 0, "right_open": 0, "right": []}},
    {"curve": {"window": 1, "n_open": 0, "right_open": 0, "right": ["x"]}},
]
