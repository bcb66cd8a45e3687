"""Kill `ocoboost run --save` at random moments: is there always a file that loads and resumes to the same bytes?

    python benchmarks/kill_runs.py run --count 1000
    python benchmarks/kill_runs.py report

A run over a small file saves after every block and is killed, in turns by SIGKILL and SIGTERM, at a random moment of
its life; the next one resumes from what is there and is killed in turn. After every kill the file must load, and a copy
of it, resumed to the end of the data, must have the very bytes of the uninterrupted run. Where there is no file yet,
the run was killed before its first save. To afford a thousand kills, the runs are forked from one process that has
imported and compiled everything, blocks have 64 rows instead of 1,024, and saving may take all of the time;
``--spawn`` starts a new interpreter for every run instead. Kills are kept in ``benchmarks/results/kill_runs.jsonl`` by
the fifty, so an interrupted study resumes; ``report`` writes the table of ``docs/run.md``.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import studies

import ocoboost
from ocoboost.bench.jobs import Job, Result
from ocoboost.cli import app
from ocoboost.files import records
from ocoboost.run import runner

N_ROWS = 3000
BLOCK = 64
KILLS_PER_JOB = 50
LONGEST_CHAIN = 6  # kills until a run starts afresh
MODELS = {
    "hoeffding": ["--model", "hoeffding"],
    "agnostic": ["--model", "agnostic", "--budget", "3"],
    "boost": ["--model", "boost", "--budget", "30"],  # the least that has members of every age
}


def write_file(path: Path, seed: int) -> None:
    """Numbers, a column of text, missing cells, and a class that appears late."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write("a,b,city,label\n")
        for row, (a, b) in enumerate(rng.normal(size=(N_ROWS, 2)).round(3).tolist()):
            city = "" if row % 17 == 0 else f"city {rng.integers(5)}"
            label = "late" if row > 0.6 * N_ROWS and a > 1 else "up" if a + b > 0 else "down"
            file.write(f"{a},{'' if row % 13 == 0 else b},{city},{label}\n")


def use_small_blocks() -> None:
    """More moments at which a run may be saving."""
    runner.BLOCK = BLOCK
    runner.SHARE_OF_TIME = 1.0
    records.FIRST_SIZE, records.CHUNK_SIZE = 1 << 14, 1 << 15


