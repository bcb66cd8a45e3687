"""Where the time of the default goes, and how near the trees are to what the machine's memory allows.

    python benchmarks/time_split.py run --data-dir FOLDER
    python benchmarks/time_split.py report

The default learns a stream in blocks, on one thread, and each kind of member, the blends and the rest are timed apart,
in processor time. A Mondrian tree reads and writes the records of the nodes on a row's path: its bytes are the mean
number of nodes on the paths of the last 20 rows, times the size of a node with its box and its classes. What the memory
allows is those bytes at the rate at which NumPy copies an array that fits into no cache. Runs are kept in
``benchmarks/results/time_split.jsonl``; ``report`` writes the table of ``docs/performance.md``.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import latency
import numpy as np
import studies

from ocoboost import OnlineBoostClassifier
from ocoboost.bench.jobs import Job, Result
from ocoboost.data.schema import Block
from ocoboost.learners.mondrian.layout import LEAF, NODE

STREAMS = ("segment", "landsat", "rbf 16", "led 24")
BLOCK = 500
ROUNDS = 4
COPIED = 1 << 27  # bytes of an array that fits into no cache


class Clock:
    """Adds up the processor time of calls by name."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return call(*arguments, **options)
            finally:
                self.seconds[name] += time.process_time() - began

        return wrapped


def watch(model: Any, clock: Clock) -> Counter[str]:
    """Time every cascade of a model, its neighbours and its blends; returns the number of trees of each kind."""
    mixture, n_trees = model.state_.engine, Counter[str]()
    young = {id(slot.cascade): f"{kind.name}, of every age" for kind in mixture.ages for slot in kind.slots}
    for cascade in mixture.all_cascades:
        kind = "MondrianTrees" if "Mondrian" in type(cascade.ensemble).__name__ else "HoeffdingTrees"
        name = young.get(id(cascade), f"{kind}, long-lived")
        cascade.learn_prepared = clock.timed(name, cascade.learn_prepared)
        n_trees[name] += cascade.cells.n_learners
    mixture.neighbours.ask = clock.timed("neighbours", mixture.neighbours.ask)
    mixture._blended = clock.timed("blends and tournament", mixture._blended)
    return n_trees


def path_length(trees: Any, X: Any) -> float:
    """The mean number of nodes between root and leaf, over all trees of a forest and some rows."""
    n_nodes = []
    for learner in range(len(trees.n_nodes)):
        nodes = trees.nodes[learner]
        for x in X:
            node, passed = 0, 1
            while nodes[node]["feature"] != LEAF:
                is_left = x[nodes[node]["feature"]] <= nodes[node]["threshold"]
                node = int(nodes[node]["left" if is_left else "right"])
                passed += 1
            n_nodes.append(passed)
    return float(np.mean(n_nodes))


def copy_rate() -> float:
    """Bytes that are read and written in a second."""
    source = np.ones(COPIED // 8)
    target = np.empty_like(source)
    took = []
    for _ in range(9):
        began = time.perf_counter()
        np.copyto(target, source)
        took.append(time.perf_counter() - began)
    return 2.0 * COPIED / min(took)


def measured(X: list[Any], y: list[Any]) -> tuple[float, Counter[str], Counter[str], Any]:
    """Seconds of a model on all but its first block: in all and by part; its numbers of trees, and its state."""
    gc.collect()  # models that are watched hold themselves; the next one takes their memory
    model, clock = OnlineBoostClassifier(seed=1), Clock()
    model.learn_many(X[:BLOCK], y[:BLOCK])
    n_trees = watch(model, clock)
    began = time.process_time()
    for first in range(BLOCK, len(X), BLOCK):
        model.predict_learn_many(X[first : first + BLOCK], y[first : first + BLOCK])
    return time.process_time() - began, clock.seconds, n_trees, model.state_


def run(job: Job, options: Any) -> Result:
    rows = latency.load(job["stream"], options.data_dir)
    X, y = [x for x, _ in rows], [label for _, label in rows]
    # The first round reads or compiles kernels, and new memory may come slowly from the system: the quickest counts.
    total, seconds, n_trees, state = min((measured(X, y) for _ in range(ROUNDS)), key=lambda found: found[0])
    forest: Any = next(
        member.cascade.ensemble for member in state.engine.members if "MondrianTrees(smoothing=3" in member.name
    )
    boosted, n_rows = forest.trees, len(X) - BLOCK
    block = Block(X[-20:], state.schema)
    length = path_length(boosted, forest.prepare(block, learning=False))
    node_bytes = NODE.itemsize + 16 * boosted.boxes.shape[3] + 8 * boosted.class_weight.shape[2]
    return {
        "total": 1e6 * total / n_rows,
        "parts": {name: 1e6 * spent / n_rows for name, spent in seconds.items()},
        "n_trees": dict(n_trees),
        "path_length": length,
        "node_bytes": node_bytes,
        "copy_rate": copy_rate(),
    }


def report(options: Any) -> str:
    lines = []
    for run in studies.finished("time_split", options):
        parts = run["parts"]
        rest = run["total"] - sum(parts.values())
        for name, micros in {**parts, "all else": rest}.items():
            n = run["n_trees"].get(name)
            each = f"{1000 * micros / n:,.0f}" if n else ""
            lines.append([run["stream"], name, f"{micros:.0f}", f"{micros / run['total']:.0%}", each])
        n_bytes = run["path_length"] * run["node_bytes"]
        told = f"{run['path_length']:.1f} nodes, {n_bytes:,.0f} bytes: at the rate of a copy"
        lines.append(
            [
                run["stream"],
                f"path of a boosted Mondrian tree, {told}",
                "",
                "",
                f"{1e9 * 2 * n_bytes / run['copy_rate']:,.0f}",
            ]
        )
    return studies.table(["stream", "part", "µs a row", "share", "ns a row and tree"], lines, text=(0, 1))


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    options = parser.parse_args()
    if options.action == "report":
        studies.put(studies.DOCS / "performance.md", report(options), "time split")
        return
    studies.run_missing("time_split", [{"stream": name} for name in STREAMS], lambda job: run(job, options), options)


if __name__ == "__main__":
    main()
