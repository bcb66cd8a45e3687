"""How fast are 100 boosted native trees? Ratios, each measured side by side in one run.

    python benchmarks/speed.py --data-dir FOLDER --repeats 5 --only loop,single

Every number is the median over the repeats, with the lowest and the highest. The contestants of a ratio take turns
within each repeat, so that a busy moment of the machine hits all of them. Everything is warmed up first: no time below
holds compilation, which `compilation` reports apart. All times are of one thread, but for `threads`.

Mice is read from ``FOLDER/mice.csv.gz``, or fetched, and skipped if neither works; so are Vowpal Wabbit and CapyMOA if
they are not installed (``pip install vowpalwabbit capymoa``; the latter needs Java and PyTorch).
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from river import forest, tree
from speed_contestants import (
    N_LEARNERS,
    STUMP,
    WARM_UP,
    Data,
    RiverLoop,
    booster,
    gaussian,
    load,
    row_times,
    time_bare_kernel,
    time_block,
    time_booster,
    time_capymoa,
    time_river_tree,
    time_rows,
    time_vowpal_wabbit,
)

from ocoboost import MondrianTrees, OnlineAgnosticBoostClassifier, OnlineBoostClassifier

BEFORE_SPLIT = 1000  # rows; the Hoeffding bound lets no stump split this early on our datasets


Times = dict[str, list[float]]  # contestant: what it measured in each repeat


class Result(NamedTuple):
    """One line of a table: what was measured in each repeat."""

    case: str
    measure: str
    values: list[float]
    goal: str = ""


def take_turns(repeats: int, **contestants: Callable[[], float]) -> Times:
    """What every contestant measures in every repeat."""
    times = [{name: measure() for name, measure in contestants.items()} for _ in range(repeats)]
    return {name: [turn[name] for turn in times] for name in contestants}


def ratios(case: str, measure: str, times: Times, over: str, under: str, goal: str) -> Iterator[Result]:
    """The ratio of two contestants' times, then both contestants' rates."""
    yield Result(case, measure, [a / b for a, b in zip(times[over], times[under], strict=True)], goal)
    for name in (over, under):
        yield Result(case, f"rows/s, {name}", [1.0 / seconds for seconds in times[name]])


def compilation(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Seconds that first use takes in a new process, with an empty and with a full Numba cache. Measured once."""
    code = """if True:
        import time, numpy as np
        from ocoboost import OnlineBoostClassifier
        began = time.perf_counter()
        OnlineBoostClassifier().predict_learn_many(np.eye(4), ["a", "b", "a", "b"])
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


def single(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """100 boosted native trees against one River tree, on the whole stream and on its rows before the first split."""
    for name, data in load("segment mice landsat", data_dir):
        goal = "<= 1.5" if name == "landsat" else "< 1"
        for case, part in ((name, data), (f"{name}, first {BEFORE_SPLIT}", data.head(BEFORE_SPLIT))):
            times = take_turns(repeats, river=partial(time_river_tree, part), ours=partial(time_booster, part))
            yield from ratios(case, "time of ours / one River tree", times, "ours", "river", goal)


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


def forests(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """Ten Mondrian trees by themselves against River's AMF of ten, whole streams."""
    for name, data in load("balance segment landsat mice yeast abalone", data_dir):
        times = take_turns(
            repeats,
            river=lambda data=data: time_rows(forest.AMFClassifier(seed=1), data),
            ours=lambda data=data: time_block(MondrianTrees(seed=1), data),
        )
        yield from ratios(name, "times faster than AMF", times, "river", "ours", ">= 10")


def boost(repeats: int, data_dir: Path | None) -> Iterator[Result]:
    """OnlineBoostClassifier() against River's ARF of ten trees, in one call and row by row."""
    for name, data in load("balance segment landsat mice yeast abalone", data_dir):
        part = data.head(1500)
        times = take_turns(
            repeats,
            ARF=lambda part=part: time_rows(forest.ARFClassifier(seed=1), part),
            ours=lambda part=part: time_block(OnlineBoostClassifier(seed=1), part),
            rowwise=lambda part=part: time_rows(OnlineBoostClassifier(seed=1), part),
            half=lambda part=part: time_rows(OnlineBoostClassifier(budget=100, seed=1), part),
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
    trees = taught(data).state_.engine.cascades[0].ensemble.trees
    slots, nodes, k = trees.free.shape[1], trees.nodes.shape[1], len(data.classes)
    d = -(-data.X.shape[1] // 4) * 4
    return 8.0 * (slots * (5 * d * k + 1) + nodes * (12 + 2 * k) + 2 + d)


BENCHMARKS = {
    f.__name__: f for f in (compilation, loop, single, peers, forests, boost, threads, scaling, limit, latency, memory)
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
    time_rows(OnlineBoostClassifier(budget=5), data.head(5))
    report = {}
    for name in names:
        report[name] = list(BENCHMARKS[name](arguments.repeats, arguments.data_dir))
        if not arguments.json:
            print_table(f"{name}: {BENCHMARKS[name].__doc__.splitlines()[0]}", report[name])
    if arguments.json:
        print(json.dumps({name: [result._asdict() for result in report[name]] for name in names}, indent=1))


if __name__ == "__main__":
    main()
