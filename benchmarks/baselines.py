"""OnlineMBBM and Adaboost.OLM beside the paper's columns Opt and Ada, and how fast they are.

    python benchmarks/rivals.py accuracy --data-dir FOLDER --jobs 2
    python benchmarks/rivals.py speed --data-dir FOLDER
    python benchmarks/rivals.py report

100 native Hoeffding stumps, five shuffles. Every finished run is kept in ``docs/rivals.jsonl``, so an interrupted study
resumes; ``report`` writes its tables between the marks in ``docs/rivals.md``. Balance, Cars and Segment need no files;
Yeast and Abalone are read from ``FOLDER/*.csv.gz``. UCI lists the four columns of Balance, numbers from 1 to 5, as
categorical, and the published code passes a list of nominal columns to its trees; so Balance is run both ways.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from river import tree

from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineMBBMClassifier
from ocoboost.bench import datasets
from ocoboost.cascade.cascade import Answers
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import State

DOCS = Path(__file__).resolve().parent.parent / "docs"
STORE, PAGE = DOCS / "rivals.jsonl", DOCS / "rivals.md"
STUMP: dict[str, Any] = {"max_depth": 1, "split_criterion": "gini"}
N_LEARNERS = 100
GAMMAS = (0.001, 0.01, 0.05, 0.1, 0.3)
NAMES = ("balance", "balance as text", "cars", "segment", "yeast")
N_SHUFFLES = 5
ONE_GAMMA = 0.1  # for single deviations
MODES: dict[str, str | tuple[str, ...] | None] = {
    "none": None,
    "paper": "paper",
    **{name: (name,) for name in ("constants", "horizon", "monte-carlo", "ties", "min-cost")},
}
# Table 1 of Raman & Tewari (2022), with the standard errors of its appendix.
PUBLISHED = {
    ("mbbm", "balance"): (79.5, 1.06),
    ("mbbm", "cars"): (69.9, 0.02),
    ("mbbm", "segment"): (78.9, 0.48),
    ("mbbm", "yeast"): (39.8, 1.03),
    ("olm", "balance"): (75.2, 1.27),
    ("olm", "cars"): (75.8, 0.55),
    ("olm", "segment"): (68.6, 1.56),
    ("olm", "yeast"): (41.7, 1.09),
}
PUBLISHED |= {(booster, "balance as text"): PUBLISHED[booster, "balance"] for booster in ("mbbm", "olm")}
MEASURES = ("whole", "last", "whole_drawn", "last_drawn")

# -- accuracy ----------------------------------------------------------------------------------------------------------


def make(job: dict[str, Any]) -> StreamClassifier:
    options: dict[str, Any] = {"n_learners": N_LEARNERS, "mode": MODES[job["mode"]], "seed": job["shuffle"]}
    if job["booster"] == "olm":
        return AdaBoostOLMClassifier(HoeffdingTrees(**STUMP), **options)
    return OnlineMBBMClassifier(
        HoeffdingTrees(**STUMP), gamma=job["gamma"], potential=job.get("potential", "exact"), **options
    )


def stream(name: str, data_dir: Path | None, shuffle: int) -> datasets.Stream:
    rows = datasets.load(name.removesuffix(" as text"), data_dir)
    if name.endswith(" as text"):
        rows = [({column: str(value) for column, value in x.items()}, y) for x, y in rows]
    return datasets.shuffled(rows, shuffle)


def run(job: dict[str, Any], data_dir: Path | None) -> dict[str, Any]:
    """Prequential accuracy, in percent: of the mode, and as expected of a draw from the distribution."""
    rows = stream(job["dataset"], data_dir, job["shuffle"])
    X, labels = [x for x, _ in rows], [y for _, y in rows]
    model = make(job)
    right: list[float] = []
    drawn: list[float] = []

    def see(state: State, answers: Answers) -> None:
        known = state.labels.known
        for label, distribution in zip(state.known(answers), answers.distributions, strict=True):
            truth = labels[len(right)]
            right.append(label == truth)
            drawn.append(distribution[known.index(truth)] if truth in known[: distribution.size] else 0.0)

    began = time.perf_counter()
    model._learn(*model._read(X, labels, None), see=see)
    seconds = time.perf_counter() - began
    first = len(right) - len(right) // 5
    values = (right, right[first:], drawn, drawn[first:])
    accuracies = {name: round(100 * float(np.mean(values)), 3) for name, values in zip(MEASURES, values, strict=True)}
    return {**job, **accuracies, "seconds": round(seconds, 2)}


def plan() -> Iterator[dict[str, Any]]:
    """What the published table needs first."""
    places = [{"dataset": name, "shuffle": s} for s, name in itertools.product(range(1, N_SHUFFLES + 1), NAMES)]
    for where, mode in itertools.product(places, ("none", "paper")):
        yield {**where, "booster": "olm", "mode": mode}
        yield from ({**where, "booster": "mbbm", "mode": mode, "gamma": gamma} for gamma in GAMMAS)
    for where, mode in itertools.product(places, ("constants", "ties", "min-cost")):
        yield {**where, "booster": "olm", "mode": mode}
    for where, mode in itertools.product(places, ("constants", "horizon", "ties", "monte-carlo", "min-cost")):
        yield {**where, "booster": "mbbm", "mode": mode, "gamma": ONE_GAMMA}
    for where in places:
        yield {**where, "booster": "mbbm", "mode": "none", "gamma": ONE_GAMMA, "potential": "fast"}


def key(job: dict[str, Any]) -> str:
    return json.dumps(
        {name: value for name, value in job.items() if name not in (*MEASURES, "seconds")}, sort_keys=True
    )


def stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def accuracy(data_dir: Path | None, n_jobs: int) -> None:
    done = {key(result) for result in stored()}
    jobs = [job for job in plan() if key(job) not in done]
    with ProcessPoolExecutor(n_jobs) as pool, STORE.open("a") as out:
        for number, future in enumerate(as_completed([pool.submit(run, job, data_dir) for job in jobs]), 1):
            print(json.dumps(future.result()), file=out, flush=True)
            print(f"\r{number} of {len(jobs)}", end="", flush=True)
    print()


# -- speed -------------------------------------------------------------------------------------------------------------


class MonteCarloLoop:
    """OnlineMBBM as one would write it: River trees, the whole cost matrix for every learner, 100 draws per potential.

    As in the published code the matrix is worked out when a row is predicted, because the label is not known then, and
    (with ``remembers``) a potential is drawn once for each number of votes to come and multiset of gaps.
    """

    def __init__(self, classes: list[str], gamma: float, *, remembers: bool) -> None:
        self.classes, self.remembers = classes, remembers
        self.trees = [tree.HoeffdingTreeClassifier(**STUMP) for _ in range(N_LEARNERS)]
        self.k = len(classes)
        self.chances = np.full(self.k, (1.0 - gamma) / self.k)
        self.chances[0] += gamma  # the true label comes first
        self.generator = np.random.default_rng(1)
        self.memory: dict[Any, float] = {}

    def potential(self, n: int, counts: np.ndarray, truth: int) -> float:
        gaps = np.sort(counts[truth] - np.delete(counts, truth))
        name = (n, *gaps.tolist())
        if self.remembers and name in self.memory:
            return self.memory[name]
        draws = self.generator.multinomial(n, self.chances, size=100)
        value = float(np.mean(draws[:, 0] <= np.max(draws[:, 1:] - gaps, axis=1)))
        if self.remembers:
            self.memory[name] = value
        return value

    def predict_learn_one(self, x: dict[Any, Any], y: str) -> str:
        counts = np.zeros(self.k, dtype=int)
        weights = []
        for number, learner in enumerate(self.trees):
            costs = np.empty((self.k, self.k))
            for truth, label in itertools.product(range(self.k), range(self.k)):
                counts[label] += 1
                costs[truth, label] = self.potential(N_LEARNERS - 1 - number, counts, truth)
                counts[label] -= 1
            weights.append(costs.sum(axis=1) - self.k * np.diag(costs))
            vote = learner.predict_one(x)
            counts[0 if vote is None else self.classes.index(vote)] += 1
        truth = self.classes.index(y)
        for learner, weight in zip(self.trees, weights, strict=True):
            learner.learn_one(x, y, w=max(1e-10, float(weight[truth])))
        return self.classes[int(np.argmax(counts))]


def seconds_of(call: Callable[[], Any]) -> float:
    """CPU seconds of this process, all on one thread: other work on the machine does not count."""
    began = time.process_time()
    call()
    return time.process_time() - began


def best_of(repeats: int, call: Callable[[], Any]) -> float:
    return min(seconds_of(call) for _ in range(repeats))


def speed(data_dir: Path | None, n_loop_rows: int) -> None:
    results: list[dict[str, Any]] = []

    def note(**result: Any) -> None:
        results.append({"speed": True, **result})
        print(json.dumps(result), flush=True)

    def columns(name: str) -> tuple[list[Any], list[str], list[str]]:
        rows = stream(name, data_dir, 1)
        labels = [y for _, y in rows]
        return [x for x, _ in rows], labels, sorted(set(labels))

    def learn(model: StreamClassifier, X: list[Any], labels: list[str]) -> None:
        model.predict_learn_many(X, labels)

    def mbbm(classes: list[str], **options: Any) -> OnlineMBBMClassifier:
        return OnlineMBBMClassifier(
            HoeffdingTrees(**STUMP), n_learners=N_LEARNERS, gamma=ONE_GAMMA, classes=classes, seed=1, **options
        )

    for name in ("balance", "yeast"):
        X, labels, classes = columns(name)
        learn(mbbm(classes), X[:50], labels[:50])
        ours = best_of(3, lambda X=X, labels=labels, classes=classes: learn(mbbm(classes), X, labels)) / len(X)
        for remembers in (False, True):
            loop = MonteCarloLoop(classes, ONE_GAMMA, remembers=remembers)
            n_rows = n_loop_rows * (10 if remembers else 1)  # the memory fills up, so more rows are fair to it
            rows = list(zip(X[:n_rows], labels[:n_rows], strict=True))
            theirs = seconds_of(lambda rows=rows, loop=loop: [loop.predict_learn_one(*row) for row in rows]) / len(rows)
            note(what="loop", dataset=name, remembers=remembers, ours=ours, theirs=theirs, ratio=theirs / ours)
    X, labels, classes = columns("abalone")
    learn(mbbm(classes), X[:50], labels[:50])
    for potential in ("exact", "fast"):
        learn(mbbm(classes, potential=potential), X[:50], labels[:50])
        seconds = seconds_of(lambda potential=potential: learn(mbbm(classes, potential=potential), X, labels))
        note(what="abalone", potential=potential, seconds=seconds)
    for name in (*NAMES, "abalone"):
        X, labels, classes = columns(name)
        times = {}
        for booster in (AdaBoostOLMClassifier, OnlineAgnosticBoostClassifier):

            def once(booster: Any = booster, X: Any = X, labels: Any = labels, classes: Any = classes) -> None:
                options = {} if booster is AdaBoostOLMClassifier else {"gamma": 0.5}
                learn(
                    booster(HoeffdingTrees(**STUMP), n_learners=N_LEARNERS, classes=classes, seed=1, **options),
                    X,
                    labels,
                )

            once()
            times[booster.__name__] = best_of(3, once)
        olm, agnostic = times.values()
        note(what="olm", dataset=name, olm=olm, agnostic=agnostic, ratio=olm / agnostic)
    kept = [result for result in stored() if "speed" not in result]
    STORE.write_text("".join(json.dumps(result) + "\n" for result in [*kept, *results]))


# -- report ------------------------------------------------------------------------------------------------------------


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))


def best_over_gamma(results: list[dict[str, Any]], measure: str) -> list[float]:
    """As the paper does: for each shuffle the accuracy of the gamma that is best in hindsight on the whole stream."""
    by_shuffle: dict[int, list[dict[str, Any]]] = {}
    for result in results:
        by_shuffle.setdefault(result["shuffle"], []).append(result)
    whole = "whole" if not measure.endswith("drawn") else "whole_drawn"
    return [max(group, key=lambda result: result[whole])[measure] for group in by_shuffle.values()]


def shown(values: list[float]) -> str:
    return "{:.1f} ± {:.1f}".format(*mean_and_error(values)) if len(values) > 1 else "–"


def report() -> None:
    results = [result for result in stored() if "speed" not in result]
    lines = ["| | | " + " | ".join(name.capitalize() for name in NAMES) + " |", "|---|---|" + "---:|" * len(NAMES)]

    def pick(**wanted: Any) -> list[dict[str, Any]]:
        return [r for r in results if all(r.get(name) == value for name, value in wanted.items())]

    for booster, title in (("mbbm", "OnlineMBBM (Opt)"), ("olm", "Adaboost.OLM (Ada)")):
        cells = " | ".join("{:.1f} ± {:.1f}".format(*PUBLISHED[booster, name]) for name in NAMES)
        lines.append(f"| **{title}** | published | {cells} |")
        for mode, measure in itertools.product(("none", "paper"), MEASURES if booster == "olm" else MEASURES[:2]):
            rows = [
                shown(best_over_gamma(pick(booster=booster, mode=mode, dataset=name, potential=None), measure))
                for name in NAMES
            ]
            what = {"whole": "whole stream", "last": "last 20 %"}[measure.removesuffix("_drawn")]
            what += ", drawn" if measure.endswith("drawn") else ""
            lines.append(f"| {'paper mode' if mode == 'paper' else 'as defined'} | {what} | {' | '.join(rows)} |")
    lines += ["", "By gamma, whole stream, then last 20 %:", ""]
    lines += [
        "| mode | gamma | " + " | ".join(name.capitalize() for name in NAMES) + " |",
        "|---|---|" + "---:|" * len(NAMES),
    ]
    for mode, gamma in itertools.product(("none", "paper"), GAMMAS):
        runs = [pick(booster="mbbm", mode=mode, gamma=gamma, dataset=name, potential=None) for name in NAMES]
        cells = [f"{shown([r['whole'] for r in group])}, {shown([r['last'] for r in group])}" for group in runs]
        lines.append(f"| {'paper mode' if mode == 'paper' else 'as defined'} | {gamma:g} | {' | '.join(cells)} |")
    lines += ["", f"Single deviations, whole stream (OnlineMBBM at gamma {ONE_GAMMA:g}):", ""]
    lines += ["| booster | deviation | " + " | ".join(name.capitalize() for name in NAMES) + " |"]
    lines += ["|---|---|" + "---:|" * len(NAMES)]
    for booster, title in (("mbbm", "OnlineMBBM"), ("olm", "Adaboost.OLM")):
        for mode in MODES:
            fixed = {"gamma": ONE_GAMMA} if booster == "mbbm" else {}
            runs = [pick(booster=booster, mode=mode, dataset=name, potential=None, **fixed) for name in NAMES]
            if any(runs):
                label = {"none": "none", "paper": "all of the paper mode"}.get(mode, mode)
                cells = [shown([r["whole"] for r in group]) for group in runs]
                lines.append(f"| {title} | {label} | {' | '.join(cells)} |")
        if booster == "mbbm":
            runs = [pick(booster="mbbm", mode="none", dataset=name, potential="fast") for name in NAMES]
            cells = [shown([r["whole"] for r in group]) for group in runs]
            lines.append(f"| {title} | none, fast potentials | {' | '.join(cells)} |")
    lines += ["", *differences(pick)]
    begin, end = "<!-- tables: begin -->\n", "<!-- tables: end -->"
    page = PAGE.read_text()
    before, after = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(before + begin + "\n".join(lines) + "\n" + end + after)
    print("\n".join(lines))


def differences(pick: Callable[..., list[dict[str, Any]]]) -> Iterator[str]:
    """Where the whole-stream accuracy differs from the published one by more than two standard errors."""
    yield "Differences from the published figures of more than two standard errors (both errors taken together):"
    yield ""
    for (booster, name), (published, published_error) in PUBLISHED.items():
        measures = ("whole", "last") if booster == "mbbm" else ("whole", "last", "whole_drawn", "last_drawn")
        for mode, measure in itertools.product(("none", "paper"), measures):
            values = best_over_gamma(pick(booster=booster, mode=mode, dataset=name, potential=None), measure)
            if len(values) < 2:
                continue
            mean, error = mean_and_error(values)
            if abs(mean - published) > 2 * math.hypot(error, published_error):
                title = "OnlineMBBM" if booster == "mbbm" else "Adaboost.OLM"
                where = measure.replace("_", ", ").replace("last", "last 20 %")
                mode_name = "paper mode" if mode == "paper" else "as defined"
                yield f"- {title}, {name.capitalize()}, {mode_name}, {where}: {mean - published:+.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "speed", "report"])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--loop-rows", type=int, default=10, help="rows of the Monte Carlo loop over River trees")
    arguments = parser.parse_args()
    if arguments.what == "accuracy":
        accuracy(arguments.data_dir, arguments.jobs)
    elif arguments.what == "speed":
        speed(arguments.data_dir, arguments.loop_rows)
    else:
        report()


if __name__ == "__main__":
    main()
