"""Mutated CSV, ARFF, JSON-lines and Parquet files through the readers and a tree: no crash, no hang, one line each.

    python benchmarks/fuzz_inputs.py run --count 100000
    python benchmarks/fuzz_inputs.py report

Every input is a small file with one to eight changes (``mutations.py``), read and learned as `ocoboost run` does it;
one in a hundred goes through the command itself, whose exit code and output are checked too. It is either read, or
rejected by a ``DataFileError`` of one line. Blocks of a thousand run in processes of their own, in which the memory
that may be allocated is limited to 1 GiB above what the process has when it starts, and an alarm ends what takes
longer than 20 seconds. Counts are kept in ``benchmarks/results/fuzz_inputs.jsonl``, so an interrupted study resumes;
``report`` writes the table of ``docs/run.md``.
"""

from __future__ import annotations

import faulthandler
import gzip
import json
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # PyArrow's own reserves addresses by the GiB

import mutations
import studies
from typer.testing import CliRunner

import ocoboost
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli import app
from ocoboost.errors import DataFileError, HazardWarning
from ocoboost.run import runner
from ocoboost.run.checkpoint import Settings

PER_JOB = 1000
MEMORY = 1 << 30
SECONDS = 20
BY_COMMAND = 100  # one in so many
LONGEST_MESSAGE = 1000
OUTCOMES = ("read", "rejected", "crashed", "hung", "raised")
_OWN_MISTAKE = 99


def try_input(data: bytes, path: Path, *, skip: bool, by_command: bool) -> str:
    """Read and learn a file; returns what became of it. Whatever else it raises is a finding."""
    path.write_bytes(data)
    if by_command:
        return _run_command(path)
    model = ocoboost.HoeffdingTrees(seed=1)
    warnings.simplefilter("ignore", HazardWarning)
    try:
        for _ in runner.Run(model, str(path), Settings("y", on_error="skip" if skip else "stop")).steps():
            pass
    except DataFileError as error:
        message = str(error)
        if "\n" in message or len(message) > LONGEST_MESSAGE:
            raise AssertionError(f"not one line: {message!r}") from error
        return "rejected"
    return "read"


def _run_command(path: Path) -> str:
    result = CliRunner().invoke(app, ["run", str(path), "--target", "y", "--model", "hoeffding"])
    beside = ("ocoboost: compiling", "ocoboost: warning")
    lines = [line for line in result.stderr.splitlines() if not line.startswith(beside)]
    if result.exit_code == 0:
        return "read"
    if result.exit_code != 2 or len(lines) != 1 or not lines[0].isprintable():
        raise AssertionError(f"exit code {result.exit_code}: {result.stderr!r}") from result.exception
    return "rejected"


def inputs(kind: str, seed: int, count: int) -> Any:
    """The inputs of a block, the same whenever it is run."""
    rng = random.Random(f"{kind} {seed}")
    known = mutations.ORIGINALS
    everything = [data for files in known.values() for data in files]
    for number in range(count):
        is_inside = kind == "csv.gz" and rng.random() < 0.7  # a change after compression is nearly always found out
        data = mutations.mutated(rng.choice(known["csv" if is_inside else kind]), rng.choice(everything), rng)
        data = gzip.compress(data, 1) if is_inside else data
        yield data, rng.random() < 0.5, number % BY_COMMAND == 0


def fuzz(job: Job) -> Result:
    """A block of inputs in a process of its own; one that ends it is skipped, and counted."""
    found: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        first, log = 0, Path(folder) / "log"
        while first < job["count"]:
            child = os.fork()
            if child == 0:
                try:
                    _work(job, first, Path(folder), log)
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                    os._exit(_OWN_MISTAKE)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code == _OWN_MISTAKE:
                raise RuntimeError("this script failed, not an input")
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            for _, outcome, what in lines:
                found[outcome] += 1
                findings += [what] if what else []
            first += len(lines)
            if code != 0 and first < job["count"]:
                found["hung" if code == -signal.SIGALRM else "crashed"] += 1
                findings.append(f"input {first} of seed {job['seed']} ended the process ({code})")
                first += 1
            log.unlink()
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return {**found, "peak_mib": peak, "findings": findings[:5]}


def _work(job: Job, first: int, folder: Path, log: Path) -> None:
    faulthandler.enable()
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    path = folder / f"rows.{job['format']}"
    with log.open("w") as lines:
        for number, (data, skip, by_command) in enumerate(inputs(job["format"], job["seed"], job["count"])):
            if number < first:
                continue
            signal.alarm(SECONDS)
            what = ""
            try:
                outcome = try_input(data, path, skip=skip, by_command=by_command)
            except Exception as error:
                outcome = "raised"
                what = f"input {number} of {job['format']}, seed {job['seed']}: {type(error).__name__}: {error}"[:300]
            signal.alarm(0)
            lines.write(json.dumps([number, outcome, what]) + "\n")
            lines.flush()


def report(records: list[dict[str, Any]]) -> str:
    """All inputs, added up by format."""
    total: dict[str, Counter[str]] = {kind: Counter() for kind in mutations.FORMATS}
    peak = Counter[str]()
    for record in records:
        for finding in record["findings"]:
            print(finding, file=sys.stderr)
        total[record["format"]].update({name: record[name] for name in ("count", *OUTCOMES)})
        peak[record["format"]] = max(peak[record["format"]], record["peak_mib"])
    rows = [
        [kind, *(f"{counts[name]:,}" for name in ("count", *OUTCOMES)), f"{peak[kind]}"]
        for kind, counts in total.items()
    ]
    return studies.table(["", "inputs", *OUTCOMES, "peak MiB"], rows)


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    made.add_argument("--count", type=int, default=100_000, help="inputs, divided among the formats")
    options = made.parse_args()
    if options.what == "report":
        studies.put(studies.DOCS / "run.md", report(studies.finished("fuzz_inputs", options)), "inputs")
        return
    with tempfile.TemporaryDirectory() as folder:  # what all processes share is imported and compiled once
        for kind, (data, *_) in mutations.ORIGINALS.items():
            for by_command in (False, True):
                try_input(data, Path(folder) / f"rows.{kind}", skip=False, by_command=by_command)
    n_jobs = -(-options.count // PER_JOB)
    kinds = mutations.FORMATS
    jobs = [{"format": kinds[n % len(kinds)], "seed": n // len(kinds), "count": PER_JOB} for n in range(n_jobs)]
    studies.run_missing("fuzz_inputs", jobs, fuzz, options)


if __name__ == "__main__":
    main()
