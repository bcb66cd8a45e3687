"""`ocoboost run --suspects` and `--id`: which rows of a file have a label that looks wrong, by their identifiers."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from command_line import ocoboost as command
from ocoboost.files import records
from ocoboost.run import runner

RNG = np.random.default_rng(5)
N_ROWS = 600
A, B = RNG.normal(size=(2, N_ROWS)).round(3).tolist()
CLEAN = ["up" if a > 0 else "down" for a in A]
WRONG = {int(row) for row in RNG.choice(N_ROWS, 40, replace=False)}
LABELS = [("down" if label == "up" else "up") if row in WRONG else label for row, label in enumerate(CLEAN)]
KEYS = [f"=id {row}" for row in range(N_ROWS)]
OPTIONS = ("--target", "label", "--budget", "40")


def write(folder, file_format):
    path = folder / f"rows.{file_format}"
    if file_format == "parquet":
        parquet.write_table(pa.table({"a": A, "key": KEYS, "b": B, "label": LABELS}), path)
    elif file_format == "jsonl":
        cells = zip(A, KEYS, B, LABELS, strict=True)
        path.write_text("".join(json.dumps({"a": a, "key": k, "b": b, "label": y}) + "\n" for a, k, b, y in cells))
    elif file_format == "arff":
        rows = "".join(f"{a},'{k}',{b},{y}\n" for a, k, b, y in zip(A, KEYS, B, LABELS, strict=True))
        head = "@relation r\n@attribute a numeric\n@attribute key string\n@attribute b numeric\n"
        path.write_text(head + "@attribute label {up,down}\n@data\n" + rows)
    else:
        rows = "".join(f"{a},{k},{b},{y}\n" for a, k, b, y in zip(A, KEYS, B, LABELS, strict=True))
        path.write_text("a,key,b,label\n" + rows)
    return path


@pytest.mark.parametrize("file_format", ["csv", "parquet", "jsonl", "arff"])
def test_suspects_are_written_with_their_identifiers(tmp_path, file_format, monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)  # so that PyArrow reads later chunks
    out = tmp_path / "suspects.csv"
    result = command("run", write(tmp_path, file_format), *OPTIONS, "--id", "key", "--suspects", out)
    assert result.exit_code == 0
    assert "Labels that look wrong" in result.stdout
    with out.open(newline="") as lines:
        found = list(csv.DictReader(lines))
    qualities = [float(suspect["label_quality"]) for suspect in found]
    assert qualities == sorted(qualities)
    for suspect in found:
        row = int(suspect["row"])
        assert suspect["id"] == "'" + KEYS[row]  # no formula for a spreadsheet
        assert suspect["given_label"] == LABELS[row] != suspect["predicted_label"]
    issues = [int(suspect["row"]) for suspect in found if suspect["is_label_issue"] == "True"]
    assert len(WRONG & set(issues)) > 0.75 * len(WRONG)
    assert len(issues) < 2 * len(WRONG)


@pytest.mark.parametrize("delay", [0, 7])
def test_a_resumed_run_has_the_same_suspects(tmp_path, delay, monkeypatch):
    monkeypatch.setattr(runner, "BLOCK", 64)
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    path, outs = write(tmp_path, "csv"), [tmp_path / f"{name}.csv" for name in ("whole", "part")]
    options = (*OPTIONS[:2], "--budget", "6", "--id", "key", "--delay", delay)
    assert command("run", path, *options, "--suspects", outs[0]).exit_code == 0
    settings = runner.Settings("label", identifier="key", delay=delay)
    run = runner.Run(runner.OnlineBoostClassifier(budget=6, seed=1), str(path), settings)
    run.save_to, run.save_every = str(tmp_path / "part.oco"), 0.0
    steps = run.steps()
    for _ in range(4):
        next(steps)
    steps.close()
    result = command("run", path, "--resume", tmp_path / "part.oco", "--suspects", outs[1], "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["label_issues"] > 0
    assert outs[0].read_text() == outs[1].read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--id", "keys"), "no column 'keys' (--id); did you mean 'key'?"),
        (("--model", "hoeffding", "--suspects", "out.csv"), "HoeffdingTrees keeps no suspects"),
        (("--suspects", "rows.csv"), "--suspects would overwrite the input"),
        (("--suspects", "out.csv", "--report", "out.csv"), "would overwrite"),
    ],
)
def test_mistakes_are_told_before_anything_is_learned(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "csv")
    result = command("run", "rows.csv", *OPTIONS[:2], *options)
    assert result.exit_code == 2
    assert message in result.stderr
