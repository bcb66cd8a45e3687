"""``ocoboost predict``: a saved model on the rows of a file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import ocoboost
from command_line import ocoboost as command
from command_line import said, write_rows


@pytest.fixture(scope="module")
def model_file(tmp_path_factory, rows_csv):
    path = tmp_path_factory.mktemp("model") / "model.oco"
    options = ["--target", "label", "--model", "mondrian", "--budget", 3, "--save", path]
    assert command("run", rows_csv, *options).exit_code == 0
    return path


def test_predictions_as_json_lines(tmp_path, model_file, rows_csv):
    result = command("predict", model_file, rows_csv, "--json", "--output", tmp_path / "out.jsonl")
    assert (result.exit_code, result.output) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    model = ocoboost.load(model_file)
    with rows_csv.open() as file:
        rows = [{name: float(row[name]) for name in "abc"} for row in csv.DictReader(file)]
    assert [line["prediction"] for line in lines] == model.predict_many(rows)
    assert [line["probabilities"] for line in lines[:50]] == [model.predict_proba_one(x) for x in rows[:50]]
    assert [line["line"] for line in lines[:3]] == [2, 3, 4]


def test_columns_that_only_one_side_has_are_named(tmp_path, model_file):
    (tmp_path / "rows.csv").write_text("a,d\n1,2\n")
    result = command("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 0
    assert "rows.csv: missing columns, treated as missing values: 'b', 'c'\n" in result.stderr
    assert "rows.csv: columns unknown to the model, ignored: 'd'\n" in result.stderr
    (tmp_path / "rows.csv").write_text("d,e\n1,2\n")
    result = command("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 2
    assert "none of the model's columns found; they are 'a', 'b', 'c'." in result.stderr


def test_a_bad_row_stops_or_is_skipped(tmp_path, model_file):
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n1,x,3\n1,2,3\n")
    result = command("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 2
    assert (
        "line 3: 'x' in numeric column 'b' is not a number; correct it; --on-error skip leaves such rows out."
        in result.stderr
    )
    result = command("predict", model_file, tmp_path / "rows.csv", "--on-error", "skip")
    assert result.exit_code == 0
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["line", "2", "4"]


def test_a_parquet_column_of_another_type_is_one_line(tmp_path, model_file):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": [1.0], "b": ["red"], "c": [2]}), tmp_path / "rows.parquet")
    result = command("predict", model_file, tmp_path / "rows.parquet")
    assert result.exit_code == 2
    assert "rows.parquet: column 'b' holds text, but the model learned numbers; convert it." in result.stderr


def test_a_model_from_the_library_predicts_too(tmp_path):
    model = ocoboost.HoeffdingTrees(seed=1)
    X = np.random.default_rng(0).normal(size=(100, 2))
    model.learn_many(X, (X[:, 0] > 0).tolist())
    ocoboost.save(model, tmp_path / "model.oco")
    (tmp_path / "rows.csv").write_text("0,1\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    result = command("predict", tmp_path / "model.oco", tmp_path / "rows.csv")
    assert [line.split(",")[1] for line in result.stdout.splitlines()[1:]] == [str(y) for y in model.predict_many(X)]


@pytest.mark.parametrize("content", [b"", b"junk", b"\x89OCOB\r\n\x1a"])
def test_what_is_not_a_model_is_one_line(tmp_path, content, rows_csv):
    (tmp_path / "model.oco").write_bytes(content)
    result = command("predict", tmp_path / "model.oco", rows_csv)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_reader_of_a_pipe_may_stop_reading(model_file, tmp_path):
    path = write_rows(tmp_path / "rows.csv", 20_000)
    process = f"{sys.executable} -m ocoboost predict {model_file} {path} | head -2"
    result = subprocess.run(process, shell=True, capture_output=True, text=True, check=True, env=os.environ)
    assert len(result.stdout.splitlines()) == 2
    assert said(result.stderr) == []


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A model that makes sets, and rows with an identifier that begins like a formula."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(0)
    lines = [
        f"{['=A', 'B'][n % 2]}{n},{a:.3f},{'up' if a > b else 'down'}"
        for n, (a, b) in enumerate(rng.normal(size=(300, 2)))
    ]
    (folder / "rows.csv").write_text("\n".join(["order,a,label", *lines]) + "\n")
    options = ["--target", "label", "--id", "order", "--budget", 6, "--save", folder / "model.oco"]
    assert command("run", folder / "rows.csv", *options).exit_code == 0
    return folder


def test_identifiers_are_passed_through_and_sets_are_the_models(shop):
    result = command("predict", shop / "model.oco", shop / "rows.csv", "--id", "order", "--coverage", 0.9)
    assert (result.exit_code, result.stderr) == (0, "")
    said = list(csv.DictReader(result.stdout.splitlines()))
    assert list(said[0]) == ["line", "id", "prediction", "set", "p(up)", "p(down)"]
    assert [row["id"] for row in said[:3]] == ["'=A0", "B1", "'=A2"]
    model = ocoboost.load(shop / "model.oco")
    rows = [{"a": float(line.split(",")[1])} for line in (shop / "rows.csv").read_text().splitlines()[1:]]
    sets = [json.loads(row["set"]) for row in said]
    assert list(map(set, sets)) == model.predict_set_many(rows, 0.9)
    assert {len(labels) for labels in sets} == {1, 2}
    assert [labels[0] for labels in sets] == [row["prediction"] for row in said]


def test_the_same_as_json_lines(shop):
    options = ["--id", "order", "--coverage", 0.8, "--json"]
    result = command("predict", shop / "model.oco", shop / "rows.csv", *options)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert list(lines[0]) == ["line", "id", "prediction", "set", "probabilities"]
    assert (lines[0]["id"], lines[0]["prediction"]) == ("=A0", lines[0]["set"][0])


def test_a_feature_may_be_the_identifier_too(shop):
    result = command("predict", shop / "model.oco", shop / "rows.csv", "--id", "a")
    plain = command("predict", shop / "model.oco", shop / "rows.csv")
    assert result.stderr == ""
    rows = [line.split(",") for line in result.stdout.splitlines()]
    assert [[row[0], *row[2:]] for row in rows] == [line.split(",") for line in plain.stdout.splitlines()]


def test_what_cannot_be_passed_through_or_covered_is_named(shop, model_file, rows_csv):
    result = command("predict", shop / "model.oco", shop / "rows.csv", "--id", "ordre")
    assert "no column 'ordre' (--id); did you mean 'order'?" in result.stderr
    result = command("predict", shop / "model.oco", shop / "rows.csv", "--coverage", 0.5)
    assert "no prediction sets of coverage 0.5; its levels are 0.8, 0.9, 0.95." in result.stderr
    result = command("predict", model_file, rows_csv, "--coverage", 0.9)
    assert "MondrianTrees makes no prediction sets." in result.stderr
    assert result.exit_code == 2
