"""Labels that look wrong: those that the model found least likely just before it learned them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ocoboost.data.labels import Label
from ocoboost.run.curves import whole

MOST = 50
SUREST = 0.7  # the least probability of the label believed
WINDOW = 20_000  # rows of the log after which a suspect is dropped: the stream may have changed


class Suspect(NamedTuple):
    """A row of the log whose label looks wrong."""

    number: int
    id: str
    given: Label
    believed: Label
    sure: float  # the probability of the label believed
    chance: float  # that of the label given


class Suspects:
    """The most striking ones of the latest rows, in bounded memory."""

    def __init__(self) -> None:
        self.found: list[Suspect] = []

    def add(self, suspect: Suspect) -> None:
        """Keep a row if it is among the most striking; the order of rows decides between equals."""
        if suspect.sure < SUREST:
            return
        self.found = [old for old in self.found if old.number > suspect.number - WINDOW]
        self.found.append(suspect)
        if len(self.found) > MOST:
            self.found.remove(max(self.found, key=lambda one: (one.chance, -one.number)))

    def worst(self, most: int = MOST) -> list[dict[str, Any]]:
        """The most striking first."""
        return [one._asdict() for one in sorted(self.found, key=lambda one: (one.chance, one.number))[:most]]

    def as_notes(self) -> list[tuple[Any, ...]]:
        """For a model file."""
        return [tuple(one) for one in self.found]

    @classmethod
    def from_notes(cls, notes: Any) -> Suspects:
        """Those that gave these notes; raises if none could have."""
        suspects = cls()
        for number, name, given, believed, sure, chance in notes:
            suspects.found.append(Suspect(whole(number), str(name), given, believed, float(sure), float(chance)))
        return suspects
