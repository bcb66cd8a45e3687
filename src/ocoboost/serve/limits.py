"""How much of everything a service takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What is refused, and what is forgotten."""

    body_bytes: int = 2**20
    body_seconds: float = 10.0  # for a request to arrive
    features: int = 1000  # of a row
    text: int = 1000  # characters of a name, a value or a label
    id_text: int = 200
    rows: int = 1000  # in a request
    pending_rows: int = 100_000  # that wait for their labels
    pending_seconds: float = 7 * 24 * 3600.0
    log_rows: int | None = None  # that are kept once every model has learned them; None keeps all
    waiting_rows: int = 10_000  # in requests that are not answered yet
    rate: float | None = None  # rows a second, of one client
    watchers: int = 20  # pages that are open
