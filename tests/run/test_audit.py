"""`ocoboost audit`: every row judged without its own label, and written under names that users of cleanlab know."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from command_line import ocoboost as command
from ocoboost import OnlineAgnosticBoostClassifier
from ocoboost.data.rows import NumberRows
from ocoboost.online.mixture.judging import label_issues
from ocoboost.run import second_opinion
from ocoboost.run.audit import audit, orders, worth

RNG = np.random.default_rng(7)
N_ROWS = 400
POINTS = RNG.normal(size=(N_ROWS, 2)).round(3)
CLEAN = ["ab"[int(a > 0)] + "cd"[int(b > 0)] for a, b in POINTS]
KINDS = sorted(set(CLEAN))
WRONG = {int(row) for row in RNG.choice(N_ROWS, 40, replace=False)}
LABELS = [KINDS[(KINDS.index(y) + 1) % 4] if row in WRONG else y for row, y in enumerate(CLEAN)]


class Watched(OnlineAgnosticBoostClassifier):
    """Keeps what it is taught, in the order in which that comes."""

    def prequential(self, X, y, *, w=None):
        self.taught = [x["row"] for x in X]
        yield from super().prequential(X, y, w=w)


def small(classes):
    return OnlineAgnosticBoostClassifier(n_learners=2, classes=classes, seed=1)


@pytest.mark.parametrize("n_passes", [2, 5])
def test_every_row_is_learned_once_in_a_pass_and_comes_last_in_one_of_them(n_passes):
    rows = [{"row": row, "a": float(POINTS[row, 0])} for row in range(N_ROWS)]
    models = []

    def make(number, classes):
        models.append(Watched(n_learners=2, classes=classes, seed=number))
        return models[-1]

    audit(rows, LABELS, make, n_passes=n_passes)
    late = set()
    for model in models:
        assert sorted(model.taught) == list(range(N_ROWS))
        late |= set(model.taught[-(N_ROWS // n_passes) :])
    assert len(models) == n_passes
    assert late == set(range(N_ROWS))


def test_scores_are_means_of_what_was_said_before_each_row_was_learned(monkeypatch):
    """The twin: one row at a time, without the second opinion."""
    monkeypatch.setattr(second_opinion, "SHARES", (0.0,))
    rows = NumberRows(["a", "b"], POINTS)
    found = audit(rows, LABELS, lambda number, classes: small(classes), n_passes=3, seed=5)
    total, weights = np.zeros((N_ROWS, 4)), np.zeros((N_ROWS, 1))
    for order in orders(N_ROWS, 3, 5):
        model = small(KINDS)
        for n_seen, row in enumerate(order):
            x = dict(zip("ab", POINTS[row].tolist(), strict=True))
            said = np.array([model.predict_proba_one(x)[label] for label in KINDS])
            total[row] += (n_seen + 1) ** 2 * said
            weights[row] += (n_seen + 1) ** 2
            model.learn_one(x, LABELS[row])
    np.testing.assert_allclose(found.probabilities, total / weights, atol=1e-12)
    assert found.classes == KINDS
    given = np.array([KINDS.index(label) for label in LABELS])
    np.testing.assert_array_equal(found.quality, found.probabilities[np.arange(N_ROWS), given])
    is_likeliest = found.quality == found.probabilities.max(axis=1)  # of several, the given label is predicted
    np.testing.assert_array_equal(found.predicted, np.where(is_likeliest, given, found.probabilities.argmax(axis=1)))


def test_the_second_opinion_judges_rows_that_it_has_not_seen():
    """Labels that are noise cannot be foretold: whoever has seen them, knows them."""
    draw = np.random.default_rng(1)
    rows = [{"a": float(a), "b": None if a < -2 else "xyz"[int(a) % 3]} for a in draw.normal(size=300)]
    given = draw.integers(0, 2, 300)
    said = second_opinion.held_out(rows, given, 3, seed=1, n_jobs=1)
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert abs(said[np.arange(300), given].mean() - 0.5) < 0.05
    assert np.all(said[:, 2] == 0.0)  # a label that no row has


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": float(number)} for number in range(20)],  # too few to hold any out
        [{} for _ in range(60)],  # nothing to go by
        [{"a": [np.inf, -np.inf, None, "x", True][number % 5]} for number in range(60)],
        [{"a": f"text {number}", f"b{number % 7}": float(number)} for number in range(60)],
    ],
)
def test_odd_tables_get_a_second_opinion_too(rows):
    given = np.arange(len(rows)) % 2
    said = second_opinion.held_out(rows, given, 2, seed=1, n_jobs=1)
    if len(rows) < 50:
        assert said is None
    else:
        np.testing.assert_allclose(said.sum(axis=1), 1.0)


def test_one_label_needs_no_second_opinion():
    rows = [{"a": float(number)} for number in range(60)]
    assert second_opinion.held_out(rows, np.zeros(60, dtype=np.int64), 1, seed=1, n_jobs=1) is None


def test_a_short_table_of_noise_is_not_full_of_issues():
    """What cannot be told is no reason to doubt a label: of labels that are alike, the given one is predicted."""
    draw = np.random.default_rng(2)
    rows, labels = [{"a": float(a)} for a in draw.normal(size=40)], draw.choice(["x", "y", "z"], 40).tolist()
    found = audit(rows, labels, lambda number, classes: small(classes), n_passes=2, seed=1)
    ties = found.probabilities[np.arange(40), found.given] == found.probabilities.max(axis=1)
    np.testing.assert_array_equal(found.predicted[ties], found.given[ties])
    assert "The columns say little about the labels" in worth(found)


def test_as_many_rows_of_a_label_are_issues_as_are_confidently_another():
    given = np.array([0, 0, 0, 0, 1, 1, 1])
    believed = np.array([1, 1, 1, 0, 1, 0, 1])
    quality = np.array([0.1, 0.3, 0.2, 0.9, 0.8, 0.4, 0.7])
    confidence = np.array([0.5, 0.7, 0.8, 0.9, 0.8, 0.6, 0.7])
    usual = np.array([0.65, 0.7])
    issues = label_issues(given, believed, quality, confidence, usual)
    # Two of the label 0 are confidently 1 (the second and the third): the two worst are issues. None of 1 is one.
    assert np.flatnonzero(issues).tolist() == [0, 2]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "rows.csv"
    rows = "".join(f"{a},{b},k{row},{LABELS[row]}\n" for row, (a, b) in enumerate(POINTS.tolist()))
    path.write_text("a,b,key,label\n" + rows)
    return path


def test_wrong_labels_are_found_and_written(table, tmp_path):
    out, page = tmp_path / "out.csv", tmp_path / "out.html"
    options = ("--target", "label", "--id", "key", "--output", out, "--report", page, "--passes", 2)
    result = command("audit", table, *options)
    assert result.exit_code == 0
    assert "labels look wrong" in result.stdout
    with out.open(newline="") as lines:
        found = list(csv.DictReader(lines))
    assert list(found[0]) == ["line", "id", "label_quality", "given_label", "predicted_label", "is_label_issue"]
    assert len(found) == N_ROWS
    assert [float(record["label_quality"]) for record in found] == sorted(float(r["label_quality"]) for r in found)
    for record in found:
        row = int(record["line"]) - 2
        assert (record["id"], record["given_label"]) == (f"k{row}", LABELS[row])
    worst = {int(record["line"]) - 2 for record in found[: len(WRONG)]}
    assert len(worst & WRONG) > 0.8 * len(WRONG)
    html = page.read_text()
    assert "Labels that look wrong" in html
    assert "http" not in html.split("<body")[1]

    told = json.loads(command("audit", table, "--target", "label", "--id", "key", "--passes", 2, "--json").stdout)
    assert told["rows"] == N_ROWS
    issues = [record for record in found if record["is_label_issue"] == "True"]
    assert told["label_issues"] == len(told["issues"]) == len(issues)
    assert [issue["id"] for issue in told["issues"]] == [record["id"] for record in issues]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,y\n1,u\n", (), "1 usable rows are too few for 5 passes"),
        ("a,y\n" + "1,u\nx,v\n" * 30, ("--text", "b"), "no column 'b' (--text)"),
        ("a,y\n" + "1,u\n2,v\n" * 30, ("--id", "b"), "no column 'b' (--id)"),
        ("a,y\n" + "1,u\n" * 30 + "2,\n", (), "line 32: no label"),
        ("a,y\n" + "1,u\n" * 60, (), "every row has the label 'u'"),
        ("a,y\n" + "1,u\n2,v\n" * 30, ("--id", "y"), "--target and --id both name 'y'"),
        ("a,y\n" + "1,u\n2,v\n" * 30, ("--id", "a"), "no columns besides the target and --id"),
        ('{"y": "u"}\n{"y": "v"}\n' * 30, ("--format", "jsonl"), "no columns besides the target"),
        ("a,y\n" + "1,u\n2,v\n" * 30, ("--output", "rows.csv"), "--output would overwrite the input"),
    ],
)
def test_mistakes_are_told(tmp_path, monkeypatch, content, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(content)
    result = command("audit", "rows.csv", "--target", "y", *options)
    assert result.exit_code == 2
    assert message in result.stderr
