"""How a model is run through a stream, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fingerprints.gists import Fingerprint, fingerprint, gist, shortened
from fingerprints.inside import forests, take_forest
from fingerprints.streams import Stream, stream


class Probed(NamedTuple):
    """What a model says to a stream's probes."""

    labels: str
    drawn: str
    distributions: Any  # (probes, classes)
    shares: Any


def probe(model: Any, learned: Stream) -> Probed:
    """Ask about the probes in every way."""
    table = learned.as_table(learned.probes)
    return Probed(
        learned.letters(model.predict_many(table)),
        learned.letters(model.sample_one(x) for x in learned.probes),
        as_matrix(model.predict_proba_many(table)),
        as_matrix(model.vote_shares_many(table)),
    )


def as_matrix(answers: Any) -> Any:
    """Numbers per row and label, whether they came as an array, a frame or dicts."""
    return np.array([list(row.values()) for row in answers]) if isinstance(answers, list) else np.asarray(answers)


N_BY_ONE = 5  # rows that are learned one at a time


def learn(model: Any, learned: Stream) -> Iterator[str]:
    """Learn a stream, some rows one by one and the others in two blocks; yields what was predicted in each part."""
    weights = [1.0] * len(learned.rows) if learned.weights is None else learned.weights
    predictions = []
    for x, y, w in zip(learned.rows[:N_BY_ONE], learned.labels, weights, strict=False):
        predictions.append(model.predict_one(x))
        model.learn_one(x, y, w=w)
    yield learned.letters(predictions)
    half = len(learned.rows) // 2
    for part in (slice(N_BY_ONE, half), slice(half, None)):
        given = {} if learned.weights is None else {"w": weights[part]}
        table = learned.as_table(learned.rows[part])
        yield learned.letters(model.predict_learn_many(table, learned.labels[part], **given))


def take(model: Any, name: str) -> Fingerprint:
    """The fingerprint of a classifier on streams: predictions on the way, and what it knows halfway and in the end."""
    learned = stream(name)
    parts = [(predicted, probe(model, learned)) for predicted in learn(model, learned)]
    halfway, end = parts[-2][1], parts[-1][1]
    exact = {
        "predictions": shortened("".join(predicted for predicted, _ in parts), most=300),
        "classes": model.classes_,
        "labels halfway": [halfway.labels, halfway.drawn],
        "labels": [end.labels, end.drawn],
    }
    floats = {
        "halfway": [gist(halfway.distributions), gist(halfway.shares)],
        "distributions": [gist(end.distributions), *end.distributions[0]],
        "shares": [gist(end.shares), *end.shares[0]],
    }
    for number, trees in enumerate(forests(model)):
        exact[f"trees {number}"], floats[f"trees {number}"] = take_forest(trees)
    return fingerprint(exact, floats)


def adding(found: Fingerprint, exact: dict[str, Any], floats: dict[str, Any]) -> Fingerprint:
    """A fingerprint with more parts."""
    more = fingerprint(exact, floats)
    return {kind: found[kind] | more[kind] for kind in found}
