"""Class weights, costs and ranks of `ocoboost run`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import average_precision_score

import ocoboost
from command_line import ocoboost as command
from command_line import write_rows


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.csv", with_text=False)


def table(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    labels = [row.pop("label") for row in rows]
    return [{name: float(cell) for name, cell in row.items()} for row in rows], labels


def run(path, *options):
    return json.loads(command("run", path, "--target", "label", "--budget", 12, "--json", *options).stdout)


def test_areas_are_those_of_the_probabilities(path):
    result = run(path)
    X, labels = table(path)
    model = ocoboost.OnlineBoostClassifier(budget=12, seed=1)
    said = np.zeros((len(X), len(set(labels))))
    for answered in model.prequential(X, labels):
        said[answered.first_row : answered.first_row + len(answered), : len(answered.classes)] = answered.probabilities
    for number, label in enumerate(result["labels"]):
        expected = average_precision_score([y == label for y in labels], said[:, number])
        assert result["average_precision"][number] == pytest.approx(expected, abs=0.02)  # bins make ties
    assert result["alert_rate"] == 0.01
    assert result["cost"] is None


def test_costs_and_class_weights_reach_the_model(path):
    X, labels = table(path)
    first, second, *_ = dict.fromkeys(labels)
    costs = {first: {second: 20.0}, "no such label": {first: 3.0}}
    result = run(path, "--costs", json.dumps(costs), "--class-weight", "balanced")
    model = ocoboost.OnlineBoostClassifier(budget=12, seed=1, class_weight="balanced", costs=costs)
    said = model.predict_learn_many(X, labels)
    pairs = [(y, p) for y, p in zip(labels, said, strict=True) if p is not None]
    paid = [costs.get(y, {}).get(p, float(y != p)) for y, p in pairs]
    assert result["cost"] == pytest.approx(np.mean(paid))
    assert result["accuracy"] == pytest.approx(np.mean([y == p for y, p in zip(labels, said, strict=True)]))


@pytest.mark.parametrize(
    ("types", "told"),
    [
        ((False, True), ("false", "true")),
        ((False, True), ("False", "True")),
        ((0.5, 1.5), ("0.5", "1.5")),
        ((1.0, 2.0), ("1.0", "2")),
    ],
)
def test_labels_of_every_type_have_their_costs_and_weights(tmp_path, types, told):
    rng = np.random.default_rng(0)
    chosen = rng.integers(2, size=120)
    rows = pa.table({"a": chosen + rng.normal(size=120), "label": [types[label] for label in chosen]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    plain = run(tmp_path / "rows.parquet")
    for options in (("--costs", json.dumps({told[1]: {told[0]: 50}})), ("--class-weight", json.dumps({told[1]: 50}))):
        assert run(tmp_path / "rows.parquet", *options)["accuracy"] < plain["accuracy"]


def test_labels_that_no_row_has_are_named(path):
    options = ("--costs", '{"up": {"misspelt": 2}}', "--class-weight", '{"nobody": 2}')
    said = command("run", path, "--target", "label", "--budget", 12, *options).stderr
    assert "no row has 'misspelt', given in --costs, as its label" in said
    assert "no row has 'nobody', given in --class-weight, as its label" in said


def test_the_terminal_shows_a_table_of_labels(path):
    shown = command("run", path, "--target", "label", "--budget", 12, "--costs", '{"a": {"b": 2}}').stdout
    assert "PR area" in shown
    assert "Mean cost of a row" in shown
    assert "without 1 row that had no prediction" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "{"], "not JSON"),
        (["--costs", "[1]"], "has no labels; give costs such as"),
        (["--costs", '{"a": 1}'], "object of objects"),
        (["--class-weight", "heavy"], "not JSON"),
        (["--model", "hoeffding", "--class-weight", "balanced"], "use --model boost"),
    ],
)
def test_other_options_are_refused(path, options, message):
    result = command("run", path, "--target", "label", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())
