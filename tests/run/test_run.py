"""``ocoboost run`` and ``ocoboost predict``: the loop itself, killed and resumed, and everything that can be wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from river import evaluate, metrics
from typer.testing import CliRunner

import ocoboost
from ocoboost.bench import datasets
from ocoboost.cli import app
from ocoboost.files import records
from ocoboost.run import runner


def ocoboost_(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def write_rows(path, n_rows=3000, *, with_text=False, seed=0):
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write("a,b,c,label\n")
        for a, b, c in rng.normal(size=(n_rows, 3)).round(4).tolist():
            label = "up" if a + b > 0 else "down" if c > 0 else "level"
            cell = ("red" if c > 0 else "blue") if with_text else c
            file.write(f"{a},{b},{cell},{label}\n")
    return path


@pytest.fixture(scope="module")
def rows_csv(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.csv")


# -- the loop ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_text", [False, True])
def test_the_scores_are_those_of_predict_learn_many(tmp_path, with_text):
    path = write_rows(tmp_path / "rows.csv", with_text=with_text)
    result = json.loads(ocoboost_("run", path, "--target", "label", "--budget", 12, "--json").stdout)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    labels = [row.pop("label") for row in rows]
    X = [{name: cell if cell in ("red", "blue") else float(cell) for name, cell in row.items()} for row in rows]
    model = ocoboost.OnlineAgnosticBoostClassifier(budget=12, max_size=32.0, seed=1)
    predictions = model.predict_learn_many(X, labels)
    assert result["accuracy"] == np.mean(np.array(predictions, dtype=object) == np.array(labels))
    assert result["labels"] == model.classes_
    assert sum(map(sum, result["confusion"])) + sum(result["not_predicted"]) == result["rows"] == len(rows)
    assert result["seed"] == 1


@pytest.mark.parametrize("name", ["agnostic", "realizable", "mbbm", "adaboost-olm", "hoeffding", "mondrian"])
def test_every_model_runs_saves_and_predicts(tmp_path, rows_csv, name):
    model = tmp_path / "model.oco"
    options = ["--target", "label", "--model", name, "--budget", 6, "--save", model, "--json"]
    assert json.loads(ocoboost_("run", rows_csv, *options).stdout)["accuracy"] > 0.5
    result = ocoboost_("predict", model, rows_csv)
    table = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(table) == 3000
    loaded = ocoboost.load(model)
    x = {"a": 0.1, "b": 0.2, "c": 0.3}
    assert loaded.n_rows_ == 3000
    (tmp_path / "one.csv").write_text("c,a,b\n0.3,0.1,0.2\n")
    (row,) = csv.DictReader(io.StringIO(ocoboost_("predict", model, tmp_path / "one.csv").stdout))
    assert row["prediction"] == loaded.predict_one(x)
    assert {f"p({label})": str(share) for label, share in loaded.predict_proba_one(x).items()}.items() <= row.items()


@pytest.mark.parametrize("delay", [1, 7, 100])
def test_late_labels_are_rivers_late_labels(tmp_path, delay):
    rows = datasets.shuffled(datasets.load("segment"), seed=1)[:300]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({**x, "y": y}) + "\n" for x, y in rows))
    options = ["--target", "y", "--model", "mondrian", "--budget", 3, "--delay", delay, "--json", "--max-memory", 999]
    result = json.loads(ocoboost_("run", path, *options).stdout)
    model = ocoboost.MondrianTrees(n_learners=3, max_size=999, seed=1)
    accuracy = metrics.Accuracy()
    evaluate.progressive_val_score(iter(rows), model, accuracy, delay=delay + 1)  # River's 1 is our 0
    n_predicted = result["rows"] - sum(result["not_predicted"])  # River leaves the others out
    assert result["accuracy"] * result["rows"] / n_predicted == pytest.approx(accuracy.get(), abs=1e-12)
    assert result["rows"] == 300


def test_a_pipe(rows_csv):
    whole = json.loads(ocoboost_("run", rows_csv, "--target", "label", "--model", "hoeffding", "--json").stdout)
    command = [sys.executable, "-m", "ocoboost", "run", "-", "--target", "label", "--model", "hoeffding", "--json"]
    with gzip.open(io.BytesIO(), "wb"):
        piped = subprocess.run(command, input=rows_csv.read_bytes(), capture_output=True, check=True).stdout
        packed = subprocess.run(
            command, input=gzip.compress(rows_csv.read_bytes()), capture_output=True, check=True
        ).stdout
    for output in (piped, packed):
        assert json.loads(output)["confusion"] == whole["confusion"]


# -- killed, interrupted, resumed --------------------------------------------------------------------------------------

SMALL = ("--target", "label", "--budget", "6", "--save-every", "0")


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(records, "FIRST_SIZE", 2000)
    monkeypatch.setattr(records, "CHUNK_SIZE", 5000)
    monkeypatch.setattr(runner, "BLOCK", 64)


@pytest.mark.parametrize("delay", [0, 5, 200])
@pytest.mark.parametrize("n_steps", [1, 3, 8])
@pytest.mark.usefixtures("small_chunks")
def test_a_resumed_run_ends_in_the_same_file(tmp_path, delay, n_steps):
    path = write_rows(tmp_path / "rows.csv", 1000, with_text=True)
    options = [path, *SMALL, "--delay", str(delay)]
    assert ocoboost_("run", *options, "--save", tmp_path / "whole.oco").exit_code == 0

    model = ocoboost.OnlineAgnosticBoostClassifier(budget=6, max_size=32.0, seed=1, n_jobs=1)
    run = runner.Run(model, str(path), runner.Settings("label", delay=delay), save_to=str(tmp_path / "part.oco"))
    run.save_every = 0.0
    steps = run.steps()
    for _ in range(n_steps):
        next(steps)
    steps.close()  # as if killed: nothing is saved from here on
    result = ocoboost_("run", path, "--resume", tmp_path / "part.oco", "--save-every", 0, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["rows"] == 1000
    assert (tmp_path / "part.oco").read_bytes() == (tmp_path / "whole.oco").read_bytes()


@pytest.mark.parametrize("n_saves", [1, 3, 6])
def test_a_killed_process_leaves_a_model_that_resumes_to_the_same_bits(tmp_path, n_saves):
    path = write_rows(tmp_path / "rows.csv", 20_000)
    command = [sys.executable, "-m", "ocoboost", "run", str(path), *SMALL, "--model", "mondrian", "--save"]
    subprocess.run([*command, str(tmp_path / "whole.oco")], check=True, capture_output=True)
    part = tmp_path / "part.oco"
    with subprocess.Popen([*command, str(part)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        seen = set()
        while len(seen) < n_saves and process.poll() is None:
            if part.exists():
                seen.add(part.stat().st_mtime_ns)
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert 0 < ocoboost.load(part).n_rows_ <= 20_000
    assert ocoboost_("run", path, "--resume", part).exit_code == 0
    assert part.read_bytes() == (tmp_path / "whole.oco").read_bytes()


def test_ctrl_c_saves_and_shows_what_is_finished(tmp_path):
    path = write_rows(tmp_path / "rows.csv", 60_000)
    part = tmp_path / "part.oco"
    command = [sys.executable, "-m", "ocoboost", "run", str(path), *SMALL, "--save", str(part), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not part.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert json.loads(out)["rows"] == ocoboost.load(part).n_rows_ < 60_000


def test_a_file_that_has_grown_is_read_on_and_another_one_from_its_first_row(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    write_rows(path, 3000)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:1001]))
    assert ocoboost_("run", path, *SMALL, "--save", model).exit_code == 0
    path.write_text("".join(lines))
    grown = json.loads(ocoboost_("run", path, "--resume", model, "--json").stdout)
    assert grown["rows"] == ocoboost.load(model).n_rows_ == 3000
    again = json.loads(ocoboost_("run", path, "--resume", model, "--json").stdout)
    assert again["rows"] == 3000
    other = write_rows(tmp_path / "other.csv", 500, seed=1)
    result = json.loads(ocoboost_("run", other, "--resume", model, "--json").stdout)
    assert (result["rows"], ocoboost.load(model).n_rows_) == (500, 3500)


def test_what_a_resumed_run_cannot_change(tmp_path, rows_csv):
    model = tmp_path / "model.oco"
    assert ocoboost_("run", rows_csv, "--target", "label", "--model", "hoeffding", "--save", model).exit_code == 0
    for option in (["--target", "a"], ["--delay", "3"], ["--seed", "2"], ["--drop", "a"], ["--format", "csv"]):
        result = ocoboost_("run", rows_csv, "--resume", model, *option)
        assert result.exit_code == 2
        assert option[0] in result.stderr
        assert "is settled by" in result.stderr
    assert ocoboost_("run", rows_csv, "--resume", model, "--target", "label", "--on-error", "skip").exit_code == 0


def test_threads_change_nothing(tmp_path, rows_csv):
    for jobs in (1, 2):
        assert ocoboost_("run", rows_csv, *SMALL, "--jobs", jobs, "--save", tmp_path / f"{jobs}.oco").exit_code == 0
    one, two = (ocoboost.load(tmp_path / f"{jobs}.oco")._state for jobs in (1, 2))
    for first, second in zip(one.members, two.members, strict=True):
        for name in first.ensemble.trees._fields:
            assert np.array_equal(
                getattr(first.ensemble.trees, name).view(np.int64), getattr(second.ensemble.trees, name).view(np.int64)
            )


# -- what is wrong with files ------------------------------------------------------------------------------------------

GOOD = "a,b,y\n" + "1,2,u\n3,4,v\n" * 20


def long_file(line, n_lines=60_000):
    return "a,b,y\n" + "".join(line if n == 50_000 else f"{n},1,{'uv'[n % 2]}\n" for n in range(1, n_lines))


BAD = {
    "missing target": (GOOD.replace("y", "Label"), "has no column 'y' (--target); there are 'a', 'b', 'Label'."),
    "close target": (GOOD.replace(",y", ",Y "), "has no column 'y' (--target); did you mean 'Y '?"),
    "empty": ("", "is empty; the first line must name the columns."),
    "blank": ("\n\n", "is empty"),
    "header only": ("a,b,y\n", "has no rows that can be used, only a head."),
    "target only": ("y\nu\nv\n", "has no columns besides the target"),
    "short row": (GOOD + "5,6\n", "line 42: has 2 cells, and the header has 3."),
    "long row": (GOOD + "5,6,u,7\n", "line 42: has 4 cells, and the header has 3."),
    "binary junk": (bytes(range(256)) * 50, "line 1: is not UTF-8 text"),
    "zero bytes": (GOOD.encode() + b"\0\0\n", "line 42: is not UTF-8 text (a zero byte); is this a binary file?"),
    "latin": (GOOD.encode() + "é,1,u\n".encode("latin-1"), "line 42: is not UTF-8 text (byte 0xe9)"),
    "labels": ("a,y\n" + "".join(f"{n},{n}\n" for n in range(100)), "column 'y' has 100 different labels in its first"),
    "identifiers": (
        "a,y\n" + "".join(f"id{n},{'uv'[n % 2]}\n" for n in range(5000)),
        "column 'a' holds more than 1,000 different texts",
    ),
    "text in row 50,000": (long_file("abc,1,u\n"), "line 50,001: column 'a' is 'abc', but the column holds numbers"),
    "infinity": (GOOD + "inf,1,u\n", "line 42: column 'a' is 'inf', which is not a finite number"),
    "no label": (GOOD + "1,1,\n", "line 42: has no label: column 'y' is empty."),
    "open quote": (GOOD + '1,"1,u\n' + GOOD * 3, "line 42: has"),
    "same names": ("a,a,y\n1,2,u\n", "has several columns named 'a'"),
    "carriage returns": ("a,b,y\r1,2,u\r", "lines end in carriage returns only"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line_and_exit_code_2(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "rows.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = ocoboost_("run", path, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert message in result.stderr
    assert "rows.csv" in result.stderr
    assert result.stdout == ""


OTHER = {
    "rows.jsonl": [
        ('{"a": 1, "y": "u"}\n{"a": 1\n', "line 2: is not JSON"),
        ('{"a": 1, "y": "u"}\n[1]\n', "line 2: is not a JSON object"),
        ('{"a": 1, "y": "u"}\n{"a": "x", "y": "u"}\n', "line 2: 'a' is 'x', but it held numbers before"),
        ('{"a": 1, "y": "u"}\n{"a": [1], "y": "u"}\n', "line 2: 'a' is a list"),
        ('{"a": 1, "y": "u"}\n{"a": 1}\n', "line 2: has no label"),
        ('{"a": 1, "Y": "u"}\n', "rows.jsonl: has no column 'y' (--target); did you mean 'Y'?"),
        ("", "has no rows"),
    ],
    "rows.arff": [
        ("@relation r\n@attribute a numeric\n", "has no @data line"),
        ("@relation r\n@attribute a date\n@data\n", "attribute 'a' is of type 'date'"),
        ("a,b\n1,2\n", "line 1: 'a,b' is no line of an ARFF header"),
        ("@attribute a real\n@attribute y {u}\n@data\nx,u\n", "line 4: column 'a' is 'x'"),
    ],
    "rows.parquet": [("not parquet", "is not a Parquet file"), ("", "is not a Parquet file")],
    "rows.csv.gz": [(gzip.compress(GOOD.encode() * 9)[:-20], "is a damaged or truncated gzip file")],
    "rows.xls": [("", "its ending does not tell its format")],
}


@pytest.mark.parametrize(("name", "content", "message"), [(name, *case) for name in OTHER for case in OTHER[name]])
def test_bad_files_of_other_formats(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = ocoboost_("run", tmp_path / name, "--target", "y", "--model", "hoeffding")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_file_that_is_not_there_or_a_directory(tmp_path):
    for path in (tmp_path / "no.csv", tmp_path):
        result = ocoboost_("run", path, "--target", "y", "--format", "csv")
        assert result.exit_code == 2
        assert "cannot be read" in result.stderr


@pytest.mark.usefixtures("small_chunks")
def test_a_file_that_vanishes_in_the_middle(tmp_path):
    path = write_rows(tmp_path / "rows.csv")
    run = runner.Run(ocoboost.HoeffdingTrees(), str(path), runner.Settings("label"))
    steps = run.steps()
    next(steps)
    path.unlink()
    with pytest.raises(ocoboost.errors.DataFileError, match="was deleted while it was being read"):
        list(steps)


def test_what_came_before_a_bad_row_is_learned_and_saved(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.oco"
    path.write_text(GOOD + "5,6\n" + "7,8,u\n" * 10)
    assert ocoboost_("run", path, "--target", "y", "--save", model).exit_code == 2
    assert ocoboost.load(model).n_rows_ == 40
    path.write_text(GOOD + "5,6,v\n" + "7,8,u\n" * 10)
    result = json.loads(ocoboost_("run", path, "--resume", model, "--json").stdout)
    assert result["rows"] == 51


def test_bad_rows_can_be_skipped_and_are_reported(tmp_path):
    (tmp_path / "rows.csv").write_text(GOOD + "5,6\n" + "1,2,v\n" * 60 + "1,x,u\n" * 7 + "7,8,u\n")
    result = ocoboost_("run", tmp_path / "rows.csv", "--target", "y", "--on-error", "skip")
    assert result.exit_code == 0
    assert "skipped" in result.stderr
    assert "line 42: has 2 cells" in result.stderr
    assert "... and 3 more rows" in result.stderr
    assert "101 rows" in result.stdout


MISTAKES = [
    (["--target"], "requires an argument"),
    ([], "--target"),
    (["--target", "y", "--delimiter", "ab"], "must be one character"),
    (["--target", "y", "--drop", "z"], "has no column 'z' (--drop)"),
    (["--target", "y", "--model", "forest"], "forest"),
    (["--resume", "no.oco"], "no.oco: cannot be read"),
    (["--target", "y", "--save", "no/such/folder/model.oco"], "cannot be written"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_users_mistake(tmp_path, options, message):
    (tmp_path / "rows.csv").write_text(GOOD)
    result = ocoboost_("run", tmp_path / "rows.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr


# -- predict -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model_file(tmp_path_factory, rows_csv):
    path = tmp_path_factory.mktemp("model") / "model.oco"
    assert (
        ocoboost_("run", rows_csv, "--target", "label", "--model", "mondrian", "--budget", 3, "--save", path).exit_code
        == 0
    )
    return path


def test_predictions_as_json_lines(tmp_path, model_file, rows_csv):
    result = ocoboost_("predict", model_file, rows_csv, "--json", "--output", tmp_path / "out.jsonl")
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
    result = ocoboost_("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 0
    assert "lacks 'b', 'c': counted as missing" in result.stderr
    assert "also has 'd': which the model does not know" in result.stderr
    (tmp_path / "rows.csv").write_text("d,e\n1,2\n")
    result = ocoboost_("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 2
    assert "has none of the model's columns ('a', 'b', 'c')" in result.stderr


def test_predicting_a_bad_row_stops_or_skips(tmp_path, model_file):
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n1,x,3\n1,2,3\n")
    result = ocoboost_("predict", model_file, tmp_path / "rows.csv")
    assert result.exit_code == 2
    assert "line 3: column 'b' is 'x'" in result.stderr
    result = ocoboost_("predict", model_file, tmp_path / "rows.csv", "--on-error", "skip")
    assert result.exit_code == 0
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["line", "2", "4"]


def test_a_model_from_the_library_predicts_too(tmp_path):
    model = ocoboost.HoeffdingTrees(seed=1)
    X = np.random.default_rng(0).normal(size=(100, 2))
    model.learn_many(X, (X[:, 0] > 0).tolist())
    ocoboost.save(model, tmp_path / "model.oco")
    (tmp_path / "rows.csv").write_text("0,1\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    result = ocoboost_("predict", tmp_path / "model.oco", tmp_path / "rows.csv")
    assert [line.split(",")[1] for line in result.stdout.splitlines()[1:]] == [str(y) for y in model.predict_many(X)]
    resumed = ocoboost_("run", tmp_path / "rows.csv", "--resume", tmp_path / "model.oco")
    assert resumed.exit_code == 2
    assert "was not saved by `ocoboost run`" in resumed.stderr


@pytest.mark.parametrize("content", [b"", b"junk", b"\x89OCOB\r\n\x1a"])
def test_what_is_no_model_is_one_line(tmp_path, content, rows_csv):
    (tmp_path / "model.oco").write_bytes(content)
    result = ocoboost_("predict", tmp_path / "model.oco", rows_csv)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1


def test_whoever_reads_may_stop_reading(model_file, tmp_path):
    path = write_rows(tmp_path / "rows.csv", 20_000)
    command = f"{sys.executable} -m ocoboost predict {model_file} {path} | head -2"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env=os.environ)
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr == ""
