"""Streams that change, with the rows at which they do.

A recipe makes a stream of any length from a seed; the rows at which a change begins are part of what it makes. Most
are concepts of River's generators, one after another in equal parts: at once (``abrupt``), or over a twentieth of the
stream, in which rows of the new concept become ever more frequent (``gradual``). Others are datasets of this package
or of River, shuffled, whose labels change their meaning half-way. Where all rows move a little, no row is named.

Every recipe is in the catalogue with two seeds. Models are developed on the streams of one of them; what is reported
is about the others, and about files (``stream_files``).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from river import datasets as river_datasets
from river.datasets import synth

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.bench import datasets
from ocoboost.bench.datasets import Stream

Use: TypeAlias = Literal["development", "reported"]
N_ROWS = 20_000
SEEDS: dict[Use, int] = {"development": 1, "reported": 101}


class Drifting(NamedTuple):
    """Rows in their order, and the rows at which a change begins."""

    rows: Stream
    changes: tuple[int, ...]


Recipe: TypeAlias = Callable[[int, int], Drifting]  # of the number of rows and the seed


class Entry(NamedTuple):
    """A stream of the catalogue, and what it may be used for."""

    name: str
    use: Use
    recipe: Recipe
    seed: int

    def load(self, n_rows: int = N_ROWS) -> Drifting:
        """The stream; one that is made from a dataset may have fewer rows."""
        return self.recipe(n_rows, self.seed)


def in_turn(concepts: Sequence[Iterable[Any]], n_rows: int, seed: int, *, width: int = 0) -> Drifting:
    """Equal parts of one concept after another; over ``width`` rows the next one becomes ever more frequent.

    >>> stream = in_turn([[({"x": 0}, "a")] * 4, [({"x": 0}, "b")] * 4], 8, seed=1)
    >>> [label for _, label in stream.rows], stream.changes
    (['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'], (4,))
    """
    changes = tuple(n_rows * part // len(concepts) for part in range(1, len(concepts)))
    streams, draws, rows = [iter(concept) for concept in concepts], random.Random(seed), Stream()
    for number in range(n_rows):
        part = bisect_right(changes, number)
        if part and draws.random() * width > number - changes[part - 1]:
            part -= 1  # the concept before, ever less often
        rows.append(_named(*next(streams[part])))
    return Drifting(rows, changes)


def _river(make: Callable[[int, int], Iterable[Any]], concepts: Sequence[int], *, is_gradual: bool = False) -> Recipe:
    """River's concepts in turn. Each has rows of its own, even if it comes back."""

    def recipe(n_rows: int, seed: int) -> Drifting:
        streams = [make(concept, 1000 * seed + place) for place, concept in enumerate(concepts)]
        return in_turn(streams, n_rows, seed, width=n_rows // 20 if is_gradual else 0)

    return recipe


def _sea(variant: int, seed: int) -> Iterable[Any]:
    return synth.SEA(variant, noise=0.1, seed=seed)


def _agrawal(function: int, seed: int) -> Iterable[Any]:
    return synth.Agrawal(function, seed=seed, perturbation=0.05)


def _led(n_swapped: int, seed: int) -> Iterable[Any]:
    return synth.LEDDrift(seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=n_swapped)


def _hyperplane(n_rows: int, seed: int) -> Drifting:
    """A plane that turns a little with every row."""
    stream = synth.Hyperplane(seed, n_features=10, n_drift_features=5, mag_change=0.001, noise_percentage=0.05)
    return Drifting([_named(x, y) for x, y in islice(stream, n_rows)], ())


def _rbf(n_rows: int, seed: int) -> Drifting:
    """Fifty clouds of five classes that move a little with every row."""
    stream = synth.RandomRBFDrift(seed, seed + 1, n_classes=5, change_speed=0.001)
    return Drifting([_named(x, y) for x, y in islice(stream, n_rows)], ())


def squares(n_rows: int, seed: int) -> Drifting:
    """Four squares side by side, one per class, that go to and fro: where one is, another was 120 rows ago.

    Told by Losing, Hammer & Wersing (2016), for whom it shows what only a short memory can know.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(4, size=n_rows)
    gap, sweep = 1.25, 1000
    phase = np.arange(n_rows) % (2 * sweep)
    travelled = gap / 120 * np.where(phase < sweep, phase, 2 * sweep - phase)
    features = generator.random((n_rows, 2))
    features[:, 0] += gap * labels + travelled
    return Drifting(_rows(features, labels), ())


def _clouds(
    n_rows: int, seed: int, priors: Sequence[float], n_features: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Rows of round clouds, one per class; their classes, and their centres."""
    generator = np.random.default_rng(seed)
    centres = 2.0 * generator.standard_normal((len(priors), n_features))
    labels = generator.choice(len(priors), size=n_rows, p=priors)
    return centres[labels] + generator.standard_normal((n_rows, n_features)), labels, centres


def steady(n_rows: int, seed: int) -> Drifting:
    """Ten clouds in four columns that stay where they are: nothing changes."""
    features, labels, _ = _clouds(n_rows, seed, [0.1] * 10, n_features=4)
    return Drifting(_rows(features, labels), ())


def rare(n_rows: int, seed: int) -> Drifting:
    """Three classes, one of them with one row in a thousand; half-way all clouds jump to mirrored places."""
    features, labels, centres = _clouds(n_rows, seed, [0.6, 0.399, 0.001], n_features=6)
    half = n_rows // 2
    features[half:] -= 2.0 * centres[labels[half:]]
    return Drifting(_rows(features, labels), (half,))


def rotated_clouds(n_rows: int, seed: int) -> Drifting:
    """Ten clouds in sixteen columns; half-way every class takes the label of the next one."""
    features, labels, _ = _clouds(n_rows, seed, [0.1] * 10, n_features=16)
    return rotated(_rows(features, labels))


def rotated(rows: Stream) -> Drifting:
    """Half-way every label becomes the next one, in sorted order.

    >>> [label for _, label in rotated([({}, "a"), ({}, "b"), ({}, "a"), ({}, "b")]).rows]
    ['a', 'b', 'b', 'a']
    """
    known = sorted({label for _, label in rows})
    return _relabelled(rows, dict(zip(known, known[1:] + known[:1], strict=True)))


def swapped(rows: Stream) -> Drifting:
    """Half-way the two most frequent labels change places."""
    (first, _), (second, _) = Counter(label for _, label in rows).most_common(2)
    return _relabelled(rows, {first: second, second: first})


def _relabelled(rows: Stream, new: dict[str, str]) -> Drifting:
    half = len(rows) // 2
    return Drifting([*rows[:half], *((x, new.get(label, label)) for x, label in rows[half:])], (half,))


def _packaged(name: str, change: Callable[[Stream], Drifting]) -> Recipe:
    """A dataset, shuffled, whose labels change their meaning."""

    def recipe(n_rows: int, seed: int) -> Drifting:
        rows = _bananas() if name == "bananas" else datasets.load(name)
        return change(datasets.shuffled(rows, seed)[:n_rows])

    return recipe


def _bananas() -> Stream:
    made: Iterable[Any] = river_datasets.Bananas()  # type: ignore[no-untyped-call]
    return [_named(x, y) for x, y in made]


RECIPES: dict[str, Recipe] = {
    "sea-abrupt": _river(_sea, (0, 1, 2, 3)),
    "sea-gradual": _river(_sea, (0, 1, 2, 3), is_gradual=True),
    "agrawal-abrupt": _river(_agrawal, (0, 3, 6, 8)),
    "agrawal-gradual": _river(_agrawal, (0, 3, 6, 8), is_gradual=True),
    "led-abrupt": _river(_led, (0, 3, 5, 7)),
    "led-gradual": _river(_led, (0, 3, 5, 7), is_gradual=True),
    "stagger-abrupt": _river(synth.STAGGER, (0, 1, 2, 0)),
    "sine-abrupt": _river(synth.Sine, (0, 1, 2, 3)),
    "sine-gradual": _river(synth.Sine, (0, 1, 2, 3), is_gradual=True),
    "mixed-abrupt": _river(synth.Mixed, (0, 1, 0, 1)),
    "hyperplane": _hyperplane,
    "rbf": _rbf,
    "squares": squares,
    "clouds-steady": steady,
    "clouds-rotated": rotated_clouds,
    "landsat-swapped": _packaged("landsat", swapped),
    "segment-rotated": _packaged("segment", rotated),
    "bananas-swapped": _packaged("bananas", swapped),
    "rare": rare,
}
CATALOGUE: dict[str, Entry] = {
    f"{name}-{seed}": Entry(f"{name}-{seed}", use, recipe, seed)
    for use, seed in SEEDS.items()
    for name, recipe in RECIPES.items()
}


def _named(x: dict[Hashable, Any], label: Any) -> tuple[dict[Hashable, Any], str]:
    """A row of River: names of columns as text, truths as numbers, labels as text."""
    row: dict[Hashable, Any] = {f"x{name}" if isinstance(name, int) else name: _plain(x[name]) for name in x}
    return row, str(_plain(label))


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool | np.bool_) else value


def _rows(features: FloatArray, labels: IntArray) -> Stream:
    return [
        ({f"x{column}": value for column, value in enumerate(values)}, str(label))
        for values, label in zip(features.tolist(), labels.tolist(), strict=True)
    ]
