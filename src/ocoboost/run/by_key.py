"""A file past a model per key: predict each row with the model of its key, then learn it.

The position in the file is kept with the models and written together with them: a run that was killed goes on from the
moment of its last save, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any, Self

from ocoboost.errors import DataFileError, ModelFileError
from ocoboost.files.columns import Chunk
from ocoboost.files.opening import Fingerprint, read_head
from ocoboost.files.sources import Source
from ocoboost.keyed.models import ModelsByKey
from ocoboost.run.checkpoint import Place, Settings
from ocoboost.spelling import as_json
from ocoboost.stream.protocol import StreamClassifier

BLOCK = 4096  # rows that are learned together: the more, the fewer models go to disk and back


class RunByKey:
    """Models on their way through a file."""

    def __init__(
        self, models: ModelsByKey, path: str, settings: Settings, *, is_saved: bool, save_every: float
    ) -> None:
        self.models = models
        self.path = path
        self.settings = settings
        self.columns = settings.columns()
        self.place = Place()
        self.n_bad = 0
        self._goes_on = False  # in the file of a saved run
        self._is_saved = is_saved
        self._save_every = save_every
        self._saved_at = time.monotonic()
        self._head = read_head(path)

    @classmethod
    def begin(
        cls,
        model: StreamClassifier,
        path: str,
        key: str,
        *,
        folder: str | None,
        is_resumed: bool,
        save_every: float,
        **told: Any,
    ) -> Self:
        """A new run, or one that goes on with the models in a folder: in the same file where it stopped."""
        models = ModelsByKey(model, folder=folder)
        settings = Settings(**told, identifier=key)
        run = cls(models, path, settings, is_saved=folder is not None, save_every=save_every)
        known = models.notes
        if known is not None and not is_resumed:
            models.close()
            raise ModelFileError(f"{folder}: has models already; --resume goes on with them.")
        if known is None and is_resumed:
            models.close()
            raise ModelFileError(f"{folder}: has no models by key to go on with.")
        if known is not None:
            try:
                run._take_up(known, str(folder))
            except (DataFileError, ModelFileError):
                models.close()
                raise
        return run

    def _take_up(self, known: Any, folder: str) -> None:
        try:
            settings = Settings(**known["settings"])
            source, place, kinds = Fingerprint(*known["source"]), Place.read(known["place"]), dict(known["kinds"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{folder}: invalid position of a run ({error!r}).") from error
        if replace(settings, on_error=self.settings.on_error) != self.settings:
            raise ModelFileError(f"{folder}: its run read another target, key, format or other columns; name the same.")
        self.columns.kinds.update(kinds)
        if source.matches(self.path):
            place.check(self.path)
            self.place, self._goes_on = place, True

    @property
    def n_rows(self) -> int:
        """Rows that were predicted and learned, in all runs."""
        return self.models.n_rows_

    def steps(self) -> Iterator[float | None]:
        """Go through the file; yields, after every block, how much of it is done."""
        settings, place = self.settings, self.place
        source = Source(self.path, self.columns, file_format=settings.file_format, delimiter=settings.delimiter)
        n_skipped, n_bad, n_before = place.n_learned, place.n_bad, self.n_rows
        chunks = source.chunks(place.start, place.first_line)
        try:
            for chunk in chunks:
                here, place = place.at(chunk, n_bad), place.past(chunk)
                n_bad += len(chunk.bad)
                if chunk.bad and settings.on_error == "stop":
                    raise chunk.bad[0].error(source.name)
                for first in range(n_skipped, len(chunk.rows), BLOCK):
                    self._learn(chunk, slice(first, first + BLOCK))
                    self.place = here._replace(n_learned=min(first + BLOCK, len(chunk.rows)))
                    self._save_if_due()
                    yield source.fraction(chunk.place(self.place.n_learned))
                n_skipped = max(0, n_skipped - len(chunk.rows))
                self.n_bad = n_bad
        except DataFileError:
            if self.n_rows > n_before:  # else what was saved before is as good, and may be of another file
                self.flush()
            raise
        finally:
            chunks.close()
            source.close()
        if self.n_rows == n_before and not self._goes_on:
            raise DataFileError(f"{source.name}: no usable rows after the header.")
        self.flush()

    def _learn(self, chunk: Chunk, rows: slice) -> None:
        self.models.predict_learn_many(chunk.rows[rows], chunk.labels[rows], list(chunk.keys[rows]))

    def _save_if_due(self) -> None:
        if self._is_saved and time.monotonic() - self._saved_at >= self._save_every:
            self.flush()

    def flush(self) -> None:
        """Write all models and the position in the file, if they are to be kept."""
        if self._is_saved:
            self.models.notes = {
                "settings": asdict(self.settings),
                "source": tuple(Fingerprint.of(self._head)),
                "place": tuple(self.place),
                "kinds": dict(self.columns.kinds),
            }
            self.models.flush()
            self._saved_at = time.monotonic()

    def summary(self, n_worst: int, least_rows: int) -> dict[str, Any]:
        """Scores of all rows, and of the keys that were predicted worst."""
        worst = self.models.worst(n_worst, least_rows=least_rows)
        return {
            "file": self.path,
            "target": self.settings.target,
            "key": self.settings.identifier,
            "model": " ".join(repr(self.models.model).split()),
            "keys": len(self.models),
            **self.models.scores_.summary(),
            "worst": [{"key": as_json(key, str(key)), **scores.summary()} for key, scores in worst],
            "skipped_rows": self.n_bad,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.models.close()
