"""SQLite: rows that wait for their labels, the log of labels, and counts of what happened to both.

The log is what models learn, in the order of its numbers. A row is in it once, under its id; so a label that is sent
twice is learned once. Whatever a request changes is changed in one transaction, counts included, and what is committed
is on disk (write-ahead log, ``synchronous=FULL``).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ocoboost.errors import ModelFileError
from ocoboost.serve.entries import ACCEPTED, CONTRADICTION, DUPLICATE, UNKNOWN, Entry, Outcome, Prediction
from ocoboost.serve.limits import Limits
from ocoboost.serve.reading import Judged, Told

VERSION = 2
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (
    number INTEGER PRIMARY KEY,    -- in the order of the predictions
    id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,              -- seconds since 1970
    features TEXT NOT NULL,        -- JSON
    model TEXT NOT NULL,           -- that made the prediction
    model_rows INTEGER NOT NULL,   -- the number in the log up to which it had learned
    answer TEXT NOT NULL,          -- JSON: the label that was predicted
    probabilities TEXT NOT NULL,   -- JSON
    issued BLOB                    -- what the model wants back with the label
);
CREATE TABLE IF NOT EXISTS log (
    number INTEGER PRIMARY KEY,    -- without gaps, in the order in which labels arrived
    id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    features TEXT NOT NULL,
    label TEXT NOT NULL,           -- JSON, null if nothing is known but that the answer was wrong
    predicted_at REAL,             -- these are NULL for a row that was never predicted
    model TEXT,
    model_rows INTEGER,
    answer TEXT,
    probabilities TEXT,
    issued BLOB
);
CREATE TABLE IF NOT EXISTS promotions (number INTEGER PRIMARY KEY, at REAL NOT NULL, model TEXT NOT NULL);
"""
COUNTERS = (
    "predictions_kept",
    "predictions_repeated",  # the same id and features again
    "labels_accepted",  # the highest number of the log
    "labels_of_predictions",  # of these, for a row that waited
    "labels_right",  # of these, the label that was predicted
    "labels_duplicate",
    "labels_contradictory",
    "labels_unknown",
    "expired_by_age",
    "expired_by_number",
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
OTHER_THREAD: Any = {"check_same_thread": False}  # one thread opens a connection, and another uses it
NOTHING = "null"  # in place of a label, as JSON
AT_ONCE = 1000  # rows that are removed in one transaction: nobody waits for more


def fresh_id() -> str:
    """An id that nobody else gives; later ones sort after earlier ones, which a database likes."""
    return f"{time.time_ns():016x}-{secrets.token_hex(4)}"


def as_text(value: Any) -> str:
    """JSON for the database."""
    return _ENCODER.encode(value)


class Database:
    """The tables, and what requests do to them. One thread writes; others open readers of their own."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits = path, limits
        try:
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=30.0, **OTHER_THREAD)
            self._set_up()
        except sqlite3.DatabaseError as error:
            raise ModelFileError(f"{path}: cannot be used as the log of a service ({error}).") from error
        self.reload()

    def _set_up(self) -> None:
        run = self.connection.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA journal_size_limit = 67108864")
        run("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";"):
            run(statement)
        facts = dict(run("SELECT name, value FROM facts"))
        if not facts:
            facts = {"version": VERSION, "identity": secrets.token_hex(8)}
            self.connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
            self.connection.executemany("INSERT INTO counters VALUES (?, 0)", ((name,) for name in COUNTERS))
        run("COMMIT")
        if facts["version"] != VERSION:
            raise ModelFileError(f"{self.path}: has version {facts['version']}, and this ocoboost reads {VERSION}.")
        self.identity = str(facts["identity"])  # by which models recognise their log

    def reload(self) -> None:
        """Read what is kept in memory beside the tables; again after a transaction that failed."""
        run = self.connection.execute
        self.counters: dict[str, int] = dict.fromkeys(COUNTERS, 0) | dict(run("SELECT name, value FROM counters"))
        self._written = dict(self.counters)
        self.n_pending: int = run("SELECT count(*) FROM pending").fetchone()[0]
        last = run("SELECT max(number) FROM pending").fetchone()[0]
        self._last_pending: int = max(last or 0, self.counters["predictions_kept"])
        self._is_stale = False

    @property
    def last_number(self) -> int:
        """The highest number of the log."""
        return self.counters["labels_accepted"]

    # -- transactions --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a transaction."""
        if self._is_stale:
            self.reload()
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Write what was counted, and return once all of it is on disk."""
        changed = [(value, name) for name, value in self.counters.items() if self._written[name] != value]
        if changed:
            self.connection.executemany("UPDATE counters SET value = ? WHERE name = ?", changed)
        self.connection.execute("COMMIT")
        self._written.update((name, value) for value, name in changed)

    def roll_back(self) -> None:
        """Undo a transaction."""
        self._is_stale = True
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file; what is in the write-ahead log goes into it."""
        self.connection.close()

    # -- predictions ---------------------------------------------------------------------------------------------------

    def keep(self, predictions: Sequence[Prediction], now: float) -> list[Prediction | Outcome]:
        """Keep rows until their labels come; a row that was predicted before gets the answer that it got then.

        If an id belongs to another row, none is kept.
        """
        found = [self._before(prediction) for prediction in predictions]
        if any(isinstance(before, Outcome) for before in found):
            return [before or prediction for before, prediction in zip(found, predictions, strict=True)]
        kept: list[Prediction | Outcome] = []
        for before, prediction in zip(found, predictions, strict=True):
            self.counters["predictions_repeated"] += before is not None
            kept.append(before or self._keep(prediction, as_text(prediction.features), now))
        self.expire(now)
        return kept

    def _before(self, prediction: Prediction) -> Prediction | Outcome | None:
        """What was said to a row under its id, if anything was."""
        before = self._predicted(prediction.id)
        if before is None:
            return None
        features, model, rows, answer, probabilities, issued = before
        is_another = features != as_text(prediction.features)
        if is_another or model is None:
            detail = "has another row" if is_another else "was learned without a prediction"
            return Outcome(
                prediction.id, CONTRADICTION, None, f"the id {prediction.id!r} {detail}; give every row its own."
            )
        said = (model, rows, json.loads(answer), json.loads(probabilities), issued)
        return Prediction(prediction.id, prediction.features, *said, is_kept=True, is_repeated=True)

    def _keep(self, prediction: Prediction, features: str, now: float) -> Prediction:
        self._last_pending += 1
        answer, probabilities = as_text(prediction.label), as_text(prediction.probabilities)
        said = (prediction.model, prediction.model_rows, answer, probabilities, prediction.issued)
        row = (self._last_pending, prediction.id, now, features, *said)
        self.connection.execute("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.n_pending += 1
        self.counters["predictions_kept"] += 1
        return prediction._replace(is_kept=True)

    def _predicted(self, name: str) -> Any:
        for table in ("pending", "log"):
            what = f"SELECT features, model, model_rows, answer, probabilities, issued FROM {table} WHERE id = ?"
            if (row := self.connection.execute(what, (name,)).fetchone()) is not None:
                return row
        return None

    def expire(self, now: float) -> None:
        """Forget rows whose labels have not come in time, or that are too many; a bounded number at a time."""
        run = self.connection.execute
        oldest = f"number IN (SELECT number FROM pending {{}} ORDER BY number LIMIT {AT_ONCE})"
        by_age = oldest.format("WHERE at < ?")
        if self.n_pending:
            n = run(f"DELETE FROM pending WHERE {by_age}", (now - self.limits.pending_seconds,)).rowcount
            self.counters["expired_by_age"] += n
            self.n_pending -= n
        if (too_many := self.n_pending - self.limits.pending_rows) > 0:
            first = "number IN (SELECT number FROM pending ORDER BY number LIMIT ?)"
            n = run(f"DELETE FROM pending WHERE {first}", (too_many,)).rowcount
            self.counters["expired_by_number"] += n
            self.n_pending -= n

    # -- labels --------------------------------------------------------------------------------------------------------

    def label(self, labels: Sequence[Told], now: float) -> list[Outcome]:
        """Put labels into the log, each with its row; one that is there already stays as it is."""
        return [self._label(told, now) for told in labels]

    def _label(self, told: Told, now: float) -> Outcome:
        name, label = told.id or fresh_id(), as_text(told.label)
        features = None if told.features is None else as_text(told.features)
        run = self.connection.execute
        logged = run("SELECT number, label, features FROM log WHERE id = ?", (name,)).fetchone()
        if logged is not None:
            number, first, row = logged
            if first == label and features in (None, row):
                self.counters["labels_duplicate"] += 1
                return Outcome(name, DUPLICATE, number)
            return self._contradiction(name, number, f"was learned with {'another row' if first == label else first}")
        waiting = run("SELECT * FROM pending WHERE id = ?", (name,)).fetchone()
        if waiting is None:
            if features is None:
                self.counters["labels_unknown"] += 1
                detail = "nothing was predicted under this id, or it has expired; send the features with the label."
                return Outcome(name, UNKNOWN, None, detail)
            return self._append(name, now, features, label, (None,) * 6)
        _, _, _, row, *_ = waiting
        if features not in (None, row):
            return self._contradiction(name, None, "was predicted with another row")
        return self._settle(waiting, label, now)

    def feedback(self, told: Sequence[Judged], now: float) -> list[Outcome]:
        """Put into the log whether answers were right, each with its row; what is there already stays as it is."""
        return [self._feedback(judged, now) for judged in told]

    def _feedback(self, judged: Judged, now: float) -> Outcome:
        name, run = judged.id, self.connection.execute
        logged = run("SELECT number, label FROM log WHERE id = ?", (name,)).fetchone()
        if logged is not None:
            number, label = logged
            if (label != NOTHING) == judged.is_right:
                self.counters["labels_duplicate"] += 1
                return Outcome(name, DUPLICATE, number)
            return self._contradiction(name, number, f"was {'wrong' if judged.is_right else 'right'} before")
        waiting = run("SELECT * FROM pending WHERE id = ?", (name,)).fetchone()
        if waiting is None:
            self.counters["labels_unknown"] += 1
            return Outcome(name, UNKNOWN, None, "nothing was predicted under this id, or it has expired.")
        answer = waiting[6]
        return self._settle(waiting, answer if judged.is_right else NOTHING, now)

    def _settle(self, waiting: Sequence[Any], label: str, now: float) -> Outcome:
        """Move a row that waits into the log."""
        pending_number, name, at, row, model, rows, answer, probabilities, issued = waiting
        run = self.connection.execute
        run("DELETE FROM pending WHERE number = ?", (pending_number,))
        self.n_pending -= 1
        self.counters["labels_of_predictions"] += 1
        self.counters["labels_right"] += answer == label
        return self._append(name, now, row, label, (at, model, rows, answer, probabilities, issued))

    def _append(self, name: str, now: float, features: str, label: str, said: tuple[Any, ...]) -> Outcome:
        number = self.last_number + 1
        row = (number, name, now, features, label, *said)
        self.connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.counters["labels_accepted"] = number
        return Outcome(name, ACCEPTED, number)

    def _contradiction(self, name: str, number: int | None, why: str) -> Outcome:
        self.counters["labels_contradictory"] += 1
        return Outcome(name, CONTRADICTION, number, f"this id {why}; that stays, and this label is not learned.")

    def prune(self, learned: int) -> None:
        """Remove rows of the log that every model's file has learned, but for the latest ones."""
        if self.limits.log_rows is not None:
            last = min(learned, self.last_number - self.limits.log_rows)
            what = f"number IN (SELECT number FROM log WHERE number <= ? ORDER BY number LIMIT {AT_ONCE})"
            self.connection.execute(f"DELETE FROM log WHERE {what}", (last,))

    # -- the model that answers ----------------------------------------------------------------------------------------

    def promote(self, model: str, now: float) -> None:
        """From now on this model answers."""
        self.connection.execute("INSERT INTO promotions (at, model) VALUES (?, ?)", (now, model))

    def champion(self) -> str | None:
        """The model that answers."""
        row = self.connection.execute("SELECT model FROM promotions ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else str(row[0])


class Reader:
    """Reads the log while another thread writes it."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, **OTHER_THREAD
        )

    def after(self, number: int, most: int) -> list[Entry]:
        """The rows after a number, in order."""
        what = "SELECT number, id, features, label, answer, issued FROM log WHERE number > ? ORDER BY number LIMIT ?"
        return list(self._entries(self.connection.execute(what, (number, most))))

    @staticmethod
    def _entries(rows: Iterable[tuple[int, str, str, str, str | None, bytes | None]]) -> Iterable[Entry]:
        for number, name, features, label, answer, issued in rows:
            said = None if answer is None else json.loads(answer)
            yield Entry(number, name, json.loads(features), json.loads(label), said, issued)

    def first_number(self) -> int | None:
        """The lowest number that the log still has."""
        found: int | None = self.connection.execute("SELECT min(number) FROM log").fetchone()[0]
        return found

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
