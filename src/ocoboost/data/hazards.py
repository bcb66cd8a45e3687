"""What goes through without an error and is probably a mistake: each is said once per model, with the fix.

    target        numbers of which nearly every row brings a new one would become as many classes
    labels        two that differ only in spaces, or in how Unicode spells them, would be two classes
    text          columns that look like dates, numbers or identifiers (see ``looks``)
    columns       rows that have none of the model's columns, as after a change of names
    weights       a row that outweighs all others
    parameters    changed after the first row, when they no longer take effect

Only the first rows are looked at, so the rest of a stream costs nothing, and the counters are bounded. Nothing here
changes what is learned. A copy of a model begins to watch afresh: neither pickles nor model files hold any of this.
"""

from __future__ import annotations

import inspect
import numbers
import sys
import unicodedata
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.labels import Label, Labels
from ocoboost.data.looks import Look, Texts
from ocoboost.data.parameters import shown
from ocoboost.data.rows import NumberRows, Row
from ocoboost.data.schema import Additions, Schema
from ocoboost.errors import HazardWarning

ROWS = 2000  # that are looked at
MOST_COLUMNS = 50  # of text
MOST_FRACTIONS = 20  # labels: ratings in half stars are fewer
FEWEST_ROWS = 30  # before whole numbers as labels are doubted
NEARLY_ALL = 0.95
DENSE_ROWS = 200  # of a thousand classes in random order, about this many bring enough old ones
WIDE = 100  # times as many whole numbers lie between the least and the largest label: they do not count classes
STRANGE_ROWS = 10
LARGE = 1e300
OUTWEIGHS = 1e6  # times the mean of the other rows

TARGET, LABELS, COLUMNS, WEIGHTS = "target", "labels", "columns", "weights"

_FIXES = {
    Look.DATES: "holds text that looks like dates or times, such as {example!r}, and text is read as categories; make "
    "numbers of it first: days since a fixed date, weekday, hour",
    Look.NUMBERS: "holds numbers as text, such as {example!r}, and text is read as categories; convert it with float() "
    "first, which takes a decimal point and no other signs, or leave it out if these are identifiers",
    Look.IDENTIFIERS: "holds a different text in nearly every row ({n_different} in the first {n}), such as "
    "{example!r}; if these are identifiers they say nothing about rows to come: leave the column out",
}


