"""How fast are native trees? Ratios, each measured side by side in one run.

    pip install vowpalwabbit capymoa  # the latter needs Java and PyTorch; who is not installed is left out
    python benchmarks/speed.py run --data-dir FOLDER
    python benchmarks/speed.py run --data-dir FOLDER --only loop,threads --repeats 9
    python benchmarks/speed.py report

The contestants of a case take turns, so that a busy moment of the machine hits all of them. The first turn of each
compiles and warms up, and is not counted. All times are of one thread, but for ``threads``, which needs two idle cores.
The times of every turn are kept in ``benchmarks/results/speed.jsonl``; of several runs of a case that with most turns
counts. ``report`` writes the tables of ``docs/hoeffding.md`` and ``docs/mondrian.md``.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies
import time_split
from river import forest, tree
from speed_contestants import (
    STUMP,
    WARM_UP,
    Data,
    RiverLoop,
    booster,
    gaussian,
    load,
    time_bare_kernel,
    time_block,
    time_booster,
    time_capymoa,
    time_rows,
    time_vowpal_wabbit,
)

from ocoboost import MondrianTrees
from ocoboost.bench.jobs import Job, Result
from ocoboost.data.schema import Block

BEFORE_SPLIT = 1000  # rows; the Hoeffding bound lets no stump split this early on our datasets
LOOP_ROWS = 5  # of a turn of the loop over River trees, which makes a few rows a second
STREAMS = ("segment", "landsat", "mice", "abalone")
FORESTS = ("balance", "segment", "landsat", "mice", "yeast", "abalone")
THREADED = {
    f"{n_rows:,} rows, {title}": (n_rows, trees)
    for n_rows in (2_000, 20_000)
    for title, trees in (("stumps", STUMP), ("deep trees", {}))
}
FIXED = {"rows": 1000, "learners": 64, "columns": 16, "classes": 8}
SIZES = {
    size: [smallest * 2**power for power in range(5)]
    for size, smallest in {"rows": 128, "learners": 16, "columns": 8, "classes": 2}.items()
}
Contestants = dict[str, Callable[[], float]]


def take_turns(repeats: int, contestants: Contestants, n_warm: int = 1) -> Result:
    """The seconds per row of every contestant in every turn that counts."""
    turns = [{name: measure() for name, measure in contestants.items()} for _ in range(n_warm + repeats)]
    return {"seconds": {name: [float(f"{turn[name]:.4g}") for turn in turns[n_warm:]] for name in contestants}}


def loop(case: str, repeats: int, data_dir: Path | None) -> Result:
    """Against the loop over River trees, before the first split; and what both hold, ours after the whole stream.

    The loop goes through the stream once; the booster learns its beginning afresh in each turn. Both know all labels
    from the start, as Algorithm 1 does.
    """
    data = load(case, data_dir)
    river = RiverLoop(data)
    held = river.n_bytes
    ours = partial(time_booster, data.head(BEFORE_SPLIT), n_warm=WARM_UP)
    found = take_turns(repeats, {"theirs": partial(river.time, LOOP_ROWS), "ours": ours})
    model = booster(data.classes)
    model.learn_many(data.X, data.y)
    return {**found, "MiB": {"theirs": held / 2**20, "ours": model.memory_usage_ / 2**20}}


def single(case: str, repeats: int, data_dir: Path | None) -> Result:
    """100 boosted native stumps against one of River's, whole streams."""
    data = load(case, data_dir)
    return take_turns(
        repeats,
        {
            "theirs": lambda: time_rows(tree.HoeffdingTreeClassifier(**STUMP), data),
            "ours": partial(time_booster, data),
        },
    )


def peer(measure: Callable[[Data], float], case: str, repeats: int, data_dir: Path | None) -> Result:
    """Against another library's booster of 100 learners, each row predicted before it is learned, whole streams."""
    data = load(case, data_dir)
    contestants: Contestants = {"theirs": partial(measure, data), "ours": partial(time_booster, data)}
    return take_turns(repeats, contestants, n_warm=3)  # Java compiles what runs often, until the second or third stream


