"""The paper's table: seven datasets, four boosters over 100 stumps with gamma tuned in hindsight, and two untuned ones.

For every shuffle the paper takes the gamma that is best on the whole stream, afterwards. The last two columns choose
nothing in hindsight. Both are ``OnlineBoostClassifier``, whose members start their games at the label and pool
distributions: over the same stumps, 100 for each of its gammas, and as it is by default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ocoboost.bench import datasets, measures, paper, prequential
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.online.accounting import Accountable
from ocoboost.online.adaboost_olm import AdaBoostOLMClassifier
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.mbbm import OnlineMBBMClassifier
from ocoboost.online.members import GAMMAS
from ocoboost.online.realizable import OnlineRealizableBoostClassifier
from ocoboost.stream.protocol import StreamClassifier

TITLES = {
    "agnostic": "agnostic",
    "mbbm": "OnlineMBBM",
    "adaboost-olm": "Adaboost.OLM",
    "realizable": "realizable",
    "boost-stumps": "boost-stumps",
    "boost": "boost",
}
UNTUNED = ("boost-stumps", "boost")
# Percent: over the whole stream or its last fifth, of the sampled prediction (the paper's) or of the mode.
MEASURES = {
    "whole_drawn": "sampled, whole stream",
    "last_drawn": "sampled, last 20 %",
    "whole": "mode, whole stream",
    "last": "mode, last 20 %",
}
QUICK_ROWS = 2000
WARM_UP_ROWS = 20
# The order of label indices, which decides ties between fresh learners.
ORDERS: dict[str, Callable[[list[str]], list[str]]] = {
    "sorted": lambda labels: sorted(set(labels)),
    "by appearance": lambda labels: list(dict.fromkeys(labels)),
}
ACCOUNT_GAMMA = 0.5


def primary(booster: str) -> str:
    """What the paper prints, as we read it: the sampled prediction; OnlineMBBM's is the plurality, and not drawn."""
    return "whole" if booster == "mbbm" else "whole_drawn"


class Settings(NamedTuple):
    """What is run; the defaults are the paper's."""

    names: tuple[str, ...] = paper.DATASETS
    shuffles: tuple[int, ...] = tuple(range(1, paper.N_SHUFFLES + 1))
    most_rows: int | None = None
    potential: str = "exact"

    @classmethod
    def quick(cls, names: tuple[str, ...], seed: int) -> Settings:
        return cls(names, (seed,), QUICK_ROWS, "fast")


def plan(settings: Settings) -> list[Job]:
    """First one job of every kind, so that processes share the compiling; then shuffle by shuffle.

    The mixture comes third: the process that takes it finds its Hoeffding trees' kernel compiled by the first job.
    """
    planned = list(table_jobs(settings))
    heads = {job["booster"]: job for job in reversed(planned)}
    order = ("agnostic", "mbbm", "boost", "adaboost-olm")
    first = [heads[booster] for booster in order if booster in heads]
    return first + [job for job in planned if job not in first] + accounts(settings)


def accounts(settings: Settings) -> list[Job]:
    """One run of the agnostic booster per dataset whose regret is accounted for; a quick study does without."""
    if settings.most_rows is not None:
        return []
    inside = settings._replace(shuffles=settings.shuffles[:1])
    jobs_of_one_gamma = [
        job for job in table_jobs(inside) if (job["booster"], job["gamma"]) == ("agnostic", ACCOUNT_GAMMA)
    ]
    return [{**job, "account": True} for job in jobs_of_one_gamma]


def table_jobs(settings: Settings) -> Iterator[Job]:
    """The runs that the table is made of."""
    shared = {"n_learners": paper.N_LEARNERS, "most_rows": settings.most_rows}
    for shuffle in settings.shuffles:
        for name in settings.names:
            for booster in TITLES:
                options = {"potential": settings.potential} if booster == "mbbm" else {}
                for gamma in paper.GAMMAS.get(booster, (None,)):
                    yield {
                        "dataset": name,
                        "shuffle": shuffle,
                        "booster": booster,
                        "gamma": gamma,
                        **options,
                        **shared,
                    }


def make(job: Job, classes: Sequence[str]) -> StreamClassifier:
    """The model of a job, as the paper sets it: labels known beforehand, games that start uniformly."""
    stump = HoeffdingTrees(max_depth=1, split_criterion="gini")
    options: dict[str, Any] = {"n_learners": job["n_learners"], "classes": classes, "seed": job["shuffle"]}
    oco: dict[str, Any] = {"start": "uniform", "pool": "label", **job.get("oco", {})}
    match job["booster"]:
        case "agnostic":
            return OnlineAgnosticBoostClassifier(stump, gamma=job["gamma"], **oco, **options)
        case "boost-stumps":
            budget = len(GAMMAS) * job["n_learners"]
            return OnlineBoostClassifier(stump, budget=budget, classes=classes, seed=job["shuffle"])
        case "realizable":
            return OnlineRealizableBoostClassifier(stump, gamma=job["gamma"], **oco, **options)
        case "mbbm":
            potential, mode = job["potential"], job.get("mode")
            return OnlineMBBMClassifier(stump, gamma=job["gamma"], potential=potential, mode=mode, **options)
        case "adaboost-olm":
            return AdaBoostOLMClassifier(stump, mode=job.get("mode"), **options)
        case _:
            return OnlineBoostClassifier(seed=job["shuffle"])


