"""Planted features and their importances, before and after others take their place.

    python benchmarks/explanations.py

Ten streams of eight features; two of them decide on four labels. After 2,000 rows two others do. Writes the table of
``docs/explanations.md``; runs are not stored.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np
import studies

from ocoboost import OnlineBoostClassifier

N_STREAMS, N_FEATURES, N_ROWS = 10, 8, 2000


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found: dict[str, list[tuple[float, float, bool]]] = {}
    sums = []
    for seed in range(N_STREAMS):
        rng = np.random.default_rng(seed)
        halves = rng.permutation(N_FEATURES)[:4].reshape(2, 2)
        model = OnlineBoostClassifier(seed=seed)
        for when, planted in zip(("before", "after"), halves, strict=True):
            points = rng.normal(size=(N_ROWS, N_FEATURES))
            labels = ((points[:, planted[0]] > 0) + 2 * (points[:, planted[1]] > 0)).tolist()
            model.learn_many(points, labels)
            shares = model.feature_importances_
            least = min(shares[feature] for feature in planted)
            most = max(share for feature, share in shares.items() if feature not in planted)
            found.setdefault(when, []).append((least, most, least > most))
            for point in points[:3]:
                why = model.explain_one(dict(enumerate(point.tolist())))
                sums.append(abs(why.prior + sum(why.contributions.values()) - why.probability))
    rows = []
    for when, shares_found in found.items():
        least, most, first = zip(*shares_found, strict=True)
        rows.append(
            (
                f"{when} the change",
                f"{statistics.fmean(least):.3f} (lowest {min(least):.3f})",
                f"{statistics.fmean(most):.3f} (highest {max(most):.3f})",
                f"{sum(first)} of {len(first)}",
            )
        )
    columns = ("", "least share of a planted feature", "largest share of another", "planted ones rank first")
    told = f"Prior and contributions miss the probability by at most {max(sums):.0e}, in {len(sums)} explanations."
    studies.put(studies.DOCS / "explanations.md", f"{studies.table(columns, rows)}\n\n{told}", "explanations")


if __name__ == "__main__":
    main()
