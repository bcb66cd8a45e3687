"""A run as a file: the model, with the settings, the scores and the position in the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

from ocoboost.errors import ModelFileError
from ocoboost.files.columns import Columns
from ocoboost.files.opening import Fingerprint
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
    on_error: str = "stop"

    def columns(self) -> Columns:
        """The columns of a file, before it is opened."""
        return Columns(self.target, frozenset(self.drop), frozenset(self.text))


class Place(NamedTuple):
    """The position of a run: a chunk, how many of its rows are learned, and the bad records before it."""

    start: int | None = None
    first_line: int = 1
    n_learned: int = 0
    n_bad: int = 0


class Checkpoint(NamedTuple):
    """What a run needs to resume, besides its model."""

    settings: Settings
    source: Fingerprint
    place: Place
    kinds: dict[str, str | None]  # of the columns
    scores: Scores
    weights: MemberWeights
    waiting: list[tuple[int, float]]  # predictions for the rows from ``place`` on that wait for their labels

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
    def read(cls, path: str, n_jobs: int | None) -> tuple[StreamClassifier, Checkpoint]:
        """The model and the checkpoint in a file."""
        model, notes = read_model(path, n_jobs)
        if notes is None:
            raise ModelFileError(f"{path}: not saved by `ocoboost run`, so there is no run to resume.")
        try:
            checkpoint = cls(
                Settings(**notes["settings"]),
                Fingerprint(*notes["source"]),
                Place(*notes["place"]),
                dict(notes["kinds"]),
                Scores.from_notes(notes["scores"]),
                MemberWeights(**notes["weights"]),
                [(int(prediction), float(probability)) for prediction, probability in notes["waiting"]],
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ModelFileError(f"{path}: invalid checkpoint ({error!r}).") from error
        return model, checkpoint
