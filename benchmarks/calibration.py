"""Why probabilities are off on short tables: sampling noise, the cold start, or their shape?

    python benchmarks/calibration.py run --data-dir FOLDER
    python benchmarks/calibration.py run --development
    python benchmarks/calibration.py report

`OnlineBoostClassifier` on the seven datasets, shuffled, with clean labels and with 20 % of them flipped, and on tables
of ``portfolio.py``, on which choices are made. Beside the calibration error (15 bins) stand what labels drawn from the
same probabilities would give, which is noise alone; the error of the second half of the rows; and the mean of accuracy
less confidence. The last two columns are a replay: Bayes' rule over (1 - f) p^a / sum(p^a) + f / classes, for several
powers a and floors f, applied to the probabilities p after the fact. No model does that yet.
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

SEED = 1
N_DRAWS = 200  # of labels
DEVELOPMENT = ("cancer", "led", "ordinal", "rules", "sums", "waveform")
# Chosen on the development tables, by log loss.
POWERS = (0.6, 1.0, 1.5, 2.5, 4.0)
FLOORS = (0.0, 0.03, 0.1, 0.2, 0.4)
SHARE = 0.0005
UNCHANGED = 0.5  # how much probabilities as they are weigh before the first row


def asked(job: Job, data_dir: Path | None) -> tuple[FloatArray, IntArray]:
    """What is said to every row but those that bring a label, and the labels."""
    name = job["dataset"]
    rows = STREAMS[name]() if name in DEVELOPMENT else datasets.shuffled(datasets.load(name, data_dir), SEED)
    labels = noise.flip([y for _, y in rows], job["noise"], seed=SEED)
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    y = np.array([places[label] for label in labels])
    said: FloatArray = np.zeros((len(y), len(places)))
    for answered in OnlineBoostClassifier(seed=SEED).prequential([x for x, _ in rows], y.tolist()):
        rows_here = slice(answered.first_row, answered.first_row + len(answered))
        said[rows_here, : len(answered.classes)] = answered.probabilities
    is_counted = said[np.arange(len(y)), y] > 0.0
    return said[is_counted], y[is_counted]


def reshaped(said: FloatArray, labels: IntArray) -> FloatArray:
    """The replay: every row is answered before its label counts."""
    base = np.full((len(POWERS), len(FLOORS)), (1.0 - UNCHANGED) / (len(POWERS) * len(FLOORS)))
    base[POWERS.index(1.0), FLOORS.index(0.0)] += UNCHANGED
    weights, powers, floors = base.copy(), np.array(POWERS)[:, None], np.array(FLOORS)[None, :, None]
    out = np.zeros_like(said)
    for row, label in enumerate(labels):
        known = np.flatnonzero(said[row] > 0.0)
        logs = np.log(said[row, known])
        sharp = np.exp(powers * (logs - logs.max()))
        sharp /= sharp.sum(axis=1, keepdims=True)
        experts = (1.0 - floors) * sharp[:, None, :] + floors / len(known)
        out[row, known] = np.tensordot(weights, experts, 2)
        weights = weights * experts[:, :, np.searchsorted(known, label)]
        weights = (1.0 - SHARE) * weights / weights.sum() + SHARE * base
    return out


def work(job: Job, data_dir: Path | None) -> Result:
    said, labels = asked(job, data_dir)
    every, half = np.arange(len(labels)), len(labels) // 2
    confidence, is_right = said.max(axis=1), said.argmax(axis=1) == labels
    draws = np.random.default_rng(SEED)
    noises = [calibration_error(confidence, draws.random(len(labels)) < confidence) for _ in range(N_DRAWS)]
    other = reshaped(said, labels)
    result = {
        "rows": len(labels),
        "error": calibration_error(confidence, is_right),
        "by_noise": float(np.mean(noises)),
        "by_noise_95": float(np.quantile(noises, 0.95)),
        "second_half": calibration_error(confidence[half:], is_right[half:]),
        "gap": float(is_right.mean() - confidence.mean()),
        "log_loss": float(-np.log(said[every, labels]).mean()),
        "reshaped_error": calibration_error(other.max(axis=1), other.argmax(axis=1) == labels),
        "reshaped_log_loss": float(-np.log(other[every, labels]).mean()),
    }
    return {name: value if name == "rows" else round(value, 5) for name, value in result.items()}


def table(runs: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    found = {(run["dataset"], run["noise"]): run for run in runs}
    rows = [
        [
            f"{name}, {share:.0%} flipped" if share else name,
            f"{run['error']:.3f}",
            f"{run['by_noise']:.3f} ({run['by_noise_95']:.3f})",
            f"{run['second_half']:.3f}",
            f"{run['gap']:+.3f}",
            f"{run['log_loss']:.3f}",
            f"{run['reshaped_error']:.3f}",
            f"{run['reshaped_log_loss']:.3f}",
        ]
        for share in (0.0, 0.2)
        for name in names
        if (run := found.get((name, share))) is not None
    ]
    columns = ["table", "error", "noise alone (95 %)", "second half", "accuracy less confidence", "log loss"]
    return studies.table([*columns, "error, replayed", "log loss, replayed"], rows)


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
