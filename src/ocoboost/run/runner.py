"""The loop of ``ocoboost run``: predict each row, learn it once its label arrives, save periodically.

The position of a run is a chunk of the file and how many of its rows are learned. Rows that were predicted and still
wait for their labels are read again after a restart, and keep their predictions. So a run that was killed resumes from
its checkpoint, bit-identically: its last file is the one of an uninterrupted run.
"""

from __future__ import annotations

import shlex
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from ocoboost.arrays import IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError, InvalidParameterError
from ocoboost.files.columns import BadRecord, Chunk, Columns, check_labels
from ocoboost.files.opening import Fingerprint, read_head
from ocoboost.files.outputs import check_output
from ocoboost.files.sources import Source
from ocoboost.online.accounting import Accountable
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.run.checkpoint import Checkpoint, Place, Settings
from ocoboost.run.column_counts import ColumnCounts
from ocoboost.run.far import FarModel
from ocoboost.run.prediction_log import PredictionLog
from ocoboost.run.scores import Importances, MemberWeights, Scores
from ocoboost.run.set_sizes import SetSize
from ocoboost.run.waiting import Waiting, probabilities_of
from ocoboost.spelling import quoted
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.theory.meters import Account

BLOCK = 1024  # rows that are learned together: Ctrl-C waits no longer than that
SHARE_OF_TIME = 0.1  # at most, for saving large models
ACCOUNT_ROWS = 20_000  # that an account of the regret covers: memory must not grow with the file
MOST_SHOWN = 5  # bad records


