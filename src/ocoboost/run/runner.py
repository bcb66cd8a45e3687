"""The loop of ``ocoboost run``: predict each row, learn it once its label arrives, save periodically.

The position of a run is a chunk of the file and how many of its rows are learned. Rows that were predicted and still
wait for their labels are read again after a restart, and keep their predictions. So a run that was killed resumes from
its checkpoint, bit-identically: its last file is the one of an uninterrupted run.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError, ModelFileError
from ocoboost.files.columns import BadRecord, Chunk, Columns, check_labels
from ocoboost.files.opening import Fingerprint, read_head
from ocoboost.files.outputs import check_output
from ocoboost.files.sources import Source
from ocoboost.online.accounting import Accountable
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.run.checkpoint import Checkpoint, Place, Settings
from ocoboost.run.prediction_log import PredictionLog
from ocoboost.run.scores import Importances, MemberWeights, Scores
from ocoboost.run.set_sizes import SetSize
from ocoboost.spelling import quoted
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
    confidence: float  # the probability of the prediction
    probabilities: list[float]  # of all labels that were known
    keys: Sequence[Hashable]  # of the row, if it has one
    line: int  # in the file


class FarModel(Protocol):
    """A model whose learners are elsewhere, as on a cluster."""

    @property
    def model(self) -> StreamClassifier:
        """What is here of it: labels, columns, and what a mixture knows of its members."""

    def prequential(self, X: Any, y: Any) -> Iterator[Answered]: ...

    def answer_many(self, X: Any) -> Answered: ...

    def learn_many(self, X: Any, y: Any) -> None: ...

    def to_local(self) -> StreamClassifier:
        """All of it."""


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
    importances: Importances | None = field(init=False, default=None)
    log: PredictionLog | None = field(init=False, default=None)
    is_interrupted: bool = field(init=False, default=False)
    far: FarModel | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.columns = self.settings.columns()
        self._waiting: deque[Waiting] = deque()
        # For rows that waited and are read again.
        self._answered: deque[tuple[int, float, float, list[float]]] = deque()
        self._labels: set[Label] = set(self.model.classes_)  # seen so far
        self._head: bytes | None = None  # of the file, by which a later run recognises it
        self._stopped_at: int | None = None  # line of the bad record that ended the run
        self._is_reading = False
        self._known: dict[Label, int] = {}  # the model's labels and their indices
        self._n_before, self._n_read = self.model.n_rows_, 0
        self._saved_at = time.monotonic()
        self._save_took = 0.0

    def watch(self) -> None:
        """Keep what a report shows of the rows to come: the account of the regret, and importances."""
        self.importances = Importances()
        if isinstance(self.model, Accountable) and getattr(self.model, "class_weight", None) is None:
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
                    self._predict_and_learn(chunk, slice(first, last))
                    self._identify(chunk.keys[first:last])
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
        blocks = list(self._learner.prequential(chunk.rows[rows], labels))
        predictions = [self._indices(answered.labels) for answered in blocks]
        indices = self._indices(labels)
        probabilities = [
            _probabilities(answered, indices[answered.first_row : answered.first_row + len(answered)])
            for answered in blocks
        ]
        confidences = np.concatenate(list(map(_probabilities, blocks, predictions)))
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
            probability = float(_probabilities(answered, self._indices([label]))[0])
            confidence = float(_probabilities(answered, np.array([prediction]))[0])
            probabilities = answered.probabilities[0].tolist()
            self.scores.sets.add(answered, self._indices([label]))
        said = prediction, probability, confidence, probabilities
        self._waiting.append(Waiting(rows, label, place, *said, keys, chunk.lines[number]))
        if len(self._waiting) > self.settings.delay:
            self._learn_oldest()

    def _learn_oldest(self) -> None:
        rows, label, place, prediction, probability, confidence, probabilities, keys, line = self._waiting.popleft()
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
        if chunk.bad and self.settings.on_error == "stop":
            self._stopped_at = chunk.bad[0].line
            self.finish()
            raise chunk.bad[0].error(self.source.name)
        self.n_bad = n_bad
        self.bad += chunk.bad[: max(0, MOST_SHOWN - len(self.bad))]

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


def _probabilities(answered: Answered, indices: IntArray) -> FloatArray:
    """The probability that was given to a label of each row; 0 if it was not known."""
    rows = np.flatnonzero((indices >= 0) & (indices < len(answered.classes)))
    probabilities = np.zeros(len(indices))
    probabilities[rows] = np.minimum(answered.probabilities[rows, indices[rows]], 1.0)
    return probabilities


def resume(saved: str, path: str, n_jobs: int | None = None, settings: Settings | None = None) -> Run:
    """Continue a saved run: in the same file where it stopped, in any other file from its first row.

    A model that was saved from Python has no run to continue: it goes on with the file, read as ``settings`` say.
    """
    model, checkpoint = Checkpoint.read(saved, n_jobs)
    if checkpoint is None:
        if settings is None:
            raise ModelFileError(f"{saved}: saved from Python, so it does not know its labels' column; give --target.")
        _check_names(saved, model)
        run = Run(model, path, settings)
        run.columns.kinds.update({str(column): kind for column, kind in model.columns_.items()})
        return run
    run = Run(model, path, checkpoint.settings)
    run.columns.kinds.update(checkpoint.kinds)
    if checkpoint.source.matches(path):
        run.place, run.scores, run.weights = checkpoint.place, checkpoint.scores, checkpoint.weights
        run._answered.extend(checkpoint.waiting)
    return run


def _check_names(saved: str, model: StreamClassifier) -> None:
    """Raise if a file cannot have the columns of a model that was trained in Python."""
    odd = [column for column in model.columns_ if not isinstance(column, str)]
    if odd:
        raise ModelFileError(
            f"{saved}: has a column named {odd[0]!r}, and the columns of files are named by text; train the model on "
            "named columns to go on with a file."
        )
