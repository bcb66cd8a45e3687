"""What is in the folder of a service: ``log.sqlite``, and ``models/NAME.oco`` for every model that learns from it.

One process at a time may use a folder. A model that is added begins at the first number that the log still has, and
one that has learned elsewhere at the end of the log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ocoboost.errors import ModelFileError
from ocoboost.online.bandit import OnlineBanditBoostClassifier
from ocoboost.saving.model import read_model
from ocoboost.serve.database import Database, Reader
from ocoboost.serve.limits import Limits
from ocoboost.serve.plays import Playing
from ocoboost.serve.served import Served
from ocoboost.stream.protocol import StreamClassifier

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two processes apart
    fcntl = None  # type: ignore[assignment]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class Folder:
    """The files of a service."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.log = self.path / "log.sqlite"
        self.models = self.path / "models"

    @property
    def exists(self) -> bool:
        """Whether there is a service in it."""
        return self.log.exists()

    def file(self, name: str) -> Path:
        """The file of a model."""
        return self.models / f"{name}.oco"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A context in which no other process can use the folder."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.models.mkdir(exist_ok=True)
        with (self.path / "lock").open("w") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise ModelFileError(f"{self.path}: another process serves from this folder.") from None
            yield

    def add(self, name: str, model: StreamClassifier, database: Database) -> None:
        """Put a model into the folder; it learns what it has not learned elsewhere."""
        if NAME.fullmatch(name) is None:
            raise ModelFileError(f"{name!r} cannot name a model; use up to 40 letters, digits, - and _.")
        if self.file(name).exists():
            raise ModelFileError(f"{self.path}: there is a model {name!r} already; choose another name.")
        served = kind_of(model)(name, model, database.identity)
        for other in self._files()[:1]:
            if read_served(other, None).takes_feedback != served.takes_feedback:
                why = "one learns from labels, and the other from right and wrong"
                raise ModelFileError(f"{self.path}: {name!r} cannot stand beside {other.stem!r}: {why}.")
        if model.n_rows_:
            served.position = database.last_number
        else:
            reader = Reader(self.log)
            first = reader.first_number()
            reader.close()
            served.position = database.last_number if first is None else first - 1
        served.began = served.position
        served.write(self.file(name))
        if database.champion() is None:
            database.begin()
            database.promote(name, 0.0)
            database.commit()

    def _files(self) -> list[Path]:
        return sorted(self.models.glob("[!.]*.oco"))

    def open(self, limits: Limits) -> Database:
        """The log; an empty one if there is none yet."""
        return Database(self.log, limits)

    def read(self, database: Database, n_jobs: int | None = None) -> dict[str, Served]:
        """All models, by name, and each as far as its file says."""
        found = {path.stem: read_served(path, n_jobs) for path in self._files()}
        if not found:
            raise ModelFileError(f"{self.path}: there is no model in it; begin with --new or --from.")
        reader = Reader(self.log)
        first = reader.first_number()
        reader.close()
        for name, served in found.items():
            if served.identity != database.identity:
                raise ModelFileError(f"{self.file(name)}: belongs to another log than {self.log}.")
            if served.position > database.last_number:
                why = f"has learned up to row {served.position} of the log, which ends at {database.last_number}"
                raise ModelFileError(f"{self.file(name)}: {why}; restore the log that belongs to it.")
            if first is not None and served.position < first - 1:
                why = f"has learned up to row {served.position} of the log, which begins at {first}"
                raise ModelFileError(f"{self.file(name)}: {why}; restore a later file, or remove this one.")
        if database.champion() not in found:
            raise ModelFileError(f"{self.path}: the model {database.champion()!r}, which answers, is missing.")
        return found


def kind_of(model: StreamClassifier) -> type[Served]:
    """How a model is served: it learns from labels, or from right and wrong."""
    return Playing if isinstance(model, OnlineBanditBoostClassifier) else Served


def read_served(path: Path, n_jobs: int | None) -> Served:
    """The model of a service in a file."""
    model, notes = read_model(path, n_jobs)
    return kind_of(model).restored(path, model, notes)
