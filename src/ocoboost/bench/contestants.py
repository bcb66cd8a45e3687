"""The models of the leaderboard by name: ours, two that look at no features, and other libraries' ensembles.

A number at the end of an ensemble's name is its size: ``capymoa-arf-30`` has 30 trees, ``capymoa-arf`` as many as its
authors chose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from river import base

from ocoboost.bench import encoding, peers, prequential
from ocoboost.bench.compare import MODELS as DATASET_MODELS
from ocoboost.bench.compare import NAMES, OURS, WARM_UP_ROWS
from ocoboost.bench.prequential import Trace

FIRST_ROWS = 1000  # which decide the columns that text becomes


class LastLabel(base.Classifier):
    """Repeats the last label.

    >>> model = LastLabel()
    >>> model.learn_one({}, "a")
    >>> model.predict_one({"x": 1.0})
    'a'
    """

    def __init__(self) -> None:
        self.label: Any = None

    def learn_one(self, x: dict[Hashable, Any], y: Any, **kwargs: Any) -> None:
        self.label = y

    def predict_one(self, x: dict[Hashable, Any], **kwargs: Any) -> Any:
        return self.label


class Majority(base.Classifier):
    """Says the most frequent label so far, of several the one that was first.

    >>> model = Majority()
    >>> for label in "abb":
    ...     model.learn_one({}, label)
    >>> model.predict_one({})
    'b'
    """

    def __init__(self) -> None:
        self.counts: Counter[Any] = Counter()

    def learn_one(self, x: dict[Hashable, Any], y: Any, **kwargs: Any) -> None:
        self.counts[y] += 1

    def predict_one(self, x: dict[Hashable, Any], **kwargs: Any) -> Any:
        return max(self.counts, key=self.counts.__getitem__, default=None)


BASELINES = {"last-label": LastLabel, "majority": Majority}


def _named(titles: Sequence[str]) -> dict[str, str]:
    return {title.lower().replace(" ", "-"): title for title in titles}


_OURS = {name: title for name, title in NAMES.items() if title in OURS}
_RIVER = _named([*peers.RIVER, *peers.RIVER_ADAPTIVE])
_CAPYMOA = _named([*peers.CAPYMOA])
_SIZES = {**peers.RIVER_SIZES, **{title: peer.size for title, peer in peers.CAPYMOA.items() if peer.size is not None}}
NAMES_AND_TITLES = {**_OURS, "last-label": "the last label", "majority": "the majority", **_RIVER, **_CAPYMOA}
DEFAULTS = (
    *("boost", "last-label", "majority", "river-arf", "river-srp", "river-leveraging-bagging", "river-knn"),
    "river-adaptive-tree",
)
CAPYMOA_DEFAULTS = (
    *("capymoa-arf-30", "capymoa-srp-30", "capymoa-leveraging-bagging-30", "capymoa-sgbt", "capymoa-sam-knn"),
    *("capymoa-knn", "capymoa-adaptive-tree"),
)


class Contestant(NamedTuple):
    """A model by its title, and its size if that is not the default."""

    name: str
    title: str
    size: int | None = None

    def stream(self, X: Sequence[Any], labels: Sequence[Any], seed: int) -> Trace:
        """Predict each row before it is learned. Text and missing cells are encoded for those who need it, untimed."""
        if self.title in peers.CAPYMOA:
            return peers.stream_capymoa(self.title, _encoded(X), labels, seed, self.size)
        if self.name in BASELINES:
            return prequential.stream(BASELINES[self.name](), X, labels)
        if self.title in OURS:
            model: Any = DATASET_MODELS[self.title](seed)
            prequential.stream(model.clone(), X[:WARM_UP_ROWS], labels[:WARM_UP_ROWS])  # compiles
            return prequential.stream(model, X, labels)
        rows = _encoded(X) if self.title in peers.NUMBERS_ONLY else [encoding.present(x) for x in X]
        return prequential.stream(peers.river(self.title, seed, self.size), rows, labels)


def default_names() -> tuple[str, ...]:
    """The models that are compared unless others are named: CapyMOA's where it is installed."""
    return (*DEFAULTS, *(CAPYMOA_DEFAULTS if peers.has_capymoa() else ()))


def find(name: str) -> Contestant | None:
    """The model of that name, or None.

    >>> find("capymoa-arf-30").title, find("capymoa-arf-30").size, find("capymoa-knn-30")
    ('CapyMOA ARF', 30, None)
    """
    if name in NAMES_AND_TITLES:
        return Contestant(name, NAMES_AND_TITLES[name])
    family, _, size = name.rpartition("-")
    title = NAMES_AND_TITLES.get(family)
    if title in _SIZES and size.isascii() and size.isdigit() and not size.startswith("0"):
        return Contestant(name, title, int(size))
    return None


def _encoded(X: Sequence[Any]) -> list[Any]:
    encoder = encoding.Encoder(X[:FIRST_ROWS])
    return [encoder.encode(x) for x in X]
