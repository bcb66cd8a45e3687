"""A model of a service, with its position in the log and its scores; all of it is in one model file.

Scores are prequential: every row of the log is predicted just before it is learned, by every model alike. A mixture is
held to what it answered, if it was the one that did: that is in the log, and comes back with the label. So scores
depend on the log alone, as the model does, and are the same after a crash.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.data.labels import Label
from ocoboost.errors import InvalidInputError, ModelFileError
from ocoboost.online.boost import OnlineBoostClassifier
from ocoboost.online.issuing import Issuing
from ocoboost.run.curves import whole
from ocoboost.run.scores import Scores
from ocoboost.saving.model import read_model, write_model
from ocoboost.serve.entries import Entry
from ocoboost.serve.reading import Features, Known
from ocoboost.serve.suspects import Suspect, Suspects
from ocoboost.spelling import as_json, spelled
from ocoboost.stream.protocol import StreamClassifier
from ocoboost.stream.state import Answered

RECENT = 1000  # rows of which the recent accuracy is
N_BEFORE_ARRAYS = Answered._fields.index("distributions")  # fields that are no arrays, of which there may be more
FEW = 32  # rows that are answered one by one
FEW_OF_A_LABEL = 10  # rows; before that a label is rare rather than wrong
MOST_LABELS = 30  # in a confusion matrix that is shown


@dataclass
class Served:
    """A model, and how far it has come."""

    name: str
    model: StreamClassifier
    identity: str  # of the log
    position: int = 0  # the number in the log up to which it has learned
    began: int = 0  # the number after which it began
    n_refused: int = 0  # rows that it could not learn
    scores: Scores = field(default_factory=Scores)
    suspects: Suspects = field(default_factory=Suspects)
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    broken: str = ""  # why it learns no more
    saved_position: int = 0
    last_refusal: str = ""
    seconds_per_row: float = 1e-3
    maker: str = field(default_factory=lambda: secrets.token_hex(8))  # by which it recognises what it has said
    n_asked: int = 0  # predictions so far, of all models

    takes_feedback: ClassVar[bool] = False  # right and wrong, rather than labels

    # -- learning and answering ----------------------------------------------------------------------------------------

    def learn(self, entries: Sequence[Entry]) -> None:
        """Learn the next rows of the log. One that cannot be learned is counted and left out, at every replay alike."""
        rows, labels = [entry.features for entry in entries], [entry.label for entry in entries]
        began = time.thread_time()  # not the clock: on a busy machine, short blocks would make it busier
        try:
            blocks = self._learned(rows, labels, entries)
        except InvalidInputError as error:
            if len(entries) > 1:
                for entry in entries:
                    self.learn([entry])
            else:
                self.refuse(entries[0], str(error))
            return
        self.seconds_per_row += ((time.thread_time() - began) / len(entries) - self.seconds_per_row) / 8
        self._score(blocks, labels, entries)
        self.position = entries[-1].number

    def refuse(self, entry: Entry, why: str) -> None:
        """Leave a row out."""
        self.n_refused += 1
        self.last_refusal = why
        self.position = entry.number

    def _learned(self, rows: list[Features], labels: list[Any], entries: Sequence[Entry]) -> list[Answered]:
        """Learn rows; returns what counts as said to them: if this model has answered them, what it said then."""
        if isinstance(self.model, Issuing):
            return self.model.learn_issued(rows, labels, [self._own(entry.issued) for entry in entries])
        return list(self.model.prequential(rows, labels))

    def _own(self, issued: bytes | None) -> bytes | None:
        """What it has said itself, without its name."""
        own = bytes.fromhex(self.maker)
        return issued[len(own) :] if issued is not None and issued.startswith(own) else None

    def answer(self, rows: Sequence[Any]) -> tuple[Answered, list[bytes | None]]:
        """What it says to rows, and what it wants back with their labels; a few are faster one by one, alike."""
        model = self.model
        if not isinstance(model, Issuing):
            if len(rows) > FEW:
                return model.answer_many(rows), [None] * len(rows)
            return joined([model.answer_one(row) for row in rows]), [None] * len(rows)
        if len(rows) > FEW:
            answered, issued = model.answer_issued(rows)
        else:
            single = [model.answer_issued_one(row) for row in rows]
            answered, issued = joined([said for said, _ in single]), [data for _, (data,) in single]
        own = bytes.fromhex(self.maker)
        return answered, [None if data is None else own + data for data in issued]

    def _score(self, blocks: list[Answered], labels: list[Label], entries: Sequence[Entry]) -> None:
        places = {label: place for place, label in enumerate(self.model.classes_)}
        given: IntArray = np.array([places[label] for label in labels], dtype=np.int64)
        for answered in blocks:
            first, last = answered.first_row, answered.first_row + len(answered)
            said = np.array([-1 if label is None else places[label] for label in answered.labels], dtype=np.int64)
            truth = given[first:last]
            chances = _chances(answered, truth)
            self.scores.grow(len(places))
            self._suspect(answered, entries[first:last], truth, said, chances)
            self.scores.add(truth, said, chances, len(places))
            self.recent.extend((truth == said).tolist())

    def _suspect(
        self, answered: Answered, entries: Sequence[Entry], truth: IntArray, said: IntArray, chances: FloatArray
    ) -> None:
        n_before = self.scores.counts.sum(axis=1)  # rows of every label
        for place in np.flatnonzero((truth != said) & (said >= 0)).tolist():
            n_seen = n_before[truth[place]] + np.sum(truth[:place] == truth[place])
            if n_seen >= FEW_OF_A_LABEL:
                number, name, _, given, *_ = entries[place]
                sure, chance = float(answered.probabilities[place].max()), float(chances[place])
                self.suspects.add(Suspect(number, name, given, answered.labels[place], sure, chance))

    # -- what there is to say ------------------------------------------------------------------------------------------

    def known(self) -> Known:
        """What it knows of columns and labels, for requests to be checked against."""
        classes = getattr(self.model, "classes", None)
        return Known(self.model.columns_, None if classes is None else frozenset(self.model.classes_))

    def standing(self) -> dict[str, Any]:
        """Position and scores, for comparisons."""
        recent = sum(self.recent) / len(self.recent) if self.recent else None
        summary = self.scores.summary()
        shown = {name: summary[name] for name in ("accuracy", "balanced_accuracy", "kappa", "log_loss")}
        return {
            "class": type(self.model).__name__,
            "position": self.position,
            "began": self.began,
            "saved": self.saved_position,
            "rows": self.model.n_rows_,
            "memory_bytes": self.model.memory_usage_,
            "refused": self.n_refused,
            "last_refusal": self.last_refusal,
            "broken": self.broken,
            **shown,
            "recent_accuracy": recent,
            "recent_rows": len(self.recent),
        }

    def portrait(self) -> dict[str, Any]:
        """All that is shown of the model that answers."""
        model = self.model
        labels = model.classes_
        names = spelled(labels)
        self.scores.grow(len(labels))
        counts = self.scores.counts
        few = slice(0, MOST_LABELS)
        curve = self.scores.curve
        portrait: dict[str, Any] = {
            "name": self.name,
            "description": " ".join(repr(model).split()),
            **self.standing(),
            "columns": len(model.columns_),
            "labels": [as_json(label, name) for label, name in zip(labels, names, strict=True)],
            "curve": {"window": curve.window, "points": [share for _, share in curve.points()]},
            "confusion": {
                "labels": names[few],
                "counts": counts[few, :-1][:, few].tolist(),
                "left_out": max(0, len(names) - MOST_LABELS),
            },
            "seconds_per_row": self.seconds_per_row,
        }
        if isinstance(model, OnlineBoostClassifier):
            weights, groups = model.member_weights_, model.member_groups_
            drift = model.drift_
            portrait["members"] = [
                {"name": name, "group": groups[name], "weight": round(weight, 6)} for name, weight in weights.items()
            ]
            portrait["drift"] = {
                "score": drift.score,
                "changes": [change._asdict() for change in drift.changes],
                "n_changes": drift.n_changes,
            }
        return portrait

    # -- files ---------------------------------------------------------------------------------------------------------

    def notes(self) -> dict[str, Any]:
        """What goes into the file beside the model; made between two blocks."""
        return {
            "service": self.identity,
            "maker": self.maker,
            "position": self.position,
            "began": self.began,
            "n_refused": self.n_refused,
            "scores": self.scores.as_notes(),
            "suspects": self.suspects.as_notes(),
            "recent": "".join("01"[is_right] for is_right in self.recent),
        }

    def write(self, path: Path) -> None:
        """Save the model; nobody may learn meanwhile."""
        write_model(self.model, path, self.notes())
        self.saved_position = self.position

    @classmethod
    def read(cls, path: Path, n_jobs: int | None) -> Served:
        """The model of a service in a file."""
        return cls.restored(path, *read_model(path, n_jobs))

    @classmethod
    def restored(cls, path: Path, model: StreamClassifier, notes: Any) -> Served:
        """The model of a service, from what is in its file."""
        try:
            served = cls(path.stem, model, str(notes["service"]), whole(notes["position"]), whole(notes["began"]))
            served.maker = bytes.fromhex(notes["maker"]).hex()
            served.n_refused = whole(notes["n_refused"])
            served.scores = Scores.from_notes(notes["scores"])
            served.suspects = Suspects.from_notes(notes["suspects"])
            served.recent.extend(sign == "1" for sign in str(notes["recent"]))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise ModelFileError(f"{path}: not the model of a service ({error!r}); --from begins with it.") from error
        served.saved_position = served.position
        return served


def joined(single: list[Answered]) -> Answered:
    """Answers to one row each, as answers to all of them."""
    labels = [one.labels[0] for one in single]
    arrays = (np.concatenate(parts) for parts in zip(*(one[N_BEFORE_ARRAYS:] for one in single), strict=True))
    return Answered(0, single[0].classes, labels, *arrays)


def part_of(answered: Answered, first: int, last: int) -> Answered:
    """The answers to some of the rows."""
    arrays: Any = answered[N_BEFORE_ARRAYS:]
    return Answered(first, answered.classes, answered.labels[first:last], *(array[first:last] for array in arrays))


def _chances(answered: Answered, labels: IntArray) -> FloatArray:
    """The probability of each row's label; 0 for one that was not known."""
    chances: FloatArray = np.zeros(len(labels))
    is_known = labels < answered.probabilities.shape[1]
    chances[is_known] = answered.probabilities[np.flatnonzero(is_known), labels[is_known]]
    return chances