class Watch:
    """What one model has noticed so far."""

    def __init__(self) -> None:
        self._said: set[object] = set()
        self._found: dict[object, str] = {}  # to be said
        self._texts: dict[Hashable, Texts] = {}
        self._n_numbers = self._n_fractions = 0  # among the labels
        self._least = self._most = 0.0
        self._n_columns: int | None = None  # of every row so far; -1 if they differ
        self._n_strange = 0  # rows in succession that were asked about and have no known column
        self._spellings: dict[str, str] | None = None  # labels that are text, by what they say
        self._heaviest = self._rest = 0.0  # the weight of one row, and of all others
        self._n_weighed = 0
        self._told: tuple[Any, ...] | None = None

    def __reduce__(self) -> tuple[type[Watch], tuple[()]]:
        return Watch, ()

    # -- what to look at -------------------------------------------------------------------------------------------

    def learning(
        self,
        owner: object,
        rows: Sequence[Row],
        weights: FloatArray,
        schema: Schema,
        labels: Labels,
        new: Mapping[int, Label],
        additions: Mapping[int, Additions],
        n_rows: int,
    ) -> None:
        """Look at a block that was planned and not learned yet; what is new in it is known by row."""
        n_columns = self._n_columns
        if new and not labels.closed:
            if TARGET not in self._said:
                self._see_labels(new, n_rows)
            if LABELS not in self._said:
                self._see_spellings(new.values(), labels)
        if COLUMNS not in self._said:
            self._see_columns(rows, additions, schema, n_rows)
        if WEIGHTS not in self._said:
            self._see_weights(weights)
        if n_rows < ROWS:
            self._see_rows(rows, n_rows)
        self._say(owner, n_columns)

    def plain(self, n_columns: int, n_rows: int) -> None:
        """Look at a row of numbers that has every known column, and no other."""
        self._n_strange = 0
        if n_rows < ROWS:
            self._see_width(n_columns)

    def asking(self, owner: object, rows: Sequence[Row], schema: Schema, n_rows: int) -> None:
        """Look at rows that are to be predicted."""
        if COLUMNS in self._said or len(rows) == 0:
            return
        n_strange = _n_strange(rows, schema)
        if n_strange == 0:
            self._n_strange = 0
            return
        self._n_strange += n_strange
        if self._is_strange(self._n_strange, schema, n_rows):
            self._found[COLUMNS] = f"{_unknown(_first_names(rows), schema.kinds)}; they count as missing. {_RENAME}"
            self._say(owner, self._n_columns)

    def parameters(self, owner: object) -> None:
        """Note what a model was told, or look whether that has changed since."""
        now = _told(owner)
        if self._told is None:
            self._told = now
        elif not same(self._told, now):
            warn(owner, _changed(owner, self._told, now))
            self._told = now

    # -- what is found ---------------------------------------------------------------------------------------------

    def _see_labels(self, new: Mapping[int, Label], n_rows: int) -> None:
        for row, label in new.items():
            if isinstance(label, bool) or not isinstance(label, numbers.Real):
                continue
            number = float(label) if abs(label) < LARGE else LARGE
            self._least = min(self._least, number) if self._n_numbers else number
            self._most = max(self._most, number) if self._n_numbers else number
            self._n_numbers += 1
            self._n_fractions += not number.is_integer()
            n_seen = n_rows + row + 1
            if self._n_fractions > MOST_FRACTIONS or self._are_measured(n_seen):
                self._found[TARGET] = (
                    f"y: {self._n_numbers} different numbers among the labels of the first {n_seen} rows, such as "
                    f"{label!r}, look like a continuous target, and each becomes a class; cut them into a few ranges, "
                    "or use a regressor. If they are classes, make them text or name them in classes."
                )
                return

    def _are_measured(self, n_rows: int) -> bool:
        """Whether nearly every row brought a new number, and these do not look like classes that are counted."""
        if n_rows < FEWEST_ROWS or self._n_numbers < NEARLY_ALL * n_rows:
            return False
        return n_rows >= DENSE_ROWS or self._most - self._least > WIDE * n_rows

    def _see_spellings(self, new: Iterable[Label], labels: Labels) -> None:
        if self._spellings is None:
            self._spellings = {_said_by(label): label for label in labels.known if isinstance(label, str)}
        for label in new:
            if not isinstance(label, str):
                continue
            other = self._spellings.setdefault(_said_by(label), label)
            if other != label:
                self._found[LABELS] = (
                    f"y: the labels {other!a} and {label!a} differ only in spaces or in how Unicode spells "
                    "them, and are two classes; clean the labels first."
                )
                return

    def _see_columns(
        self, rows: Sequence[Row], additions: Mapping[int, Additions], schema: Schema, n_rows: int
    ) -> None:
        if (n := _n_strange(rows, schema)) and self._is_strange(n, schema, n_rows):
            self._found[COLUMNS] = f"{_unknown(_first_names(rows), schema.kinds)}; they become new columns. {_RENAME}"
            return
        known = dict(schema.kinds)
        for row in sorted(additions):  # columns may also change within a block
            if known and rows[row] and known.keys().isdisjoint(rows[row]):
                is_dense = self._n_columns in (None, len(known)) and all(len(x) == len(known) for x in rows[:row])
                if is_dense and n_rows + row >= STRANGE_ROWS:
                    self._found[COLUMNS] = f"{_unknown(rows[row], known)}; they become new columns. {_RENAME}"
                return
            known.update(additions[row].kinds)

    def _see_weights(self, weights: FloatArray) -> None:
        heavy = int(weights.argmax())
        with np.errstate(over="ignore"):
            rest = float(weights[:heavy].sum() + weights[heavy + 1 :].sum()) + self._rest
        least, heaviest = sorted((self._heaviest, float(weights[heavy])))
        rest, n_others = rest + least, self._n_weighed + len(weights) - 1
        if n_others and 0.0 < rest < heaviest / OUTWEIGHS * n_others:
            self._found[WEIGHTS] = (
                f"w: a row has the weight {heaviest:g}, and the mean of the others is {rest / n_others:g}: beside it "
                "they count for next to nothing; clip the weights."
            )
        else:  # a call that is refused must not count
            self._heaviest, self._rest, self._n_weighed = heaviest, rest, n_others + 1

    def _see_rows(self, rows: Sequence[Row], n_rows: int) -> None:
        if isinstance(rows, NumberRows):
            self._see_width(len(rows.names))
            return
        for row in rows[: ROWS - n_rows]:
            self._see_width(len(row))
            if str in set(map(type, row.values())):  # a third of the loop's time where all are numbers
                for name, value in row.items():
                    if isinstance(value, str):
                        self._see_text(name, value)

    def _see_width(self, n_columns: int) -> None:
        if self._n_columns != n_columns:
            self._n_columns = n_columns if self._n_columns is None else -1

    def _see_text(self, name: Hashable, text: str) -> None:
        texts = self._texts.get(name)
        if texts is None:
            if len(self._texts) == MOST_COLUMNS:
                return
            texts = self._texts[name] = Texts()
        if not texts.is_judged:
            look = texts.see(text)
            if look is not None and look not in self._said and look not in self._found:
                fix = _FIXES[look].format(example=texts.example, n=texts.n, n_different=texts.n_different)
                self._found[look] = f"X: column {name!r} {fix}."

    def _is_strange(self, n_strange: int, schema: Schema, n_rows: int) -> bool:
        """Whether rows without a known column are news, not what they are in sparse data."""
        is_dense = n_rows >= STRANGE_ROWS and self._n_columns == len(schema.kinds)
        return is_dense or n_strange >= STRANGE_ROWS

    def _say(self, owner: object, n_columns: int | None) -> None:
        """Say what was found; ``n_columns`` is what was known of them before."""
        for hazard in list(self._found):
            try:
                warn(owner, self._found.pop(hazard))
            except HazardWarning:  # the call is refused: the next one is looked at as if it had not been
                self._found.clear()
                self._n_columns = n_columns
                self._texts = {name: texts for name, texts in self._texts.items() if not texts.is_judged}
                raise
            self._said.add(hazard)


