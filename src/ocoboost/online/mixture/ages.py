"""Members of every age: small forests that are born and retired by the number of the row.

Whatever happened in a stream, some member has seen only what came after it. For each i there is a member whose age lies
in [2**i, 2**(i + 1)) rows (see ``clock``), and the answer of that age is an expert, whoever gives it at the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.cascade import Cascade
from ocoboost.data.schema import Block, Schema
from ocoboost.online.mixture.clock import LEAST_ORDER, births
from ocoboost.randomness import member_seed

MOST_ORDER = 12
AGES = range(LEAST_ORDER, MOST_ORDER + 1)  # the binary logarithms of the ages that answer
ORDERS = (*AGES, MOST_ORDER)  # of the slots: two have the last order
N_SLOTS = len(ORDERS)
UNBORN = -1


@dataclass
class Slot:
    """Members that follow one another, one at a time."""

    first_birth: int
    period: int  # from one birth to the next
    seed: int
    cascade: Cascade
    born: int = UNBORN  # the row before which the present one had learned nothing

    @property
    def present_seed(self) -> int:
        return self.seed if self.born == UNBORN else member_seed(self.seed, self.born // self.period)

    def begin(self, row: int) -> None:
        """Replace the present member by a new one."""
        self.born = row
        ensemble: Any = self.cascade.ensemble  # of native trees
        ensemble.restart(self.present_seed)


def slots_for(make: Callable[[int, int], Cascade], seeds: Sequence[int]) -> list[Slot]:
    """All slots; ``make(number, seed)`` gives a cascade of native trees that has learned nothing."""
    last = 2**MOST_ORDER
    times = [(2**order, 2 ** (order + 1)) for order in AGES[:-1]] + [(0, 2 * last), (last, 2 * last)]
    return [
        Slot(first, period, seed, make(number, seed))
        for number, ((first, period), seed) in enumerate(zip(times, seeds, strict=True))
    ]


class Ages:
    """Members of one kind and every age, and who answers for which."""

    def __init__(self, slots: list[Slot], name: str) -> None:
        self.slots = slots
        self.name = name  # what reports call them

    def tasks(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        answers: FloatArray,
        awake: IntArray,
    ) -> list[Callable[[], None]]:
        """One task for every slot: teach it a block and write what it answers, of shape (ages, rows, classes)."""

        def task(slot: Slot) -> None:
            ensemble: Any = slot.cascade.ensemble  # of native trees
            prepared = ensemble.prepare(block, learning=True)
            ensemble.grow_classes(n_classes)  # as seats do: those who are unborn have the same columns and classes
            end = first_row + len(labels)
            new = set(births(slot.first_birth, slot.period, first_row, end))
            for begin, stop in pairwise(sorted({first_row, end, *new})):
                if begin in new:
                    slot.begin(begin)
                if slot.born == UNBORN:
                    continue
                rows = slice(begin - first_row, stop - first_row)
                said = slot.cascade.learn_prepared(prepared[rows], labels[rows], weights[rows], n_classes, begin)
                _give(said.shares, np.arange(begin, stop) - slot.born, rows, answers, awake)

        return [lambda slot=slot: task(slot) for slot in self.slots]  # type: ignore[misc]

    def begin(self, row: int) -> int:
        """Begin the members that are born at a row; returns how many there are."""
        if row % 2**LEAST_ORDER:  # nothing is born between
            return 0
        born = [slot for slot in self.slots if row in births(slot.first_birth, slot.period, row, row + 1)]
        for slot in born:
            slot.begin(row)
        return len(born)

    def answer(self, block: Block, n_classes: int, n_learned: int, answers: FloatArray, awake: IntArray) -> None:
        """What the members answer to a block when so many rows are learned."""
        for slot in self.slots:
            if slot.born != UNBORN and n_learned - slot.born < slot.period:
                said = slot.cascade.answer(block, n_classes, n_learned)
                ages = np.full(len(block), n_learned - slot.born)
                _give(said.shares, ages, slice(0, len(block)), answers, awake)

    def settings(self) -> list[dict[str, Any]]:
        """What every slot was told; seeds change from birth to birth, so it is the slot's own that counts."""
        told = [slot.cascade.settings()[0] for slot in self.slots]
        return [
            {**settings, "rules": {**settings["rules"], "seed": slot.seed}}
            for slot, settings in zip(self.slots, told, strict=True)
        ]

    def state(self) -> list[dict[str, Any]]:
        return [{"born": slot.born, **slot.cascade.state()} for slot in self.slots]

    def restore(self, saved: list[dict[str, Any]], schema: Schema, n_classes: int, n_rows: int) -> None:
        for slot, member in zip(self.slots, saved, strict=True):
            born = last_birth(slot, n_rows)
            if type(member["born"]) is not int or member["born"] != born:
                raise ValueError(f"invalid row of birth: {member['born']!r}")
            if born != UNBORN:
                slot.begin(born)
            slot.cascade.restore(member, schema, n_classes)


def last_birth(slot: Slot, n_rows: int) -> int:
    """The row at which the member was born that has learned the latest of so many rows."""
    if n_rows <= slot.first_birth:
        return UNBORN
    return slot.first_birth + (n_rows - 1 - slot.first_birth) // slot.period * slot.period


def _give(shares: FloatArray, ages: IntArray, rows: slice, answers: FloatArray, awake: IntArray) -> None:
    """Write a member's shares where its age on each row belongs."""
    first = rows.start
    for place, order in enumerate(AGES):
        at_age = np.flatnonzero((ages >= 2**order) & (ages < 2 ** (order + 1)))
        if at_age.size:
            answers[place, first + at_age] = shares[at_age]
            awake[place, first + at_age] = 1
