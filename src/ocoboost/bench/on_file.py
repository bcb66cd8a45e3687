"""One model on the rows of a file, in their order: what ``ocoboost compare FILE`` runs for every model.

The file is read as ``ocoboost run`` reads it, chunk by chunk. ``encoding`` says what models of other libraries get to
see of text and missing cells.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ocoboost.bench import encoding, measures, peers, prequential
from ocoboost.bench.compare import MODELS, OURS, WARM_UP_ROWS
from ocoboost.bench.heard import OF_LABELS, Heard, ask
from ocoboost.bench.jobs import Job, Result
from ocoboost.data.costs import Costs
from ocoboost.data.labels import Label
from ocoboost.data.rows import Row
from ocoboost.errors import DataFileError
from ocoboost.files.columns import Columns, check_labels
from ocoboost.files.opening import Fingerprint, is_pipe, read_head
from ocoboost.files.sources import Source
from ocoboost.spelling import spelled

BLOCK = 1024
SECONDS_PER_TICK = 0.2
MOST_LABELS = 40  # in a confusion matrix that stays readable


def plan(path: str, titles: Sequence[str], reading: dict[str, Any], *, most_rows: int | None, seed: int) -> list[Job]:
    """A job for every model. The file is told by its first bytes, its size and its time; it must be a regular one."""
    if is_pipe(path):
        raise DataFileError(f"{path}: not a regular file, which every model has to read on its own.")
    digest, _ = Fingerprint.of(read_head(path))
    try:
        status = Path(path).stat()
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read ({error.strerror}).") from error
    told = {"file": path, "digest": digest, "bytes": status.st_size, "changed": status.st_mtime_ns}
    with closing(_source({**told, **reading}).chunks()) as chunks:
        next(chunks, None)  # raises now if the file or the target cannot be used
    return [{"model": title, **told, **reading, "most_rows": most_rows, "seed": seed} for title in titles]


def run(job: Job, tick: Callable[[float], None] = lambda fraction: None) -> Result:
    """Predict every row, then learn it; ``tick`` is told the fraction that is done."""
    model = MODELS[job["model"]](job["seed"])
    heard = Heard(_costs(job))
    contestant: _Contestant = _Ours(model, heard) if job["model"] in OURS else _Peer(model, heard, job["model"], tick)
    labels: list[Label] = []
    for chunk_rows, chunk_labels, fraction in _chunks(job):
        contestant.take(chunk_rows, chunk_labels, fraction)
        labels += chunk_labels
        tick(fraction)
    if not labels:
        raise DataFileError(f"{job['file']}: no usable rows after the header.")
    predictions, known = contestant.predictions, sorted(set(labels), key=lambda label: (str(label), repr(label)))
    is_shown = len(known) <= MOST_LABELS
    return {
        "accuracy": round(measures.accuracy(predictions, labels), 4),
        "last": round(measures.accuracy(measures.last(predictions), measures.last(labels)), 4),
        "macro_f1": round(measures.macro_f1(predictions, labels), 4),
        **(heard.summary(known) | ({} if is_shown else {name: [] for name in OF_LABELS})),
        "seconds": round(contestant.seconds, 3),
        "bytes": contestant.n_bytes,
        "rows": len(labels),
        "curve": measures.curve(predictions, labels, prequential.N_BLOCKS),
        "labels": spelled(known) if is_shown else [],
        "confusion": measures.confusion(predictions, labels, known).tolist() if is_shown else [],
    }


def _costs(job: Job) -> Costs | None:
    """What mistakes cost, if the job says so: [true label, predicted label, cost], as JSON has no pairs."""
    told = job.get("costs")
    return None if told is None else Costs({(true, predicted): cost for true, predicted, cost in told})


def _source(job: Job) -> Source:
    columns = Columns(job["target"], frozenset(job["drop"]), frozenset(job["text"]))
    return Source(job["file"], columns, file_format=job["file_format"], delimiter=job["delimiter"])


def _chunks(job: Job) -> Iterator[tuple[Sequence[Row], list[Label], float]]:
    """Rows and labels that were read together, and how much of the file is done with them."""
    source, most_rows = _source(job), job["most_rows"]
    seen, n_rows = set[Label](), 0
    for chunk in source.chunks():
        end = len(chunk.rows) if most_rows is None else min(len(chunk.rows), most_rows - n_rows)
        if chunk.bad and job["on_error"] == "stop":
            n_before = n_rows + bisect_left(chunk.lines, chunk.bad[0].line)
            if most_rows is None or n_before < most_rows:
                raise chunk.bad[0].error(source.name)
        labels = chunk.labels[:end]
        n_rows += end
        seen.update(labels)
        check_labels(source.name, job["target"], len(seen), n_rows)
        if end:
            by_rows = n_rows / most_rows if most_rows else 0.0
            yield chunk.rows[:end], labels, min(1.0, max(source.fraction(chunk.end) or 0.0, by_rows))
        if most_rows is not None and n_rows >= most_rows:
            return


class _Contestant:
    """A model on its way through the rows."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self.predictions: list[Label | None] = []
        self.seconds = 0.0

    def take(self, rows: Sequence[Row], labels: list[Label], end: float) -> None:
        """Predict and learn the rows, which end at that fraction of the file."""
        raise NotImplementedError

    @property
    def n_bytes(self) -> int:
        """The memory of the model."""
        raise NotImplementedError


class _Ours(_Contestant):
    """In blocks, and compiled before the clock starts."""

    def __init__(self, model: Any, heard: Heard) -> None:
        super().__init__(heard)
        self.model = model
        self._is_compiled = False

    def take(self, rows: Sequence[Row], labels: list[Label], end: float) -> None:
        if not self._is_compiled:
            list(self.model.clone().prequential(rows[:WARM_UP_ROWS], labels[:WARM_UP_ROWS]))
            self._is_compiled = True
        for first in range(0, len(rows), BLOCK):
            began = time.perf_counter()
            answers = list(self.model.prequential(rows[first : first + BLOCK], labels[first : first + BLOCK]))
            self.seconds += time.perf_counter() - began
            for answered in answers:
                begin = first + answered.first_row
                self.predictions += self.heard.block(labels[begin : begin + len(answered)], answered)

    @property
    def n_bytes(self) -> int:
        return int(self.model.memory_usage_)


class _Peer(_Contestant):
    """Row by row, encoded for what the model takes; encoding is not timed."""

    def __init__(self, model: Any, heard: Heard, title: str, tick: Callable[[float], None]) -> None:
        super().__init__(heard)
        self.model = model
        self._needs_numbers = title in peers.NUMBERS_ONLY
        self._encoder: encoding.Encoder | None = None
        self._tick, self._ticked_at, self._done = tick, time.perf_counter(), 0.0

    def take(self, rows: Sequence[Row], labels: list[Label], end: float) -> None:
        if self._needs_numbers and self._encoder is None:
            self._encoder = encoding.Encoder(rows)
        encode: Callable[[Row], Any] = encoding.present if self._encoder is None else self._encoder.encode
        begin = self._done
        for number, label in enumerate(labels):
            x = encode(rows[number])
            began = time.perf_counter()
            said = ask(self.model, x)
            self.model.learn_one(x, label)
            now = time.perf_counter()
            self.seconds += now - began
            self.predictions.append(self.heard.row(label, *said))
            if now - self._ticked_at >= SECONDS_PER_TICK:
                self._ticked_at = now
                self._tick(begin + (end - begin) * (number + 1) / len(labels))
        self._done = end

    @property
    def n_bytes(self) -> int:
        return int(self.model._raw_memory_usage)
