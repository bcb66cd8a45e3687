"""What the studies have kept, run by run: whose models they are of, and of which kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ocoboost.bench.jobs import Job, code, key

# Models of other libraries, and those that look at no features, as the studies call them.
OTHERS = re.compile(
    r"river|capymoa|vw\b|vowpal|arf\b|cleanlab|gradient boosting|adaboost(?:,|$)|epsilon-greedy|hoeffding tree$|"
    r"last-label|majority|random forest|extra trees|lightgbm|xgboost|catboost|histgradientboosting",
    re.IGNORECASE,
)
# What names the model of a job, one of these in every study.
NAMES = ("model", "booster", "learner", "way", "setting")


def last_runs(path: Path) -> list[dict[str, Any]]:
    """The last finished run of every job in a store, as its line has it: job, code and result."""
    return list({key(run["job"]): run for run in _finished(path)}.values())


def is_lasting(job: Job) -> bool:
    """Whether a run does not depend on the present sources: of another library's model, or of a tree named "before"."""
    return OTHERS.match(str(job.get("model", ""))) is not None or job.get("tree") == "before"


def is_present(run: dict[str, Any], store: str) -> bool:
    """Whether the present sources made a run of a store."""
    return bool(run.get("code") == code(store))


def kind(job: Job) -> str:
    """The model of a job and its variant, in the words of its study; runs of one kind go through the same code."""
    name = next((f"{name} {job[name]}" for name in NAMES if name in job), "speed" if "speed" in job else "all")
    return f"{name}, {job['variant']}" if job.get("variant") else name


def _finished(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            run = json.loads(line)
        except ValueError:  # truncated
            continue
        if "failed" not in run["result"]:
            yield run
