"""Mutated files and killed runs, a few of each: `fuzz_inputs.py` and `kill_runs.py` in `benchmarks` do thousands."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """A script of the benchmarks, imported as its own process would."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "arff", "jsonl", "parquet"])
def test_mutated_files_are_read_or_rejected_in_one_line(script, tmp_path, kind):
    fuzz = script("fuzz_inputs")
    outcomes = [
        fuzz.try_input(data, tmp_path / f"rows.{kind}", skip=skip, by_command=by_command)
        for data, skip, by_command in fuzz.inputs(kind, seed=10**6, count=150)
    ]
    assert set(outcomes) == {"read", "rejected"}


@pytest.mark.slow  # a minute of kills
def test_killed_runs_resume_to_the_same_bytes(tmp_path):
    """In a process of its own, which forks."""
    command = [sys.executable, str(BENCHMARKS / "kill_runs.py"), "run", "--count", "4", "--results", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    (line,) = (tmp_path / "kill_runs.jsonl").read_text().splitlines()
    found = json.loads(line)["result"]
    assert found["SIGKILL"] + found["SIGTERM"] == 4
