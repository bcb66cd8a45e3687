"""How fast are 100 boosted native trees? Ratios, each measured side by side in one run.

    python benchmarks/speed.py --data-dir FOLDER --repeats 5 --only loop,single

Every number is the median over the repeats, with the lowest and the highest. The contestants of a ratio take turns
within each repeat, so that a busy moment of the machine hits all of them. Everything is warmed up first: no time below
holds compilation, which `compilation` reports apart. All times are of one thread, but for `threads`.

Segment needs no file; Landsat, Mice and Abalone are read from ``FOLDER/*.csv.gz`` and skipped if they are not there, as
are Vowpal Wabbit and CapyMOA (``pip install vowpalwabbit capymoa``; the latter needs Java and PyTorch).
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from river import forest, tree

from ocoboost import HoeffdingTrees, MondrianTrees, OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets

N_LEARNERS = 100
GAMMA = 0.5
STUMP: dict[str, Any] = {"max_depth": 1, "split_criterion": "gini"}
SEXES = {"M": 0.0, "F": 1.0, "I": 2.0}
WARM_UP = 30  # rows that `loop` teaches before it starts the clock: by then most labels have been seen
BEFORE_SPLIT = 1000  # rows; the Hoeffding bound lets no stump split this early on our datasets


Times = dict[str, list[float]]  # contestant: what it measured in each repeat


class Result(NamedTuple):
    """One line of a table: what was measured in each repeat."""

    case: str
    measure: str
    values: list[float]
    goal: str = ""


class Data:
    """A stream of numbers, as an array for the booster and as dicts for River."""

    def __init__(self, X: np.ndarray, y: list[str], classes: list[str] | None = None) -> None:
        self.X, self.y, self.classes = X, y, classes or sorted(set(y))
        names = [f"x{j:02d}" for j in range(X.shape[1])]
        self.rows = [(dict(zip(names, x, strict=True)), label) for x, label in zip(X.tolist(), y, strict=True)]

    def head(self, n_rows: int) -> Data:
        return Data(self.X[:n_rows], self.y[:n_rows], self.classes)


def load(names: str, data_dir: Path | None) -> Iterator[tuple[str, Data]]:
    """The datasets that are there, as numbers: Mice's proteins with means for gaps, Abalone's sex as 0, 1 or 2."""
    for name in names.split():
        try:
            stream = datasets.shuffled(datasets.load(name, data_dir), seed=1)
        except FileNotFoundError as error:
            print(f"skipped: {error}", file=sys.stderr)
            continue
        X = np.array([[SEXES.get(value, value) for value in x.values()] for x, _ in stream], dtype=float)
        yield name, Data(X, [y for _, y in stream])


def gaussian(n_rows: int, n_features: int, n_classes: int) -> Data:
    """Each label moves one feature by one standard deviation: too little for a stump to split soon."""
    rng = np.random.default_rng(1)
    labels = rng.integers(n_classes, size=n_rows)
    labels[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n_rows, n_features))
    X[np.arange(n_rows), labels % n_features] += 1.0
    return Data(X, [f"class {label:03d}" for label in labels])


def booster(classes: list[str], trees: dict[str, Any] = STUMP, **changes: Any) -> OnlineAgnosticBoostClassifier:
    options = {"n_learners": N_LEARNERS, "gamma": GAMMA, "classes": classes, "n_jobs": 1, "seed": 1, **changes}
    paper = {"start": "uniform", "pool": "label"}
    return OnlineAgnosticBoostClassifier(HoeffdingTrees(**trees), **{**paper, **options})


def timed(call: Callable[[], Any]) -> float:
    gc.collect()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def time_booster(data: Data, n_warm: int = 0, **changes: Any) -> float:
    """Seconds per row of predicting and learning the rows after the first ``n_warm``, in one call."""
    model = booster(data.classes, **changes)
    if n_warm:
        model.predict_learn_many(data.X[:n_warm], data.y[:n_warm])
    X, y = data.X[n_warm:], data.y[n_warm:]
    return timed(lambda: model.predict_learn_many(X, y)) / len(y)


def take_turns(repeats: int, **contestants: Callable[[], float]) -> Times:
    """What every contestant measures in every repeat."""
    times = [{name: measure() for name, measure in contestants.items()} for _ in range(repeats)]
    return {name: [turn[name] for turn in times] for name in contestants}


def ratios(case: str, measure: str, times: Times, over: str, under: str, goal: str) -> Iterator[Result]:
    """The ratio of two contestants' times, then both contestants' rates."""
    yield Result(case, measure, [a / b for a, b in zip(times[over], times[under], strict=True)], goal)
    for name in (over, under):
        yield Result(case, f"rows/s, {name}", [1.0 / seconds for seconds in times[name]])


class RiverLoop:
    """Algorithm 1 as one would write it: a list of River trees, every label taught with its weight, label votes."""

    def __init__(self, data: Data) -> None:
        self.classes = data.classes
        self.stream = iter(data.rows)
        self.trees = [tree.HoeffdingTreeClassifier(**STUMP) for _ in range(N_LEARNERS)]
        self.time(WARM_UP)

    def time(self, n_rows: int) -> float:
        """Seconds per row of the next rows of the stream."""
        rows = list(itertools.islice(self.stream, n_rows))
        return timed(lambda: [self.predict_learn_one(x, y) for x, y in rows]) / n_rows

    def predict_learn_one(self, x: dict[str, float], y: str) -> str:
        k, step = len(self.classes), GAMMA / N_LEARNERS**0.5
        play, counts = np.full(k, 1.0 / k), np.zeros(k)
        for learner in self.trees:
            label = learner.predict_one(x)
            vote = 0 if label is None else self.classes.index(label)
            counts[vote] += 1.0
            for j in range(k):
                if play[j] > 0.0:
                    learner.learn_one(x, self.classes[j], w=play[j])
            play[vote] -= step * 2.0 / GAMMA
            play[self.classes.index(y)] += step * 2.0
            play = project(play)
        return self.classes[int(np.argmax(project(counts / (GAMMA * N_LEARNERS))))]


def project(point: np.ndarray) -> np.ndarray:
    """Onto the simplex, by sorting."""
    falling = np.sort(point)[::-1]
    shifts = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    return np.maximum(point - shifts[falling > shifts][-1], 0.0)


def compilation(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Seconds that first use takes in a new process, with an empty and with a full Numba cache. Measured once."""
    code = """if True:
        import time, numpy as np
        from ocoboost import OnlineAgnosticBoostClassifier
        began = time.perf_counter()
        OnlineAgnosticBoostClassifier().predict_learn_many(np.eye(4), ["a", "b", "a", "b"])
        print(time.perf_counter() - began)"""
    with tempfile.TemporaryDirectory() as folder:
        command, environment = [sys.executable, "-c", code], {**os.environ, "NUMBA_CACHE_DIR": folder}
        for case, goal in (("empty cache", "< 30"), ("full cache", "")):
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            yield Result(case, "seconds of first use", [float(done.stdout)], goal)


