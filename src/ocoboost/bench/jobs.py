"""Many runs, each kept as soon as it is finished: an interrupted study resumes where it stopped.

A job is a flat dict of what decides a run; its result is another. A store is a file of JSON lines, one per finished
run, that is only ever appended to. Each line also has a checksum of the sources that made it, so that runs of other
sources can be told apart; the oldest lines of our own studies have none. Online boosters do not import the batch ones,
so a study without batch boosters has a checksum without their sources.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import multiprocessing
import os
import signal
import tokenize
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import ocoboost

Job: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]

_NO_PART_OF_A_RUN = ("bench/", "cli/", "files/", "report/", "run/", "serve/")
_BATCH_STUDIES = ("audits", "batch", "batch_accuracy", "batch_gamma", "batch_speed", "batch_stumps")


def code(study: str) -> str:
    """A checksum of all sources that the numbers of a study can depend on: words about them do not count."""
    left_out = _NO_PART_OF_A_RUN if study in _BATCH_STUDIES else (*_NO_PART_OF_A_RUN, "batch/")
    return _checksum(Path(ocoboost.__file__).parent, left_out)


@cache
def _checksum(root: Path, left_out: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(left_out):
            digest.update(f"{name}\0{without_words(path.read_text(encoding='utf-8'))}".encode())
    return digest.hexdigest()[:12]


def without_words(source: str) -> str:
    """A source without comments, docstrings and empty lines.

    >>> without_words("def f():\\n    'Why.'\\n\\n    return '# 1'  # one\\n")
    "def f():\\n    return '# 1'"
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines[docstring.lineno - 1 : docstring.end_lineno] = [""] * (
                (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
            )
    return "\n".join(line.rstrip() for line in lines if line.strip())


def key(job: Job) -> str:
    """What tells jobs apart."""
    return json.dumps(job, sort_keys=True)


class Store:
    """Finished runs in a file of JSON lines; a truncated line is not a finished run, nor is one that failed.

    Only runs of the present sources count, unless ``any_code``, which may also say so of single jobs; of several runs
    of one job the last counts.
    """

    def __init__(self, path: Path, *, any_code: bool | Callable[[Job], bool] = False) -> None:
        is_old_kept = any_code if callable(any_code) else lambda job: any_code
        self.path = path
        self.code = code(path.stem)
        self.results: dict[str, Result] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                kept = json.loads(line)
                is_kept = is_old_kept(kept["job"]) or kept["code"] == self.code
                if is_kept and "failed" not in kept["result"]:
                    self.results[key(kept["job"])] = kept["result"]
            except (ValueError, KeyError, TypeError):
                continue

    def add(self, job: Job, result: Result) -> None:
        """Append a finished run."""
        self.results[key(job)] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"job": job, "code": self.code, "result": result}, separators=(",", ":")) + "\n"
        with self.path.open("a+b") as lines:  # which writes at the end, wherever it was read
            if lines.tell():
                lines.seek(-1, os.SEEK_END)
                if lines.read() != b"\n":  # the last line is truncated
                    line = "\n" + line
            lines.write(line.encode())

    def get(self, job: Job) -> Result | None:
        """The result of a job, if it is finished."""
        return self.results.get(key(job))

    def records(self) -> list[dict[str, Any]]:
        """Every finished run as one flat dict: its job and its result."""
        return [json.loads(job) | result for job, result in self.results.items()]


def run_all(
    jobs: Iterable[Job],
    work: Callable[[Job], Result],
    store: Store,
    *,
    n_jobs: int = 1,
    tick: Callable[[Job], object] = lambda job: None,
) -> None:
    """Run the jobs that are not in the store yet, on ``n_jobs`` processes; ``tick`` is called after each."""
    waiting = [job for job in jobs if store.get(job) is None]
    if n_jobs == 1 or len(waiting) < 2:
        for job in waiting:
            store.add(job, work(job))
            tick(job)
        return
    # Spawned, because a fork of a process with threads may hang; Ctrl-C is left to the parent.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(n_jobs, len(waiting)), context, initializer=_ignore_interrupts)
    try:
        running = {pool.submit(work, job): job for job in waiting}
        for future in as_completed(running):
            store.add(running[future], future.result())
            tick(running[future])
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
