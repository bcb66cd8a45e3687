"""``ocoboost compare FILE``: what ``run`` reads, on the same rows in the same order, and a peer that fails is named."""

from __future__ import annotations

import gzip
import json
import random

import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import average_precision_score

from command_line import ocoboost as command
from ocoboost.bench import apart, compare, measures, on_file, peers
from ocoboost.errors import DataFileError, HazardWarning
from toy_jobs import failing

READING = {"target": "label", "drop": [], "text": [], "file_format": None, "delimiter": None, "on_error": "stop"}


def rows(n_rows=300):
    """Numbers, few texts, many texts, missing cells of all three."""
    rng = random.Random(0)
    for _ in range(n_rows):
        a, colour, city = rng.gauss(0, 1), rng.choice(["red", "blue"]), f"city {rng.randrange(40)}"
        label = "up" if a > 0 else colour
        cells = {"a": round(a, 3), "colour": colour, "city": city}
        yield {name: None if rng.random() < 0.1 else cell for name, cell in cells.items()}, label


def write(path):
    table = [{**x, "label": y} for x, y in rows()]
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(table), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    else:
        lines = ["a,colour,city,label", *(",".join("" if v is None else str(v) for v in row.values()) for row in table)]
        path.write_bytes(
            gzip.compress("\n".join(lines).encode()) if path.suffix == ".gz" else "\n".join(lines).encode()
        )
    return path


@pytest.mark.parametrize(
    "model",
    [
        "River Hoeffding tree",
        "one Hoeffding tree",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("River AMF", "River ARF", "River SRP")),
    ],
)
def test_every_format_gives_the_same_scores(tmp_path, model):
    found = []
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet", "rows.jsonl"):
        (job,) = on_file.plan(str(write(tmp_path / name)), [model], READING, most_rows=None, seed=1)
        result = on_file.run(job)
        found.append((result["accuracy"], result["confusion"], result["rows"]))
    assert found == [found[0]] * 4
    assert found[0][0] > 45
    assert found[0][2] == 300


def test_a_tree_is_told_what_river_would_be_told(tmp_path):
    (job,) = on_file.plan(str(write(tmp_path / "rows.csv")), ["River Hoeffding tree"], READING, most_rows=None, seed=1)
    model = peers.RIVER["River Hoeffding tree"](1)
    predictions = []
    for x, y in rows():
        seen = {name: value for name, value in x.items() if value is not None}
        predictions.append(model.predict_one(seen))
        model.learn_one(seen, y)
    right = measures.accuracy(predictions, [y for _, y in rows()])
    assert on_file.run(job)["accuracy"] == round(right, 4)


@pytest.mark.parametrize("title", ["River Hoeffding tree", "one Hoeffding tree"])
def test_labels_are_ranked_by_what_a_model_says_to_their_rows(tmp_path, title):
    (job,) = on_file.plan(str(write(tmp_path / "rows.csv")), [title], READING, most_rows=None, seed=1)
    result, model = on_file.run(job), compare.MODELS[title](1)
    said = []
    for x, y in rows():
        seen = {name: value for name, value in x.items() if value is not None}
        said.append(model.predict_proba_one(seen))
        model.learn_one(seen, y)
    labels = [y for _, y in rows()]
    areas = []
    for number, label in enumerate(result["labels"]):
        is_own = [y == label for y in labels]
        areas.append(average_precision_score(is_own, [one.get(label, 0.0) for one in said]))
        assert result["label_rows"][number] == sum(is_own)
        assert result["average_precision"][number] == pytest.approx(areas[-1], abs=0.03)  # bins make ties
        first = sorted(range(len(labels)), key=lambda row: -said[row].get(label, 0.0))[:3]  # 1 % of the rows
        most = max(said[row].get(label, 0.0) for row in range(len(labels)))
        if sum(one.get(label, 0.0) == most for one in said) <= 3:
            recall = sum(is_own[row] for row in first) / sum(is_own)
            assert result["recall_at_alert_rate"][number] == pytest.approx(recall, abs=1e-4)
    assert result["area"] == pytest.approx(100.0 * sum(areas) / len(areas), abs=3.0)
    assert result["cost"] is None


@pytest.mark.parametrize("title", ["River Hoeffding tree", "one Hoeffding tree"])
def test_with_costs_every_model_says_what_is_cheapest_to_it(tmp_path, title):
    costs = {("red", "up"): 20.0, ("blue", "red"): 0.2}
    reading = {**READING, "costs": [[*pair, cost] for pair, cost in costs.items()]}
    (job,) = on_file.plan(str(write(tmp_path / "rows.csv")), [title], reading, most_rows=None, seed=1)
    result, model, paid, right = on_file.run(job), compare.MODELS[title](1), [], 0

    def cost(true, said):
        return costs.get((true, said), float(true != said))

    for x, y in rows():
        seen = {name: value for name, value in x.items() if value is not None}
        said = {label: p for label, p in model.predict_proba_one(seen).items() if p > 0.0}
        if said:
            expected = {other: sum(p * cost(label, other) for label, p in said.items()) for other in said}
            cheapest = min(said, key=lambda label: (expected[label], -said[label]))
            paid.append(cost(y, cheapest))
            right += cheapest == y
        model.learn_one(seen, y)
    assert result["cost"] == pytest.approx(sum(paid) / len(paid), abs=1e-6)
    assert result["accuracy"] == pytest.approx(100.0 * right / 300, abs=1e-3)