@dataclass
class Run:
    """A model on its way through a file."""

    model: StreamClassifier
    path: str
    settings: Settings
    scores: Scores = field(init=False)
    weights: MemberWeights = field(default_factory=MemberWeights)
    place: Place = field(default_factory=Place)
    save_to: str | None = None
    save_every: float = 30.0  # seconds
    n_bad: int = 0
    bad: list[BadRecord] = field(default_factory=list)  # the first few
    columns: Columns = field(init=False)
    account: Account | None = field(init=False, default=None)
    importances: Importances | None = field(init=False, default=None)
    column_counts: ColumnCounts | None = field(init=False, default=None)
    log: PredictionLog | None = field(init=False, default=None)
    is_interrupted: bool = field(init=False, default=False)
    far: FarModel | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.columns = self.settings.columns()
        self.scores = Scores(self.settings.delay)
        self._waiting: deque[Waiting] = deque()
        # For rows that waited and are read again.
        self._answered: deque[tuple[int, float, float, list[float]]] = deque()
        self._labels: set[Label] = set(self.model.classes_)  # seen so far
        self._head: bytes | None = None  # of the file, by which a later run recognises it
        self._stopped_at: int | None = None  # line of the bad record that ended the run
        self._is_reading = False
        self._goes_on = False  # in the file of a saved run
        self._reached = 0.0  # in the file, counted as chunks count their ends
        self._known: dict[Label, int] = {}  # the model's labels and their indices
        self._n_before, self._n_read = self.model.n_rows_, 0
        self._saved_at = time.monotonic()
        self._save_took = 0.0

    def watch(self) -> None:
        """Keep what a report shows of the rows to come: importances, and what their columns hold."""
        self.importances, self.column_counts = Importances(), ColumnCounts()

    def keep_account(self) -> None:
        """Keep an account of the regret over the rows to come."""
        if not isinstance(self.model, Accountable):
            raise InvalidParameterError(
                f"{type(self.model).__name__} keeps no account of its regret; boosters do, such as the default."
            )
        self.account = self.model.account(most_rows=ACCOUNT_ROWS)

    def move_to(self, far: FarModel) -> None:
        """Let the learners of the model, elsewhere, do the work from now on."""
        self.far, self.model = far, far.model

    def come_back(self) -> None:
        """Have the whole model here again."""
        if self.far is not None:
            self.model, self.far = self.far.to_local(), None

    @property
    def _learner(self) -> StreamClassifier | FarModel:
        return self.model if self.far is None else self.far

    def log_to(self, path: str) -> None:
        """Write what is said to the rows to come to a file, which may hold the rows so far already."""
        self.log = PredictionLog(path, self.scores.n_rows)

    def go_on(self, checkpoint: Checkpoint) -> None:
        """Continue where a run of the same file was saved."""
        checkpoint.place.check(self.path)
        self._goes_on = True
        self.place, self.scores, self.weights = checkpoint.place, checkpoint.scores, checkpoint.weights
        self._answered.extend(checkpoint.waiting)

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
        for chunk in self._chunks(place):
            self._check_labels(chunk)
            here, place = place.at(chunk, n_bad), place.past(chunk)
            n_bad += len(chunk.bad)
            end = self._end(chunk)
            last = n_skipped
            while last < end:
                first, last = last, min(last + self._block_size, end)
                if settings.delay:
                    self._predict(chunk, first, here._replace(n_learned=first))
                else:
                    self._predict_and_learn(chunk, slice(first, last))
                    self._identify(chunk.keys[first:last])
                    self.place = here._replace(n_learned=last)
                self._reached = chunk.place(last)
                if not settings.delay or last % BLOCK == 0 or last == end or self._is_early:
                    self._after_block()
                    yield
                    self._stop_if_interrupted()
            n_skipped = max(0, n_skipped - len(chunk.rows))
            self._take_bad(chunk, n_bad)
        while self._waiting:  # at the end of the file, all labels arrive
            self._learn_oldest()
        if self._n_read == 0 and not self._goes_on:
            raise DataFileError(f"{self.source.name}: no usable rows after the header.")
        self.finish()

    def finish(self) -> None:
        """Save the run, if it is to be saved."""
        if self.log is not None:
            self.log.flush()
        if self.save_to is not None:
            started = time.monotonic()
            self.save(self.save_to)
            self._saved_at = time.monotonic()
            self._save_took = self._saved_at - started

    def save(self, path: str) -> None:
        """Write the model, with everything that is needed to resume."""
        # The record at which the run stopped will be corrected: then the file is recognised by what comes before it.
        source = Fingerprint.of(self._head, before_line=self._stopped_at)
        waiting = [(row.prediction, row.probability, row.confidence, row.probabilities) for row in self._waiting]
        whole = self.model if self.far is None else self.far.to_local()
        kinds = dict(self.columns.kinds)  # a copy: the reader is ahead, and may add to it
        Checkpoint(self.settings, source, self.place, kinds, self.scores, self.weights, waiting).write(whole, path)

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
    def fraction(self) -> float | None:
        """How much of the file is done, if that can be known."""
        return self.source.fraction(self._reached)

    @property
    def n_new(self) -> int:
        """How many rows were learned in this call."""
        return self.model.n_rows_ - self._n_before

    @property
    def has_learned(self) -> bool:
        """Whether there is anything new to save."""
        return self.n_new > 0

    @property
    def set_sizes(self) -> list[SetSize]:
        """The prediction sets so far, if the model has any."""
        return self.scores.sets.sizes(getattr(self.model, "coverages", ()))

    # -- blocks --------------------------------------------------------------------------------------------------------

    @property
    def _block_size(self) -> int:
        """Rows of the next block: a stream begins with small ones, so that its first rows are seen one by one."""
        return 1 if self.settings.delay else min(max(1, self.model.n_rows_), BLOCK)

    @property
    def _is_early(self) -> bool:
        """Whether as many rows are learned as end a block at the beginning of a stream without a delay."""
        n_rows = self.model.n_rows_
        return 0 < n_rows < BLOCK and n_rows & (n_rows - 1) == 0

    def _after_block(self) -> None:
        if isinstance(self.model, OnlineBoostClassifier):
            self.weights.add(self.model.n_rows_, list(self.model.member_weights_.values()))
            if self.importances is not None and self.far is None and self.importances.is_due(self.model.n_rows_):
                self.importances.add(self.model.n_rows_, self.model.feature_importances_)
        if time.monotonic() - self._saved_at >= max(self.save_every, self._save_took / SHARE_OF_TIME):
            self.finish()

    def _predict_and_learn(self, chunk: Chunk, rows: slice) -> None:
        """Rows of a chunk whose labels arrive at once."""
        labels = chunk.labels[rows]
        self._look_at(chunk.rows[rows])
        blocks = list(self._learner.prequential(chunk.rows[rows], labels))
        predictions = [self._indices(answered.labels) for answered in blocks]
        indices = self._indices(labels)
        probabilities = [
            probabilities_of(answered, indices[answered.first_row : answered.first_row + len(answered)])
            for answered in blocks
        ]
        confidences = np.concatenate(list(map(probabilities_of, blocks, predictions)))
        said = np.concatenate(predictions), np.concatenate(probabilities)
        self.scores.add(indices, *said, len(self._known), confidences)
        for answered in blocks:
            part = indices[answered.first_row : answered.first_row + len(answered)]
            self.scores.ranks.add(part, answered.probabilities, len(self._known))
            self.scores.sets.add(answered, part)
        if self.log is not None:
            answers = [label for answered in blocks for label in answered.labels]
            self.log.add(chunk.lines[rows], chunk.keys[rows], labels, answers, confidences.tolist())

    def _predict(self, chunk: Chunk, number: int, place: Place) -> None:
        """Predict a row; learn the one whose label arrives now."""
        rows, label, keys = chunk.rows[number : number + 1], chunk.labels[number], chunk.keys[number : number + 1]
        if self._answered:
            prediction, probability, confidence, probabilities = self._answered.popleft()
        else:
            answered = self._learner.answer_many(rows)
            prediction = int(self._indices(answered.labels)[0])
            probability = float(probabilities_of(answered, self._indices([label]))[0])
            confidence = float(probabilities_of(answered, np.array([prediction]))[0])
            probabilities = answered.probabilities[0].tolist()
            self.scores.sets.add(answered, self._indices([label]))
        said = prediction, probability, confidence, probabilities
        self._waiting.append(Waiting(rows, label, place, *said, keys, chunk.lines[number]))
        if len(self._waiting) > self.settings.delay:
            self._learn_oldest()

    def _learn_oldest(self) -> None:
        rows, label, place, prediction, probability, confidence, probabilities, keys, line = self._waiting.popleft()
        self._look_at(rows)
        self._learner.learn_many(rows, [label])
        self._identify(keys)
        said = np.array([prediction]), np.array([probability])
        indices = self._indices([label])
        self.scores.add(indices, *said, len(self._known), np.array([confidence]))
        self.scores.ranks.add(indices, np.array([probabilities], dtype=float), len(self._known))
        if self.log is not None:
            answer = self.model.classes_[prediction] if prediction >= 0 else None
            self.log.add([line], keys, [label], [answer], [confidence])
        # After a restart, reading begins with the oldest row that still waits.
        self.place = self._waiting[0].place if self._waiting else place._replace(n_learned=place.n_learned + 1)

    def _look_at(self, rows: Sequence[Row]) -> None:
        if self.column_counts is not None:
            self.column_counts.add(rows)

    def _identify(self, keys: Sequence[Hashable]) -> None:
        """Tell the model what the rows that it has just learned are called."""
        if keys and isinstance(self.model, OnlineBoostClassifier):
            self.model.identify_rows(self.model.n_rows_ - len(keys), keys)

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
        if chunk.bad and (self.settings.on_error == "stop" or chunk.bad[-1].is_last):
            record = chunk.bad[0 if self.settings.on_error == "stop" else -1]
            self._stopped_at = record.line
            if self.has_learned:  # else what was saved before is as good, and may be of another file
                self.finish()
            raise record.error(self.source.name, self._way_on)
        self.n_bad = n_bad
        self.bad += chunk.bad[: max(0, MOST_SHOWN - len(self.bad))]

    @property
    def _way_on(self) -> str:
        """How to go on once a bad record is corrected, if anything is saved."""
        if self.save_to is None or not self.has_learned:
            return ""
        saved = shlex.quote(self.save_to)
        return f"the rows before it are saved, and --resume {saved} goes on once it is corrected"

    def _check_labels(self, chunk: Chunk) -> None:
        """Raise if the target cannot be a label: nearly every row would be a class of its own, or a known one twice."""
        if self._n_read == 0:
            texts = {str(label): label for label in self._labels if not isinstance(label, str)}
            for label in set(chunk.labels) - self._labels:
                if str(label) in texts:
                    raise DataFileError(
                        f"{self.source.name}: the label {label!r} in column {quoted(self.settings.target)} is text, "
                        f"and the model knows {texts[str(label)]!r}; train it on text labels to go on with a file."
                    )
        self._labels.update(chunk.labels)
        self._n_read += len(chunk.labels)
        check_labels(self.source.name, self.settings.target, len(self._labels), self._n_before + self._n_read)
