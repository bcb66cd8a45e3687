"""A run as a file: the model, with the settings, the scores and the position in the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ocoboost.data.schema import NUMBER, TEXT
from ocoboost.errors import DataFileError, ModelFileError
from ocoboost.files.columns import Chunk, Columns
from ocoboost.files.opening import Fingerprint, read_before
from ocoboost.files.sources import FORMATS
from ocoboost.run.curves import whole
from ocoboost.run.scores import MemberWeights, Scores
from ocoboost.saving.model import read_model, write_model
from ocoboost.stream.protocol import StreamClassifier


@dataclass(frozen=True)
class Settings:
    """How a file is read; kept with the model, so that a resumed run reads in the same way."""

    target: str
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    file_format: str | None = None
    delimiter: str | None = None
    delay: int = 0
    identifier: str | None = None
    on_error: str = "stop"

    def check(self) -> None:
        """Raise ``ValueError`` if these settings, read from a file, cannot be used."""
        _require(isinstance(self.target, str), "target")
        _require(self.identifier is None or isinstance(self.identifier, str), "identifier")
        for names in (self.drop, self.text):
            _require(isinstance(names, tuple) and all(isinstance(name, str) for name in names), "drop or text")
        _require(self.file_format is None or self.file_format in FORMATS, "file_format")
        delimiter = self.delimiter
        _require(delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1), "delimiter")
        _require(self.on_error in ("stop", "skip"), "on_error")
        whole(self.delay)

    def columns(self) -> Columns:
        """The columns of a file, before it is opened."""
        return Columns(self.target, frozenset(self.drop), frozenset(self.text), identifier=self.identifier)


class Place(NamedTuple):
    """The position of a run: a chunk, how many of its rows are learned, and the bad records before it."""

    start: int | None = None
    first_line: int = 1
    n_learned: int = 0
    n_bad: int = 0
    n_seen: int = 0  # bytes before the chunk that are known
    seen: str = ""  # the digest of these

    @classmethod
    def read(cls, notes: Any) -> Place:
        """The place in a file of a run; raises ``TypeError`` or ``ValueError`` if there can be none like it."""
        place = cls(*notes)
        start, *counts, seen = place
        for number in (*([] if start is None else [start]), *counts):
            whole(number)
        _require(isinstance(seen, str) and place.n_seen <= (start or 0), "place")
        return place

    def at(self, chunk: Chunk, n_bad: int) -> Place:
        """The beginning of a chunk, of which the bytes before it are known."""
        return self._replace(start=chunk.start, first_line=chunk.first_line, n_learned=0, n_bad=n_bad)

    def past(self, chunk: Chunk) -> Place:
        """What is known of the bytes before the next chunk; where that begins, `at` will say."""
        known = Fingerprint.of(chunk.tail)
        return self._replace(n_seen=known.n_bytes, seen=known.digest)

    def check(self, path: str) -> None:
        """Raise if other bytes than in the run stand just before its last chunk: some were added or removed.

        Changes that move nothing are not noticed, nor those within the chunk, which has a mebibyte at most.
        """
        if self.start is None or not self.n_seen:
            return
        known = Fingerprint.of(read_before(path, self.start, self.n_seen))
        if known != (self.seen, self.n_seen):
            raise DataFileError(
                f"{path}: was changed before line {self.first_line:,}, in rows that the saved run has learned; undo "
                "that, or give new rows in a file of their own."
            )


class Checkpoint(NamedTuple):
    """What a run needs to resume, besides its model."""

    settings: Settings
    source: Fingerprint
    place: Place
    kinds: dict[str, str | None]  # of the columns
    scores: Scores
    weights: MemberWeights
    # Predictions for the rows from ``place`` on that wait for their labels.
    waiting: list[tuple[int, float, float, list[float]]]

    def write(self, model: StreamClassifier, path: str) -> None:
        """Save the model with this checkpoint."""
        notes = {
            **self._asdict(),
            "settings": asdict(self.settings),
            "source": tuple(self.source),
            "place": tuple(self.place),
            "scores": self.scores.as_notes(),
            "weights": vars(self.weights),
        }
        write_model(model, path, notes)

    @classmethod
    def read(cls, path: str, n_jobs: int | None) -> tuple[StreamClassifier, Checkpoint | None]:
        """The model and the checkpoint in a file; None if the model was saved from Python."""
        model, notes = read_model(path, n_jobs)
        if notes is None:
            return model, None
        try:
            checkpoint = cls._from_notes(notes, model)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, IndexError) as error:
            raise ModelFileError(f"{path}: invalid checkpoint ({error!r}).") from error
        return model, checkpoint

    @classmethod
    def _from_notes(cls, notes: Any, model: StreamClassifier) -> Checkpoint:
        """Raises one of many errors if the notes are not those of a run of this model."""
        settings = Settings(**notes["settings"])
        settings.check()
        checkpoint = cls(
            settings,
            Fingerprint(*notes["source"]),
            Place.read(notes["place"]),
            dict(notes["kinds"]),
            Scores.from_notes(notes["scores"], settings.delay),
            MemberWeights(**notes["weights"]),
            [
                (int(prediction), float(chance), float(confidence), [float(share) for share in said])
                for prediction, chance, confidence, said in notes["waiting"]
            ],
        )
        digest, n_bytes = checkpoint.source
        whole(n_bytes)
        n_labels = len(model.classes_)
        _require(isinstance(digest, str), "source")
        _require(all(isinstance(name, str) for name in checkpoint.kinds), "kinds")
        _require(set(checkpoint.kinds.values()) <= {None, NUMBER, TEXT}, "kinds")
        _require(len(checkpoint.scores.counts) <= n_labels, "scores")
        _require(all(-1 <= prediction < n_labels for prediction, *_ in checkpoint.waiting), "waiting")
        _require(all(len(said) <= n_labels for *_, said in checkpoint.waiting), "waiting")
        _require(all(0.0 <= share <= 1.0 for *_, said in checkpoint.waiting for share in said), "waiting")
        _require(len(checkpoint.waiting) <= checkpoint.settings.delay, "waiting")
        _require(whole(checkpoint.weights.every) > 0, "weights")
        for n_rows, weights in checkpoint.weights.points:
            _require(whole(n_rows) >= 0 and all(isinstance(weight, float) for weight in weights), "weights")
        return checkpoint


def _require(is_valid: bool, what: str) -> None:
    if not is_valid:
        raise ValueError(what)