class Runs:
    """Runs over one file, by one model, each in a process of its own."""

    def __init__(self, folder: Path, model: str, seed: int, *, spawn: bool) -> None:
        self.folder, self.model, self.spawn = folder, model, spawn
        self.data, self.whole = folder / "rows.csv", folder / "whole.oco"
        write_file(self.data, seed)
        use_small_blocks()
        if self.wait(self.start(self.whole)) != 0:
            raise RuntimeError(f"the uninterrupted run failed: {self.errors}")
        if not spawn:  # the process that is forked has all that a run needs
            with contextlib.redirect_stdout(io.StringIO()):
                invoke(self.command(folder / "warm.oco"))
        began = time.monotonic()
        self.wait(self.start(folder / "timed.oco"))
        self.seconds = time.monotonic() - began
        self.bytes = self.whole.read_bytes()

    def command(self, saved: Path, every: int = 0) -> list[str]:
        """The arguments of a run: from the beginning, or from what there is."""
        options = ["--resume", str(saved)] if saved.exists() else ["--target", "label", *MODELS[self.model]]
        return ["run", str(self.data), *options, "--save", str(saved), "--save-every", str(every), "--json"]

    def start(self, saved: Path, every: int = 0) -> int:
        """The process of a run, which saves so often, in seconds."""
        command = self.command(saved, every)
        if self.spawn:
            code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import kill_runs as k; "
            code += f"k.use_small_blocks(); k.invoke({command!r})"
            return spawned(code, self.folder / "errors")
        child = os.fork()
        if child == 0:
            try:
                for descriptor, path in ((1, os.devnull), (2, str(self.folder / "errors"))):
                    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
                os._exit(invoke(command))
            finally:
                os._exit(99)
        return child

    def wait(self, child: int) -> int:
        """The exit code of a run; minus the signal that ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    @property
    def errors(self) -> str:
        """What the last run said."""
        return (self.folder / "errors").read_text()


def spawned(code: str, errors: Path) -> int:
    """A new interpreter."""
    with errors.open("w") as err:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=err)
    process.returncode = 0  # it is waited for by its number
    return process.pid


def invoke(command: list[str]) -> int:
    """Run the command in this process."""
    try:
        app(command)
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def kill_some(job: Job, *, spawn: bool = False) -> Result:
    """So many kills; returns what was found, and raises if anything was lost."""
    rng = random.Random(f"kills {job['seed']}")
    found: Counter[str] = Counter(dict.fromkeys(("SIGKILL", "SIGTERM", "before the first save", "ended first"), 0))
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder), job["model"], job["seed"], spawn=spawn)
        saved, chain = runs.folder / "killed.oco", 0
        while found["SIGKILL"] + found["SIGTERM"] < job["kills"]:
            child = runs.start(saved)
            time.sleep(rng.uniform(0.0, 1.05 * runs.seconds))
            signum = rng.choice((signal.SIGKILL, signal.SIGTERM))
            os.kill(child, signum)  # a child that has ended is still there to be waited for
            code = runs.wait(child)
            if code == 0:
                found["ended first"] += 1
            elif code in (-signum, 128 + signum):
                found[signal.Signals(signum).name] += 1
                found["rows saved by SIGTERM"] += code == 128 + signum and saved.exists()
            else:
                raise RuntimeError(f"exit code {code}: {runs.errors}")
            check(runs, saved, found)
            chain = 0 if code == 0 else (chain + 1) % LONGEST_CHAIN
            if chain == 0:
                saved.unlink(missing_ok=True)
        known = {"rows.csv", "whole.oco", "timed.oco", "warm.oco", "killed.oco", "copy.oco", "errors"}
        found["temporary files left"] = sum(path.name not in known for path in runs.folder.iterdir())
    return dict(found)


def check(runs: Runs, saved: Path, found: Counter[str]) -> None:
    """What a kill has left loads, and resumes to the bytes of the uninterrupted run."""
    if not saved.exists():
        found["before the first save"] += 1
        return
    n_rows = ocoboost.load(saved).n_rows_
    copy = runs.folder / "copy.oco"
    shutil.copy(saved, copy)
    code = runs.wait(runs.start(copy, every=10**6))  # only at the end
    if code != 0 or copy.read_bytes() != runs.bytes:
        raise RuntimeError(f"resumed after {n_rows} rows it ended otherwise (exit code {code}): {runs.errors}")
    found["resumed to the same bytes"] += 1


def report(records: list[dict[str, Any]]) -> str:
    """All kills, added up."""
    total: Counter[str] = Counter()
    for record in records:
        total.update({name: value for name, value in record.items() if name not in ("model", "spawn", "seed")})
    return studies.table(("", "count"), [(name, f"{count:,}") for name, count in total.items()])


def main() -> None:
    made = studies.parser(__doc__)
    made.add_argument("what", choices=("run", "report"))
    made.add_argument("--count", type=int, default=1000, help="kills")
    made.add_argument("--model", choices=list(MODELS), default="hoeffding")
    made.add_argument("--spawn", action="store_true", help="a new interpreter for every run, which takes longer")
    options = made.parse_args()
    if options.what == "report":
        studies.put(studies.DOCS / "run.md", report(studies.finished("kill_runs", options)), "kills")
        return
    sizes = [min(KILLS_PER_JOB, options.count - first) for first in range(0, options.count, KILLS_PER_JOB)]
    base: dict[str, Any] = {"model": options.model, "spawn": options.spawn}
    jobs = [{**base, "seed": seed, "kills": kills} for seed, kills in enumerate(sizes)]
    studies.run_missing("kill_runs", jobs, partial(kill_some, spawn=options.spawn), options)


if __name__ == "__main__":
    main()
