"""The loop of ``ocoboost run``: predict each row, learn it once its label arrives, save periodically.

The position of a run is a chunk of the file and how many of its rows are learned. Rows that were predicted and still
wait for their labels are read again after a restart, and keep their predictions. So a run that was killed resumes from
its checkpoint, bit-identically: its last file is the one of an uninterrupted run.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError
from ocoboost.files.columns import BadRecord, Chunk, Columns, check_labels
from ocoboost.files.opening import Fingerprint, read_head
from ocoboost.files.outputs import check_output
from ocoboost.files.sources import Source
from ocoboost.online.accounting import Accountable
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.run.checkpoint import Checkpoint, Place, Settings
from ocoboost.run.scores import MemberWeights, Scores
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered
from ocoboost.theory.meters import Account

BLOCK = 1024  # rows that are learned together: Ctrl-C waits no longer than that
SHARE_OF_TIME = 0.1  # at most, for saving large models
ACCOUNT_ROWS = 20_000  # that an account of the regret covers: memory must not grow with the file
MOST_SHOWN = 5  # bad records


class Waiting(NamedTuple):
    """A predicted row whose label has not arrived yet."""

    rows: Sequence[Row]
    label: Label
    place: Place
    prediction: int
    probability: float  # of the label


@dataclass
class Run:
    """A model on its way through a file."""

    model: StreamClassifier
    path: str
    settings: Settings
    scores: Scores = field(default_factory=Scores)
    weights: MemberWeights = field(default_factory=MemberWeights)
    place: Place = field(default_factory=Place)
    save_to: str | None = None
    save_every: float = 30.0  # seconds
    n_bad: int = 0
    bad: list[BadRecord] = field(default_factory=list)  # the first few
    columns: Columns = field(init=False)
    account: Account | None = field(init=False, default=None)
    is_interrupted: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.columns = self.settings.columns()
        self._waiting: deque[Waiting] = deque()
        self._answered: deque[tuple[int, float]] = deque()  # for rows that waited and are read again
        self._labels: set[Label] = set(self.model.classes_)  # seen so far
        self._head: bytes | None = None  # of the file, by which a later run recognises it
        self._stopped_at: int | None = None  # line of the bad record that ended the run
        self._is_reading = False
        self._known: dict[Label, int] = {}  # the model's labels and their indices
        self._n_before, self._n_read = self.model.n_rows_, 0
        self._saved_at = time.monotonic()
        self._save_took = 0.0

    def open_account(self) -> None:
        """Account for the regret of the rows to come, if the model is one of the paper's boosters."""
        if isinstance(self.model, Accountable):
            self.account = self.model.account(most_rows=ACCOUNT_ROWS)

    # -- the loop ------------------------------------------------------------------------------------------------------

    def steps(self) -> Iterator[None]:
        """Go through the file; yields after every block, when the state of the run is consistent.

        Raises ``KeyboardInterrupt`` there once the run is interrupted.
        """
        settings, place = self.settings, self.place
        if self.save_to is not None:
            check_output(self.save_to)  # now, not after hours
        self._head = read_head(self.path)
        self.source = Source(self.path, self.columns, file_format=settings.file_format, delimiter=settings.delimiter)
        n_skipped, n_bad = place.n_learned, place.n_bad
        block = 1 if settings.delay else BLOCK
        for chunk in self._chunks(place):
            self._check_labels(chunk)
            here = Place(chunk.start, chunk.first_line, 0, n_bad)
            n_bad += len(chunk.bad)
            end = self._end(chunk)
            for first in range(n_skipped, end, block):
                last = min(first + block, end)
                if settings.delay:
                    self._predict(chunk, first, here._replace(n_learned=first))
                else:
                    self._predict_and_learn(chunk.rows[first:last], chunk.labels[first:last])
                    self.place = here._replace(n_learned=last)
                if last % BLOCK == 0 or last == end:
                    self._after_block()
                    yield
                    self._stop_if_interrupted()
            n_skipped = max(0, n_skipped - len(chunk.rows))
            self._take_bad(chunk, n_bad)
        while self._waiting:  # at the end of the file, all labels arrive
            self._learn_oldest()
        if self._n_read == 0 and self._n_before == 0:
            raise DataFileError(f"{self.source.name}: no usable rows after the header.")
        self.finish()

    def finish(self) -> None:
        """Save the run, if it is to be saved."""
        if self.save_to is not None:
            started = time.monotonic()
            self.save(self.save_to)
            self._saved_at = time.monotonic()
            self._save_took = self._saved_at - started

    def save(self, path: str) -> None:
        """Write the model, with everything that is needed to resume."""
        # The record at which the run stopped will be corrected: then the file is recognised by what comes before it.
        source = Fingerprint.of(self._head, before_line=self._stopped_at)
        waiting = [(waiting.prediction, waiting.probability) for waiting in self._waiting]
        kinds = dict(self.columns.kinds)  # a copy: the reader is ahead, and may add to it
        Checkpoint(self.settings, source, self.place, kinds, self.scores, self.weights, waiting).write(self.model, path)

    def _chunks(self, place: Place) -> Iterator[Chunk]:
        """The chunks from a place on. If the file cannot be read any further, what was learned from it is saved."""
        chunks = self.source.chunks(place.start, place.first_line)
        try:
            while True:
                self._is_reading = True
                self._stop_if_interrupted()
                chunk = next(chunks, None)
                self._is_reading = False
                if chunk is None:
                    return
                yield chunk
        except DataFileError:
            self._is_reading = False
            if self.has_learned:
                self.finish()
            raise
        finally:
            self._is_reading = False
            chunks.close()
            self.source.close()

    # -- interrupts ----------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop, from a signal handler: at once while waiting for rows, else at the end of the block or of saving."""
        self.is_interrupted = True
        if self._is_reading:
            raise KeyboardInterrupt

    def _stop_if_interrupted(self) -> None:
        if self.is_interrupted:
            raise KeyboardInterrupt

    @property
    def has_learned(self) -> bool:
        """Whether there is anything new to save."""
        return self.model.n_rows_ > self._n_before

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _after_block(self) -> None:
        if isinstance(self.model, OnlineBoostClassifier):
            self.weights.add(self.model.n_rows_, list(self.model.member_weights_.values()))
        if time.monotonic() - self._saved_at >= max(self.save_every, self._save_took / SHARE_OF_TIME):
            self.finish()

    def _predict_and_learn(self, rows: Sequence[Row], labels: list[Label]) -> None:
        """A block whose labels arrive at once."""
        blocks = list(self.model.prequential(rows, labels))
        predictions = [self._indices(answered.labels) for answered in blocks]
        indices = self._indices(labels)
        probabilities = [
            _probabilities(answered, indices[answered.first_row : answered.first_row + len(answered)])
            for answered in blocks
        ]
        self.scores.add(indices, np.concatenate(predictions), np.concatenate(probabilities), len(self._known))

    def _predict(self, chunk: Chunk, number: int, place: Place) -> None:
        """Predict a row; learn the one whose label arrives now."""
        rows, label = chunk.rows[number : number + 1], chunk.labels[number]
        if self._answered:
            prediction, probability = self._answered.popleft()
        else:
            answered = self.model.answer_many(rows)
            prediction = int(self._indices(answered.labels)[0])
            probability = float(_probabilities(answered, self._indices([label]))[0])
        self._waiting.append(Waiting(rows, label, place, prediction, probability))
        if len(self._waiting) > self.settings.delay:
            self._learn_oldest()

    def _learn_oldest(self) -> None:
        rows, label, place, prediction, probability = self._waiting.popleft()
        self.model.learn_many(rows, [label])
        self.scores.add(self._indices([label]), np.array([prediction]), np.array([probability]), len(self._known))
        # After a restart, reading begins with the oldest row that still waits.
        self.place = self._waiting[0].place if self._waiting else place._replace(n_learned=place.n_learned + 1)

    def _indices(self, labels: Sequence[Label | None]) -> IntArray:
        """The indices of labels; -1 for those that the model does not know."""
        if len(self._known) != len(classes := self.model.classes_):
            self._known = {label: index for index, label in enumerate(classes)}
        return np.fromiter(map(self._known.get, labels, repeat(-1)), dtype=np.int64, count=len(labels))

    # -- what may be wrong ---------------------------------------------------------------------------------------------

    def _end(self, chunk: Chunk) -> int:
        """How many rows of a chunk to use: all, or those before the first bad record if the run is to stop there."""
        if not chunk.bad or self.settings.on_error == "skip":
            return len(chunk.rows)
        return bisect_left(chunk.lines, chunk.bad[0].line)

    def _take_bad(self, chunk: Chunk, n_bad: int) -> None:
        """Stop at a bad record, or count the bad ones."""
        if chunk.bad and self.settings.on_error == "stop":
            self._stopped_at = chunk.bad[0].line
            self.finish()
            raise chunk.bad[0].error(self.source.name)
        self.n_bad = n_bad
        self.bad += chunk.bad[: max(0, MOST_SHOWN - len(self.bad))]

    def _check_labels(self, chunk: Chunk) -> None:
        """Raise if the target cannot be a label: nearly every row would be a class of its own."""
        self._labels.update(chunk.labels)
        self._n_read += len(chunk.labels)
        check_labels(self.source.name, self.settings.target, len(self._labels), self._n_before + self._n_read)


def _probabilities(answered: Answered, indices: IntArray) -> FloatArray:
    """The probability that was given to each row's true label; 0 if it was not known."""
    rows = np.flatnonzero((indices >= 0) & (indices < len(answered.classes)))
    probabilities = np.zeros(len(indices))
    probabilities[rows] = answered.probabilities[rows, indices[rows]]
    return probabilities


def resume(saved: str, path: str, n_jobs: int | None = None) -> Run:
    """Continue a saved run: in the same file where it stopped, in any other file from its first row."""
    model, checkpoint = Checkpoint.read(saved, n_jobs)
    run = Run(model, path, checkpoint.settings)
    run.columns.kinds.update(checkpoint.kinds)
    if checkpoint.source.matches(path):
        run.place, run.scores, run.weights = checkpoint.place, checkpoint.scores, checkpoint.weights
        run._answered.extend(checkpoint.waiting)
    return run
