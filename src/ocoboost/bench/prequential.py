"""The prequential loop: every row is predicted, then learned."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from river import base

from ocoboost.arrays import FloatArray
from ocoboost.cascade import Answers
from ocoboost.online.agnostic import OnlineAgnosticBoostClassifier
from ocoboost.online.protocol import StreamClassifier
from ocoboost.online.state import State
from ocoboost.randomness import PREDICT, draw_label, uniform

N_PIECES = 40  # in how many pieces a stream is shown to a model that is watched


@dataclass
class Trace:
    """What a model said to each row before it learned it."""

    predictions: list[Any] = field(default_factory=list)
    drawn: list[Any] | None = None  # what ``sample_one`` would have said; None for models that do not draw
    seconds: float = 0.0
    n_bytes: int = 0
    weights: list[dict[str, float]] = field(default_factory=list)  # of a mixture's members, after each piece


def stream(model: base.Classifier, X: Sequence[Any], labels: Sequence[Any]) -> Trace:
    """Predict each row, then learn it with its label."""
    if isinstance(model, StreamClassifier):
        return _stream_ours(model, X, labels)
    trace = Trace()
    began = time.perf_counter()
    for x, y in zip(X, labels, strict=True):
        trace.predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    trace.seconds = time.perf_counter() - began
    trace.n_bytes = model._raw_memory_usage
    return trace


def _stream_ours(model: StreamClassifier, X: Sequence[Any], labels: Sequence[Any]) -> Trace:
    """In pieces, which is faster than row by row and gives the same bits."""
    trace = Trace()
    distributions: list[tuple[list[Any], FloatArray]] = []

    def see(state: State, answers: Answers) -> None:
        trace.predictions += state.known(answers)
        known = list(state.labels.known)
        distributions.extend((known, distribution) for distribution in answers.distributions)

    edges = np.linspace(0, len(X), N_PIECES + 1).astype(int)
    for first, last in pairwise(edges):
        began = time.perf_counter()
        model._learn(*model._read(X[first:last], list(labels[first:last]), None), see=see)
        trace.seconds += time.perf_counter() - began
        if isinstance(model, OnlineAgnosticBoostClassifier) and last > first:
            trace.weights.append(model.member_weights_)
    seed = np.uint64(model._ready().seed)
    trace.drawn = [
        known[draw_label(distribution, uniform(seed, PREDICT, row, 0))] if distribution.size else None
        for row, (known, distribution) in enumerate(distributions)
    ]
    trace.n_bytes = model.memory_usage_
    return trace