_RENAME = "Give the columns the names they were learned under."


def _n_strange(rows: Sequence[Row], schema: Schema) -> int:
    """How many rows have columns, but no known one; 0 as soon as one has."""
    kinds = schema.kinds.keys()
    if not kinds:  # as in a fresh model, to which everything is new
        return 0
    if isinstance(rows, NumberRows):
        return len(rows) if rows.names and kinds.isdisjoint(rows.names) else 0
    n_strange = 0
    for row in rows:
        if row:
            if not kinds.isdisjoint(row):
                return 0
            n_strange += 1
    return n_strange


def _first_names(rows: Sequence[Row]) -> Iterable[Hashable]:
    return rows.names if isinstance(rows, NumberRows) else next(row for row in rows if row)


def _unknown(names: Iterable[Hashable], known: Iterable[Hashable]) -> str:
    return f"X: none of its columns ({_listed(names)}) is among those that were learned ({_listed(known)})"


def _said_by(label: str) -> str:
    """What a label says, whatever spaces are around its words and however its letters are encoded."""
    return " ".join(unicodedata.normalize("NFC", label).split())


def _listed(names: Iterable[Hashable], most: int = 5) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[:most], f"{len(shown) - most} more"])


@cache
def _parameters(kind: type) -> tuple[list[str], Callable[[Any], Any]]:
    """The names of a class's parameters, and what reads all of them at once."""
    names = list(inspect.signature(kind).parameters)
    return names, attrgetter(*names) if len(names) > 1 else lambda owner: tuple(getattr(owner, name) for name in names)


def _told(owner: Any) -> tuple[Any, ...]:
    """What a model was told, and what its learner was, if that is one of ours."""
    names, read = _parameters(owner.__class__)
    told: tuple[Any, ...] = read(owner)
    if "learner" in names and hasattr(owner.learner, "make_ensemble"):
        return (*told, *_told(owner.learner))
    return told


def same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays
        return False


def _changed(owner: Any, before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    names = list(_parameters(owner.__class__)[0])
    if len(now) > len(names):
        names += [f"learner.{name}" for name in _parameters(owner.learner.__class__)[0]]
    values = zip(names, before, now, strict=False)  # another learner, which is named first, may be told other things
    name, old, new = next((name, old, new) for name, old, new in values if old is not new and not same(old, new))
    return (
        f"{name} was changed from {shown(old)} to {shown(new)} after the first row, which does not change the model; "
        "call reset() to begin afresh with it."
    )


def warn(owner: object, message: str) -> None:
    """Say it, and point to the line outside of this package from which the model was called."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(f"{type(owner).__name__}: {message}", HazardWarning, stacklevel=level)
