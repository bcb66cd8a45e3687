"""Learners over classes: how far their regret stays below its bound, and how accurate they are, alone and boosted.

    python benchmarks/experts.py run                     # some minutes
    python benchmarks/experts.py run --only example      # one of the tables
    python benchmarks/experts.py report

``example`` is the worked example of the page, ``streams`` are two streams of the paper, ``regret`` stands beside its
bound. Runs are kept in ``benchmarks/results/experts.jsonl``; ``report`` writes the tables of ``docs/experts.md``.
``experts_speed.py`` measures speed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import studies
from river import preprocessing

from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, StumpExperts
from ocoboost.bench import datasets, measures
from ocoboost.bench.jobs import Job, Result
from ocoboost.data.rows import NumberRows
from ocoboost.data.schema import Block, Schema
from ocoboost.learners.experts.stumps import StumpClass

N_SEEDS = 5
N_ROWS = 3000  # of the example
RATES = ("tuned", "anytime")
SIZES = (100, 1_000, 10_000)
N_REGRETS = 8
LONE, BEST, RULE = "`StumpExperts`", "best stump in hindsight", "the rule itself"


def block_of(X: np.ndarray) -> Block:
    rows, schema = NumberRows(list(range(X.shape[1])), X), Schema()
    for additions in schema.plan(rows).values():
        schema.apply(additions, n_classes=2)
    return Block(rows, schema)


def booster(learner: Any, gamma: float, seed: int) -> OnlineAgnosticBoostClassifier:
    """Twenty learners, with the settings of the mixture's members."""
    return OnlineAgnosticBoostClassifier(
        learner, gamma=gamma, n_learners=20, start="label", pool="distribution", seed=seed
    )


# -- accuracy --------------------------------------------------------------------------------------------------------

EXAMPLE: dict[str, Callable[[int], Any]] = {
    LONE: lambda seed: StumpExperts(n_cells=8),
    "20 boosted, mode": lambda seed: booster(StumpExperts(n_cells=8), 0.2, seed),
}
MODELS: dict[str, Callable[[int], Any]] = {
    LONE: lambda seed: StumpExperts(),
    "20 boosted, gamma 0.3": lambda seed: booster(StumpExperts(), 0.3, seed),
    "20 boosted Hoeffding trees of depth 1, gamma 0.3": lambda seed: booster(HoeffdingTrees(max_depth=1), 0.3, seed),
}
STREAMS = {"Balance": datasets.balance, "Segment": lambda: datasets.load("segment")}


def example(job: Job) -> Result:
    """Two features decide together, a stump sees one of them; one label in ten is drawn."""
    rng = np.random.default_rng(job["seed"])
    X = rng.random((N_ROWS, 4))
    clean = np.where(X[:, 0] < 0.5, 0, np.where(X[:, 1] < 0.5, 1, 2))
    labels = np.where(rng.random(N_ROWS) < 0.1, rng.integers(3, size=N_ROWS), clean)
    if job["model"] == BEST:
        best = StumpClass(n_features=4, n_classes=3, n_cells=8).best_in_class(X, np.eye(3)[labels])
        return {"accuracy": best.value / N_ROWS}
    if job["model"] == RULE:
        predictions = clean
    else:
        predictions = np.array(EXAMPLE[job["model"]](job["seed"]).predict_learn_many(X, labels))
    return {"accuracy": float(np.mean(predictions == labels))}


def stream(job: Job) -> Result:
    """Prequential accuracy of the mode; every feature scaled to the range seen so far, this row included."""
    scaler, X, labels = preprocessing.MinMaxScaler(), [], []
    for x, y in datasets.shuffled(STREAMS[job["dataset"]](), job["seed"]):
        scaler.learn_one(x)
        X.append(scaler.transform_one(x))
        labels.append(y)
    predictions = MODELS[job["model"]](job["seed"]).predict_learn_many(X, labels)
    return {"accuracy": measures.accuracy(predictions, labels) / 100.0}


# -- regret ----------------------------------------------------------------------------------------------------------


