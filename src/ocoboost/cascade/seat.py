"""The short way of a single row through a native cascade: everything that does not depend on the row is prepared.

A row by itself costs more in Python than in the learners: encoding, beginning a game, arrays to hold one vote, and
handing fifty arrays to a kernel. A seat keeps all of that between rows, on a page that kernels read, so that a row is
one call into compiled code for all cascades of a kind. It holds what follows from the cascade, and is made again when
that has changed: no state, and the same bits as a block of one row.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.kernel import Span, learn_block, poll_block
from ocoboost.cascade.native import FORGET, RECALL, RECORD, NativeEnsemble, look_ahead
from ocoboost.cascade.regimes import PlainPlaying, Playing
from ocoboost.cascade.relabelling import Games, Relabelling
from ocoboost.cascade.unboxed import can_hold, empty_book, read, write
from ocoboost.compiling import IS_COMPILED, kernel
from ocoboost.oco import moves

if TYPE_CHECKING:
    from ocoboost.cascade.cascade import Cascade

NUMBER = -1  # in place of a category
SILENT = -1  # in place of where an answer goes: it learns, and is not asked
ABSENT = -2  # it does not learn either
NEVER = -1  # in place of a number of rows


class Page(NamedTuple):
    """What kernels need of a cascade for one row."""

    number: int  # of the seat
    forest: Any
    scratch: Any
    playing: Playing | PlainPlaying
    games: Games
    pooled: FloatArray  # (classes,) the votes that count, in ``games``
    source: IntArray  # (places,) see ``NativeEnsemble.places``
    category: IntArray
    features: FloatArray  # (1, places)
    reached: IntArray  # (2,) where learning stopped because arrays were full
    asked: IntArray  # (1,) how many rows were learned when the row in ``features`` was voted on, or NEVER


@kernel
def gather_row(codes: FloatArray, source: IntArray, category: IntArray, out: FloatArray) -> bool:
    """A row as an ensemble takes it: the columns it has places for, or whether they hold a category.

    Returns whether it was there before; what is missing equals what is missing.
    """
    is_same = True
    for place in range(source.size):
        value = codes[source[place]] if source[place] >= 0 else np.nan
        if category[place] != NUMBER and value == value:  # noqa: PLR0124, not missing
            value = 1.0 if value == category[place] else 0.0
        if value != out[place] and (value == value or out[place] == out[place]):  # noqa: PLR0124
            is_same = False
        out[place] = value
    return is_same


@kernel
def begin_row(playing: Playing | PlainPlaying, games: Games, label: int, weight: float) -> None:
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
def give_shares(page: Page, out: FloatArray) -> None:
    for j in range(page.pooled.size):
        out[j] = page.pooled[j] / page.playing.n_learners


@kernel(error_model="numpy")
def learn_seats(
    book: Any,
    first: int,
    places: IntArray,
    codes: FloatArray,
    label: int,
    weight: float,
    n_classes: int,
    number: int,
    out: FloatArray,
) -> int:
    """``learn_block`` for one row, from its codes, by every cascade of a book; ``places`` are theirs in ``out``.

    Returns the first page whose learners' arrays are full. After growing, it is resumed where it stopped.
    """
    for at in range(first, book.size):
        page = read(book, at)
        place = places[page.number]
        if place == ABSENT:
            continue
        if page.reached[0] == 0:
            is_same = gather_row(codes, page.source, page.category, page.features[0])
            page.scratch.remembers[0] = RECALL if is_same and page.asked[0] == number else FORGET
            begin_row(page.playing, page.games, label, weight)
            look_ahead(page.forest, page.features[0], page.scratch, True)
        learners = Span(0, page.playing.n_learners, 0)
        if not learn_block(
            page.forest,
            page.scratch,
            page.playing,
            page.games,
            (),
            page.features,
            n_classes,
            number,
            learners,
            page.reached,
        ):
            return at
        page.reached[0] = 0
        page.scratch.remembers[0] = FORGET
        page.asked[0] = NEVER
        if place >= 0:
            give_shares(page, out[place])
    return int(book.size)


@kernel(error_model="numpy")
def poll_seats(book: Any, places: IntArray, codes: FloatArray, n_classes: int, n_learned: int, out: FloatArray) -> None:
    """``poll_block`` for one row, likewise."""
    for at in range(book.size):
        page = read(book, at)
        place = places[page.number]
        if place >= 0:
            gather_row(codes, page.source, page.category, page.features[0])
            clear_votes(page.games)
            page.scratch.remembers[0] = RECORD
            look_ahead(page.forest, page.features[0], page.scratch, False)
            learners = Span(0, page.playing.n_learners, 0)
            poll_block(
                page.forest, page.scratch, page.playing, page.games, (), page.features, n_classes, n_learned, learners
            )
            page.scratch.remembers[0] = FORGET
            page.asked[0] = n_learned
            give_shares(page, out[place])


class Seat:
    """What one row needs of a cascade, while its arrays and rules, the classes and the schema stay as they are."""

    def __init__(self, number: int, cascade: Cascade, n_classes: int) -> None:
        cells, ensemble = cascade.cells, cascade.ensemble
        assert isinstance(cells, Relabelling)
        assert isinstance(ensemble, NativeEnsemble)
        ensemble.grow_classes(n_classes)
        self.ensemble, self.trees, self.rules = ensemble, ensemble.trees, ensemble.rules
        self.version, self.n_classes = ensemble.version, n_classes
        source, category = ensemble.places()
        games = cells.begin(np.zeros(1, dtype=np.int64), np.zeros(1), n_classes)
        self.page = Page(
            number,
            ensemble.forest,
            ensemble.scratch(),
            cells.fused(n_classes),
            games,
            games.pooled(cells.pool)[0],
            source,
            category,
            np.empty((1, source.size)),
            np.zeros(2, dtype=np.int64),
            np.full(1, NEVER),
        )
        forest, playing = type(self.page.forest), type(self.page.playing)
        self.kind = f"{forest.__module__}.{forest.__qualname__}, {playing.__qualname__}"

    def resume(self, other: Seat) -> None:
        """Go on with the row that another seat could not finish."""
        for own, before in zip(self.page.games[:6], other.page.games[:6], strict=True):
            own[...] = before
        self.page.features[...] = other.page.features
        self.page.reached[:] = other.page.reached


def can_sit(cascade: Cascade) -> bool:
    """Whether a cascade's rows may take the short way: compiled trees, the paper's games, and nobody listening."""
    return (
        IS_COMPILED
        and isinstance(cascade.ensemble, NativeEnsemble)
        and cascade.ensemble.has_places
        and isinstance(cascade.cells, Relabelling)
        and cascade.tape is None
    )


class Seats:
    """The seats of several cascades, made when they are first needed and again when something has changed.

    Whoever has them holds the cascades too. A cascade has seats of its own: if these held it in turn, the memory of a
    model that is let go would wait for the garbage collector, which counts objects and not bytes.
    """

    def __init__(self, cascades: list[Cascade]) -> None:
        self._cascades = [weakref.ref(cascade) for cascade in cascades]
        self.lock = threading.Lock()  # who asks and finds it taken goes the long way: threads may ask side by side
        self._seats: list[Seat | None] = [None] * len(cascades)
        self._books: dict[str, tuple[list[int], Any]] = {}  # by kind: the seats, and their pages

    def __reduce__(self) -> tuple[type[Seats], tuple[list[Cascade]]]:
        return Seats, (list(map(self._cascade, range(len(self._cascades)))),)  # a pickle holds what was learned

    def _cascade(self, number: int) -> Cascade:
        cascade = self._cascades[number]()
        assert cascade is not None
        return cascade

    def are_ready(self, n_classes: int, version: int) -> bool:
        """Whether a row may take the short way; the seats are then ready for it."""
        seats = self._seats
        for number, seat in enumerate(seats):  # no calls, for every row passes here
            if (
                seat is None
                or seat.trees is not seat.ensemble.trees
                or seat.rules is not seat.ensemble.rules
                or seat.n_classes != n_classes
                or seat.version != version
            ):
                cascade = self._cascade(number)
                if not can_sit(cascade) or cascade.ensemble.version != version:  # type: ignore[attr-defined]
                    return False
                if not self._take(number, Seat(number, cascade, n_classes)):
                    return False
        return True

    def _take(self, number: int, seat: Seat) -> bool:
        """Put a seat into its place, if its page is of the type that its kind has."""
        if not can_hold(seat.kind, seat.page):
            return False
        self._seats[number] = seat
        numbers, book = self._books.get(seat.kind, ([], None))
        if number not in numbers:
            numbers = [*numbers, number]
            book = empty_book(seat.kind, len(numbers))
            self._books[seat.kind] = numbers, book
            for page, other in enumerate(numbers):
                write(book, page, self._seats[other].page)  # type: ignore[union-attr]
        else:
            write(book, numbers.index(number), seat.page)
        return True

    def learn(
        self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, places: IntArray, out: FloatArray
    ) -> None:
        """Teach a row to all cascades, and write their vote shares from before; ``places`` are theirs in ``out``."""
        for numbers, book in self._books.values():
            page = 0
            while (page := learn_seats(book, page, places, codes, label, weight, n_classes, row, out)) < len(numbers):
                self._grow(numbers[page])

    def poll(self, codes: FloatArray, n_classes: int, n_learned: int, places: IntArray, out: FloatArray) -> None:
        """Write the vote shares on a row of every cascade that has a place."""
        for _, book in self._books.values():
            poll_seats(book, places, codes, n_classes, n_learned, out)

    def _grow(self, number: int) -> None:
        """Make the arrays of a cascade larger, and go on with the row that its seat has begun."""
        before, cascade = self._seats[number], self._cascade(number)
        assert before is not None
        cascade.ensemble.grow()  # type: ignore[attr-defined]
        seat = Seat(number, cascade, before.n_classes)
        seat.resume(before)
        if not self._take(number, seat):
            raise TypeError(f"{before.kind}: arrays of another type after growing")
