"""The store of finished runs: append-only, resumable, and it knows which sources made a run."""

from __future__ import annotations

import json

import pytest

from ocoboost.bench import jobs
from toy_jobs import work

JOBS = [{"model": name, "shuffle": shuffle} for name in ("a", "b") for shuffle in (1, 2)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "results.jsonl"


def test_what_was_added_is_found_again_whatever_the_order_of_a_jobs_keys(path):
    jobs.Store(path).add({"a": 1, "b": 2}, {"x": 0.1})
    assert jobs.Store(path).get({"b": 2, "a": 1}) == {"x": 0.1}
    assert jobs.Store(path).get({"a": 1}) is None
    assert jobs.Store(path).records() == [{"a": 1, "b": 2, "x": 0.1}]


def test_only_what_is_missing_is_run(path):
    done = []
    for n_jobs in (3, 4, 4):
        jobs.run_all(JOBS[:n_jobs], work, jobs.Store(path), tick=done.append)
    assert done == JOBS
    assert len(path.read_text().splitlines()) == len(JOBS)


def test_processes_add_what_one_process_adds(path):
    jobs.run_all(JOBS, work, jobs.Store(path), n_jobs=2)
    assert [jobs.Store(path).get(job) for job in JOBS] == [work(job) for job in JOBS]


def test_runs_of_other_sources_do_not_count_unless_asked_for(path, monkeypatch):
    jobs.Store(path).add({"a": 1}, {"x": 1})
    with path.open("a") as lines:  # as the oldest lines are
        lines.write(json.dumps({"job": {"a": 2}, "result": {"x": 2}}) + "\n")
    assert [jobs.Store(path).get({"a": a}) for a in (1, 2)] == [{"x": 1}, None]
    monkeypatch.setattr(jobs, "code", lambda study: "changed")
    assert jobs.Store(path).results == {}
    assert [jobs.Store(path, any_code=True).get({"a": a}) for a in (1, 2)] == [{"x": 1}, {"x": 2}]


def test_of_several_runs_of_a_job_the_last_counts_and_all_are_kept(path, monkeypatch):
    jobs.Store(path).add({"a": 1}, {"x": 1})
    monkeypatch.setattr(jobs, "code", lambda study: "changed")
    jobs.Store(path).add({"a": 1}, {"x": 2})
    assert jobs.Store(path, any_code=True).get({"a": 1}) == {"x": 2}
    assert len(path.read_text().splitlines()) == 2


def test_a_truncated_line_is_no_run_and_spoils_no_other(path):
    store = jobs.Store(path)
    store.add({"a": 1}, {"x": 1})
    kept = path.read_bytes()
    path.write_bytes(kept + kept[:-9])
    jobs.Store(path).add({"a": 2}, {"x": 2})
    assert path.read_bytes().startswith(kept)
    assert jobs.Store(path).results == {jobs.key({"a": 1}): {"x": 1}, jobs.key({"a": 2}): {"x": 2}}