def bare(case: str, repeats: int, data_dir: Path | None) -> Result:
    """Against a bare kernel that streams the same state through the same arithmetic, at a dataset's shape."""
    shape = load(case, data_dir)
    data = gaussian(BEFORE_SPLIT, shape.X.shape[1], len(shape.classes))
    return take_turns(repeats, {"theirs": partial(time_bare_kernel, data), "ours": partial(time_booster, data)})


def threads(case: str, repeats: int, data_dir: Path | None) -> Result:
    """Two threads against one; after 3,400 rows stumps have split and have little to do."""
    n_rows, trees = THREADED[case]
    measure = partial(time_booster, gaussian(n_rows, 16, 7), trees=trees)
    return take_turns(repeats, {"theirs": partial(measure, n_jobs=1), "ours": partial(measure, n_jobs=2)})


def growth(case: str, repeats: int, data_dir: Path | None) -> Result:
    """How time grows with one size while the others stand still, over a factor of 16."""
    contestants: Contestants = {}
    for size in SIZES[case]:
        at = {**FIXED, case: size}
        data = gaussian(at["rows"], at["columns"], at["classes"])
        contestants[str(size)] = partial(time_booster, data, n_learners=at["learners"])
    return take_turns(repeats, contestants)


def forests(case: str, repeats: int, data_dir: Path | None) -> Result:
    """Ten Mondrian trees by themselves against River's AMF of ten, whole streams; and the size of ours at the end."""
    data = load(case, data_dir)
    found = take_turns(
        repeats,
        {
            "theirs": lambda: time_rows(forest.AMFClassifier(seed=1), data),
            "ours": lambda: time_block(MondrianTrees(seed=1), data),
        },
    )
    model: Any = MondrianTrees(seed=1)
    rows = [x for x, _ in data.rows]
    model.learn_many(rows, data.y)
    ensemble = model.state_.engine.ensemble
    some = ensemble.prepare(Block(rows[-100:], model.state_.schema), learning=False)
    return {
        **found,
        "rows": len(rows),
        "nodes": float(np.mean(ensemble.trees.n_nodes)),
        "path": time_split.path_length(ensemble.trees, some),
    }


MEASURES: dict[str, tuple[Callable[..., Result], tuple[str, ...]]] = {  # and their cases
    "loop": (loop, STREAMS),
    "single": (single, STREAMS),
    "vowpalwabbit": (partial(peer, time_vowpal_wabbit), STREAMS),
    "capymoa": (partial(peer, time_capymoa), STREAMS[:3]),  # OzaBoost predicts nothing on Abalone
    "bare": (bare, STREAMS),
    "threads": (threads, tuple(THREADED)),
    "growth": (growth, tuple(SIZES)),
    "forests": (forests, FORESTS),
}
PEERS = ("vowpalwabbit", "capymoa")


def plan(names: list[str], repeats: int) -> list[Job]:
    missing = [name for name in names if name in PEERS and importlib.util.find_spec(name) is None]
    for name in missing:
        print(f"left out: {name} is not installed", file=sys.stderr)
    return [
        {"measure": name, "case": case, "repeats": repeats}
        for name in names
        if name not in missing
        for case in MEASURES[name][1]
    ]


def run(job: Job, data_dir: Path | None) -> Result:
    measure, _ = MEASURES[job["measure"]]
    return measure(job["case"], job["repeats"], data_dir)


# -- report ------------------------------------------------------------------------------------------------------------

Found = dict[tuple[str, str], dict[str, Any]]  # by measure and case


def by_case(records: list[dict[str, Any]]) -> Found:
    ordered = sorted(records, key=lambda record: record["repeats"])
    return {(record["measure"], record["case"]): record for record in ordered}


def spread(values: list[float]) -> str:
    """The median, the lowest and the highest, to three digits or so."""
    middle = statistics.median(values)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return "{:,.{d}f} ({:,.{d}f} to {:,.{d}f})".format(middle, min(values), max(values), d=digits)


def faster(record: dict[str, Any]) -> str:
    times = record["seconds"]
    return spread([theirs / ours for theirs, ours in zip(times["theirs"], times["ours"], strict=True)])


def slower(record: dict[str, Any]) -> str:
    times = record["seconds"]
    return spread([ours / theirs for theirs, ours in zip(times["theirs"], times["ours"], strict=True)])


