"""Mutated model files: each is refused in one line, or loads, predicts and learns; nothing crashes, hangs or swells.

    python benchmarks/fuzz_models.py --count 100000
    python benchmarks/fuzz_models.py --count 100000 --mode unsealed
    python benchmarks/fuzz_models.py --count 10000 --mode boundscheck
    python benchmarks/fuzz_models.py --count 1000 --mode nojit

Small models of every kind learn a few rows with text, gaps and several labels, and are saved. Their files are changed
by ``forged_models.py``, which knows the format, and sealed again; unsealed, any bytes of them are changed, as
accidents do (``mutations.py``). Cases run in worker processes with Python's fault handler and a limit on their memory;
a case is a number, so `--first 4711 --count 1` runs one again. The other modes switch Numba's bounds checking on, or
its compiler off. Counts are kept in ``benchmarks/results/fuzz_models.jsonl``, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import mutations
import numpy as np
from forged_models import File, mutated

import ocoboost
from ocoboost.bench.jobs import Store, key
from ocoboost.errors import InvalidInputError, ModelFileError

RESULTS = Path(__file__).resolve().parent / "results"
UNSEALED = "unsealed"
BOUNDS = Path(tempfile.gettempdir()) / "ocoboost-boundscheck"  # Numba would take kernels without checks from its cache
MODES = {
    "": {},
    UNSEALED: {},
    "boundscheck": {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BOUNDS)},
    "nojit": {"NUMBA_DISABLE_JIT": "1"},
}
PATIENCE = 120.0  # seconds for one case
EXTRA_MEMORY = 1 << 30  # bytes that loading a file of a few kilobytes may take at most
N_ROWS = 60


def models() -> dict[str, Any]:
    """One of every kind that a file can hold."""
    hoeffding = {"grace_period": 5, "tau": 1.0}
    return {
        "hoeffding": ocoboost.HoeffdingTrees(
            n_learners=3, **hoeffding, feature_share=0.7, max_size=2.0, nominal_attributes=["a"], seed=1
        ),
        "mondrian": ocoboost.MondrianTrees(n_learners=3, max_nodes=40, nominal_attributes=["b"], seed=1),
        "agnostic": ocoboost.OnlineAgnosticBoostClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3, seed=1),
        "realizable": ocoboost.OnlineRealizableBoostClassifier(ocoboost.MondrianTrees(), n_learners=3, seed=1),
        "pairwise": ocoboost.OnlinePairwiseBoostClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3, seed=1),
        "mbbm": ocoboost.OnlineMBBMClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3, seed=1),
        "olm": ocoboost.AdaBoostOLMClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3, seed=1),
        "stumps": ocoboost.StumpExperts(n_cells=4, votes="random", seed=1),
        "mixture": ocoboost.OnlineBoostClassifier(budget=10, seed=1),
        "ages": ocoboost.OnlineBoostClassifier(budget=30, seed=1),
        "bandit": ocoboost.OnlineBanditBoostClassifier(
            ocoboost.OnlineAgnosticBoostClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3), seed=1
        ),
        "few labels": ocoboost.OnlineFewLabelsClassifier(
            ocoboost.OnlineAgnosticBoostClassifier(ocoboost.HoeffdingTrees(**hoeffding), n_learners=3), seed=1
        ),
    }


def rows(kind: str, n_rows: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[Any]]:
    """Numbers, text, gaps, and labels that a tree can find."""
    rng = np.random.default_rng(seed)
    X: list[dict[str, Any]] = []
    for _ in range(n_rows):
        x: dict[str, Any] = {"a": float(rng.integers(4)), "b": float(rng.normal())}
        if kind != "stumps":
            x["c"] = ["red", "blue", "green"][rng.integers(3)]
        if rng.random() < 0.1:
            x.pop("b")
        X.append(x)
    return X, [int(x["a"] > 1) + 2 * (x.get("c") == "red") for x in X]


def save_all(folder: Path) -> None:
    """Teach every model, and save it."""
    for kind, model in models().items():
        model.learn_many(*rows(kind, N_ROWS))
        act(model, kind)
        ocoboost.save(model, folder / f"{kind}.oco")


def act(model: Any, kind: str) -> None:
    """What models around a booster do beside learning; it leaves something in their books."""
    X, _ = rows(kind, 4, seed=2)
    if kind == "bandit":
        for x in X:
            key = f"play {model.n_plays_}"
            model.act_one(x, key=key)
        model.learn_feedback_one(key=key, is_right=True)
    elif kind == "few labels":
        for x in X:
            model.wants_label_one(x)


def try_file(path: Path, kind: str) -> str:
    """What became of a file; raises for what must not happen."""
    try:
        model = ocoboost.load(path)
    except ModelFileError as error:
        message = str(error)
        if "\n" in message or not message.startswith(f"{path}: ") or len(message) > 1500:
            raise AssertionError(f"not one line: {message!r}") from error
        if "more memory than there is" in message:
            raise AssertionError(message) from error
        return "refused"
    X, y = rows(kind, 8, seed=1)
    known = model.classes_
    taught = [known[label % len(known)] if known else label for label in y]
    try:
        model.predict_proba_many(X)
        model.learn_many(X, taught)
        model.predict_many(X)
        model.learn_many([{"z": 1.0}, *X], [taught[0], *taught])
        if known:
            act(model, kind)
    except InvalidInputError:
        return "loaded, rows refused"  # columns that are called text or numbers, and never were
    return "learned"


def work(folder: Path, first: int, count: int, mode: str) -> None:
    """Try cases, a number on standard output before each, and counts at the end (in a process of its own)."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    data = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.oco"))}
    files = {kind: File(content) for kind, content in data.items()}
    for kind in files:  # compiled before memory is limited
        try_file(folder / f"{kind}.oco", kind)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + EXTRA_MEMORY, resource.RLIM_INFINITY))
    counts: collections.Counter[str] = collections.Counter()
    path = folder / f"case-{os.getpid()}"
    for case in range(first, first + count):
        print(case, flush=True)
        kind = sorted(files)[case % len(files)]
        if mode == UNSEALED:
            rng = random.Random(case)
            path.write_bytes(mutations.mutated(data[kind], data[rng.choice(sorted(data))], rng))
        else:
            path.write_bytes(mutated(files[kind], np.random.default_rng(case)))
        try:
            counts[f"{kind}: {try_file(path, kind)}"] += 1
        except Exception as error:
            counts["failures"] += 1
            print(f"case {case} ({kind}): {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    path.unlink(missing_ok=True)
    counts["peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(counts), flush=True)


def run(folder: Path, first: int, count: int, mode: str) -> tuple[collections.Counter[str], int]:
    """Run cases in a worker; returns the counts and how many cases were tried before it ended."""
    command = [sys.executable, __file__, "--work", str(folder), "--first", str(first), "--count", str(count)]
    command += ["--mode", mode]
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1", **MODES[mode]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as worker:
        assert worker.stdout is not None
        last, rest = b"", b""
        while True:
            ready, _, _ = select.select([worker.stdout], [], [], PATIENCE if last else 20 * PATIENCE)
            data = os.read(worker.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            last = lines[-1] if lines else last
        if not ready:
            worker.kill()
    if last.startswith(b"{"):
        return collections.Counter(json.loads(last)), count
    what = "hangs" if not ready else f"crashes ({worker.returncode})"
    print(f"case {last.decode() or first} {what}", file=sys.stderr, flush=True)
    return collections.Counter({"failures": 1}), int(last or first) - first + 1


def run_all(folder: Path, first: int, count: int, mode: str) -> dict[str, int]:
    """Run cases; after one that crashes or hangs, the next worker continues behind it."""
    total: collections.Counter[str] = collections.Counter()
    started, case, peak = time.perf_counter(), first, 0
    while case < first + count:
        counts, n_tried = run(folder, case, first + count - case, mode)
        peak = max(peak, counts.pop("peak MiB", 0))
        total += counts
        case += n_tried
    seconds = round(time.perf_counter() - started)
    return {"failures": total["failures"], "peak MiB": peak, "seconds": seconds, **dict(sorted(total.items()))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--per-worker", type=int, default=5_000, help="cases in one process, kept together")
    parser.add_argument("--mode", choices=sorted(MODES), default="")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.first, options.count, options.mode)
        return
    store = Store(options.results / "fuzz_models.jsonl")
    n_failures = 0
    memory = "/dev/shm"  # files are made by the hundred a second
    with tempfile.TemporaryDirectory(dir=memory if Path(memory).is_dir() else None) as folder:
        save_all(Path(folder))
        for first in range(options.first, options.first + options.count, options.per_worker):
            n_cases = min(options.per_worker, options.first + options.count - first)
            job = {"mode": options.mode, "first": first, "count": n_cases}
            if store.get(job) is None:
                store.add(job, run_all(Path(folder), first, n_cases, options.mode))
            n_failures += store.results[key(job)]["failures"]
            print(f"{first + n_cases - options.first:,} of {options.count:,}: {n_failures} failures", file=sys.stderr)
    sys.exit(1 if n_failures else 0)


if __name__ == "__main__":
    main()
