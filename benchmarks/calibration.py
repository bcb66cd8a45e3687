"""Calibration on short tables: what is sampling noise, and what reshaping the probabilities does.

    python benchmarks/calibration.py run --data-dir FOLDER
    python benchmarks/calibration.py run --development
    python benchmarks/calibration.py report

`OnlineBoostClassifier` on the seven datasets, shuffled, with clean labels and with 20 % of them flipped, and on tables
of ``portfolio.py``, on which powers and floors (``online/mixture/reshaping.py``) were chosen. Beside the calibration
error (15 bins) stand what labels drawn from the same probabilities would give, which is noise alone; the error of the
second half of the rows; the mean of accuracy less confidence; and error and log loss of the probabilities before they
are reshaped, from the same run.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
from portfolio import STREAMS

from ocoboost import OnlineBoostClassifier
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.bench import datasets, noise, paper
from ocoboost.bench.jobs import Job, Result
from ocoboost.bench.measures import calibration_error
from ocoboost.online.mixture import blend

SEED = 1
N_DRAWS = 200  # of labels
DEVELOPMENT = ("cancer", "led", "ordinal", "rules", "sums", "waveform")


def asked(job: Job, data_dir: Path | None) -> tuple[FloatArray, FloatArray, IntArray]:
    """What is said to every row but those that bring a label, the same before it is reshaped, and the labels."""
    name = job["dataset"]
    rows = STREAMS[name]() if name in DEVELOPMENT else datasets.shuffled(datasets.load(name, data_dir), SEED)
    labels = noise.flip([y for _, y in rows], job["noise"], seed=SEED)
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    said, raw = (np.zeros((len(labels), len(places))) for _ in range(2))
    make, made = blend.make_scratch, list[blend.Scratch]()

    def remember(plan: blend.Plan, n_classes: int) -> blend.Scratch:
        made[:] = [make(plan, n_classes)]
        return made[0]

    blend.make_scratch = remember  # which holds the blends of a block of one row
    try:
        model = OnlineBoostClassifier(seed=SEED)
        for row, ((x, _), label) in enumerate(zip(rows, labels, strict=True)):
            for answered in model.prequential([x], [places[label]]):
                n_known = len(answered.classes)
                said[row, :n_known] = answered.probabilities[0]
                raw[row, :n_known] = made[0].blends[blend.PROBABILITIES]
    finally:
        blend.make_scratch = make
    y = np.array([places[label] for label in labels])
    is_counted = said[np.arange(len(y)), y] > 0.0
    return said[is_counted], raw[is_counted], y[is_counted]


def work(job: Job, data_dir: Path | None) -> Result:
    said, raw, labels = asked(job, data_dir)
    every, half = np.arange(len(labels)), len(labels) // 2
    confidence, is_right = said.max(axis=1), said.argmax(axis=1) == labels
    draws = np.random.default_rng(SEED)
    noises = [calibration_error(confidence, draws.random(len(labels)) < confidence) for _ in range(N_DRAWS)]
    result = {
        "error": calibration_error(confidence, is_right),
        "by_noise": float(np.mean(noises)),
        "by_noise_95": float(np.quantile(noises, 0.95)),
        "second_half": calibration_error(confidence[half:], is_right[half:]),
        "gap": float(is_right.mean() - confidence.mean()),
        "log_loss": float(-np.log(said[every, labels]).mean()),
        "raw_error": calibration_error(raw.max(axis=1), raw.argmax(axis=1) == labels),
        "raw_log_loss": float(-np.log(raw[every, labels]).mean()),
    }
    return {"rows": len(labels), **{name: round(value, 5) for name, value in result.items()}}


def table(runs: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    found = {(run["dataset"], run["noise"]): run for run in runs}
    rows = [
        [
            f"{name}, {share:.0%} flipped" if share else name,
            f"{run['rows']:,}",
            f"{run['error']:.3f}",
            f"{run['by_noise']:.3f} ({run['by_noise_95']:.3f})",
            f"{run['second_half']:.3f}",
            f"{run['gap']:+.3f}",
            f"{run['log_loss']:.3f}",
            f"{run['raw_error']:.3f}, {run['raw_log_loss']:.3f}",
        ]
        for share in (0.0, 0.2)
        for name in names
        if (run := found.get((name, share))) is not None
    ]
    columns = ["table", "rows", "error", "noise alone (95 %)", "second half", "accuracy less confidence", "log loss"]
    return studies.table([*columns, "error and log loss before"], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--datasets")
    options = parser.parse_args()
    names = DEVELOPMENT if options.development else tuple(paper.DATASETS)
    names = tuple(options.datasets.split(",")) if options.datasets else names
    if options.action == "run":
        jobs = [{"dataset": name, "noise": share} for name in names for share in (0.0, 0.2)]
        studies.run_missing("calibration", jobs, partial(work, data_dir=options.data_dir), options)
        return
    runs = studies.finished("calibration", options)
    page = studies.DOCS / "probabilities.md"
    studies.put(page, table(runs, tuple(paper.DATASETS)), "calibration")
    studies.put(page, table(runs, DEVELOPMENT), "calibration of development tables")


if __name__ == "__main__":
    main()
