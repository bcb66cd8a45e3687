"""The default in blocks beside an earlier commit's, and what ``docs/performance.md`` says of it.

    git worktree add ../before COMMIT
    python benchmarks/block_path.py run ../before --rounds 5
    python benchmarks/block_path.py report

Both source trees are measured side by side, as ``before_and_after.py`` does it: workers on one core, rows prepared
beforehand, processor time. Defaults of different commits need not make the same predictions, or have as many learners.
Rounds are kept in ``benchmarks/results/block_path.jsonl``; ``report`` writes the table of ``docs/performance.md``.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import before_and_after
import numpy as np
import studies

from ocoboost.bench.jobs import Job, Result

CASES = ("mixture/block",)
N_ROWS = 1500


def run(job: Job, trees: list[Path]) -> Result:
    """One round: µs a row of every case, before and after."""
    found = before_and_after.compare(trees, list(CASES), N_ROWS, 1)[0]
    return {case: [round(1e6 * side["seconds"] / side["rows"], 1) for side in sides] for case, sides in found.items()}


def report(options: Any) -> str:
    """Medians over the rounds, and the ratio before / after with its lowest and highest."""
    found = studies.finished("block_path", options)
    lines = []
    for commit in dict.fromkeys(result["before"] for result in found):
        rounds = [result for result in found if result["before"] == commit]
        for case in (name for name in rounds[0] if name.startswith(CASES)):
            times = np.array([result[case] for result in rounds])
            before, after = np.median(times, axis=0)
            ratios = times[:, 0] / times[:, 1]
            ratio = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
            lines.append([commit, case.split("/")[-1], f"{before:,.0f}", f"{after:,.0f}", ratio, str(len(rounds))])
    columns = ["before", "stream", "µs a row before", "now", "before / now", "rounds"]
    return studies.table(columns, lines, text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "performance.md", report(options), "block path")
        return
    trees = [options.before.resolve(), before_and_after.REPOSITORY]
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=trees[0], text=True).strip()
    jobs: list[Job] = [{"round": number, "before": commit} for number in range(options.rounds)]
    studies.run_missing("block_path", jobs, lambda job: run(job, trees), options)


if __name__ == "__main__":
    main()
