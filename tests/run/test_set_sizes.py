"""The sizes of prediction sets in a run, against the sets of a model that is asked row by row."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import ocoboost as command
from command_line import write_rows
from ocoboost import OnlineBoostClassifier
from ocoboost.run.set_sizes import SetSizes


@pytest.mark.parametrize("delay", [0, 3])
def test_sizes_and_coverage_are_those_of_the_sets_before_each_label(tmp_path, delay):
    path = write_rows(tmp_path / "rows.csv", 120)
    page = tmp_path / "out.html"
    result = command("run", path, "--target", "label", "--budget", 6, "--delay", delay, "--json", "--report", page)
    assert result.exit_code == 0
    told = json.loads(result.stdout)["prediction_sets"]
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    model, waiting, sets = OnlineBoostClassifier(budget=6, seed=1), [], []
    for *cells, label in rows:
        x = dict(zip("abc", map(float, cells), strict=True))
        if model.classes_:
            sets.append((model.predict_set_one(x), label))
        waiting.append((x, label))
        if len(waiting) > delay:
            model.learn_one(*waiting.pop(0))
    assert [entry["level"] for entry in told] == [0.8, 0.9, 0.95]
    assert told[1]["mean_size"] == pytest.approx(np.mean([len(one) for one, _ in sets]))
    assert told[1]["coverage"] == pytest.approx(np.mean([label in one for one, label in sets]))
    assert "Prediction sets" in page.read_text()


def test_forged_counts_are_refused_and_other_models_have_no_sets():
    assert SetSizes().sizes((0.9,)) == []
    for counts in (np.zeros((2, 2), dtype=np.int64), np.full((1, 3), -1), np.array([[1, 2, 1]]), [[1, 1, 1]]):
        with pytest.raises(ValueError, match="prediction sets"):
            SetSizes.from_notes(counts)