def run(job: Job, data_dir: Path | None = None) -> Result:
    """One prequential run on one shuffle."""
    rows = datasets.shuffled(datasets.load(job["dataset"], data_dir), job["shuffle"])[: job["most_rows"]]
    return run_on(rows, job)


def run_on(rows: datasets.Stream, job: Job, make: Callable[[Job, Sequence[str]], StreamClassifier] = make) -> Result:
    """The model of a job on these rows, and its scores."""
    X, labels = [x for x, _ in rows], [y for _, y in rows]
    known = ORDERS[job.get("order", "sorted")](labels)
    model = make(job, known)
    prequential.stream(model.clone(), X[:WARM_UP_ROWS], labels[:WARM_UP_ROWS])  # compile before the clock starts
    account = model.account() if job.get("account") and isinstance(model, Accountable) else None
    trace = prequential.stream(model, X, labels)
    assert trace.drawn is not None
    said = trace.predictions if primary(job["booster"]) == "whole" else trace.drawn
    result: Result = {
        "whole": measures.accuracy(trace.predictions, labels),
        "last": measures.accuracy(measures.last(trace.predictions), measures.last(labels)),
        "whole_drawn": measures.accuracy(trace.drawn, labels),
        "last_drawn": measures.accuracy(measures.last(trace.drawn), measures.last(labels)),
    }
    result = {measure: round(value, 4) for measure, value in result.items()}
    result |= {"seconds": round(trace.seconds, 3), "rows": len(rows)}
    result["curve"] = measures.curve(said, labels, prequential.N_BLOCKS)
    if account is not None:
        result["account"] = account.report().rows()
    if job["booster"] in UNTUNED:
        result["members"] = list(trace.weights[0])
        result["weights"] = [[round(weight, 4) for weight in weights.values()] for weights in trace.weights]
        result["labels"] = known
        result["confusion"] = measures.confusion(trace.predictions, labels, known).tolist()
    return result


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass
class Cell:
    """One booster on one dataset: for every shuffle the run whose gamma was best on the whole stream."""

    booster: str
    dataset: str
    runs: dict[str, list[Result]]  # by the measure that gamma was chosen by
    gammas: list[float | None]

    def interval(self, measure: str) -> tuple[float, float]:
        """Mean and standard error of a measure; gamma is chosen by the same kind of prediction."""
        return measures.mean_and_error([run[measure] for run in self.runs[_chosen_by(measure)]])

    @property
    def best(self) -> list[Result]:
        return self.runs[primary(self.booster)]

    @property
    def seconds(self) -> tuple[float, float]:
        return measures.mean_and_error([run["seconds"] for run in self.best])

    @property
    def published(self) -> paper.Published | None:
        return paper.TABLE.get((self.booster, self.dataset))

    def differs(self, measure: str) -> bool:
        """By more than two standard errors, the paper's and ours taken together, if both are known."""
        mean, error = self.interval(measure)
        if self.published is None or len(self.best) < 2:
            return False
        return abs(mean - self.published.accuracy) > 2 * math.hypot(error, self.published.error)

    def differs_between_shuffles(self, measure: str) -> bool:
        """The same if the paper's figure is of one shuffle: its script shuffles once, outside its repetitions."""
        mean, error = self.interval(measure)
        if self.published is None or len(self.best) < 2:
            return False
        spread = error * math.sqrt(len(self.best))
        return abs(mean - self.published.accuracy) > 2 * math.hypot(error, spread, self.published.error)


def _chosen_by(measure: str) -> str:
    return "whole_drawn" if measure.endswith("drawn") else "whole"


Cells: TypeAlias = dict[tuple[str, str], Cell]


def cells(settings: Settings, store: Store) -> Cells:
    """The finished cells of the table, by booster and dataset."""
    return choose([(job, store.get(job)) for job in table_jobs(settings)])


def choose(runs: Iterable[tuple[Job, Result | None]]) -> Cells:
    """For every shuffle all of whose gammas were run, the best of them in hindsight."""
    groups: dict[tuple[str, str], dict[int, list[tuple[Job, Result | None]]]] = {}
    for job, result in runs:
        at = (job["booster"], job["dataset"])
        groups.setdefault(at, {}).setdefault(job["shuffle"], []).append((job, result))
    found: Cells = {}
    for at, by_shuffle in groups.items():
        whole = [
            [(job, result) for job, result in pairs if result is not None]
            for pairs in by_shuffle.values()
            if all(result is not None for _, result in pairs)
        ]
        if whole:
            best = {
                by: [max(pairs, key=lambda pair: pair[1][by]) for pairs in whole] for by in ("whole", "whole_drawn")
            }
            results = {by: [result for _, result in pairs] for by, pairs in best.items()}
            found[at] = Cell(*at, results, [job["gamma"] for job, _ in best[primary(at[0])]])
    return found
