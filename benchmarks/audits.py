"""Wrong labels found in one pass and by `ocoboost audit`, beside cleanlab with five-fold random forests.

    python benchmarks/audits.py run --data-dir FOLDER --seeds 1,2,3,4,5
    python benchmarks/audits.py run --development        # the tables on which choices were made
    python benchmarks/audits.py drift                    # suspects where the concept changes
    python benchmarks/audits.py report                   # writes the tables of docs/audits.md
    python benchmarks/audits.py report --development     # prints the one of the development tables

Labels of the seven datasets are flipped in three ways and at three rates. Every method ranks all rows by the
probability of their given label; a score is the share of flipped rows among the first as many rows as there are flips
(precision), and the area under the ROC curve. One pass is the default model on a shuffled stream, also scored without
the first fifth of the rows. cleanlab gets text as columns of zeros and ones, and missing numbers as they are. Runs are
kept in ``audits.jsonl`` and ``audits_drift.jsonl`` of ``benchmarks/results``.
"""

from __future__ import annotations

import gc
import itertools
import statistics
import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from ocoboost import OnlineBoostClassifier
from ocoboost.bench import datasets, noise
from ocoboost.bench.jobs import Job, Result
from ocoboost.online.mixture.judging import judge
from ocoboost.run.audit import N_PASSES, audit, orders

PAGE = studies.DOCS / "audits.md"
DEVELOPMENT = ("digits", "cancer", "rbf", "led", "waveform", "ordinal", "rules", "sums", "wide", "overlap")
SHARES = (0.1, 0.2, 0.4)
METHODS = ("cleanlab", "one pass", "audit")


