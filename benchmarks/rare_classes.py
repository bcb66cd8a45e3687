"""One row in a thousand matters: `OnlineBoostClassifier` beside River's ARF, weighted or resampled, and its wrappers.

    python benchmarks/rare_classes.py run
    python benchmarks/rare_classes.py report

Two clouds of ordinary rows and one of rare ones, 0.1 % of 30,000 rows in six columns. A missed one costs 100, a false
alarm 1. The cost of every model is told twice: if it says the label with the least expected cost under its own
probabilities, and if it says the most probable one, which is right for a model whose rare rows weigh 100 times as much
as others already. Rows are answered before they are learned. Every finished run is kept in
``benchmarks/results/rare_classes.jsonl``; ``report`` writes the table of ``docs/probabilities.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import studies
from numpy.typing import NDArray
from river import base, forest, imblearn
from sklearn.metrics import average_precision_score

from ocoboost import OnlineBoostClassifier
from ocoboost.arrays import FloatArray, IntArray
from ocoboost.bench.jobs import Job, Result

N_ROWS = 30_000
SHARE = 0.001
MISSED, ALARM = 100.0, 1.0
ALERTS = 0.01  # share of the rows that somebody looks at
STREAMS = {"development": 1, "reported": 101, **{f"reported {n}": 100 + n for n in range(2, 6)}}
REPORTED = [name for name in STREAMS if name.startswith("reported")]
MOST_COPIES = 100


class WeightedARF(base.Classifier):
    """ARF whose rare rows are shown as often as would balance the labels, but at most 100 times."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.model = forest.ARFClassifier(seed=seed)
        self.counts = [0, 0]

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        self.counts[y] += 1
        for _ in range(min(MOST_COPIES, max(1, round(self.counts[1 - y] / self.counts[y])))):
            self.model.learn_one(x, y)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        said: dict[Any, float] = self.model.predict_proba_one(x)
        return said


def _arf(seed: int) -> Any:
    return forest.ARFClassifier(seed=seed)


PEERS: dict[str, Callable[[int], Any]] = {
    "River ARF": _arf,
    "River ARF, class-weighted": WeightedARF,
    "River RandomUnderSampler(ARF), 1:9": lambda seed: imblearn.RandomUnderSampler(_arf(seed), {0: 0.9, 1: 0.1}, seed),
    "River RandomOverSampler(ARF), 1:9": lambda seed: imblearn.RandomOverSampler(_arf(seed), {0: 0.9, 1: 0.1}, seed),
    "River HardSamplingClassifier(ARF)": lambda seed: imblearn.HardSamplingClassifier(
        _arf(seed), size=40, p=0.1, seed=seed
    ),
}
OURS: dict[str, dict[str, Any]] = {
    "OnlineBoostClassifier": {},
    'OnlineBoostClassifier(class_weight="balanced")': {"class_weight": "balanced"},
    "OnlineBoostClassifier(class_weight={1: 100})": {"class_weight": {1: MISSED / ALARM}},
}


def load(seed: int) -> tuple[FloatArray, IntArray]:
    """Rows of three round clouds; the third is rare."""
    generator = np.random.default_rng(seed)
    centres = 1.5 * generator.standard_normal((3, 6))
    clouds = generator.choice(3, size=N_ROWS, p=[0.5, 0.5 - SHARE, SHARE])
    return centres[clouds] + generator.standard_normal((N_ROWS, 6)), (clouds == 2).astype(np.int64)


def chances(model: str, seed: int, X: FloatArray, y: IntArray) -> FloatArray:
    """The probability of the rare label that is given to every row before it is learned."""
    if model in OURS:
        ours = OnlineBoostClassifier(classes=[0, 1], seed=seed, **OURS[model])
        return np.concatenate([answered.probabilities[:, 1] for answered in ours.prequential(X, y.tolist())])
    peer, out = PEERS[model](seed), np.zeros(len(y))
    for row, (values, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(values))
        out[row] = peer.predict_proba_one(x).get(1, 0.0)
        peer.learn_one(x, label)
    return out


def work(job: Job) -> Result:
    X, y = load(STREAMS[job["stream"]])
    said = chances(job["model"], 1, X, y)
    order = np.argsort(-said, kind="stable")[: int(ALERTS * len(y))]
    return {
        "rare": int(y.sum()),
        "average_precision": round(float(average_precision_score(y, said)), 4),
        "recall": round(float(y[order].sum() / y.sum()), 4),
        "cheapest": outcome(said * MISSED > (1.0 - said) * ALARM, y),
        "likeliest": outcome(said > 0.5, y),
    }


def outcome(is_alarm: NDArray[np.bool_], y: IntArray) -> dict[str, float]:
    """What alarms cost by row, how many rare rows they miss, and how many of them are false."""
    missed, false = int((~is_alarm & (y == 1)).sum()), int((is_alarm & (y == 0)).sum())
    return {"cost": round((MISSED * missed + ALARM * false) / len(y), 5), "missed": missed, "alarms": false}


def plan(models: list[str], streams: list[str]) -> Iterator[Job]:
    for stream in streams:
        for model in models:
            yield {"stream": stream, "model": model}


def report(runs: list[dict[str, Any]]) -> str:
    """Means and standard errors over the streams."""
    found = {(run["model"], run["stream"]): run for run in runs if run["stream"] in REPORTED and "cheapest" in run}
    rows = []
    for model in (*OURS, *PEERS):
        own = [found[model, stream] for stream in REPORTED if (model, stream) in found]
        if not own:
            continue
        row = [
            model,
            f"{len(own)}",
            studies.shown([run["average_precision"] for run in own], 3),
            studies.shown([100 * run["recall"] for run in own], 0),
        ]
        for decision in ("cheapest", "likeliest"):
            told = [run[decision] for run in own]
            missed, alarms = (sum(one[what] for one in told) for what in ("missed", "alarms"))
            row += [studies.shown([1000 * one["cost"] for one in told]), f"{missed} + {alarms:,}"]
        rows.append(row)
    columns = ["model", "streams", "precision-recall area", "recall at 1 % alerts, %"]
    columns += ["cost of 1,000 rows, cheapest label", "missed + false"]
    return studies.table([*columns, "cost of 1,000 rows, most probable label", "missed + false"], rows)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--models", default=";".join((*OURS, *PEERS)), help="separated by semicolons")
    parser.add_argument("--streams", default=",".join(REPORTED))
    options = parser.parse_args()
    if options.action == "run":
        jobs = plan(options.models.split(";"), options.streams.split(","))
        studies.run_missing("rare_classes", jobs, work, options, lasting=lambda job: job["model"] in PEERS)
    else:
        studies.put(
            studies.DOCS / "probabilities.md", report(studies.finished("rare_classes", options)), "rare classes"
        )


if __name__ == "__main__":
    main()
