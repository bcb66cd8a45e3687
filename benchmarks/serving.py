"""What the studies of the service share: services in processes of their own, a client with many connections, and rows.

Everything is on loopback addresses, with a bounded number of connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ocoboost.saving import container
from ocoboost.serve.folder import Folder
from ocoboost.serve.limits import Limits
from ocoboost.serve.listening import listen
from ocoboost.serve.service import Service
from ocoboost.serve.tokens import Tokens

HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def begin(path: Path, models: dict[str, Any], limits: Limits | None = None) -> Folder:
    """A folder with these models, of which the first answers."""
    folder = Folder(path)
    with folder.locked():
        database = folder.open(limits or Limits())
        for name, model in models.items():
            folder.add(name, model, database)
        database.close()
    return folder


def fork(work: Callable[[], Any], errors: Path) -> int:
    """A process that does this; everything is imported and compiled in it already."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            out = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            work()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def serve(folder: Folder, port: int, *, save_every: float, limits: Limits | None = None) -> None:
    """What ``ocoboost serve`` does once its options are read."""
    service = Service(folder, limits or Limits(), save_every)
    asyncio.run(listen(service, Tokens(), HOST, port, print))


def wait_until_up(port: int, seconds: float = 60.0) -> None:
    """Return once somebody listens."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.01)
    raise RuntimeError("the service does not answer")


def end(child: int, signum: int = signal.SIGTERM) -> int:
    """End a process that was forked here; its exit code, or minus the signal."""
    os.kill(child, signum)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Connection:
    """One connection to a service that is kept open; as little work as possible for the client's processor."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, content: Any = None) -> tuple[int, Any]:
        """The status and the JSON of an answer; raises ``OSError`` if the service is away."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(HOST, self.port)
        reader, writer = self.streams
        body = b"" if content is None else json.dumps(content).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n"
        try:
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            lines = answer.decode().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
            data = await reader.readexactly(int(headers.get("content-length", 0)))
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise ConnectionError(str(error)) from error
        return int(lines[0].split()[1]), json.loads(data) if data else None

    def close(self) -> None:
        """Drop the connection."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def at_once(port: int, n: int, work: Callable[[Connection, int], Awaitable[None]]) -> None:
    """Let so many connections work side by side."""
    connections = [Connection(port) for _ in range(n)]
    try:
        await asyncio.gather(*(work(connection, number) for number, connection in enumerate(connections)))
    finally:
        for connection in connections:
            connection.close()


def rows(seed: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Numbers, text, missing values, and a class that comes late, without end."""
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        for a, b, c in rng.normal(size=(256, 3)).round(4).tolist():
            row = {"a": a, "b": b, "city": f"city {int(abs(c) * 3)}"}
            if number % 17 == 0:
                del row["b"]
            label = "late" if number > 300 and a > 1 else "up" if a + b > 0 else "down"
            number += 1
            yield row, label


# -- what is in a folder ---------------------------------------------------------------------------------------------


class Logged(NamedTuple):
    """A row of the log."""

    number: int
    id: str
    features: dict[str, Any]
    label: Any
    issued: bytes | None  # what was said to it, for the model that did


def log_of(folder: Folder) -> list[Logged]:
    """The log."""
    connection = sqlite3.connect(folder.log)
    found = connection.execute("SELECT number, id, features, label, issued FROM log ORDER BY number").fetchall()
    connection.close()
    return [
        Logged(number, name, json.loads(features), json.loads(label), issued)
        for number, name, features, label, issued in found
    ]


def counters_of(folder: Folder) -> dict[str, int]:
    """What was counted, and the rows that wait."""
    connection = sqlite3.connect(folder.log)
    found = dict(connection.execute("SELECT name, value FROM counters"))
    found["pending"] = connection.execute("SELECT count(*) FROM pending").fetchone()[0]
    found["log"] = connection.execute("SELECT count(*) FROM log").fetchone()[0]
    connection.close()
    return found


def learned(path: Path) -> Any:
    """All that a model file says was learned, unpacked."""
    with container.opened(path) as file:
        return file.unpacked()["state"]


def is_same(one: Any, other: Any) -> bool:
    """Whether two unpacked states are equal to the bit."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and not isinstance(one, str | bytes):
        return len(one) == len(other) and all(map(is_same, one, other))
    return repr(one) == repr(other)  # of numbers and text; NaN is NaN, and 1 is not 1.0