def scores(quality: np.ndarray[Any, Any], is_wrong: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> list[float]:
    """Precision among as many rows as there are flips, and the area under the ROC curve, on some of the rows."""
    quality, is_wrong = quality[rows], is_wrong[rows]
    worst = np.argsort(quality, kind="stable")[: is_wrong.sum()]
    return [round(float(is_wrong[worst].mean()), 4), round(float(roc_auc_score(is_wrong, -quality)), 4)]


def numbers(rows: Sequence[dict[Any, Any]]) -> np.ndarray[Any, Any]:
    """Rows as a matrix: a column of zeros and ones for each text, NaN for a missing number."""
    columns = []
    for name in rows[0]:
        cells = [row.get(name) for row in rows]
        texts = sorted({cell for cell in cells if isinstance(cell, str)})
        columns += [[float(cell == text) for cell in cells] for text in texts]
        columns += [] if texts else [[np.nan if cell is None else float(cell) for cell in cells]]
    return np.array(columns).T


def work(job: Job, data_dir: Path | None) -> Result:
    """All methods on one set of flipped labels."""
    from cleanlab.classification import CleanLearning

    rows, seed = load(job["dataset"], data_dir), job["seed"]
    X, clean = [x for x, _ in rows], [y for _, y in rows]
    given = noise.flip(clean, job["share"], kind=job["kind"], seed=seed)
    is_wrong = np.array([one != other for one, other in zip(given, clean, strict=True)])
    codes = {label: code for code, label in enumerate(sorted(set(given), key=str))}
    first_order = orders(len(rows), N_PASSES, seed)[0]
    models: list[Any] = []

    def make(number: int, classes: list[Any]) -> Any:
        model = OnlineBoostClassifier(classes=classes, seed=seed + number, n_suspects=len(rows))
        models.append(model)
        del models[1:]
        return model

    gc.collect()  # models of half a gigabyte
    started = time.process_time()
    found = audit(X, given, make, seed=seed)
    audit_took, started = time.process_time() - started, time.process_time()
    state = models[0].state_
    judged = judge(state.engine, state.schema, len(found.classes))
    one_pass = np.ones(len(rows))
    one_pass[first_order[judged.numbers]] = judged.quality
    forest = CleanLearning(RandomForestClassifier(random_state=seed), cv_n_folds=5, seed=seed, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = forest.find_label_issues(numbers(X), np.array([codes[label] for label in given]))
    cleanlab = table["label_quality"].to_numpy()
    every, later = np.arange(len(rows)), np.sort(first_order[len(rows) // 5 :])
    qualities = dict(zip(METHODS, (cleanlab, one_pass, found.quality), strict=True))
    issues = {"cleanlab": table["is_label_issue"].to_numpy(), "audit": found.is_issue}
    return {
        **{name: scores(quality, is_wrong, every) for name, quality in qualities.items()},
        **{f"{name}, later": scores(quality, is_wrong, later) for name, quality in qualities.items()},
        **{
            f"{name}, issues": [int(flags.sum()), int((flags & is_wrong).sum()), int(is_wrong.sum())]
            for name, flags in issues.items()
        },
        "seconds": [round(time.process_time() - started, 2), round(audit_took, 2)],
    }


def load(name: str, data_dir: Path | None) -> list[tuple[dict[Any, Any], Any]]:
    if name in DEVELOPMENT:
        from portfolio import STREAMS

        return STREAMS[name]()
    return datasets.load_raw(name, data_dir)


def report(runs: list[dict[str, Any]], names: Sequence[str]) -> str:
    """A table per kind of flips: cleanlab, and the differences of both of ours to it."""
    records = [run for run in runs if run["dataset"] in names]
    lines = ["| flips | labels flipped | method | " + " | ".join(names) + " | mean |"]
    lines.append("|---|---|---|" + "---:|" * (len(names) + 1))
    for kind in noise.KINDS:
        for share in SHARES:
            for method, base in (("cleanlab", None), ("one pass, later", "cleanlab, later"), ("audit", "cleanlab")):
                cells = [
                    [
                        record[method][0] - (0.0 if base is None else record[base][0])
                        for record in records
                        if (record["dataset"], record["kind"], record["share"]) == (name, kind, share)
                    ]
                    for name in names
                ]
                means = [statistics.fmean(cell) if cell else np.nan for cell in cells]
                if not any(cells):
                    continue
                sign = "" if base is None else "+"
                shown = [_cell(cell, sign) for cell in cells]
                lines.append(
                    f"| {kind} | {share:.0%} | {method} | {' | '.join(shown)} | {np.nanmean(means):{sign}.3f} |"
                )
    lines.append("")
    for what, place in (("precision", 0), ("AUROC", 1)):
        for method, base in (("one pass", "cleanlab"), ("one pass, later", "cleanlab, later"), ("audit", "cleanlab")):
            by_cell: dict[Any, list[float]] = {}
            for record in records:
                cell = record["dataset"], record["kind"], record["share"]
                by_cell.setdefault(cell, []).append(record[method][place] - record[base][place])
            means = {cell: statistics.fmean(values) for cell, values in by_cell.items()}
            worst = min(means, key=means.__getitem__)
            lines.append(
                f"- {what}, {method}: {statistics.fmean(means.values()):+.4f} against cleanlab over {len(means)} "
                f"cells, {sum(value > 0 for value in means.values())} of them above; worst {means[worst]:+.3f} {worst}"
            )
    return "\n".join(lines)


def _cell(values: Sequence[float], sign: str) -> str:
    if not values:
        return "-"
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):{sign}.3f}{error}"


N_STREAMS, N_ROWS = 3, 6000


def run_drift(job: Job) -> Result:
    """A stream whose concept changes in the middle, 5 % of the labels flipped: by the list, and by first scores.

    Precision is as above; beside it are counted rows from between the change and its notice that are listed though
    their labels are right.
    """
    draw = np.random.default_rng(job["stream"])
    points = draw.normal(size=(N_ROWS, 5))
    half = N_ROWS // 2
    before, after = ((points[:, a] > 0) + 2 * (points[:, a + 1] > 0) for a in (0, 2))
    clean = np.concatenate([before[:half], after[half:]])
    is_wrong = draw.random(N_ROWS) < 0.05
    given = np.where(is_wrong, (clean + draw.integers(1, 4, N_ROWS)) % 4, clean)
    model = OnlineBoostClassifier(seed=job["stream"])
    model.learn_many(points, given.tolist())
    kept = model.state_.engine.suspects  # type: ignore[union-attr]
    raw = {
        int(row): score[0] for held in (kept.first(), kept.worst()) for row, score in zip(held[0], held[2], strict=True)
    }
    n_flips = int(is_wrong.sum())
    ranked = [suspect.row for suspect in model.suspects_][:n_flips], sorted(raw, key=raw.__getitem__)[:n_flips]
    noticed = [change.noticed for change in model.drift_.changes if change.noticed >= half]
    end = noticed[0] if noticed else N_ROWS
    return {
        "noticed_after": end - half,
        "precision": [float(np.mean(is_wrong[rows])) for rows in ranked],
        "right_rows": [sum(half <= row <= end and not is_wrong[row] for row in rows) for rows in ranked],
    }


def drift_table(runs: list[dict[str, Any]]) -> str:
    columns = ["stream", "noticed after", "precision", "by first scores", "right rows of the change", "by first scores"]
    rows = [
        [
            str(run["stream"]),
            f"{run['noticed_after']:,} rows",
            *(f"{precision:.3f}" for precision in run["precision"]),
            *map(str, run["right_rows"]),
        ]
        for run in runs
    ]
    return studies.table(columns, rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "drift", "report"))
    parser.add_argument("--datasets")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--kinds", default=",".join(noise.KINDS))
    parser.add_argument("--development", action="store_true")
    options = parser.parse_args()
    names = list(DEVELOPMENT if options.development else datasets.PAPER)
    names = options.datasets.split(",") if options.datasets else names
    if options.what == "run":
        cells = itertools.product(options.seeds.split(","), options.shares.split(","), options.kinds.split(","), names)
        jobs: list[Job] = [
            {"dataset": name, "kind": kind, "share": float(share), "seed": int(seed)}
            for seed, share, kind, name in cells
        ]
        studies.run_missing("audits", jobs, partial(work, data_dir=options.data_dir), options)
    elif options.what == "drift":
        jobs = [{"stream": number} for number in range(1, N_STREAMS + 1)]
        studies.run_missing("audits_drift", jobs, run_drift, options)
    elif options.development:
        print(report(studies.finished("audits", options), names))
    else:
        studies.put(PAGE, report(studies.finished("audits", options), names), "audits")
        studies.put(PAGE, drift_table(studies.finished("audits_drift", options)), "drift")


if __name__ == "__main__":
    main()
