"""Change detection on streams whose changes are known: River's detectors beside what the default notices itself.

    python benchmarks/drift.py run
    python benchmarks/drift.py report

ADWIN, Page-Hinkley and KSWIN, with River's defaults, are fed with the mistakes of `OnlineBoostClassifier()`, 0 or 1 for
every row. The model's own changes are those of its attribute `drift_`. Streams are the generated ones (`--use`) that
change at known rows or not at all. Every finished run is kept in ``benchmarks/results/drift.jsonl``; after a change to
the library, ``run --fresh``. ``report`` writes the table of ``docs/streams.md``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import studies
from river import drift

from ocoboost import OnlineBoostClassifier
from ocoboost.bench import alarms, drifting
from ocoboost.bench.jobs import Job, Result

OWN = "the default's own"
DETECTORS: dict[str, Callable[[int], Any]] = {
    "ADWIN": lambda seed: drift.ADWIN(),
    "Page-Hinkley": lambda seed: drift.PageHinkley(),
    "KSWIN": lambda seed: drift.KSWIN(seed=seed),
}
ALWAYS = ("hyperplane", "rbf", "squares")  # change with every row, so no alarm is right or wrong


def plan(use: str, n_rows: int, seed: int) -> list[Job]:
    names = [name for name, entry in drifting.CATALOGUE.items() if entry.use == use]
    return [{"stream": name, "rows": n_rows, "seed": seed} for name in names if not name.startswith(ALWAYS)]


def run(job: Job) -> Result:
    """The rows at which each detector raised an alarm."""
    stream = drifting.CATALOGUE[job["stream"]].load(job["rows"])
    X, labels = [x for x, _ in stream.rows], [y for _, y in stream.rows]
    model = OnlineBoostClassifier(seed=job["seed"])
    said = model.predict_learn_many(X, labels)
    mistakes = [int(prediction != label) for prediction, label in zip(said, labels, strict=True)]
    found = {name: detect(make(job["seed"]), mistakes) for name, make in DETECTORS.items()}
    found[OWN] = [change.noticed for change in model.drift_.changes]
    return {"alarms": found, "changes": list(stream.changes), "n_rows": len(X)}


def detect(detector: Any, mistakes: Sequence[int]) -> list[int]:
    """The rows at which a detector of River raises an alarm."""
    raised = []
    for row, mistake in enumerate(mistakes):
        detector.update(mistake)
        if detector.drift_detected:
            raised.append(row)
    return raised


# -- report ------------------------------------------------------------------------------------------------------------


KINDS = {
    "abrupt": lambda name: "abrupt" in name,
    "gradual": lambda name: "gradual" in name,
    "labels swapped or rotated": lambda name: "swapped" in name or "rotated" in name,
    "one class of 0.1 %": lambda name: name.startswith("rare"),
    "no change": lambda name: "steady" in name,
    "all": lambda name: True,
}


def report(runs: list[dict[str, Any]]) -> str:
    """A row for every kind of change and detector."""
    rows = []
    for kind, belongs in KINDS.items():
        of_kind = [run for run in runs if belongs(run["stream"])]
        for name in (*DETECTORS, OWN):
            parts = [alarms.judge(r["alarms"][name], r["changes"], r["n_rows"]) for r in of_kind if name in r["alarms"]]
            if parts:
                rows.append([kind, name, *_cells(alarms.Found.sum(parts))])
    columns = ["change", "detector", "changes", "median delay", "missed", "false alarms per 100,000 rows"]
    return studies.table(columns, rows, text=(0, 1))


def _cells(found: alarms.Found) -> list[str]:
    n_changes = len(found.delays) + found.n_missed
    delay = f"{statistics.median(found.delays):,.0f}" if found.delays else ""
    missed = f"{found.n_missed}" if n_changes else ""
    return [f"{n_changes}", delay, missed, f"{found.false_per_100_000:.1f}"]


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--use", choices=tuple(drifting.SEEDS), default="reported")
    parser.add_argument("--rows", type=int, default=drifting.N_ROWS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    jobs = plan(options.use, options.rows, options.seed)
    if options.action == "run":
        studies.run_missing("drift", jobs, run, options)
    else:
        kept = [
            found for found in studies.finished("drift", options) if {name: found[name] for name in jobs[0]} in jobs
        ]
        studies.put(studies.DOCS / "streams.md", report(kept), "drift")


if __name__ == "__main__":
    main()