@pytest.mark.slow
def test_the_rarest_label_and_costs_are_shown(tmp_path):
    path = write(tmp_path / "rows.csv")
    arguments = ["compare", path, "--target", "label", "--models", "hoeffding", "--out", tmp_path / "out"]
    arguments += ["--costs", '{"red": {"up": 20}}']
    result = command(*arguments)
    assert result.exit_code == 0, result.output
    assert "The rarest label" in result.stdout
    assert "mean cost" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert "precision-recall area" in page
    assert "mean cost of a row" in page
    (cell,) = json.loads(command(*arguments, "--json").stdout)["cells"]
    assert len(cell["average_precision"]) == len(cell["labels"]) == 3
    assert 0.0 < cell["cost"][0] < 1.0
    wrong = command(*arguments[:-1], '{"red": {"up": "much"}}')
    assert wrong.exit_code == 2
    assert "finite numbers" in wrong.stderr


def test_rows_end_where_they_are_told_to(tmp_path):
    path = write(tmp_path / "rows.csv")
    with path.open("a") as file:
        file.write("\n1,2\n")
    (job,) = on_file.plan(str(path), ["one Hoeffding tree"], READING, most_rows=120, seed=1)
    assert on_file.run(job)["rows"] == 120
    with pytest.raises(DataFileError, match="line 302: 2 cells"):
        on_file.run({**job, "most_rows": None})
    assert on_file.run({**job, "most_rows": None, "on_error": "skip"})["rows"] == 300


class Heard(apart.Apart):
    def __init__(self):
        self.results, self.failures, self.fractions = {}, {}, []

    def on_progress(self, job, fraction):
        self.fractions.append((job["model"], fraction))

    def on_result(self, job, result):
        self.results[job["model"]] = result

    def on_failure(self, job, why):
        self.failures[job["model"]] = why


def test_what_fails_is_named_and_the_rest_goes_on():
    heard = Heard()
    heard.run([{"model": name} for name in ("raises", "fine", "dies", "good")], failing, 2)
    assert heard.results == {name: {"model": name} for name in ("fine", "good")}
    assert heard.failures == {
        "raises": "KeyError: 'x\\nand a second line'",
        "dies": "its process was ended by SIGKILL, perhaps for want of memory",
    }
    assert sorted(heard.fractions) == [(name, 0.5) for name in ("dies", "fine", "good", "raises")]


def test_what_a_process_warns_of_is_said_here():
    heard = Heard()
    with pytest.warns(HazardWarning, match="numbers as text") as said:
        heard.run([{"model": "warns"}], failing, 1)
    assert len(said) == 1
    assert heard.results == {"warns": {"model": "warns"}}


def test_rows_that_cannot_be_read_end_all_of_it():
    with pytest.raises(DataFileError, match="line 3"):
        Heard().run([{"model": name} for name in ("data", "fine")], failing, 2)


@pytest.mark.slow
def test_the_command_ends_with_a_table_a_report_and_the_failed(tmp_path):
    path = write(tmp_path / "[red]rows.csv.gz")
    models = "hoeffding,river-hoeffding-tree,adaboost-olm"
    arguments = ["compare", path, "--target", "label", "--models", models, "--out", tmp_path / "out"]
    result = command(*arguments, "--report", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert "[red]rows.csv.gz" in result.stdout
    for title in ("one Hoeffding tree", "River Hoeffding tree"):
        assert title in result.stdout
        assert title in (tmp_path / "report.html").read_text()
    assert "shuffle" not in (tmp_path / "report.html").read_text()
    again = json.loads(command(*arguments, "--json").stdout)  # kept: nothing runs again
    assert {cell["model"] for cell in again["cells"]} | set(again["failed"]) == {
        compare.NAMES[name] for name in models.split(",")
    }
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == len(again["cells"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "lable"], "no column 'lable' (--target); did you mean 'label'?"),
        ([], "--target: name the column with the labels; the columns are 'a', 'colour', 'city', 'label'."),
        (["--target", "label", "--noise", "0.2"], "--noise: is for the paper's datasets, not for a FILE"),
        (["--target", "a", "--on-error", "skip"], "distinct labels"),
        (["--target", "label", "--drop", "x"], "no column 'x' (--drop)"),
    ],
)
def test_a_users_mistake_is_one_line(tmp_path, options, message):
    path = write(tmp_path / "rows.csv")
    out = ["--out", tmp_path / "out", "--models", "hoeffding"]
    result = command("compare", path, *options, *out)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert command("compare", "--target", "label", *out).exit_code == 2