def loop(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Against the loop over River trees, after a warm-up and before the first split.

    The loop makes a few rows a second, so it goes through the stream once, five rows in each repeat. The booster learns
    the stream afresh in each repeat. Both know all labels from the start, as Algorithm 1 does.
    """
    for name, data in load("segment landsat mice abalone", data_dir):
        ours = partial(time_booster, data.head(BEFORE_SPLIT), n_warm=WARM_UP)
        river = RiverLoop(data)
        times = take_turns(repeats, river=partial(river.time, 5), ours=ours)
        yield from ratios(name, "times faster than the loop", times, "river", "ours", ">= 500, aim 1000")


def time_river_tree(data: Data) -> float:
    model = tree.HoeffdingTreeClassifier(**STUMP)
    return timed(lambda: [(model.predict_one(x), model.learn_one(x, y)) for x, y in data.rows]) / len(data.rows)


def single(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """100 boosted native trees against one River tree, on the whole stream and on its rows before the first split."""
    for name, data in load("segment mice landsat", data_dir):
        goal = "<= 1.5" if name == "landsat" else "< 1"
        for case, part in ((name, data), (f"{name}, first {BEFORE_SPLIT}", data.head(BEFORE_SPLIT))):
            times = take_turns(repeats, river=partial(time_river_tree, part), ours=partial(time_booster, part))
            yield from ratios(case, "time of ours / one River tree", times, "ours", "river", goal)


def time_vowpal_wabbit(data: Data) -> float:
    """Seconds per row of Vowpal Wabbit's booster on examples that were parsed before the clock started."""
    from vowpalwabbit import Workspace

    codes = {label: code for code, label in enumerate(data.classes, 1)}
    model = Workspace(f"--oaa {len(codes)} --boosting {N_LEARNERS} --alg adaptive --quiet")
    lines = [f"{codes[y]} | " + " ".join(f"{n}:{v!r}" for n, v in x.items()) for x, y in data.rows]
    examples = [model.parse(line) for line in lines]
    return timed(lambda: [(model.predict(row), model.learn(row)) for row in examples]) / len(examples)


def time_capymoa(data: Data) -> float:
    """Seconds per row of CapyMOA's OzaBoost on instances that were made before the clock started."""
    from capymoa.classifier import OzaBoost
    from capymoa.stream import NumpyStream

    stream = NumpyStream(data.X, np.array([data.classes.index(y) for y in data.y]))
    model = OzaBoost(stream.schema, boosting_iterations=N_LEARNERS)
    instances = [stream.next_instance() for _ in data.y]
    return timed(lambda: [(model.predict(row), model.train(row)) for row in instances]) / len(instances)


def peers(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Against other libraries' boosters of 100 learners, each row predicted before it is learned, whole streams."""
    known = {"vowpalwabbit": time_vowpal_wabbit, "capymoa": time_capymoa}
    installed = {name: measure for name, measure in known.items() if importlib.util.find_spec(name)}
    for missing in known.keys() - installed:
        print(f"skipped: {missing} is not installed", file=sys.stderr)
    for name, data in load("segment landsat", data_dir) if installed else ():
        measures = {**installed, "ours": time_booster}
        contestants = {contestant: partial(measure, data) for contestant, measure in measures.items()}
        take_turns(3, **contestants)  # Java compiles what runs often, and is at full speed after two or three streams
        times = take_turns(repeats, **contestants)
        for peer in installed:
            yield from ratios(name, f"times faster than {peer}", times, peer, "ours", "> 1")


def time_rows(model: Any, data: Data) -> float:
    """Seconds per row of predicting and learning row by row."""
    return timed(lambda: [(model.predict_one(x), model.learn_one(x, y)) for x, y in data.rows]) / len(data.rows)


def time_block(model: Any, data: Data) -> float:
    """Seconds per row of predicting and learning in one call."""
    return timed(lambda: model.predict_learn_many(data.X, data.y)) / len(data.y)


def forests(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Ten Mondrian trees by themselves against River's AMF of ten, whole streams."""
    for name, data in load("balance segment landsat mice yeast abalone", data_dir):
        times = take_turns(
            repeats,
            river=lambda data=data: time_rows(forest.AMFClassifier(seed=1), data),
            ours=lambda data=data: time_block(MondrianTrees(seed=1), data),
        )
        yield from ratios(name, "times faster than AMF", times, "river", "ours", ">= 10")


def default(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """The default booster at its default budget against River's ARF of ten trees, in one call and row by row."""
    for name, data in load("balance segment landsat mice yeast abalone", data_dir):
        part = data.head(1500)
        times = take_turns(
            repeats,
            ARF=lambda part=part: time_rows(forest.ARFClassifier(seed=1), part),
            ours=lambda part=part: time_block(OnlineAgnosticBoostClassifier(seed=1), part),
            rowwise=lambda part=part: time_rows(OnlineAgnosticBoostClassifier(seed=1), part),
            half=lambda part=part: time_rows(OnlineAgnosticBoostClassifier(budget=100, seed=1), part),
        )
        yield from ratios(name, "times faster than ARF", times, "ARF", "ours", ">= 1")
        yield from itertools.islice(ratios(name, "times faster, row by row", times, "ARF", "rowwise", ""), 1)
        yield from itertools.islice(ratios(name, "row by row, budget 100", times, "ARF", "half", ""), 1)


def threads(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Two threads against one, 16 features and 7 classes; after 3,400 rows stumps have split and have little to do."""
    for n_rows, (title, trees) in itertools.product((2_000, 20_000), (("stumps", STUMP), ("deep trees", {}))):
        measure = partial(time_booster, gaussian(n_rows, 16, 7), trees=trees)
        times = take_turns(repeats, one=partial(measure, n_jobs=1), two=partial(measure, n_jobs=2))
        yield from ratios(f"{n_rows} rows, {title}", "times faster with two threads", times, "one", "two", ">= 1.7")


def scaling(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """The exponent to which time grows with one size while the others stand still, fitted over a factor of 16."""
    fixed = {"rows": 1000, "learners": 64, "features": 16, "classes": 8}
    for size, smallest in (("rows", 128), ("learners", 16), ("features", 8), ("classes", 2)):
        sizes = [smallest * 2**power for power in range(5)]
        measures = {}
        for at in ({**fixed, size: value} for value in sizes):
            data = gaussian(at["rows"], at["features"], at["classes"])
            measures[str(at[size])] = partial(time_booster, data, n_learners=at["learners"])
        per_row = np.array(list(take_turns(repeats, **measures).values()))  # (sizes, repeats)
        slopes = np.polyfit(np.log(sizes), np.log(per_row), 1)[0]
        exponents = (slopes + 1.0 if size == "rows" else slopes).tolist()
        yield Result(f"{size} {sizes[0]}..{sizes[-1]}", "exponent", exponents, "<= 1.1")


@njit(error_model="numpy")
def stream_state(X: np.ndarray, weights: np.ndarray, state: np.ndarray, scores: np.ndarray) -> None:
    """The least that naive Bayes leaves can do: densities, then updates of (weight, mean, squares, lowest, highest)."""
    log_density, product = scores[0], scores[1]
    for begin in range(0, len(X), 64):
        for learner in range(len(state)):
            for row in range(begin, min(begin + 64, len(X))):
                log_density[:], product[:] = 0.0, 1.0
                for feature in range(X.shape[1]):
                    x = X[row, feature]
                    moments = state[learner, feature]
                    for c in range(len(product)):
                        variance = moments[2, c] / (moments[0, c] - 1.0)
                        difference = x - moments[1, c]
                        log_density[c] -= difference * difference / (2.0 * variance)
                        product[c] *= variance
                    for c in range(len(product)):
                        weight = moments[0, c] + weights[row, c]
                        difference = x - moments[1, c]
                        mean = moments[1, c] + weights[row, c] / weight * difference
                        moments[2, c] += weights[row, c] * difference * (x - mean)
                        moments[0, c], moments[1, c] = weight, mean
                        moments[3, c] = min(moments[3, c], x)
                        moments[4, c] = max(moments[4, c], x)
                    if feature % 8 == 7 or feature == X.shape[1] - 1:
                        for c in range(len(product)):
                            log_density[c] -= 0.5 * np.log(product[c])
                            product[c] = 1.0


def time_bare_kernel(data: Data) -> float:
    (n_rows, d), k = data.X.shape, len(data.classes)
    state = np.ones((N_LEARNERS, d, 5, k)) * np.array([5.0, 0.0, 5.0, np.inf, -np.inf])[:, None]
    weights = np.random.default_rng(1).dirichlet(np.ones(k), size=n_rows)
    return timed(lambda: stream_state(data.X, weights, state, np.zeros((2, k)))) / n_rows


def limit(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Against a bare kernel that streams the same state through the same arithmetic, at the datasets' shapes."""
    for name, d, k in (("segment", 18, 7), ("landsat", 36, 6), ("mice", 77, 8), ("abalone", 8, 28)):
        data = gaussian(BEFORE_SPLIT, d, k)
        time_bare_kernel(data.head(k))  # compiles
        times = take_turns(repeats, ours=partial(time_booster, data), bare=partial(time_bare_kernel, data))
        yield from ratios(f"{d} x {k}, like {name}", "time of ours / bare kernel", times, "ours", "bare", "aim < 3")


def latency(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Microseconds of predict_one and learn_one together, row by row over Segment."""
    for name, data in load("segment", data_dir):
        ours, river = partial(booster, data.classes), partial(tree.HoeffdingTreeClassifier, **STUMP)
        makers = {"100 boosted native trees": ours, "one River tree": river}
        turns = [{title: row_times(make(), data) for title, make in makers.items()} for _ in range(repeats)]
        for title, percent in itertools.product(makers, (50, 99)):
            values = [1e6 * float(np.percentile(turn[title], percent)) for turn in turns]
            yield Result(name, f"p{percent} in µs, {title}", values)


def row_times(model: Any, data: Data) -> np.ndarray:
    marks = [time.perf_counter()]
    for x, y in data.rows:
        model.predict_one(x)
        model.learn_one(x, y)
        marks.append(time.perf_counter())
    return np.diff(marks)


def memory(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Bytes per tree against the formula of docs/hoeffding.md, and 100 stumps on Segment beside River's. Exact."""
    shapes = [(d, k) for d in (4, 15, 64) for k in (2, 7, 28)]
    gaps = [abs(bytes_per_tree(gaussian(200, d, k)) - documented_bytes(gaussian(200, d, k))) for d, k in shapes]
    yield Result("d in 4..64, k in 2..28", "largest difference from the formula, bytes", [max(gaps)], "0")
    for name, data in load("segment", data_dir):
        river = RiverLoop(data)
        theirs = sum(learner._raw_memory_usage for learner in river.trees) / 2**20
        ours = N_LEARNERS * bytes_per_tree(data) / 2**20
        yield Result(name, f"MiB of 100 River stumps, {WARM_UP} rows", [theirs])
        yield Result(name, "MiB of 100 native stumps, whole stream", [ours])
        yield Result(name, "ours / River", [ours / theirs], "< 0.25")


def taught(data: Data) -> OnlineAgnosticBoostClassifier:
    model = booster(data.classes)
    model.learn_many(data.X, data.y)
    return model


def bytes_per_tree(data: Data) -> float:
    return float(taught(data).memory_usage_) / N_LEARNERS


def documented_bytes(data: Data) -> float:
    trees = taught(data)._state.engine.cascades[0].ensemble.trees
    slots, nodes, k = trees.free.shape[1], trees.nodes.shape[1], len(data.classes)
    d = -(-data.X.shape[1] // 4) * 4
    return 8.0 * (slots * (5 * d * k + 1) + nodes * (12 + 2 * k) + 2 + d)


BENCHMARKS = {
    f.__name__: f
    for f in (compilation, loop, single, peers, forests, default, threads, scaling, limit, latency, memory)
}


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def print_table(title: str, results: list[Result]) -> None:
    print(f"\n{title}\n")
    case, measure = (max(len(result[column]) for result in results) if results else 0 for column in (0, 1))
    print(f"  {'case':{case}}  {'measure':{measure}}  {'median':>8}  {'min..max':>16}  goal")
    for result in results:
        median, low, high = (number(float(f(result.values))) for f in (np.median, min, max))
        print(
            f"  {result.case:{case}}  {result.measure:{measure}}  {median:>8}  {low + '..' + high:>16}  {result.goal}"
        )
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default=",".join(BENCHMARKS), help="benchmarks to run, separated by commas")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all repeats, not tables")
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {arguments.repeats} repeats", file=sys.stderr)
    data = gaussian(100, 4, 3)  # compile everything, or read it from the cache
    take_turns(1, one=partial(time_booster, data), two=partial(time_booster, data, n_jobs=2))
    row_times(booster(data.classes), data)
    time_rows(OnlineAgnosticBoostClassifier(n_learners=1), data.head(5))
    report = {}
    for name in names:
        report[name] = list(BENCHMARKS[name](arguments.repeats, arguments.data_dir))
        if not arguments.json:
            print_table(f"{name}: {BENCHMARKS[name].__doc__.splitlines()[0]}", report[name])
    if arguments.json:
        print(json.dumps({name: [result._asdict() for result in report[name]] for name in names}, indent=1))


if __name__ == "__main__":
    main()
