"""The prequential loop: every row is predicted, then learned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from river import base

from ocoboost.bench.heard import Heard, ask
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.stream.protocol import StreamClassifier

N_BLOCKS = 40  # in how many blocks a stream is shown to a model that is watched


@dataclass
class Trace:
    """What a model said to each row before it learned it."""

    predictions: list[Any] = field(default_factory=list)
    drawn: list[Any] | None = None  # what ``sample_one`` would have said; None for models that do not draw
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of all threads; a busy machine does not change it much
    n_bytes: int = 0
    weights: list[dict[str, float]] = field(default_factory=list)  # of a mixture's members, after each block

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Count the time of what is done inside."""
        began, cpu_began = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - began
        self.cpu_seconds += time.process_time() - cpu_began


def stream(
    model: base.Classifier,
    X: Sequence[Any],
    labels: Sequence[Any],
    heard: Heard | None = None,
    true: Sequence[Any] | None = None,
) -> Trace:
    """Predict each row, then learn it with its label.

    ``heard`` is told what was said, and the ``true`` labels: those that are taught, unless others are given.
    """
    true = labels if true is None else true
    if isinstance(model, StreamClassifier):
        return _stream_ours(model, X, labels, heard, true)
    trace, said = Trace(), list[Any]()
    with trace.clock():
        for x, y in zip(X, labels, strict=True):
            said.append(model.predict_one(x) if heard is None else ask(model, x))
            model.learn_one(x, y)
    trace.predictions = said if heard is None else [heard.row(y, *one) for y, one in zip(true, said, strict=True)]
    trace.n_bytes = model._raw_memory_usage
    return trace


def _stream_ours(
    model: StreamClassifier, X: Sequence[Any], labels: Sequence[Any], heard: Heard | None, true: Sequence[Any]
) -> Trace:
    """In blocks, which is faster than row by row and gives the same bits."""
    trace, drawn = Trace(), list[Any]()
    edges = np.linspace(0, len(X), N_BLOCKS + 1).astype(int)
    for first, last in pairwise(edges):
        with trace.clock():
            answers = list(model.prequential(X[first:last], list(labels[first:last])))
        for answered in answers:
            begin = first + answered.first_row
            said = answered.labels if heard is None else heard.block(true[begin : begin + len(answered)], answered)
            trace.predictions += said
        if isinstance(model, OnlineBoostClassifier) and last > first:
            trace.weights.append(model.member_weights_)
        for answered in answers:
            drawn += model.draws(answered, first + answered.first_row)
    trace.drawn = drawn
    trace.n_bytes = model.memory_usage_
    return trace
