"""Labels and column names are data: never markup, terminal escapes or formulas."""

from __future__ import annotations

import csv
import io
import json

import pytest

import ocoboost
from command_line import ocoboost as command
from ocoboost.spelling import as_cell, escaped, spelled

ODD = ["[/]", "[red]A[/red]", "\x1b[31mred", "=1+1", "$\\frac$", "#0b62c4", 'id="x"', "<b>", "日本", "\u202eabc", "-1"]
RUN = ("--target", "y", "--model", "hoeffding")


def write_objects(path, labels, name="a"):
    path.write_text("".join(json.dumps({name: i, "y": label}) + "\n" for i, label in enumerate(list(labels) * 6)))
    return path


def printable(text):
    return all(line.isprintable() for line in text.split("\n"))


def test_labels_are_shown_as_they_are_and_escapes_escaped(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    path = write_objects(tmp_path / "rows.jsonl", ODD, name="[/]\x1b[1m")
    result = command("run", path, *RUN, "--report", tmp_path / "out.html")
    assert result.exit_code == 0, result.output
    assert printable(result.output)
    for label in ODD:
        assert escaped(label) in result.stdout
    html = (tmp_path / "out.html").read_text()
    assert printable(html)
    for shown in ("[red]A[/red]", "\\x1b[31mred", "$\\frac$", "&lt;b&gt;", "日本", "\\u202eabc"):
        assert shown in html
    assert ">#0b62c4<" in html  # in a figure, where it is not taken for a colour
    assert '>id="x"<' in html
    assert "<b>" not in html


def test_a_wide_label_does_not_hide_the_others(tmp_path):
    path = write_objects(tmp_path / "rows.jsonl", ["x" * 5000, "y" * 5000])
    result = command("run", path, *RUN, "--report", tmp_path / "out.html")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) < 200


def test_one_and_its_spelling_are_two_labels(tmp_path):
    path = write_objects(tmp_path / "rows.jsonl", [1, "1", "1\n"])
    model = tmp_path / "model.oco"
    assert json.loads(command("run", path, *RUN, "--save", model, "--json").stdout)["labels"] == [1, "1", "1\n"]
    (line, *_) = command("predict", model, path, "--json").stdout.splitlines()
    assert list(json.loads(line)["probabilities"]) == ["1", "'1'", "'1\\n'"]
    (row, *_) = csv.DictReader(io.StringIO(command("predict", model, path).stdout))
    assert list(row)[2:] == ["p(1)", "p('1')", "p('1\\n')"]
    table = command("run", path, *RUN).stdout
    assert table.count("'1'") == 3  # in the confusion matrix, down and across, and in the table of labels


def test_predictions_in_csv_are_no_formulas_unless_asked_for(tmp_path):
    labels = ["=1+1", "'=1+1", "-1", "@x", "plain", "\t=1", "-x"]
    path, model = write_objects(tmp_path / "rows.jsonl", labels), tmp_path / "model.oco"
    assert command("run", path, *RUN, "--save", model).exit_code == 0
    loaded = ocoboost.load(model)
    said = [loaded.predict_one({"a": i}) for i in range(6 * len(labels))]
    for options, expected in (([], [as_cell(label) for label in said]), (["--raw"], said)):
        text = command("predict", model, path, *options).stdout
        table = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [row["prediction"] for row in table] == expected
        assert list(table[0])[2:] == [f"p({label})" for label in loaded.classes_]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *[(text, "'" + text) for text in ("=1", "+x", "-x", "@x", "\t1=", "\r=", "＝1", "'=1", "''=1", "-", "--1")],
        *[(text, text) for text in ("-1", "+1.5", "-1e3", "1=", "plain", "", "'plain", "'")],
    ],
)
def test_only_what_begins_like_a_formula_gets_a_quote(text, cell):
    assert as_cell(text) == cell


def test_names_of_labels_are_distinct_whatever_they_are():
    labels = [1, "1", 1.5, b"1", ("1",), "1\\n", "1\n", "\ud800", True, None]
    names = spelled([label for label in labels if label is not True])
    assert len(set(names)) == len(names)
    assert all(name.isprintable() for name in names)


def test_labels_that_json_does_not_have_are_named(tmp_path):
    model = ocoboost.HoeffdingTrees(seed=1)
    for label in (b"\xff", ("a", 1), "\ud800", 3):
        model.learn_one({"a": 1.0}, label)
    ocoboost.save(model, tmp_path / "model.oco")
    (tmp_path / "rows.csv").write_text("a\n1\n")
    for options in ([], ["--json"], ["--raw"], ["--output", tmp_path / "out.csv"]):
        result = command("predict", tmp_path / "model.oco", tmp_path / "rows.csv", *options)
        assert result.exit_code == 0, result.output
    assert "p(\\ud800)" in (tmp_path / "out.csv").read_text()
