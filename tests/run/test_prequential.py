"""The loop of ``ocoboost run``: each row is predicted before it is learned, whenever its label arrives."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from river import evaluate, metrics

import ocoboost
from command_line import ocoboost as command
from command_line import write_rows
from ocoboost.bench import datasets


@pytest.mark.parametrize("with_text", [False, True])
def test_the_scores_are_those_of_a_prequential_run(tmp_path, with_text):
    path = write_rows(tmp_path / "rows.csv", with_text=with_text)
    result = json.loads(command("run", path, "--target", "label", "--budget", 12, "--json").stdout)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    labels = [row.pop("label") for row in rows]
    X = [{name: cell if cell in ("red", "blue") else float(cell) for name, cell in row.items()} for row in rows]
    model = ocoboost.OnlineBoostClassifier(budget=12, seed=1)
    right, losses = 0, []
    for answered in model.prequential(X, labels):
        for row, said in enumerate(answered.labels):
            label = labels[answered.first_row + row]
            right += said == label
            is_known = label in answered.classes
            probability = answered.probabilities[row, answered.classes.index(label)] if is_known else 0.0
            if said is not None:
                losses.append(-np.log(max(probability, 1e-15)))
    assert result["accuracy"] == right / len(rows)
    assert result["log_loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert result["rows_without_prediction"] == len(rows) - len(losses) == 1
    assert result["labels"] == model.classes_
    assert sum(map(sum, result["confusion"])) + sum(result["not_predicted"]) == result["rows"] == len(rows)
    assert result["seed"] == 1


@pytest.mark.parametrize("delay", [1, 7, 100])
def test_delayed_labels_are_rivers_delayed_labels(tmp_path, delay):
    rows = datasets.shuffled(datasets.load("segment"), seed=1)[:300]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({**x, "y": y}) + "\n" for x, y in rows))
    options = ["--target", "y", "--model", "mondrian", "--budget", 3, "--delay", delay, "--json", "--max-memory", 999]
    result = json.loads(command("run", path, *options).stdout)
    model = ocoboost.MondrianTrees(n_learners=3, max_size=999, seed=1)
    accuracy = metrics.Accuracy()
    evaluate.progressive_val_score(iter(rows), model, accuracy, delay=delay + 1)  # River's 1 is our 0
    n_predicted = result["rows"] - sum(result["not_predicted"])  # River leaves the others out
    assert result["accuracy"] * result["rows"] / n_predicted == pytest.approx(accuracy.get(), abs=1e-12)
    assert result["rows"] == 300


def test_a_pipe_gives_the_scores_of_the_file(rows_csv):
    options = ["--target", "label", "--model", "hoeffding", "--json"]
    whole = json.loads(command("run", rows_csv, *options).stdout)
    data = rows_csv.read_bytes()
    for piped in (data, gzip.compress(data)):
        process = [sys.executable, "-m", "ocoboost", "run", "-", *options]
        output = subprocess.run(process, input=piped, capture_output=True, check=True).stdout
        assert json.loads(output)["confusion"] == whole["confusion"]


def test_threads_change_no_bit(tmp_path, rows_csv):
    files = []
    for jobs in (1, 2):
        path = tmp_path / f"{jobs}.oco"
        options = ["--target", "label", "--budget", 6, "--jobs", jobs, "--save", path]
        assert command("run", rows_csv, *options).exit_code == 0
        model = ocoboost.load(path)
        assert model.n_jobs == jobs
        model.n_jobs = 1
        ocoboost.save(model, path)
        files.append(path.read_bytes())
    assert files[0] == files[1]
