"""Did a change make anything slower? Two source trees, measured side by side.

    git worktree add ../before COMMIT
    python benchmarks/before_and_after.py ../before --rounds 15 --only mixture rows/segment --json times.json

A tree is a folder that has `src/ocoboost` in it; the second is this repository unless another is given. In every round
each tree has a new worker: a process with the same interpreter and packages, the sources of its tree, a Numba cache of
its own and one thread. For each case both run it once to warm up, then take a fresh model through it on the clock, with
rows that were prepared beforehand and garbage collection off; short cases are repeated. All is compiled before round 1.

Two things would drown a difference of a few percent. Other processes slow a core down by a quarter for tenths of a
second, also by the processor's clock: so both workers run at once on one core, which the system hands to and fro every
few milliseconds, and each counts its own time. And the same code can be a tenth faster in one process than in the next,
as long as that lives, by where its memory happens to lie: so every round has new processes, and more rounds help.

The table has microseconds of processor time per row (waiting for a disk is not seen), medians over the rounds; then the
median of the rounds' ratios after / before, below 1 if the change is faster, and their quartiles. The same sources on
both sides tell what is noise. Where predictions differ the table says so: the trees may not have done the same work.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, NamedTuple

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
FEW_ROWS = 150  # at most, row by row and where learners are slow
LEAST_SECONDS = 0.2  # on the clock, of a worker in a round
TOLERANCE = 0.03
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


# -- what is measured: this runs in the workers, and it alone knows ocoboost -------------------------------------------


class Rows(NamedTuple):
    """Rows of a stream, for blocks and row by row."""

    X: np.ndarray
    y: list[str]
    dicts: list[dict[str, float]]


class Case(NamedTuple):
    """How to make a fresh model, and what is timed of it. What `work` returns should be the same in both trees."""

    make: Callable[[], Any]
    work: Callable[[Any, Rows], Any]
    rows: Rows


def load_rows(name: str, n_rows: int) -> Rows:
    from ocoboost.bench import datasets

    stream = datasets.shuffled(datasets.load(name), seed=1)[:n_rows]
    X = np.array([list(x.values()) for x, _ in stream], dtype=float)
    return Rows(X, [y for _, y in stream], [x for x, _ in stream])


def make(kind: str, learner: Callable[[], Any] | None = None, **options: Any) -> Any:
    """A model of a public class, over a new weak learner if it takes one."""
    model = getattr(import_module("ocoboost"), kind)
    return model(**options) if learner is None else model(learner(), **options)


def make_mixture() -> Any:
    """The default mixture: in older trees it is the agnostic booster, if given no learner."""
    has_its_own_class = hasattr(import_module("ocoboost"), "OnlineBoostClassifier")
    return make("OnlineBoostClassifier" if has_its_own_class else "OnlineAgnosticBoostClassifier", seed=1)


def in_a_block(method: str, model: Any, rows: Rows) -> Any:
    return getattr(model, method)(rows.X, rows.y)


def row_by_row(model: Any, rows: Rows) -> list[Any]:
    return [(model.predict_one(x), model.learn_one(x, y))[0] for x, y in zip(rows.dicts, rows.y, strict=True)]


def report_account(model: Any, rows: Rows) -> None:
    account = model.account()
    model.learn_many(rows.X, rows.y)
    account.report()


def save_and_load(model: Any, rows: Rows) -> None:
    package = import_module("ocoboost")
    with tempfile.TemporaryDirectory() as folder:
        package.save(model, Path(folder) / "model")
        package.load(Path(folder) / "model")


def taught(make_model: Callable[[], Any], rows: Rows) -> Any:
    model = make_model()
    model.learn_many(rows.X, rows.y)
    return model


def all_cases(n_rows: int) -> dict[str, Case]:
    trees = partial(make, "HoeffdingTrees")
    stumps = partial(make, "HoeffdingTrees", max_depth=1, split_criterion="gini")
    many: dict[str, Any] = {"n_learners": 100, "seed": 1}
    paper: dict[str, Any] = {**many, "gamma": 0.5, "start": "uniform", "pool": "label", "votes": "label"}
    agnostic = partial(make, "OnlineAgnosticBoostClassifier", trees, **paper)
    river = import_module("river.tree").HoeffdingTreeClassifier
    foreign = partial(make, "OnlineAgnosticBoostClassifier", river, **{**paper, "n_learners": 5})
    models = {
        "mixture": make_mixture,
        "agnostic": agnostic,
        "realizable": partial(make, "OnlineRealizableBoostClassifier", trees, **paper),
        "mbbm": partial(make, "OnlineMBBMClassifier", stumps, gamma=0.1, potential="exact", **many),
        "olm": partial(make, "AdaBoostOLMClassifier", stumps, **many),
        "mondrian": partial(make, "MondrianTrees", n_learners=10, seed=1),
    }
    predict_learn, learn, fit = (partial(in_a_block, name) for name in ("predict_learn_many", "learn_many", "fit"))
    cases = {}
    for stream in ("segment", "balance", "yeast"):
        rows, few = load_rows(stream, n_rows), load_rows(stream, min(n_rows, FEW_ROWS))
        for name, model in models.items():
            cases[f"{name}/block/{stream}"] = Case(model, predict_learn, rows)
            cases[f"{name}/rows/{stream}"] = Case(model, row_by_row, few)
    rows, few = cases["mixture/block/segment"].rows, cases["mixture/rows/segment"].rows
    return {
        **cases,
        "mixture/learn/segment": Case(make_mixture, learn, rows),
        "river/block/segment": Case(foreign, predict_learn, few),
        "batch/agnostic/segment": Case(partial(make, "AgnosticBoostClassifier", n_estimators=20), fit, rows),
        "batch/realizable/segment": Case(partial(make, "RealizableBoostClassifier", n_estimators=20), fit, rows),
        "account/report/segment": Case(agnostic, report_account, rows),
        "file/save-load/segment": Case(partial(taught, agnostic, rows), save_and_load, rows),
    }


def time_case(case: Case, repeats: int) -> dict[str, Any]:
    """Seconds of processor time for each repeat, and a digest of what came out."""
    seconds, result = 0.0, None
    for _ in range(repeats):
        model = None
        gc.collect()
        gc.freeze()  # the next collection need not look at all this again
        model = case.make()
        began = time.process_time()
        result = case.work(model, case.rows)
        seconds += time.process_time() - began
    digest = hashlib.sha256(repr(result).encode()).hexdigest()[:16]
    return {"seconds": seconds / repeats, "rows": len(case.rows.y), "digest": digest}


def serve(tree: Path, n_rows: int) -> None:
    """Tell the names of the cases; then answer each line, (case, repeats), with what it took."""
    answers, sys.stdout = sys.stdout, sys.stderr  # nobody else may write where the answers go
    if not (home := Path(import_module("ocoboost").__file__).resolve()).is_relative_to(tree):
        raise SystemExit(f"{home} is not in {tree}")
    cases = all_cases(n_rows)
    print(json.dumps(list(cases)), file=answers, flush=True)
    gc.disable()
    for line in sys.stdin:
        name, repeats = json.loads(line)
        try:
            answer = time_case(cases[name], repeats)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error} (in {tree})"}
        print(json.dumps(answer), file=answers, flush=True)


# -- the comparison ----------------------------------------------------------------------------------------------------


def fingerprint(tree: Path) -> str:
    sources = [path.read_bytes() for path in sorted((tree / "src").rglob("*.py"))]
    return hashlib.sha256(b"".join([str(tree).encode(), *sources])).hexdigest()[:16]


def start_worker(tree: Path, n_rows: int) -> Popen[str]:
    cache = REPOSITORY / ".cache" / f"numba-{fingerprint(tree)}"
    own = {**ONE_THREAD, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache), "PYTHONHASHSEED": "0"}
    command = [sys.executable, __file__, str(tree), "--worker", "--rows", str(n_rows)]
    return Popen(command, env={**os.environ, **own}, stdin=PIPE, stdout=PIPE, text=True)


class Pair:
    """The workers of a round: one of the tree before, one of the tree after. Round 0 is for compiling."""

    def __init__(self, trees: list[Path], n_rows: int, number: int) -> None:
        self.workers = [start_worker(tree, n_rows) for tree in trees]
        self.order = 1 if number % 2 == 0 else -1
        if number > 0 and hasattr(os, "sched_setaffinity"):  # elsewhere they may run on two cores
            for worker in self.workers:
                os.sched_setaffinity(worker.pid, {max(os.sched_getaffinity(0))})
        self.cases = self._answers()[0]

    def close(self) -> None:
        for worker in self.workers:
            worker.communicate()  # no more questions: it ends

    def run(self, case: str, repeats: int) -> list[dict[str, Any]]:
        for worker in self.workers[:: self.order]:
            print(json.dumps([case, repeats]), file=worker.stdin, flush=True)
        answers = self._answers()
        if errors := [answer["error"] for answer in answers if "error" in answer]:
            raise RuntimeError("; ".join(errors))
        return answers

    def _answers(self) -> list[Any]:
        lines = [worker.stdout.readline() for worker in self.workers]
        if "" in lines:
            raise SystemExit("a worker has ended")
        return [json.loads(line) for line in lines]


def measure(pair: Pair, repeats: dict[str, int], title: str) -> dict[str, list[dict[str, Any]]]:
    """What both workers answer to each case, once they have warmed up; cases that one of them cannot run are named."""
    answers = {}
    for number, (case, n_repeats) in enumerate(repeats.items(), 1):
        progress(f"{title}, {number}/{len(repeats)} {case}")
        try:
            pair.run(case, 1)
            answers[case] = pair.run(case, n_repeats)
        except RuntimeError as error:
            progress(f"left out: {case}: {error}\n")
    return answers


def progress(text: str) -> None:
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def report(rounds: list[dict[str, list[dict[str, Any]]]]) -> None:
    print(f"{'case':26}{'before':>10}{'after':>10}{'ratio':>8}  quartiles")
    outside = []
    for case in rounds[0]:
        times = np.array([[1e6 * side["seconds"] / side["rows"] for side in sides[case]] for sides in rounds])
        before, after = np.median(times, axis=0)
        low, ratio, high = np.quantile(times[:, 1] / times[:, 0], (0.25, 0.5, 0.75))
        note = "  predictions differ" if len({side["digest"] for sides in rounds for side in sides[case]}) > 1 else ""
        print(f"{case:26}{before:10.2f}{after:10.2f}{ratio:8.3f}  {low:.3f}..{high:.3f}{note}")
        outside += [case] if abs(ratio - 1.0) > TOLERANCE else []
    print(f"all within {TOLERANCE:.0%} of 1?", f"no: {', '.join(outside)}" if outside else "yes")


def compare(trees: list[Path], names: list[str], n_rows: int, n_rounds: int) -> list[dict[str, list[dict[str, Any]]]]:
    sources = [fingerprint(tree) for tree in trees]
    with closing(Pair(trees, n_rows, 0)) as pair:
        cases = [case for case in pair.cases if any(name in case for name in names)]
        trial = measure(pair, dict.fromkeys(cases, 1), "compiling")
    if not trial:
        raise SystemExit(f"nothing to measure; there are {', '.join(pair.cases)}")
    repeats = {case: math.ceil(LEAST_SECONDS / min(s["seconds"] for s in sides)) for case, sides in trial.items()}
    rounds = []
    for number in range(1, n_rounds + 1):
        with closing(Pair(trees, n_rows, number)) as pair:
            rounds.append(measure(pair, repeats, f"round {number}/{n_rounds}"))
        if sources != [fingerprint(tree) for tree in trees]:
            raise SystemExit("the sources were changed during the run: measure a copy (git worktree)")
    progress("")
    return rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=REPOSITORY)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=1500, help="of a stream, at most")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[""], help="cases with one of these in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured in every round there")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    trees = [arguments.before.resolve(), arguments.after.resolve()]
    if not all((tree / "src" / "ocoboost").is_dir() for tree in trees):
        parser.error("both folders must have src/ocoboost in them")
    if arguments.worker:
        serve(trees[0], arguments.rows)
        return
    rounds = compare(trees, arguments.only, arguments.rows, arguments.rounds)
    report(rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(rounds, indent=1) + "\n")


if __name__ == "__main__":
    main()
