"""Planted features and their importances, before and after others take their place.

    python benchmarks/explanations.py run
    python benchmarks/explanations.py report

Ten streams of eight features; two of them decide on four labels. After 2,000 rows two others do. Runs are kept in
``benchmarks/results/explanations.jsonl``; ``report`` writes the table of ``docs/explanations.md``.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import studies

from ocoboost import OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result

N_STREAMS, N_FEATURES, N_ROWS = 10, 8, 2000


def run(job: Job) -> Result:
    """The least share of a planted feature and the largest of another, and by how much contributions do not add up."""
    rng = np.random.default_rng(job["seed"])
    halves = rng.permutation(N_FEATURES)[:4].reshape(2, 2)
    model = OnlineBoostClassifier(seed=job["seed"])
    found: Result = {"missed_by": []}
    for when, planted in zip(("before", "after"), halves, strict=True):
        points = rng.normal(size=(N_ROWS, N_FEATURES))
        labels = ((points[:, planted[0]] > 0) + 2 * (points[:, planted[1]] > 0)).tolist()
        model.learn_many(points, labels)
        shares = model.feature_importances_
        least = min(shares[feature] for feature in planted)
        most = max(share for feature, share in shares.items() if feature not in planted)
        found[when] = (least, most)
        for point in points[:3]:
            why = model.explain_one(dict(enumerate(point.tolist())))
            found["missed_by"].append(abs(why.prior + sum(why.contributions.values()) - why.probability))
    return found


def report(records: list[dict[str, Any]]) -> str:
    rows = []
    for when in ("before", "after"):
        least, most = zip(*(record[when] for record in records), strict=True)
        n_first = sum(map(float.__gt__, least, most))
        rows.append(
            (
                f"{when} the change",
                f"{statistics.fmean(least):.3f} (lowest {min(least):.3f})",
                f"{statistics.fmean(most):.3f} (highest {max(most):.3f})",
                f"{n_first} of {len(least)}",
            )
        )
    columns = ("", "least share of a planted feature", "largest share of another", "planted ones rank first")
    missed = [distance for record in records for distance in record["missed_by"]]
    told = f"Prior and contributions miss the probability by at most {max(missed):.0e}, in {len(missed)} explanations."
    return f"{studies.table(columns, rows)}\n\n{told}"


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "report"))
    options = parser.parse_args()
    if options.what == "run":
        studies.run_missing("explanations", [{"seed": seed} for seed in range(N_STREAMS)], run, options)
    else:
        text = report(studies.finished("explanations", options))
        studies.put(studies.DOCS / "explanations.md", text, "explanations")


if __name__ == "__main__":
    main()
