"""The short way of a single row through a native cascade: everything that does not depend on the row is prepared.

A row by itself costs more in Python than in the learners: encoding, beginning a game, arrays to hold one vote. A seat
keeps all of that between rows, so that a row is one call into compiled code. It holds what follows from the cascade,
and is made again when that has changed: no state, and the same bits as a block of one row.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.kernel import learn_block, poll_block
from ocoboost.cascade.native import NativeEnsemble
from ocoboost.cascade.regimes import Playing
from ocoboost.cascade.relabelling import Games, Relabelling
from ocoboost.compiling import kernel
from ocoboost.oco import moves

if TYPE_CHECKING:
    from ocoboost.cascade.cascade import Cascade

NUMBER = -1  # in place of a category


@kernel
def gather_row(codes: FloatArray, source: IntArray, category: IntArray, out: FloatArray) -> None:
    """A row as an ensemble takes it: the columns it has places for, or whether they hold a category."""
    for place in range(source.size):
        value = codes[source[place]] if source[place] >= 0 else np.nan
        if category[place] != NUMBER and value == value:  # noqa: PLR0124, not missing
            value = 1.0 if value == category[place] else 0.0
        out[place] = value


@kernel
def begin_row(playing: Playing, games: Games, label: int, weight: float) -> None:
    """The game of one row before its first move, and no votes."""
    games.labels[0] = label
    games.weights[0] = weight
    for j in range(playing.starts.shape[1]):
        games.plays[0, j] = playing.starts[label, j]
    moves.begin(playing.player, playing.on_interval, games.plays, games.memory)
    clear_votes(games)


@kernel
def clear_votes(games: Games) -> None:
    for j in range(games.label_votes.shape[1]):
        games.label_votes[0, j] = 0.0
        games.distribution_votes[0, j] = 0.0


@kernel(error_model="numpy")
def learn_single(
    forest: Any,
    scratch: Any,
    playing: Playing,
    games: Games,
    codes: FloatArray,
    source: IntArray,
    category: IntArray,
    features: FloatArray,
    label: int,
    weight: float,
    n_classes: int,
    number: int,
    reached: IntArray,
) -> bool:
    """``learn_block`` for one row, from its codes; after growing, it is resumed where it stopped."""
    if reached[0] == 0:
        gather_row(codes, source, category, features[0])
        begin_row(playing, games, label, weight)
    learners = (0, playing.n_learners)
    return learn_block(forest, scratch, playing, games, (), features, n_classes, number, learners, reached)


@kernel(error_model="numpy")
def poll_single(
    forest: Any,
    scratch: Any,
    playing: Playing,
    games: Games,
    codes: FloatArray,
    source: IntArray,
    category: IntArray,
    features: FloatArray,
    n_classes: int,
    n_learned: int,
) -> None:
    """``poll_block`` for one row, from its codes."""
    gather_row(codes, source, category, features[0])
    clear_votes(games)
    poll_block(forest, scratch, playing, games, (), features, n_classes, n_learned)


class Seat:
    """What one row needs of a cascade, while its arrays and rules, the classes and the schema stay as they are."""

    def __init__(self, cascade: Cascade, n_classes: int) -> None:
        cells, ensemble = cascade.cells, cascade.ensemble
        assert isinstance(cells, Relabelling)
        assert isinstance(ensemble, NativeEnsemble)
        ensemble.grow_classes(n_classes)
        self.ensemble, self.trees, self.rules = ensemble, ensemble.trees, ensemble.rules
        self.version, self.n_classes = ensemble.version, n_classes
        source, category = ensemble.places()
        games = cells.begin(np.zeros(1, dtype=np.int64), np.zeros(1), n_classes)
        self._n_learners = cells.n_learners
        self._pooled = games.pooled(cells.pool)[0]
        self._kept = (ensemble.forest, ensemble.scratch(), cells.choices(n_classes), games)
        self._layout = (source, category, np.empty((1, source.size)))
        self._reached: IntArray = np.zeros(2, dtype=np.int64)

    def learn(self, codes: FloatArray, label: int, weight: float, number: int, out: FloatArray) -> bool:
        """Teach a row and write its vote shares from before; false if the learners' arrays are full.

        Then they have to grow, and a new seat goes on from ``reached``: see ``Seats.finish``.
        """
        kept, (source, category, features) = self._kept, self._layout
        done = learn_single(
            *kept, codes, source, category, features, label, weight, self.n_classes, number, self._reached
        )
        if done:
            self._reached[0] = 0
            np.divide(self._pooled, self._n_learners, out=out)
        return bool(done)

    def resume(self, other: Seat) -> None:
        """Go on with the row that another seat could not finish."""
        for own, before in zip(self._kept[3][:6], other._kept[3][:6], strict=True):
            own[...] = before
        self._layout[2][...] = other._layout[2]
        self._reached[:] = other._reached

    def poll(self, codes: FloatArray, n_learned: int, out: FloatArray) -> None:
        """Write the vote shares on a row."""
        source, category, features = self._layout
        poll_single(*self._kept, codes, source, category, features, self.n_classes, n_learned)
        np.divide(self._pooled, self._n_learners, out=out)


def can_sit(cascade: Cascade) -> bool:
    """Whether a cascade's rows may take the short way: compiled trees, the paper's games, and nobody listening."""
    return (
        isinstance(cascade.ensemble, NativeEnsemble)
        and cascade.ensemble.has_places
        and isinstance(cascade.cells, Relabelling)
        and cascade.tape is None
    )


class Seats:
    """The seats of several cascades, made when they are first needed and again when something has changed."""

    def __init__(self, cascades: list[Cascade]) -> None:
        self._cascades = cascades
        self.lock = threading.Lock()  # who asks and finds it taken goes the long way: threads may ask side by side
        self._seats: list[Seat | None] = [None] * len(cascades)

    def __reduce__(self) -> tuple[type[Seats], tuple[list[Cascade]]]:
        return Seats, (self._cascades,)  # a pickle holds what was learned

    def taken(self, n_classes: int, version: int) -> list[Seat] | None:
        """All seats, ready for a row; None if a row has to go the long way."""
        seats = self._seats
        for number, seat in enumerate(seats):  # no calls, for every row passes here
            if (
                seat is None
                or seat.trees is not seat.ensemble.trees
                or seat.rules is not seat.ensemble.rules
                or seat.n_classes != n_classes
                or seat.version != version
            ):
                cascade = self._cascades[number]
                if not can_sit(cascade) or cascade.ensemble.version != version:  # type: ignore[attr-defined]
                    return None
                seats[number] = Seat(cascade, n_classes)
        return seats  # type: ignore[return-value]

    def finish(self, number: int, codes: FloatArray, label: int, weight: float, row: int, out: FloatArray) -> None:
        """Grow the arrays of a cascade that were full, and go on with the row that its seat has begun."""
        seat = self._seats[number]
        assert seat is not None
        done = False
        while not done:
            self._cascades[number].ensemble.grow()  # type: ignore[attr-defined]
            before, seat = seat, Seat(self._cascades[number], seat.n_classes)
            seat.resume(before)
            self._seats[number] = seat
            done = seat.learn(codes, label, weight, row, out)
