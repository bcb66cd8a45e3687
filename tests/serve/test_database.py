"""The log and the rows that wait, against a twin of dicts."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ocoboost.errors import ModelFileError
from ocoboost.serve.database import Database, Reader
from ocoboost.serve.entries import ACCEPTED, CONTRADICTION, DUPLICATE, UNKNOWN, Outcome, Prediction
from ocoboost.serve.limits import Limits
from ocoboost.serve.reading import Told

LIMITS = Limits(pending_rows=4, pending_seconds=10.0)
NAMES, LABELS, ROWS = (
    st.sampled_from("abcdefgh"),
    st.sampled_from(["x", "y", 1]),
    st.sampled_from([{"v": 1}, {"v": 2.5}]),
)


def prediction(name, row, label="x"):
    return Prediction(name, row, "trees", 3, label, {"x": 1.0})


def do(database, operation):
    database.begin()
    result = operation(database)
    database.commit()
    return result


class LogMachine(RuleBasedStateMachine):
    """Everything that requests may do, in any order, with crashes between."""

    def __init__(self):
        super().__init__()
        self.path = Path(mkdtemp()) / "log.sqlite"
        self.database = Database(self.path, LIMITS)
        self.now = 0.0
        self.pending, self.log = {}, {}  # id: (row, at, label); id: (number, row, label)
        self.n = dict.fromkeys(self.database.counters, 0)

    def expire(self):
        for name, (_, at, _) in list(self.pending.items()):
            if at < self.now - LIMITS.pending_seconds:
                del self.pending[name]
                self.n["expired_by_age"] += 1
        while len(self.pending) > LIMITS.pending_rows:
            del self.pending[next(iter(self.pending))]
            self.n["expired_by_number"] += 1

    @rule(name=NAMES, row=ROWS, label=LABELS, seconds=st.sampled_from([0.0, 1.0, 6.0]))
    def keep(self, name, row, label, seconds):
        self.now += seconds
        (kept,) = do(self.database, lambda database: database.keep([prediction(name, row, label)], self.now))
        before = self.pending.get(name) or (self.log[name][1:2] if name in self.log else None)
        if before is None:
            self.pending[name] = row, self.now, label
            self.n["predictions_kept"] += 1
            assert kept == prediction(name, row, label)._replace(is_kept=True)
        elif before[0] != row or (name in self.log and self.log[name][3] is None):
            assert isinstance(kept, Outcome)
            return
        else:
            self.n["predictions_repeated"] += 1
            assert kept.is_repeated
            assert kept.label == (self.log[name][3] if name in self.log else before[2])
        self.expire()

    @rule(name=NAMES, label=LABELS, row=st.none() | ROWS)
    def label(self, name, label, row):
        (outcome,) = do(self.database, lambda database: database.label([Told(name, label, row)], self.now))
        if name in self.log:
            number, known, first, _ = self.log[name]
            is_same = first == label and row in (None, known)
            assert outcome[:3] == (name, DUPLICATE if is_same else CONTRADICTION, number)
            self.n["labels_duplicate" if is_same else "labels_contradictory"] += 1
        elif name in self.pending:
            known, _, answer = self.pending[name]
            if row not in (None, known):
                assert outcome.status == CONTRADICTION
                self.n["labels_contradictory"] += 1
                return
            del self.pending[name]
            self.append(name, known, label, answer, outcome)
            self.n["labels_of_predictions"] += 1
            self.n["labels_right"] += answer == label
        elif row is None:
            assert outcome.status == UNKNOWN
            self.n["labels_unknown"] += 1
        else:
            self.append(name, row, label, None, outcome)

    def append(self, name, row, label, answer, outcome):
        self.log[name] = len(self.log) + 1, row, label, answer
        self.n["labels_accepted"] += 1
        assert outcome == Outcome(name, ACCEPTED, len(self.log))

    @rule(name=NAMES, row=ROWS)
    def fail(self, name, row):
        """A transaction that is rolled back leaves nothing."""
        self.database.begin()
        self.database.keep([prediction(name, row)], self.now)
        self.database.label([Told(name, "x", row)], self.now)
        self.database.roll_back()

    @rule()
    def crash(self):
        """Whoever opens the file next finds what was committed."""
        self.database.connection.close()
        self.database = Database(self.path, LIMITS)

    @invariant()
    def is_the_twin(self):
        database = self.database
        reader = Reader(self.path)
        entries = reader.after(0, 1000)
        reader.close()
        assert [entry[:2] for entry in entries] == [(number, name) for name, (number, *_) in self.log.items()]
        assert [entry[2:4] for entry in entries] == [(row, label) for _, row, label, _ in self.log.values()]
        if not database._is_stale:
            assert database.n_pending == len(self.pending)
            assert database.counters == self.n
        waiting = [name for (name,) in database.connection.execute("SELECT id FROM pending ORDER BY number")]
        assert waiting == list(self.pending)
        n = self.n
        labelled_or_gone = n["labels_of_predictions"] + n["expired_by_age"] + n["expired_by_number"]
        assert n["predictions_kept"] == labelled_or_gone + len(self.pending)

    def teardown(self):
        self.database.close()


TestLog = LogMachine.TestCase
TestLog.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)


def test_a_batch_with_another_row_under_an_id_is_not_kept_at_all(tmp_path):
    database = Database(tmp_path / "log.sqlite", LIMITS)
    do(database, lambda d: d.keep([prediction("a", {"v": 1})], 0.0))
    found = do(database, lambda d: d.keep([prediction("b", {"v": 1}), prediction("a", {"v": 2})], 0.0))
    assert isinstance(found[1], Outcome)
    assert database.n_pending == 1
    database.close()


def test_the_log_is_written_through_to_the_disk(tmp_path):
    database = Database(tmp_path / "log.sqlite", LIMITS)
    run = database.connection.execute
    assert run("PRAGMA journal_mode").fetchone() == ("wal",)
    assert run("PRAGMA synchronous").fetchone() == (2,)  # FULL
    database.close()


def test_what_every_model_has_learned_is_removed_from_the_log_if_that_is_wanted(tmp_path):
    database = Database(tmp_path / "log.sqlite", Limits(log_rows=3))
    do(database, lambda d: d.label([Told(f"{n}", "x", {"v": n}) for n in range(10)], 0.0))
    do(database, lambda d: d.prune(5))
    reader = Reader(tmp_path / "log.sqlite")
    assert reader.first_number() == 6
    do(database, lambda d: d.prune(10))
    assert reader.first_number() == 8
    assert do(database, lambda d: d.label([Told("new", "x", {})], 0.0))[0].number == 11
    reader.close()
    database.close()


def test_promotions_are_rows_of_which_the_last_counts(tmp_path):
    database = Database(tmp_path / "log.sqlite", LIMITS)
    assert database.champion() is None
    for name in ("one", "two", "one"):
        do(database, lambda d, name=name: d.promote(name, 0.0))
        assert database.champion() == name
    database.close()


def test_a_file_that_is_no_log_is_refused_by_name(tmp_path):
    path = tmp_path / "log.sqlite"
    path.write_text("no database, but a text that is long enough to be taken for the header of one" * 20)
    with pytest.raises(ModelFileError, match=r"log\.sqlite: cannot be used"):
        Database(path, LIMITS)
    path.unlink()
    Database(path, LIMITS).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE facts SET value = 99 WHERE name = 'version'")
    connection.commit()
    connection.close()
    with pytest.raises(ModelFileError, match="version 99"):
        Database(path, LIMITS)
