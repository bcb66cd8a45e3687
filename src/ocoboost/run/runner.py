"""The loop of ``ocoboost run``: predict each row, wait for its label, learn it, and save now and then.

A saved run is the model, the scores and the place in the file. The place is where a chunk begins and how many of its
rows are learned; rows that were predicted and wait for their labels are read again, their predictions are kept. So a
run that was killed goes on from its last save to the same bits, and its file in the end is the same as if nothing had
happened.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError, ModelFileError
from ocoboost.files.columns import BadRecord, Chunk, Columns
from ocoboost.files.opening import STANDARD_INPUT, fingerprint
from ocoboost.files.sources import Source
from ocoboost.online.accounting import Accountable
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.run.scores import MOST_POINTS, Scores
from ocoboost.saving.model import read_model, write_model
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered
from ocoboost.theory.meters import Account

BLOCK = 1024  # rows that are learned together: a key press waits no longer than that
MOST_LABELS = 1000
FEWEST_TO_DOUBT = 10  # a handful of labels may well all be different
SHARE_OF_TIME = 0.1  # that saving may take, if models are large
ACCOUNT_ROWS = 20_000  # that an account of the regret covers: memory must not grow with the file


@dataclass(frozen=True)
class Settings:
    """How a file is read; kept with the model, so that going on means going on in the same way."""

    target: str
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    file_format: str | None = None
    delimiter: str | None = None
    delay: int = 0
    on_error: str = "stop"

    def columns(self) -> Columns:
        return Columns(self.target, frozenset(self.drop), frozenset(self.text))


class Place(NamedTuple):
    """Where a run is: a chunk, how many of its rows are learned, and the bad records before it."""

    start: int | None = None
    first_line: int = 1
    n_learned: int = 0
    n_bad: int = 0


class Waiting(NamedTuple):
    """A row whose label has not come yet."""

    rows: Sequence[Row]
    label: Label
    place: Place
    prediction: int
    share: float


@dataclass
class Run:
    """A model, a file, and how far they have come."""

    model: StreamClassifier
    path: str
    settings: Settings
    scores: Scores = field(default_factory=Scores)
    place: Place = field(default_factory=Place)
    weights: list[tuple[int, list[float]]] = field(default_factory=list)  # of the members, through the stream
    n_bad: int = 0
    bad: list[BadRecord] = field(default_factory=list)  # the first few
    save_to: str | None = None
    save_every: float = 30.0  # seconds
    columns: Columns = field(init=False)
    account: Account | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.columns = self.settings.columns()
        self._waiting: deque[Waiting] = deque()
        self._answered: deque[tuple[int, float]] = deque()  # predictions of rows that will be read again
        self._labels: set[Label] = set()
        self._indices: dict[Label, int] = {}
        self._n_before, self._n_read = self.model.n_rows_, 0
        self._saved_at = time.monotonic()
        self._save_took = 0.0
        self._weights_every = 1
        self.is_learning = False

    def open_account(self) -> None:
        """Account for the regret of the rows to come, if the model is one of the paper's boosters."""
        if isinstance(self.model, Accountable):
            self.account = self.model.account(most_rows=ACCOUNT_ROWS)

    # -- the loop ------------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[None]:
        """Go through the file; yields after every block, when everything is consistent."""
        settings, place = self.settings, self.place
        self._check_can_save()
        self.source = Source(self.path, self.columns, file_format=settings.file_format, delimiter=settings.delimiter)
        start = None if self.path == STANDARD_INPUT else place.start
        n_skipped, n_bad = place.n_learned, place.n_bad
        block = 1 if settings.delay else BLOCK
        for chunk in self.source.chunks(start, place.first_line):
            self._check_labels(chunk)
            here = Place(chunk.start, chunk.first_line, 0, n_bad)
            n_bad += len(chunk.bad)
            end = self._end(chunk)
            for first in range(n_skipped, end, block):
                last = min(first + block, end)
                with self._learning():
                    if settings.delay:
                        self._take(chunk, first, here._replace(n_learned=first))
                    else:
                        self._learn(chunk.rows[first:last], chunk.labels[first:last])
                        self.place = here._replace(n_learned=last)
                if last % BLOCK == 0 or last == end:
                    self._after_block()
                    yield
            n_skipped = max(0, n_skipped - len(chunk.rows))
            self._take_bad(chunk, n_bad)
        while self._waiting:  # at the end of the file, all labels are there
            with self._learning():
                self._answer_oldest()
        if self._n_read == 0 and self._n_before == 0:
            raise DataFileError(f"{self.source.name}: has no rows that can be used, only a head.")
        self.finish()

    def finish(self) -> None:
        """Save what there is."""
        if self.save_to is not None:
            self.save(self.save_to)

    def _after_block(self) -> None:
        self._note_weights()
        since = time.monotonic() - self._saved_at
        if self.save_to is not None and since >= max(self.save_every, self._save_took / SHARE_OF_TIME):
            self.save(self.save_to)

    def _learn(self, rows: Sequence[Row], labels: list[Label]) -> None:
        """Predict and learn rows whose labels come at once."""
        predictions: IntArray = np.empty(len(labels), dtype=np.int64)
        shares: FloatArray = np.empty(len(labels))
        for answered in self.model.prequential(rows, labels):
            block = slice(answered.first_row, answered.first_row + len(answered))
            predictions[block], shares[block] = _scored(answered, labels[block])
        self._score(labels, predictions, shares)

    def _score(self, labels: list[Label], predictions: IntArray, shares: FloatArray) -> None:
        known = self._known()
        indices = np.array([known[label] for label in labels], dtype=np.int64)
        self.scores.add(indices, predictions, shares, len(known))

    def _known(self) -> dict[Label, int]:
        """The labels that the model knows, and their indices."""
        if len(self._indices) != len(classes := self.model.classes_):
            self._indices = {label: index for index, label in enumerate(classes)}
        return self._indices

    def _take(self, chunk: Chunk, number: int, place: Place) -> None:
        """Predict a row; learn the one whose label comes now."""
        rows, label = chunk.rows[number : number + 1], chunk.labels[number]
        if self._answered:
            prediction, share = self._answered.popleft()
        else:
            predictions, shares = _scored(self.model.answer_many(rows), [label])
            prediction, share = int(predictions[0]), float(shares[0])
        self._waiting.append(Waiting(rows, label, place, prediction, share))
        if len(self._waiting) > self.settings.delay:
            self._answer_oldest()

    def _answer_oldest(self) -> None:
        rows, label, place, prediction, share = self._waiting.popleft()
        self.model.learn_many(rows, [label])
        self._score([label], np.array([prediction]), np.array([share]))
        # Rows that wait are read again from the first of them on.
        self.place = self._waiting[0].place if self._waiting else place._replace(n_learned=place.n_learned + 1)

    # -- what may be wrong ---------------------------------------------------------------------------------------------

    def _check_can_save(self) -> None:
        """Say now, not after hours, that there is no place for the file."""
        if self.save_to is not None and not os.access(Path(self.save_to).resolve().parent, os.W_OK):
            raise ModelFileError(f"{self.save_to}: cannot be written (its folder does not exist or is read-only).")

    def _end(self, chunk: Chunk) -> int:
        """How many rows of a chunk are to be used: those before a record at which the user wants to stop."""
        if not chunk.bad or self.settings.on_error == "skip":
            return len(chunk.rows)
        return bisect_left(chunk.lines, chunk.bad[0].line)

    def _take_bad(self, chunk: Chunk, n_bad: int) -> None:
        """Stop at the records that cannot be used, or count them."""
        if chunk.bad and self.settings.on_error == "stop":
            self.finish()
            raise chunk.bad[0].error(self.source.name)
        self.n_bad = n_bad
        self.bad += chunk.bad[: max(0, 5 - len(self.bad))]

    def _check_labels(self, chunk: Chunk) -> None:
        """A target that is no label would make a class of every row."""
        self._labels.update(chunk.labels)
        self._n_read += len(chunk.labels)
        n_labels, n_rows = len(self._labels), self._n_before + self._n_read
        if (n_labels >= FEWEST_TO_DOUBT and n_labels > n_rows / 2) or n_labels > MOST_LABELS:
            raise DataFileError(
                f"{self.source.name}: column {self.settings.target!r} has {n_labels:,} different labels in its first "
                f"{n_rows:,} rows; that is no column of labels: choose another --target."
            )

    def _learning(self) -> _Busy:
        return _Busy(self)

    # -- the weights of the members ------------------------------------------------------------------------------------

    def _note_weights(self) -> None:
        if not isinstance(self.model, OnlineBoostClassifier):
            return
        n_rows = self.model.n_rows_
        if not self.weights or n_rows - self.weights[-1][0] >= self._weights_every:
            self.weights.append((n_rows, list(self.model.member_weights_.values())))
        if len(self.weights) >= MOST_POINTS:
            self.weights = self.weights[1::2]
            self._weights_every = 2 * max(self._weights_every, BLOCK)

    # -- files ---------------------------------------------------------------------------------------------------------

    def save(self, path: str) -> None:
        """The model, with all that is needed to go on."""
        started = time.monotonic()
        digest, n_bytes = fingerprint(self.path)
        waiting = list(self._waiting)
        notes = {
            "settings": asdict(self.settings),
            "source": {"name": Path(self.path).name, "digest": digest, "n_bytes": n_bytes},
            "place": tuple(self.place),
            "kinds": dict(self.columns.kinds),  # a copy: the reader is ahead, and may add to it
            "scores": self.scores.as_notes(),
            "weights": [[n_rows, values] for n_rows, values in self.weights],
            "weights_every": self._weights_every,
            "waiting": [[w.prediction, w.share] for w in waiting],
        }
        write_model(self.model, path, notes)
        self._saved_at = time.monotonic()
        self._save_took = self._saved_at - started


