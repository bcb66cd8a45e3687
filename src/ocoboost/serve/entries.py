"""What goes into the database of a service, and what becomes of it."""

from __future__ import annotations

from typing import NamedTuple

from ocoboost.data.labels import Label
from ocoboost.serve.reading import Features

ACCEPTED, DUPLICATE, CONTRADICTION, UNKNOWN = "accepted", "duplicate", "contradiction", "unknown"


class Prediction(NamedTuple):
    """What was said to a row."""

    id: str
    features: Features
    model: str
    model_rows: int
    label: Label | None
    probabilities: dict[str, float]
    issued: bytes | None = None
    is_kept: bool = False
    is_repeated: bool = False  # and this is what was said the first time


class Entry(NamedTuple):
    """A row of the log."""

    number: int
    id: str
    features: Features
    label: Label | None  # None: all that is known is that the answer was wrong
    answer: Label | None = None  # what was said to it, if anything was
    issued: bytes | None = None  # what the model that said it wants back


class Outcome(NamedTuple):
    """What became of a label."""

    id: str
    status: str
    number: int | None = None  # in the log
    error: str = ""  # why it is not learned
