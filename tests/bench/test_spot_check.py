"""Stored runs that are made again: which are drawn, what counts as the same, and what a table then is."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections import Counter
from pathlib import Path

import pytest

from ocoboost.bench.jobs import code

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = {path.stem for path in BENCHMARKS.glob("*.py")}


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name in SCRIPTS:
            del sys.modules[name]


@pytest.fixture
def spot_check():
    return importlib.import_module("spot_check")


@pytest.fixture
def stale(tmp_path, monkeypatch):
    """A repository with one page, whose table a toy study makes."""
    made, studies = importlib.import_module("stale"), importlib.import_module("studies")
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("")
    (tmp_path / "docs" / "page.md").write_text("<!-- one: begin -->\n<!-- one: end -->\n")
    folder = tmp_path / "benchmarks"
    (folder / "results").mkdir(parents=True)
    (folder / "toy.py").write_text('studies.put(DOCS / "page.md", report(studies.finished("toy", options)), "one")')
    for name, path in {"DOCS": tmp_path / "docs", "RESULTS": folder / "results"}.items():
        monkeypatch.setattr(studies, name, path)
    monkeypatch.setattr(made, "ROOT", tmp_path)
    return made


def answer(job):
    """What the toy study's models answer, and how long they took, which is never the same."""
    answer.n_calls += 1
    return {"accuracy": job["shuffle"] / 7, "seconds": float(answer.n_calls), "curve": (0.5, math.nan)}


answer.n_calls = 0


def changed(job):
    """The same, but one model answers otherwise."""
    result = answer(job)
    return result | {"accuracy": result["accuracy"] + 1e-4} if job["model"] == "b" else result


def write(path, models, n_shuffles, of=None):
    jobs = [{"model": model, "shuffle": shuffle} for model in models for shuffle in range(n_shuffles)]
    lines = [{"job": job, "code": of, "result": answer(job)} for job in jobs]
    with path.open("a") as out:
        out.write("".join(json.dumps(line) + "\n" for line in lines))


def keep(results, found):
    with (results / "spot_checks.jsonl").open("a") as out:
        out.write(json.dumps(found) + "\n")


def test_a_table_is_confirmed_if_its_runs_made_again_agree(spot_check, stale):
    results = stale.studies.RESULTS
    write(results / "toy.jsonl", ["a", "b", "River ARF"], 30, of="old")
    (before,) = stale.tables()
    assert (before.state, before.is_stale, before.n_other, before.n_lasting) == ("stale", True, 60, 30)
    found = spot_check.check(results / "toy.jsonl", answer)
    assert (found["n_stored"], found["n_run"], found["n_equal"], found["differing"]) == (60, 10, 10, [])
    keep(results, found)
    (after,) = stale.tables()
    assert (after.state, after.is_stale) == ("confirmed: 10 of 10 runs made again agree", False)
    keep(results, {**found, "code": "older", "seed": 2})  # says nothing about the present sources
    keep(results, found)  # the same draw counts once
    assert stale.tables() == [after]
    keep(results, more := spot_check.check(results / "toy.jsonl", answer, n_runs=40, seed=2))
    n_distinct = len(found["jobs"] | more["jobs"])
    assert 40 < n_distinct < 50  # what both draws have counts once
    assert stale.tables()[0].state == f"confirmed: {n_distinct} of {n_distinct} runs made again agree"


def test_a_run_that_differs_makes_its_kind_stale_until_it_is_made_again(spot_check, stale):
    results = stale.studies.RESULTS
    write(results / "toy.jsonl", ["a", "b"], 30, of="old")
    found = spot_check.check(results / "toy.jsonl", changed)
    assert found["n_run"] == 10
    assert 0 < found["n_equal"] < 10
    assert {differing["job"]["model"] for differing in found["differing"]} == {"b"}
    kept, made = found["differing"][0]["accuracy"]
    assert made == kept + 1e-4
    keep(results, found)
    (table,) = stale.tables()
    assert (table.is_stale, table.n_other, table.n_confirmed) == (True, 60, 0)
    assert table.state == f"stale: {found['n_equal']} of 10 runs made again agree"
    keep(results, more := spot_check.check(results / "toy.jsonl", changed, n_runs=30, seed=2))
    assert sum('"a"' in job for job in more["jobs"]) > 10
    (table,) = stale.tables()
    assert (table.is_stale, table.n_other, table.n_confirmed) == (True, 60, 30)  # a has ten of its own
    checks = spot_check.known(results)["toy"]
    assert stale.unconfirmed("toy", checks) == {"model b": 30}
    write(results / "toy.jsonl", ["b"], 30, of=code("toy"))
    (table,) = stale.tables()
    assert (table.is_stale, table.n_present, table.n_other, table.n_confirmed) == (False, 30, 30, 30)