def rate(record: dict[str, Any]) -> str:
    return f"{round(1 / statistics.median(record['seconds']['ours']), -2):,.0f}"


def power(record: dict[str, Any]) -> str:
    """The exponent to which the time of all rows grows, fitted in each turn."""
    sizes = [float(size) for size in record["seconds"]]
    slopes = np.polyfit(np.log(sizes), np.log(list(record["seconds"].values())), 1)[0]  # of a row
    return spread((slopes + (record["case"] == "rows")).tolist())


Line = tuple[str, str, Callable[[dict[str, Any]], str]]  # what a line of a table is of, its measure, and its cells
TREE_LINES: list[Line] = [
    ("speed-up over the loop over River trees, before the first split", "loop", faster),
    ("time relative to one River tree (`max_depth=1`), whole stream", "single", slower),
    ("speed-up over Vowpal Wabbit `--oaa k --boosting 100 --alg adaptive`", "vowpalwabbit", faster),
    ("speed-up over CapyMOA `OzaBoost(boosting_iterations=100)`", "capymoa", faster),
    ("time relative to a bare kernel that does the same arithmetic", "bare", slower),
    ("MiB of 100 stumps after the stream", "loop", lambda record: f"{record['MiB']['ours']:.1f}"),
    (f"MiB of 100 of River's after {WARM_UP} rows", "loop", lambda record: f"{record['MiB']['theirs']:.1f}"),
]
FOREST_LINES: list[Line] = [
    ("speed-up", "forests", faster),
    ("rows per second", "forests", rate),
    ("rows", "forests", lambda record: f"{record['rows']:,}"),
    ("nodes of a tree after them, mean", "forests", lambda record: f"{record['nodes']:,.0f}"),
    ("nodes from root to leaf, mean", "forests", lambda record: f"{record['path']:.1f}"),
]


def lines_table(found: Found, lines: list[Line], streams: tuple[str, ...]) -> str:
    rows = [
        [title, *(cell(found[measure, name]) if (measure, name) in found else "" for name in streams)]
        for title, measure, cell in lines
    ]
    return studies.table(["", *(name.capitalize() for name in streams)], rows)


def threads_table(found: Found) -> str:
    rows = [[case, faster(found["threads", case])] for case in THREADED]
    return studies.table(["16 columns, 7 classes", "time with one thread / with two"], rows)


def growth_table(found: Found) -> str:
    rows = []
    for case, sizes in SIZES.items():
        others = ", ".join(f"{value:,} {name}" for name, value in FIXED.items() if name != case)
        rows.append([f"{case}, {sizes[0]:,} to {sizes[-1]:,}", others, power(found["growth", case])])
    return studies.table(["what grows", "while there are", "time grows to the power"], rows, text=(0, 1))


def told(found: Found, measures: list[str]) -> str:
    """In how many turns each was measured."""
    turns = sorted({record["repeats"] for (measure, _), record in found.items() if measure in measures})
    return f"Medians over {' or '.join(map(str, turns))} turns, with the lowest and the highest."


def tree_report(found: Found) -> str:
    measures = [name for name in MEASURES if name != "forests"]
    tables = [lines_table(found, TREE_LINES, STREAMS), threads_table(found), growth_table(found)]
    return "\n\n".join([told(found, measures), *tables])


def forest_report(found: Found) -> str:
    return f"{told(found, ['forests'])}\n\n{lines_table(found, FOREST_LINES, FORESTS)}"


def main() -> None:
    parser = studies.parser(__doc__)
    parser.add_argument("action", choices=("run", "report"))
    parser.add_argument("--repeats", type=int, default=5, help="turns that count")
    parser.add_argument("--only", default=",".join(MEASURES), help="measures, separated by commas")
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(MEASURES):
        parser.error(f"no measure {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    if options.action == "run":
        studies.run_missing("speed", plan(names, options.repeats), partial(run, data_dir=options.data_dir), options)
    else:
        found = by_case(studies.finished("speed", options))
        studies.put(studies.DOCS / "hoeffding.md", tree_report(found), "speed")
        studies.put(studies.DOCS / "mondrian.md", forest_report(found), "speed")


if __name__ == "__main__":
    main()
