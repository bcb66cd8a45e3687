"""Jobs in processes of their own: one that fails, or is killed, leaves the others alone."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from ocoboost.bench.jobs import Job, Result
from ocoboost.errors import DataFileError, HazardWarning

Work = Callable[[Job, Callable[[float], None]], Result]


class Apart:
    """What to do while jobs run: methods to replace."""

    def on_start(self, job: Job) -> None:
        """A job begins."""

    def on_progress(self, job: Job, fraction: float) -> None:
        """A part of it is done."""

    def on_hazard(self, job: Job, what: str) -> None:
        """Its process warns of something; here it is said as if it had happened in this one."""
        warnings.warn(what, HazardWarning, stacklevel=2)

    def on_result(self, job: Job, result: Result) -> None:
        """It is finished."""

    def on_failure(self, job: Job, why: str) -> None:
        """It failed; the others go on."""

    def run(self, jobs: Sequence[Job], work: Work, n_jobs: int) -> None:
        """Run the jobs, ``n_jobs`` at a time. A ``DataFileError`` of one is raised: no other could do better."""
        context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        waiting, running = list(jobs), dict[Any, tuple[Job, Any]]()
        try:
            while waiting or running:
                while waiting and len(running) < n_jobs:
                    ours, theirs = context.Pipe(duplex=False)
                    job = waiting.pop(0)
                    process = context.Process(target=_work, args=(theirs, work, job), daemon=True)
                    process.start()
                    theirs.close()  # so that the end of the process ends the pipe
                    running[ours] = job, process
                    self.on_start(job)
                for connection in wait(list(running)):
                    job, process = running[connection]
                    if self._take(connection, job, process):
                        del running[connection]
        finally:
            for connection, (_, process) in running.items():
                process.terminate()
                process.join()
                connection.close()

    def _take(self, connection: Any, job: Job, process: Any) -> bool:
        """Take one message; returns whether it is the last one."""
        try:
            kind, content = connection.recv()
        except EOFError:
            process.join()
            kind, content = "failure", _ending(process.exitcode)
        if kind == "progress":
            self.on_progress(job, content)
            return False
        if kind == "hazard":
            self.on_hazard(job, content)
            return False
        process.join()
        connection.close()
        if kind == "data":
            raise DataFileError(content)
        if kind == "result":
            self.on_result(job, content)
        else:
            self.on_failure(job, content)
        return True


def _work(connection: Connection, work: Work, job: Job) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is left to the parent
    try:
        with _sending_hazards(connection):
            result = work(job, lambda fraction: connection.send(("progress", fraction)))
        connection.send(("result", result))
    except DataFileError as error:
        connection.send(("data", str(error)))
    except Exception as error:  # of any library: it is named, and the others go on
        lines = str(error).split("\n")
        connection.send(("failure", f"{type(error).__name__}: {lines[0]}" if lines[0] else type(error).__name__))


@contextmanager
def _sending_hazards(connection: Connection) -> Iterator[None]:
    """Send hazards to the parent; other warnings go where they would go anyway."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, HazardWarning):
                connection.send(("hazard", str(message)))
            else:
                show(message, category, *where, **more)

        warnings.simplefilter("always", HazardWarning)
        warnings.showwarning = tell
        yield


def _ending(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{hint}"