def test_too_few_runs_confirm_nothing(spot_check, stale):
    results = stale.studies.RESULTS
    write(results / "toy.jsonl", ["a"], 30, of="old")
    keep(results, found := spot_check.check(results / "toy.jsonl", answer, n_runs=9))
    assert found["n_run"] == 9
    assert stale.tables()[0].state == "stale: 9 of 9 runs made again agree"
    keep(results, {**found, "seed": 2})  # the same runs once more
    assert stale.tables()[0].is_stale
    keep(results, spot_check.check(results / "toy.jsonl", answer, n_runs=9, seed=2))
    assert not stale.tables()[0].is_stale


def test_a_store_with_few_runs_is_made_again_as_a_whole(spot_check, stale):
    results = stale.studies.RESULTS
    write(results / "toy.jsonl", ["a"], 3, of="old")
    keep(results, spot_check.check(results / "toy.jsonl", answer))
    assert stale.tables()[0].state == "confirmed: 3 of 3 runs made again agree"


def test_nothing_is_begun_after_the_time_is_over(spot_check, tmp_path, monkeypatch):
    write(tmp_path / "toy.jsonl", ["a"], 30)
    seconds = iter(range(100))
    monkeypatch.setattr(spot_check.time, "monotonic", lambda: next(seconds))
    found = spot_check.check(tmp_path / "toy.jsonl", answer, seconds=4)
    assert (found["n_run"], found["n_stored"]) == (3, 30)


def test_runs_are_drawn_uniformly_and_no_kind_is_left_out(spot_check):
    runs = [{"job": {"model": "common", "shuffle": shuffle}, "result": {}} for shuffle in range(40)]
    runs.append({"job": {"model": "scarce", "shuffle": 0}, "result": {}})
    ours = len(runs)
    runs.append({"job": {"model": "common", "shuffle": 99}, "code": code("toy"), "result": {}})
    runs += [{"job": job, "result": {}} for job in ({"model": "LightGBM"}, {"tree": "before"}, {"speed": "a"})]
    counts: Counter[str] = Counter()
    for seed in range(2000):
        stale, sample = spot_check.draw(runs, "toy", 10, seed)
        assert len(stale) == ours
        assert sum(run["job"]["model"] == "scarce" for run in sample) == 1
        counts.update(json.dumps(run["job"]) for run in sample[:10])
    assert len(counts) == ours
    expected = 2000 * 10 / ours
    assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values())


def test_a_variant_is_a_kind_of_its_own(spot_check):
    kind = spot_check.stored.kind
    plain = {"booster": "agnostic", "dataset": "mice"}
    assert kind(plain) == kind({**plain, "variant": ""}) == "booster agnostic"
    assert kind({**plain, "variant": "published code"}) == "booster agnostic, published code"


@pytest.mark.parametrize(
    ("kept", "made", "is_same"),
    [
        ({"accuracy": 0.5}, {"accuracy": 0.5 + 1e-13}, True),
        ({"accuracy": 0.5}, {"accuracy": 0.5 + 1e-9}, False),
        ({"accuracy": 0.5060646900269542}, {"accuracy": 0.506065}, True),  # rounded since
        ({"accuracy": 0.5060646900269542}, {"accuracy": 0.50606}, False),
        ({"accuracy": 0.5, "cpu_seconds": 1.0}, {"accuracy": 0.5, "cpu_seconds": 2.0}, True),
        ({"accuracy": 0.5, "kappa": 0.1}, {"accuracy": 0.5}, False),
        ({"accuracy": 0.5}, {"accuracy": 0.5, "kappa": 0.1}, True),  # measured since
        ({"after": None}, {"after": None}, True),
        ({"after": None}, {"after": 0.0}, False),
        ({"curve": [1.0, 2.0]}, {"curve": [1.0, 2.0, 3.0]}, False),
        ({"own": [{"size": 1.0}]}, {"own": [{"size": 1.5}]}, False),
    ],
)
def test_what_counts_as_the_same_result(spot_check, kept, made, is_same):
    assert spot_check.agree(kept, made) == is_same


def test_every_study_names_a_function_that_makes_its_runs(spot_check):
    for store in spot_check.WORK:
        assert (BENCHMARKS / "results" / f"{store}.jsonl").exists()
        assert callable(spot_check.work_of(store, None))