def resume(saved: str, path: str, n_jobs: int | None = None) -> Run:
    """Go on with a saved run: in the same file where it stopped, in another one from its first row."""
    model, notes = read_model(saved, n_jobs)
    if notes is None:
        raise ModelFileError(f"{saved}: was not saved by `ocoboost run`, so there is no run to go on with.")
    try:
        settings = Settings(**notes["settings"])
        run = Run(model, path, settings)
        run.columns.kinds.update(notes["kinds"])
        run.columns.categories.update({str(name): set(texts) for name, texts in model.categories_.items()})
        run._labels.update(model.classes_)
        digest, n_bytes = notes["source"]["digest"], notes["source"]["n_bytes"]
        if path == STANDARD_INPUT or fingerprint(path, n_bytes)[0] != digest:
            return run
        run.place = Place(*notes["place"])
        run.scores = Scores.from_notes(notes["scores"])
        run.weights = [(n_rows, values) for n_rows, values in notes["weights"]]
        run._weights_every = notes["weights_every"]
        run._answered.extend((int(prediction), float(share)) for prediction, share in notes["waiting"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DataFileError):
            raise
        raise ModelFileError(f"{saved}: what it says of its run cannot be used ({error}).") from error
    return run


def _scored(answered: Answered, labels: Sequence[Label]) -> tuple[IntArray, FloatArray]:
    """The index of the label said to each row (-1: none was known), and the probability given to its own label."""
    places = {label: place for place, label in enumerate(answered.classes)}
    predictions = np.array([places.get(label, -1) for label in answered.labels], dtype=np.int64)
    own = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
    shares = np.zeros(len(own))
    rows = np.flatnonzero(own >= 0)
    shares[rows] = answered.distributions[rows, own[rows]]
    return predictions, shares


class _Busy:
    """While a row is learned an interrupt has to wait."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __enter__(self) -> None:
        self.run.is_learning = True

    def __exit__(self, *_: object) -> None:
        self.run.is_learning = False
