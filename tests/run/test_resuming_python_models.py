"""``run --resume`` with a model that was trained and saved in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ocoboost
from command_line import ocoboost as command
from command_line import write_rows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2)).round(4)
    return [{"a": a, "b": b} for a, b in X.tolist()], ["up" if a > 0 else "down" for a, _ in X.tolist()]


def write(path, rows, labels):
    lines = [f"{row['a']},{row['b']},{label}\n" for row, label in zip(rows, labels, strict=True)]
    path.write_text("a,b,y\n" + "".join(lines))
    return path


def test_it_goes_on_as_in_python(tmp_path, rows):
    X, y = rows
    model = ocoboost.HoeffdingTrees(n_learners=3, seed=1)
    model.learn_many(X[:200], y[:200])
    ocoboost.save(model, tmp_path / "model.oco")
    path = write(tmp_path / "rest.csv", X[200:], y[200:])
    result = command("run", path, "--resume", tmp_path / "model.oco", "--target", "y", "--json")
    assert json.loads(result.stdout)["rows"] == 100
    expected = model.predict_learn_many(X[200:], y[200:])
    assert json.loads(result.stdout)["accuracy"] == pytest.approx(np.mean(np.array(expected) == y[200:]))
    loaded = ocoboost.load(tmp_path / "model.oco")
    assert loaded.n_rows_ == 300
    assert loaded.predict_proba_many(X) == model.predict_proba_many(X)
    again = command("run", path, "--resume", tmp_path / "model.oco", "--json")  # now it is a run
    assert json.loads(again.stdout)["rows"] == 100
    assert ocoboost.load(tmp_path / "model.oco").n_rows_ == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "saved from Python, so it does not know its labels' column; give --target"),
        (["--target", "y", "--budget", "5"], "--budget: cannot change in a run resumed from"),
        (["--target", "nothing"], "no column 'nothing' (--target)"),
    ],
)
def test_what_is_missing_or_fixed_is_one_line(tmp_path, rows, options, message):
    X, y = rows
    model = ocoboost.HoeffdingTrees(seed=1)
    model.learn_many(X, y)
    ocoboost.save(model, tmp_path / "model.oco")
    before = (tmp_path / "model.oco").read_bytes()
    result = command("run", write(tmp_path / "rows.csv", X, y), "--resume", tmp_path / "model.oco", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "model.oco").read_bytes() == before


def test_numbers_are_not_taken_for_text(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = (X[:, 0] > 0).astype(int).tolist()
    model = ocoboost.HoeffdingTrees(seed=1)
    model.learn_many(X, labels)
    ocoboost.save(model, tmp_path / "unnamed.oco")
    path = write_rows(tmp_path / "rows.csv", 50)
    result = command("run", path, "--resume", tmp_path / "unnamed.oco", "--target", "label")
    assert "has a column named 0, and the columns of files are named by text" in result.stderr
    model.reset()
    model.learn_many([{"a": a, "b": b} for a, b in X.tolist()], labels)
    ocoboost.save(model, tmp_path / "named.oco")
    (tmp_path / "numbers.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{int(a > 0)}\n" for a, b in X.tolist()))
    result = command("run", tmp_path / "numbers.csv", "--resume", tmp_path / "named.oco", "--target", "y")
    assert result.exit_code == 2
    assert "in column 'y' is text, and the model knows" in result.stderr
