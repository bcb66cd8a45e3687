"""A file sent to a service, row by row or in batches: predicted first, and labelled some rows later.

Rows have ids made of a name of the run and their line, so whoever feeds the same file under the same name again changes
nothing: predictions are repeated, and labels are duplicates. A service that is away is waited for.
"""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError

LONGEST_PAUSE = 1.0  # seconds between attempts


class Line(NamedTuple):
    """A row of a file."""

    number: int
    row: Row
    label: Label


class Client:
    """A connection to a service, made again when it breaks."""

    def __init__(self, url: str, token: str | None = None, patience: float = 30.0) -> None:
        parts = urlsplit(url if "//" in url else f"//{url}")
        if parts.scheme not in ("", "http", "https") or not parts.hostname:
            raise DataFileError(f"{url!r} is not the address of a service; it looks like http://127.0.0.1:8000.")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=60)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self.url, self.patience = url, patience
        self.n_broken = 0

    def post(self, path: str, content: Any) -> Any:
        """What the service answers; asked again if it is away or says that it is busy."""
        body = json.dumps(content)
        began, pause = time.monotonic(), 0.05
        while True:
            try:
                self._connection.request("POST", path, body, self._headers)
                response = self._connection.getresponse()
                status, answer = response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                self.n_broken += 1
                status, why = 0, str(error) or type(error).__name__
            if status == 200:
                return json.loads(answer)
            if status not in (0, 429, 503, 507):
                raise DataFileError(f"{self.url}{path}: {status}, {_error(answer)}")
            if time.monotonic() - began > self.patience:
                if status != 0:
                    raise DataFileError(f"{self.url}{path}: {_error(answer)}")
                raise DataFileError(
                    f"{self.url}: no service answers there ({why}); start one, or name another with --url."
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@dataclass
class Feed:
    """A stream of rows on its way to a service."""

    client: Client
    run: str  # begins the ids
    delay: int = 0  # rows that are predicted before the label of a row is sent
    rate: float | None = None  # rows a second
    batch: int = 1
    n_rows: int = 0
    n_right: int = 0
    n_labelled: int = 0
    statuses: Counter[str] = field(default_factory=Counter)  # of labels
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=10_000))  # of requests to predict

    def steps(self, lines: Iterable[Line]) -> Iterator[None]:
        """Send all rows; yields after every request."""
        waiting: deque[tuple[Line, Any]] = deque()
        lines, began, n_sent = iter(lines), time.monotonic(), 0
        while batch := list(islice(lines, self.batch)):
            if self.rate is not None:
                time.sleep(max(0.0, began + n_sent / self.rate - time.monotonic()))
            n_sent += len(batch)
            waiting.extend(zip(batch, self._predict(batch), strict=True))
            self.n_rows += len(batch)
            yield
            while len(waiting) >= self.delay + self.batch:
                self._label([waiting.popleft() for _ in range(self.batch)])
                yield
        while waiting:
            self._label([waiting.popleft() for _ in range(min(self.batch, len(waiting)))])
            yield

    def _predict(self, batch: list[Line]) -> list[Any]:
        rows = [{"id": self._id(line), "features": _plain(line.row)} for line in batch]
        began = time.perf_counter()
        predictions = self.client.post("/predict", {"rows": rows})["predictions"]
        self.seconds.append(time.perf_counter() - began)
        return [prediction["label"] for prediction in predictions]

    def _label(self, answered: list[tuple[Line, Any]]) -> None:
        rows = []
        for line, prediction in answered:
            rows.append({"id": self._id(line), "features": _plain(line.row), "label": line.label})
            self.n_right += prediction == line.label
            self.n_labelled += 1
        results = self.client.post("/learn", {"rows": rows})["results"]
        self.statuses.update(result["status"] for result in results)

    def _id(self, line: Line) -> str:
        return f"{self.run}:{line.number}"


def _plain(row: Row) -> dict[str, Any]:
    """A row as JSON has it; missing values are left out."""
    return {str(name): value for name, value in row.items() if value is not None}


def _error(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return "an answer that is not a service's"
