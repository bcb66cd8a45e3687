"""How long does the first use take? Source trees in turns, each with an empty cache and a new process every time.

    git worktree add ../before COMMIT
    python benchmarks/cold_start.py run ../before --rounds 3
    python benchmarks/cold_start.py report

What counts is the processor time of the first ``learn_one`` and ``predict_one`` of the default model, without imports:
nearly all of it is compilation. Then that of a block and of more rows, which may compile more; then that of another
process, which finds everything in the cache. Runs are kept in ``benchmarks/results/cold_start.jsonl``; ``report``
writes the table of ``docs/performance.md``.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import studies

from ocoboost.bench.jobs import Job, Result

REPOSITORY = Path(__file__).resolve().parents[1]

FIRST_USE = """
import json, os, random, sys, time
from ocoboost import OnlineBoostClassifier

draw = random.Random(1)
rows = [{f"f{column}": draw.random() for column in range(16)} for _ in range(300)]
labels = [draw.choice("abcdefg") for _ in rows]
times = []
model, began = OnlineBoostClassifier(seed=1), time.process_time()
model.learn_one(rows[0], labels[0])
model.predict_one(rows[0])
times.append(time.process_time() - began)
began = time.process_time()
OnlineBoostClassifier(seed=1).predict_learn_many(rows[:50], labels[:50])
for x, y in zip(rows[1:], labels[1:]):
    model.predict_one(x)
    model.learn_one(x, y)
times.append(time.process_time() - began)
print(json.dumps(times))
"""


def measure(tree: Path, program: str, cache: str) -> Any:
    """What a program prints in a process with the sources of a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def run(trees: dict[str, Path]) -> Result:
    """One round: every tree once, with an empty cache and then with a full one."""
    found: Result = {"cold": {}, "warm": {}}
    for name, tree in trees.items():
        with tempfile.TemporaryDirectory() as cache:
            found["cold"][name] = measure(tree, FIRST_USE, cache)
            found["warm"][name] = measure(tree, FIRST_USE, cache)
    return found


def spread(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def report(options: Any) -> str:
    """Seconds and ratios."""
    rounds = studies.finished("cold_start", options)
    names = list(rounds[0]["cold"])
    rows = []
    for what, kind, part in (
        ("first `learn_one` and `predict_one`, empty cache", "cold", 0),
        ("then a block, and 300 rows one by one", "cold", 1),
        ("first `learn_one` and `predict_one`, full cache", "warm", 0),
    ):
        seconds = {name: [found[kind][name][part] for found in rounds] for name in names}
        ratios = [after / before for before, after in zip(seconds["before"], seconds["after"], strict=True)]
        rows.append([what, *(spread(seconds[name], 1) for name in names), spread(ratios)])
    commits = " and ".join(sorted({found["before"] for found in rounds}))
    return studies.table([f"s of processor time, before: {commits}", *names, "after / before"], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "performance.md", report(options), "cold start")
        return
    trees = {"before": options.before.resolve(), "after": REPOSITORY}
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=trees["before"], text=True)
    jobs: list[Job] = [{"round": number, "before": commit.strip()} for number in range(options.rounds)]
    studies.run_missing("cold_start", jobs, lambda job: run(trees), options)


if __name__ == "__main__":
    main()
