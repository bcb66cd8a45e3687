"""The worked example of an account of regret, and what keeping an account costs.

    python benchmarks/account.py run         # the example: seconds
    python benchmarks/account.py overhead    # minutes: a run without and with the account, side by side
    python benchmarks/account.py report      # writes both, and what the example prints, into docs/theory.md

Runs are kept in ``account.jsonl`` and ``account_time.jsonl`` of ``benchmarks/results``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import studies
from river import tree

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier, StumpExperts
from ocoboost.bench import datasets, synthetic
from ocoboost.bench.jobs import Job, Result
from ocoboost.theory.checks import check_learner

PAGE = studies.DOCS / "theory.md"

# -- the example -------------------------------------------------------------------------------------------------------

LEARNERS: dict[str, Callable[[], Any]] = {
    "HoeffdingTrees": lambda: HoeffdingTrees(grace_period=50),
    "StumpExperts": StumpExperts,
}
CHECKED: Job = {"learner": "River's stump"}
SHOWN: Job = {"learner": "HoeffdingTrees", "n_learners": 500}  # whose account is printed
FOLLOWED: list[Job] = [
    {"learner": "HoeffdingTrees", "n_learners": 5},
    {"learner": "HoeffdingTrees", "n_learners": 50},
    SHOWN,
    {"learner": "StumpExperts", "n_learners": 50},
]


def run(job: Job) -> Result:
    """What the code of the page prints, and the parts of the regret."""
    stream = synthetic.load("noisy", 2000, seed=1)
    if job == CHECKED:
        return {"printed": str(check_learner(tree.HoeffdingTreeClassifier(max_depth=1, grace_period=50), stream.rows))}
    model = OnlineAgnosticBoostClassifier(LEARNERS[job["learner"]](), n_learners=job["n_learners"], seed=1)
    account = model.account()
    model.learn_many([x for x, _ in stream.rows], [y for _, y in stream.rows])
    report = account.report()
    return {
        "regret": report.regret,
        "players": report.parts.players,
        "learners_own": report.learners_own,
        "accuracy_of_mode": report.accuracy_of_mode,
        "advice": report.advice,
        "printed": str(report),
    }


def printed(found: list[dict[str, Any]], job: Job) -> str:
    """What a run printed, as a block of text."""
    (text,) = [record["printed"] for record in found if job.items() <= record.items()]
    return f"```text\n{text}\n```"


def advice_table(found: list[dict[str, Any]]) -> str:
    rows = []
    for job in FOLLOWED:
        (record,) = [record for record in found if job.items() <= record.items()]
        parts = [f"{record[part]:.3f}" for part in ("regret", "players", "learners_own")]
        advice = record["advice"].split(":")[0]
        rows.append([f"{job['n_learners']} {job['learner']}", *parts, f"{record['accuracy_of_mode']:.1%}", advice])
    columns = ["learners", "regret", "players", "learners' own part", "mode right", "advice"]
    return studies.table(columns, rows, text=(0, 5))


# -- what it costs -----------------------------------------------------------------------------------------------------

N_ROUNDS, BLOCK = 9, 256
STUMPS = HoeffdingTrees(max_depth=1, split_criterion="gini")


def booster(learner: Any, **options: Any) -> OnlineAgnosticBoostClassifier:
    """With the settings of the mixture's members."""
    return OnlineAgnosticBoostClassifier(learner, n_learners=100, start="label", pool="distribution", seed=1, **options)


BOOSTERS: dict[str, Callable[[], Any]] = {
    "100 stumps": lambda: booster(STUMPS),
    "100 stumps, row by row": lambda: booster(STUMPS),
    "100 Hoeffding trees, distribution votes": lambda: booster(HoeffdingTrees(), votes="distribution"),
    "100 Mondrian trees": lambda: booster(MondrianTrees()),
    "the default mixture": lambda: OnlineBoostClassifier(seed=1),
}


def plan() -> list[Job]:
    return [{"booster": name, "round": number} for name in BOOSTERS for number in range(1, N_ROUNDS + 1)]


@cache
def sample() -> tuple[Any, list[Any]]:
    rows = datasets.shuffled(datasets.load("segment"), 1)
    return np.array([list(x.values()) for x, _ in rows], dtype=float), [label for _, label in rows]


def measure(job: Job) -> Result:
    """CPU seconds of a run without and of one with the account, and of a report."""
    X, y = sample()
    compile_for(job["booster"])
    return measured(job["booster"], X, y, job["round"])


@cache
def compile_for(name: str) -> None:
    X, y = sample()
    measured(name, X[:300], y[:300], 0)


def measured(name: str, X: Any, y: list[Any], number: int) -> Result:
    """Both runs take turns block by block, so that they share whatever else the machine does."""
    off, on = (BOOSTERS[name](), BOOSTERS[name]())[:: 1 if number % 2 else -1]
    account = on.account()
    seconds = {id(off): 0.0, id(on): 0.0}
    size = 1 if name.endswith("row by row") else BLOCK
    for block, first in enumerate(range(0, len(y), size)):
        rows = slice(first, first + size)
        for model in (off, on) if (block + number) % 2 else (on, off):
            began = time.process_time()
            model.learn_many(X[rows], y[rows])
            seconds[id(model)] += time.process_time() - began
    began = time.process_time()
    account.report()
    return {"without": seconds[id(off)], "with": seconds[id(on)], "report": time.process_time() - began}


def overhead_table(found: list[dict[str, Any]]) -> str:
    """Medians over rounds of ratios within a round."""
    rows = []
    for name in BOOSTERS:
        rounds = [record for record in found if record["booster"] == name]
        recording = statistics.median(one["with"] / one["without"] for one in rounds)
        ratios = sorted((one["with"] + one["report"]) / one["without"] for one in rounds)
        spread = f"{ratios[0] - 1:+.0%} to {ratios[-1] - 1:+.0%}"
        rows.append([name, f"{recording - 1:+.1%}", f"{statistics.median(ratios) - 1:+.1%}", spread])
    columns = [f"booster, Segment in blocks of {BLOCK}", "recording", "recording and one report at the end"]
    return studies.table([*columns, "least and most"], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("command", choices=["run", "overhead", "report"])
    options = parser.parse_args()
    if options.command == "run":
        studies.run_missing("account", [CHECKED, *FOLLOWED], run, options)
    elif options.command == "overhead":
        studies.run_missing("account_time", plan(), measure, options)
    else:
        found = studies.finished("account", options)
        studies.put(PAGE, printed(found, CHECKED), "weak learner")
        studies.put(PAGE, printed(found, SHOWN), "regret account")
        studies.put(PAGE, advice_table(found), "followed advice")
        studies.put(PAGE, overhead_table(studies.finished("account_time", options)), "account overhead")


if __name__ == "__main__":
    main()
