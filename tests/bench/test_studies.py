"""The studies of the repository: their pages are made from the runs that are kept, by the scripts that are there."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DOCS = BENCHMARKS.parent / "docs"
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
STORED = argparse.Namespace(results=BENCHMARKS / "results")


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name in SCRIPTS:
            del sys.modules[name]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_can_be_imported_and_asked_for_help(name, monkeypatch, capsys):
    script = importlib.import_module(name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    if hasattr(script, "main"):
        with pytest.raises(SystemExit, match="0"):
            script.main()
        assert script.__doc__.splitlines()[0] in capsys.readouterr().out


def between(page, mark):
    return page.split(f"<!-- {mark}: begin -->\n")[1].split(f"\n<!-- {mark}: end -->")[0]


def test_the_page_of_accuracies_is_made_from_the_runs():
    accuracy, studies = map(importlib.import_module, ("accuracy", "studies"))
    assert accuracy.report(studies.finished("accuracy", STORED)) == (DOCS / "accuracy.md").read_text()


def test_what_mondrian_trees_have_over_rivers_is_made_from_the_runs():
    accuracy, studies = map(importlib.import_module, ("accuracy", "studies"))
    page = (DOCS / "mondrian.md").read_text()
    assert accuracy.beside_amf(studies.finished("accuracy", STORED)) == between(page, "accuracy")


def test_the_tables_of_speed_are_made_from_the_runs():
    speed, studies = map(importlib.import_module, ("speed", "studies"))
    found = speed.by_case(studies.finished("speed", STORED))
    for name, report in {"hoeffding.md": speed.tree_report, "mondrian.md": speed.forest_report}.items():
        assert report(found) == between((DOCS / name).read_text(), "speed")


def test_the_power_of_time_is_that_of_all_rows():
    speed = importlib.import_module("speed")
    growing = {"1": [1.0, 2.0], "2": [2.0, 4.0], "4": [4.0, 8.0]}  # seconds of a row
    assert speed.power({"case": "classes", "seconds": growing}) == "1.00 (1.00 to 1.00)"
    assert speed.power({"case": "rows", "seconds": growing}) == "2.00 (2.00 to 2.00)"


def test_of_several_runs_of_a_case_that_with_most_turns_counts():
    speed = importlib.import_module("speed")
    runs = [{"measure": "loop", "case": "mice", "repeats": repeats} for repeats in (1, 9, 5)]
    assert speed.by_case(runs) == {("loop", "mice"): runs[1]}


def test_the_page_of_foreign_learners_is_made_from_the_runs():
    foreign, studies = map(importlib.import_module, ("foreign_learners", "studies"))
    page = foreign.HEADER + foreign.tables(studies.finished("foreign_learners", STORED))
    assert page == (DOCS / "foreign_learners.md").read_text()


def test_the_page_of_choices_is_made_from_the_runs():
    choices, studies = map(importlib.import_module, ("choices", "studies"))
    assert choices.page(studies.finished("choices", STORED)) == (DOCS / "choices.md").read_text()


def test_the_tables_of_batch_boosting_are_made_from_the_runs():
    batch, studies = map(importlib.import_module, ("batch", "studies"))
    page = (DOCS / "batch.md").read_text()
    assert batch.accuracy_tables(studies.finished("batch", STORED)).strip() == between(page, "accuracy")
    assert batch.gamma_table(studies.finished("batch_gamma", STORED)) == between(page, "gamma")
    assert batch.speed_table(studies.finished("batch_stumps", STORED)) == between(page, "stumps speed")


def test_the_tables_of_the_baselines_are_made_from_the_runs():
    baselines, speed, studies = map(importlib.import_module, ("baselines", "baselines_speed", "studies"))
    page = (DOCS / "baselines.md").read_text()
    runs = [run for run in studies.finished("baselines", STORED) if "speed" not in run]
    assert baselines.tables(runs) == between(page, "tables")
    store = speed.Store(STORED.results / "baselines.jsonl", any_code=True)
    assert speed.report(store) == between(page, "speed")


def test_the_tables_of_the_theorems_are_made_from_the_runs():
    theory, studies = map(importlib.import_module, ("theory", "studies"))
    page = (DOCS / "theory.md").read_text()
    assert theory.tables(studies.finished("theory", STORED)) == between(page, "tables")


def test_the_tables_of_the_experts_are_made_from_the_runs():
    experts, speed, studies = map(importlib.import_module, ("experts", "experts_speed", "studies"))
    page = (DOCS / "experts.md").read_text()
    for mark, table in experts.TABLES.items():
        assert table(studies.finished("experts", STORED)) == between(page, mark)
    for mark in speed.CLASSES:
        assert speed.report(studies.finished("experts_speed", STORED), mark) == between(page, mark)


def test_the_example_of_an_account_and_its_cost_are_made_from_the_runs():
    account, studies = map(importlib.import_module, ("account", "studies"))
    page = (DOCS / "theory.md").read_text()
    found = studies.finished("account", STORED)
    assert account.printed(found, account.CHECKED) == between(page, "weak learner")
    assert account.printed(found, account.SHOWN) == between(page, "regret account")
    assert account.advice_table(found) == between(page, "followed advice")
    assert account.overhead_table(studies.finished("account_time", STORED)) == between(page, "account overhead")


def test_the_tables_of_audits_are_made_from_the_runs():
    audits, studies = map(importlib.import_module, ("audits", "studies"))
    page = (DOCS / "audits.md").read_text()
    names = list(audits.datasets.PAPER)
    assert audits.report(studies.finished("audits", STORED), names) == between(page, "audits")
    assert audits.drift_table(studies.finished("audits_drift", STORED)) == between(page, "drift")


@pytest.mark.parametrize(
    ("study", "page", "mark"),
    [
        ("explanations", "explanations.md", "explanations"),
        ("fuzz_inputs", "run.md", "inputs"),
        ("kill_runs", "run.md", "kills"),
        ("peak_memory", "memory.md", "peak"),
    ],
)
def test_a_table_is_what_its_report_makes_of_the_runs(study, page, mark):
    script, studies = map(importlib.import_module, (study, "studies"))
    assert script.report(studies.finished(study, STORED)) == between((DOCS / page).read_text(), mark)


def test_the_paired_table_of_the_mixture_is_made_from_the_runs():
    paired, studies = map(importlib.import_module, ("paired_accuracy", "studies"))
    page = (DOCS / "mixture.md").read_text()
    assert paired.tables(studies.finished("paired_accuracy", STORED)) == between(page, "paired")


def test_only_pairs_are_compared():
    paired = importlib.import_module("paired_accuracy")
    accuracies = {("before", 1): 0.5, ("after", 1): 0.6, ("before", 2): 0.5, ("after", 2): 0.8, ("before", 3): 0.0}
    runs = [
        {"noise": 0.0, "dataset": name, "shuffle": shuffle, "tree": tree, "accuracy": accuracy}
        for (tree, shuffle), accuracy in accuracies.items()
        for name in paired.NAMES
    ]
    *_, before, after, difference = paired.tables(runs).splitlines()
    assert before.split(" | ")[1:4] == ["2", "before", "50.00"]
    assert after.split(" | ")[1:4] == ["2", "after", "70.00"]
    assert difference.split(" | ")[1:4] == ["2", "difference", "+20.00 ± 10.00"]


def test_ranks_by_size_are_over_the_streams_that_all_sizes_were_run_on():
    streams, compare = importlib.import_module("streams"), importlib.import_module("ocoboost.bench.compare")
    models, names = ("boost", "capymoa-knn", *streams.SIZED), ("a", "b", "c")
    runs = {(name, 0.0, model): [{"accuracy": 50.0}] for name in names for model in models}
    runs |= {(name, 0.0, "boost"): [{"accuracy": 60.0}] for name in names}
    del runs["a", 0.0, "capymoa-srp-100"], runs["b", 0.0, "capymoa-knn"]
    settings = compare.Settings(models, names, (0.0,), (1,), None)
    (section,) = streams.ranks_by_size(compare.Comparison(settings, runs))
    told, _, table, duels = section.parts
    assert told.startswith("Over the 2 streams")
    assert told.endswith("b, c.")
    assert table.rows[0] == ("boost", "1.00")
    assert len(table.rows) == 1 + len(streams.SIZED)
    assert duels.rows == [(model, "2 of 2", "+10.00", "+10.00") for model in streams.SIZED]
    del runs["b", 0.0, "capymoa-srp-100"]
    assert streams.ranks_by_size(compare.Comparison(settings, runs)) == []


def test_putting_text_between_marks_keeps_the_rest(tmp_path):
    studies = importlib.import_module("studies")
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter\n<!-- b: begin -->\n<!-- b: end -->\n")
    studies.put(page, "new\n\n", "a")
    studies.put(page, "other", "b")
    assert page.read_text() == (
        "before\n<!-- a: begin -->\nnew\n<!-- a: end -->\nafter\n<!-- b: begin -->\nother\n<!-- b: end -->\n"
    )


def batch_run(dataset, share, model, **result):
    job = {"dataset": dataset, "share": share, "noise": "uniform", "fold": 0, "model": model}
    return job | {"accuracy": 0.5, "fit": 1.0, "log_loss": 1.0, "calibration": 0.1} | result


def test_batch_tables_keep_defaults_and_tuned_models_apart():
    batch = importlib.import_module("batch_accuracy")
    runs = [batch_run(name, share, batch.OURS, accuracy=0.7) for name in ("cars", "mice") for share in (0.0, 0.1)]
    runs += [{**run, "model": "extra trees", "accuracy": 0.6, "log_loss": 0.5} for run in runs]
    runs += [batch_run("cars", 0.0, "LightGBM, tuned", accuracy=0.9)]
    *defaults, tuned = batch.report(runs).split("| model | mean rank")
    defaults = "".join(defaults)
    assert "LightGBM" not in defaults
    assert "| BoostClassifier | 1.00 | 70.0 | 70.0 |" in defaults
    assert "| extra trees | 2.00 | 60.0 | 60.0 |" in defaults
    assert "| 10% uniform | extra trees | 10.00 ± 0.00 | 2 of 2 |" in defaults
    assert "| extra trees | **0.500** | **0.500** |" in defaults
    assert "| LightGBM, tuned | 1.00 | 90.0 |" in tuned
    assert "| BoostClassifier | 2.00 | 70.0 |" in tuned


@pytest.mark.parametrize("named", [[], ["LightGBM, tuned"]])
def test_models_are_tuned_only_when_they_are_named(monkeypatch, named):
    batch = importlib.import_module("batch_accuracy")
    monkeypatch.setattr(batch, "is_installed", lambda model: True)
    planned = []
    monkeypatch.setattr(batch.studies, "run_missing", lambda name, jobs, *_, **__: planned.extend(jobs))
    monkeypatch.setattr(sys, "argv", ["batch_accuracy", "run", *(["--models", *named] if named else [])])
    batch.main()
    assert {job["model"] for job in planned} == set(named or batch.MODELS)
    assert set(batch.TUNED) >= set(named)


def test_tuning_keeps_to_its_budget_and_finds_what_is_better():
    tuning = importlib.import_module("batch_tuning")
    draw = np.random.default_rng(0)
    X = draw.normal(size=(240, 3))
    y = (X[:, 0] > 0).astype(int)
    y[draw.random(240) < 0.3] ^= 1
    made = []

    class Threshold(DummyClassifier):
        """Looks at the first column only if it is told to."""

        def __init__(self, looks=False):
            super().__init__()
            self.looks = looks
            made.append(looks)

        def predict(self, X):
            return (X[:, 0] > 0).astype(int) if self.looks else super().predict(X)

    search = tuning.Search(Threshold, lambda draw: {"looks": bool(draw.integers(2))})
    model = tuning.Tuned(search, DummyClassifier, patience=0.0, seed=1).fit(X, y)
    assert model.n_tried_ == 2  # the default and one more, even without a budget
    model = tuning.Tuned(search, lambda: tuning.forest(n_estimators=20), patience=1.0, seed=1).fit(X, y)
    assert model.n_tried_ > 2
    assert model.model_.looks
    assert np.mean(model.predict(X) == y) > 0.6
