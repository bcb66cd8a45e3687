"""Rates and latencies of a service, for the page and for Prometheus."""

from __future__ import annotations

import bisect
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds
WINDOW = 2048  # requests of which the quantiles are
HISTORY = 300  # seconds


class Latency:
    """How long requests of one kind take."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0
        self.n = 0
        self._latest: deque[float] = deque(maxlen=WINDOW)

    def add(self, seconds: float) -> None:
        """Count a request."""
        self.counts[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds
        self.n += 1
        self._latest.append(seconds)

    def quantiles(self) -> tuple[float | None, float | None]:
        """The median and the 99th percentile of the latest requests."""
        ordered = sorted(self._latest)
        if not ordered:
            return None, None
        return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


class Measures:
    """What happened since the process started."""

    def __init__(self) -> None:
        self.started = time.time()
        self.latencies = {"predict": Latency(), "learn": Latency()}
        self.rows: Counter[str] = Counter()  # by kind of request
        self.statuses: Counter[tuple[str, int]] = Counter()  # requests, by path and status
        self.history: deque[dict[str, Any]] = deque(maxlen=HISTORY)
        self._before: Counter[str] = Counter()
        self._at = time.monotonic()

    def answered(self, kind: str, n_rows: int, seconds: float) -> None:
        """Count a request to predict or to learn that was done."""
        self.latencies[kind].add(seconds)
        self.rows[kind] += n_rows

    def sample(self, learned: int, recent_accuracy: float | None) -> None:
        """Note how fast things go; called about once a second."""
        now = time.monotonic()
        took = max(now - self._at, 1e-6)
        rows = Counter(self.rows)
        rows["learned"] = learned
        rates = {name: (rows[name] - self._before[name]) / took for name in ("predict", "learn", "learned")}
        if not self.history:
            rates = dict.fromkeys(rates, 0.0)  # nobody knows how long it took
        quantiles = {name: latency.quantiles() for name, latency in self.latencies.items()}
        self.history.append({"at": time.time(), **rates, "latency": quantiles, "recent_accuracy": recent_accuracy})
        self._before, self._at = rows, now


def exposition(status: dict[str, Any], counters: dict[str, int], measures: Measures) -> str:
    """The text that Prometheus reads."""
    lines: list[str] = []

    def add(name: str, kind: str, what: str, values: Sequence[tuple[str, float]]) -> None:
        lines.append(f"# HELP ocoboost_{name} {what}")
        lines.append(f"# TYPE ocoboost_{name} {kind}")
        lines.extend(f"ocoboost_{name}{labels} {value:.10g}" for labels, value in values)

    for name, value in counters.items():
        add(f"{name}_total", "counter", f"{name.replace('_', ' ').capitalize()}, since the log began.", [("", value)])
    add("pending_rows", "gauge", "Rows that wait for their labels.", [("", status["pending"])])
    add("log_rows", "gauge", "The highest number of the log.", [("", status["log"])])
    models = status["models"].items()
    for key, what in (("position", "Number in the log up to which a model has learned."), ("refused", "Rows refused.")):
        add(f"model_{key}", "gauge", what, [(_labels(model=name), one[key]) for name, one in models])
    scores = [(_labels(model=name), one["accuracy"]) for name, one in models if one["accuracy"] is not None]
    add("model_accuracy", "gauge", "Prequential accuracy.", scores)
    champion = [(_labels(model=name), float(name == status["champion"])) for name, _ in models]
    add("model_is_champion", "gauge", "1 for the model that answers.", champion)
    add("memory_bytes", "gauge", "Memory of the model that answers.", [("", status["model"]["memory_bytes"])])
    requests = [(_labels(path=path, status=str(code)), n) for (path, code), n in sorted(measures.statuses.items())]
    add("requests_total", "counter", "Requests since the process started.", requests)
    lines.append("# HELP ocoboost_request_seconds Duration of requests that were done.")
    lines.append("# TYPE ocoboost_request_seconds histogram")
    for kind, latency in measures.latencies.items():
        below = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), latency.counts, strict=True):
            below += count
            lines.append(f"ocoboost_request_seconds_bucket{_labels(kind=kind, le=bound)} {below}")
        lines.append(f"ocoboost_request_seconds_sum{_labels(kind=kind)} {latency.total:.6f}")
        lines.append(f"ocoboost_request_seconds_count{_labels(kind=kind)} {latency.n}")
    return "\n".join(lines) + "\n"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
