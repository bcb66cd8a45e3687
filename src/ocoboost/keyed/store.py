"""Models by key in one file: an SQLite database whose entries are model files.

Nothing that is written counts before ``commit``: a program that is killed finds the database as it was at the last one,
all models of the same moment. SQLite keeps what was not committed in bounded memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from ocoboost.errors import ModelFileError
from ocoboost.keyed.scores import KeyScores
from ocoboost.saving.values import pack, unpack

_VERSION = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE models (
    key TEXT PRIMARY KEY, n_rows INTEGER NOT NULL, n_right INTEGER NOT NULL, log_loss REAL NOT NULL, model BLOB NOT NULL
);
"""


class Store:
    """An open database. Keys are told by their spelling."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA cache_size = -8192")  # KiB
            self._database.execute("PRAGMA synchronous = NORMAL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            is_new = version == 0 and not self._database.execute("SELECT 1 FROM sqlite_master").fetchone()
            if is_new:
                self._database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise ModelFileError(f"{path}: is not a file of models by key, or from another version of ocoboost.")
            self._database.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise ModelFileError(f"{path}: cannot be opened as a file of models by key ({error}).") from error

    def about(self, name: str) -> bytes | None:
        """What is kept beside the models under a name."""
        found = self._database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if found is None else found[0]

    def set_about(self, name: str, value: bytes) -> None:
        self._execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def read(self, key: str) -> tuple[bytes, KeyScores] | None:
        """A model file and its scores; None if there is none under this key."""
        found = self._database.execute(
            "SELECT model, n_rows, n_right, log_loss FROM models WHERE key = ?", (key,)
        ).fetchone()
        return None if found is None else (found[0], KeyScores(*found[1:]))

    def has(self, key: str) -> bool:
        """Whether there is a model under this key."""
        found = self._database.execute("SELECT 1 FROM models WHERE key = ?", (key,)).fetchone()
        return found is not None

    def write(self, key: str, model: bytes, scores: KeyScores) -> None:
        self._execute("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?)", (key, *scores, model))

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM models").fetchone()[0])

    def keys(self) -> Iterator[Hashable]:
        """All keys, in the order of their spelling."""
        for (text,) in self._database.execute("SELECT key FROM models ORDER BY key"):
            yield read_key(text)

    def total(self) -> KeyScores:
        """The scores of all rows."""
        query = "SELECT coalesce(sum(n_rows), 0), coalesce(sum(n_right), 0), coalesce(sum(log_loss), 0.0) FROM models"
        return KeyScores(*self._database.execute(query).fetchone())

    def worst(self, count: int, least_rows: int) -> list[tuple[Hashable, KeyScores]]:
        """The keys with the least accuracy among those with so many rows; the largest first among equals."""
        query = (
            "SELECT key, n_rows, n_right, log_loss FROM models WHERE n_rows >= ? "
            "ORDER BY n_right * 1.0 / n_rows, n_rows DESC, key LIMIT ?"
        )
        found = self._database.execute(query, (max(1, least_rows), count)).fetchall()
        return [(read_key(text), KeyScores(*scores)) for text, *scores in found]

    def commit(self) -> None:
        """Make everything so far count."""
        self._execute("COMMIT")
        self._execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Forget what was not committed."""
        self._database.close()

    def _execute(self, query: str, values: tuple[Any, ...] = ()) -> None:
        try:
            self._database.execute(query, values)
        except sqlite3.Error as error:
            raise ModelFileError(f"{self.path}: cannot be written ({error}).") from error


def spelled_key(key: Hashable) -> str:
    """A key as text, from which it can be read again: 1, "1" and True are different keys."""
    return json.dumps(pack(key, []), separators=(",", ":"))


def read_key(text: str) -> Hashable:
    key: Hashable = unpack(json.loads(text), [])
    return key