def noisy_stump(x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """A member of the class, but three labels of ten are drawn, so a fifth is wrong."""
    return int(x[0] * len(vote)) if rng.random() < 0.7 else int(rng.integers(len(vote)))


def coin(x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """Nothing to learn: the regret is what chance gives the best of many."""
    return int(rng.integers(len(vote)))


def spite(x: np.ndarray, vote: np.ndarray, rng: np.random.Generator) -> int:
    """The label with the smallest share, chosen after the vote."""
    return int(np.argmin(vote))


LABELS = {"noisy stump": noisy_stump, "coin": coin, "spite": spite}


def regret(job: Job) -> Result:
    """What the best stump gained more than the expected votes, gains in [-1, 1]; and the bound."""
    d, cells, k = 3, 9, 3
    n_rows, label = job["rows"], LABELS[job["labels"]]
    rng = np.random.default_rng(job["seed"])
    X = rng.random((n_rows, d))
    horizon = n_rows if job["rate"] == "tuned" else None
    ensemble = StumpExperts(n_cells=cells, horizon=horizon).make_ensemble(1, job["seed"])
    block = ensemble.prepare(block_of(X), learning=True)
    vote, taught, gained = np.empty((1, k)), np.zeros((n_rows, k)), 0.0
    for row in range(n_rows):
        ensemble.vote(0, block[row : row + 1], vote)
        taught[row, label(X[row], vote[0], rng)] = 1.0
        gained += float(vote[0] @ taught[row])
        ensemble.vote_and_learn(0, block[row : row + 1], taught[row : row + 1], vote)
    best = ensemble.hypothesis_class.best_in_class(X, taught).value
    return {"regret": 2.0 * (best - gained), "bound": ensemble.regret_bound(n_rows)}


# -- runs and tables -------------------------------------------------------------------------------------------------

WORK = {"example": example, "streams": stream, "regret": regret}


def plan(tables: Iterable[str]) -> list[Job]:
    jobs = {
        "example": [{"model": model, "seed": seed} for model, seed in product((BEST, *EXAMPLE, RULE), range(N_SEEDS))],
        "streams": [
            {"model": model, "dataset": dataset, "seed": seed}
            for model, dataset, seed in product(MODELS, STREAMS, range(1, N_SEEDS + 1))
        ],
        "regret": [
            {"labels": labels, "rate": rate, "rows": n_rows, "seed": seed}
            for labels, rate, n_rows, seed in product(LABELS, RATES, SIZES, range(N_REGRETS))
        ],
    }
    return [{"table": table, **job} for table in tables for job in jobs[table]]


def run(job: Job) -> Result:
    return WORK[job["table"]](job)


def values(records: list[dict[str, Any]], what: str, **cell: Any) -> list[float]:
    """What the runs of one cell have found."""
    return [record[what] for record in records if all(record.get(name) == value for name, value in cell.items())]


def accuracies(records: list[dict[str, Any]], **cell: Any) -> str:
    return studies.shown([100.0 * share for share in values(records, "accuracy", **cell)])


def example_table(records: list[dict[str, Any]]) -> str:
    rows = [[model, accuracies(records, table="example", model=model)] for model in (BEST, *EXAMPLE, RULE)]
    return studies.table(["model", f"accuracy, mean and standard error over {N_SEEDS} seeds"], rows)


def streams_table(records: list[dict[str, Any]]) -> str:
    rows = [
        [model, *(accuracies(records, table="streams", model=model, dataset=dataset) for dataset in STREAMS)]
        for model in MODELS
    ]
    return studies.table(["model", *STREAMS], rows)


def regret_table(records: list[dict[str, Any]]) -> str:
    rows = []
    for labels, rate in product(LABELS, RATES):
        cells, means = [], []
        for n_rows in SIZES:
            cell = {"table": "regret", "labels": labels, "rate": rate, "rows": n_rows}
            measured = values(records, "regret", **cell)
            means.append(statistics.fmean(measured))
            cells.append(f"{studies.shown(measured, 0)} of {values(records, 'bound', **cell)[0]:.0f}")
        slope = math.log(means[-1] / means[-2]) / math.log(SIZES[-1] / SIZES[-2])
        rows.append([labels, rate, *cells, f"{slope:.2f}"])
    return studies.table(["labels", "rate", *(f"{n:,} rows" for n in SIZES), "slope"], rows, text=(0, 1))


TABLES = {"example": example_table, "streams": streams_table, "regret": regret_table}


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES), help="tables")
    options = parser.parse_args()
    if options.what == "run":
        studies.run_missing("experts", plan(options.only), run, options)
        return
    records = studies.finished("experts", options)
    for mark in options.only:
        studies.put(studies.DOCS / "experts.md", TABLES[mark](records), mark)


if __name__ == "__main__":
    main()
