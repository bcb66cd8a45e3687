"""How fast OnlineMBBM and Adaboost.OLM are: beside the loop that one would write, and beside the agnostic booster.

    python benchmarks/baselines_speed.py run --loop-rows 20
    python benchmarks/baselines_speed.py report

One thread, CPU seconds. What is measured is kept in ``benchmarks/results/baselines.jsonl``, where the last measurement
counts; ``report`` writes the tables between the marks in ``docs/baselines.md``.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import studies
from baselines import AS_TEXT, NAMES, ONE_GAMMA, STUMP, stream
from river import tree

from ocoboost import AdaBoostOLMClassifier, HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineMBBMClassifier
from ocoboost.bench import paper
from ocoboost.bench.jobs import Job, Result, Store
from ocoboost.stream.protocol import StreamClassifier


class MonteCarloLoop:
    """OnlineMBBM as one would write it: River trees, the whole cost matrix for every learner, 100 draws per potential.

    As in the published code the matrix is worked out when a row is predicted, because the label is not known then, and
    (with ``remembers``) a potential is drawn once for each number of votes to come and multiset of gaps.
    """

    def __init__(self, classes: list[str], gamma: float, *, remembers: bool) -> None:
        self.classes, self.remembers = classes, remembers
        self.trees = [tree.HoeffdingTreeClassifier(**STUMP) for _ in range(paper.N_LEARNERS)]
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
                costs[truth, label] = self.potential(paper.N_LEARNERS - 1 - number, counts, truth)
                counts[label] -= 1
            weights.append(costs.sum(axis=1) - self.k * np.diag(costs))
            vote = learner.predict_one(x)
            counts[0 if vote is None else self.classes.index(vote)] += 1
        truth = self.classes.index(y)
        for learner, weight in zip(self.trees, weights, strict=True):
            learner.learn_one(x, y, w=max(1e-10, float(weight[truth])))
        return self.classes[int(np.argmax(counts))]


class Data(NamedTuple):
    """The first shuffle of a dataset."""

    X: list[Any]
    labels: list[str]
    classes: list[str]

    @classmethod
    def load(cls, name: str, data_dir: Path | None) -> Data:
        rows = stream(name, data_dir, 1)
        labels = [y for _, y in rows]
        return cls([x for x, _ in rows], labels, sorted(set(labels)))

    def learn(self, make: Callable[..., StreamClassifier], n_rows: int | None = None, **options: Any) -> None:
        """Let a model over 100 stumps predict and learn the rows."""
        stumps = HoeffdingTrees(**STUMP)
        model = make(stumps, n_learners=paper.N_LEARNERS, classes=self.classes, seed=1, **options)
        model.predict_learn_many(self.X[:n_rows], self.labels[:n_rows])


def seconds_of(call: Callable[[], Any]) -> float:
    """CPU seconds of this process, all on one thread: other work on the machine does not count."""
    began = time.process_time()
    call()
    return time.process_time() - began


def best_of(repeats: int, call: Callable[[], Any]) -> float:
    return min(seconds_of(call) for _ in range(repeats))


mbbm = partial(OnlineMBBMClassifier, gamma=ONE_GAMMA)
# With the settings of the mixture's members.
agnostic = partial(OnlineAgnosticBoostClassifier, gamma=0.5, start="label", pool="distribution")


def beside_loop(name: str, data_dir: Path | None, n_loop_rows: int) -> Iterator[tuple[Job, Result]]:
    """Seconds per row of OnlineMBBM and of both kinds of loop."""
    data = Data.load(name, data_dir)
    data.learn(mbbm, 50)  # compiles
    ours = best_of(3, partial(data.learn, mbbm)) / len(data.X)
    for remembers in (False, True):
        loop = MonteCarloLoop(data.classes, ONE_GAMMA, remembers=remembers)
        n_rows = n_loop_rows * (10 if remembers else 1)  # the memory fills up, so more rows are fair to it
        rows = list(zip(data.X[:n_rows], data.labels[:n_rows], strict=True))
        theirs = seconds_of(lambda loop=loop, rows=rows: [loop.predict_learn_one(*row) for row in rows]) / len(rows)
        job = {"speed": "loop", "dataset": name, "remembers": remembers}
        yield job, {"ours": ours, "theirs": theirs, "ratio": theirs / ours}


def potentials(data_dir: Path | None) -> Iterator[tuple[Job, Result]]:
    """Seconds of OnlineMBBM on Abalone, which has 28 labels."""
    data = Data.load("abalone", data_dir)
    for potential in ("exact", "fast"):
        data.learn(mbbm, 50, potential=potential)  # compiles
        seconds = seconds_of(partial(data.learn, mbbm, potential=potential))
        yield {"speed": "abalone", "potential": potential}, {"seconds": seconds}


def beside_agnostic(name: str, data_dir: Path | None) -> Iterator[tuple[Job, Result]]:
    """Seconds of Adaboost.OLM and of the agnostic booster."""
    data = Data.load(name, data_dir)
    times = {}
    for booster, make in {"olm": AdaBoostOLMClassifier, "agnostic": agnostic}.items():
        data.learn(make)  # compiles
        times[booster] = best_of(3, partial(data.learn, make))
    yield {"speed": "adaboost-olm", "dataset": name}, {**times, "ratio": times["olm"] / times["agnostic"]}


# -- report ------------------------------------------------------------------------------------------------------------


def report(store: Store) -> str:
    def measured(**job: Any) -> Result:
        found = store.get(job)
        if found is None:
            raise SystemExit(f"{json.dumps(job)} was not measured; run it first")
        return found

    loops = []
    for name in ("balance", "yeast"):
        plain, remembering = (measured(speed="loop", dataset=name, remembers=remembers) for remembers in (False, True))
        row = [name.capitalize(), f"{1e3 * plain['ours']:.2g}"]
        for found in (plain, remembering):
            row += [f"{1e3 * found['theirs']:.0f}", f"{found['ratio']:.0f}"]
        loops.append(row)
    exact, fast = (measured(speed="abalone", potential=potential)["seconds"] for potential in ("exact", "fast"))
    olm = []
    for name in (*NAMES, "abalone"):
        if not name.endswith(AS_TEXT):
            found = measured(speed="adaboost-olm", dataset=name)
            digits = 3 if found["olm"] < 0.5 else 2
            times = [f"{found[booster]:.{digits}f}" for booster in ("olm", "agnostic")]
            olm.append([name.capitalize(), *times, f"{found['ratio']:.2f}"])
    times = ["ours, ms per row", "loop, ms per row", "times faster"]
    parts = [
        studies.table(["rows", *times, "loop that remembers, ms per row", "times faster"], loops),
        f"Abalone (4,177 rows, 28 labels) takes {exact:.1f} s with exact potentials, {fast:.1f} s with fast ones.",
        studies.table(["Adaboost.OLM against the agnostic booster", "seconds", "agnostic", "ratio"], olm),
    ]
    return "\n\n".join(parts)


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--loop-rows", type=int, default=10, help="rows of the Monte Carlo loop over River trees")
    options = parser.parse_args()
    store = Store(options.results / "baselines.jsonl", any_code=True)
    if options.action == "report":
        studies.put(studies.DOCS / "baselines.md", report(store), "speed")
        return
    loops = [beside_loop(name, options.data_dir, options.loop_rows) for name in ("balance", "yeast")]
    olm = [beside_agnostic(name, options.data_dir) for name in (*NAMES, "abalone")]
    for job, result in itertools.chain(*loops, potentials(options.data_dir), *olm):
        store.add(job, result)
        print(json.dumps({**job, **result}), flush=True)


if __name__ == "__main__":
    main()
