"""A booster cut into stages, each of which holds some of its learners, with the same bits as in one piece.

A cell (row, learner) needs its row's earlier learners and its learner's earlier rows. So the learners may lie in
different places, as long as blocks of rows pass through these places in order: a stage takes a block with the state of
its rows' games, teaches it to its own learners, and passes it on. Members of a mixture, forests of every age and the
neighbours stand in the same line: they need only the rows, and what they say travels with the block.

What is left is the head: labels, columns, and what a mixture makes of its members' answers. It sends blocks in and
takes answers out, in order, and may have several on their way, as long as nothing new (a label, a column, a category)
is in them.
"""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.native import NativeEnsemble
from ocoboost.data.rows import Row
from ocoboost.data.schema import Block, Schema
from ocoboost.errors import WeakLearnerError
from ocoboost.online.mixture.ages import AGES, Ages
from ocoboost.online.mixture.engine import NEIGHBOURS, NO_LABELS, NO_WEIGHTS, Mixture, Said
from ocoboost.online.mixture.neighbours import WINDOWS, Neighbours
from ocoboost.stream.state import Engine, State

COST_OF_NEIGHBOURS = 4.0  # in learners


@dataclass
class Passage:
    """A block of rows on its way through the stages, and what it takes along."""

    first_row: int  # rows that were learned before it
    n_classes: int
    labels: IntArray  # empty if the rows are to be answered and not learned
    weights: FloatArray
    codes: FloatArray | None  # see ``Block``
    rows: Sequence[Row] | None  # for learners that are not compiled; only their number counts if it is None
    schema: bytes | None  # pickled, if it has changed since the passage before
    answering: bool = True
    games: dict[int, Any] = field(default_factory=dict)  # by cascade: the state of the rows between two of its learners
    answers: dict[int, Answers] = field(default_factory=dict)  # by cascade
    n_remembered: int | None = None  # rows that the neighbours hold after it
    groups: dict[int, Said] = field(default_factory=dict)  # by kind of the members of every age, or ``NEIGHBOURS``

    @property
    def is_learned(self) -> bool:
        return self.labels.size > 0

    @property
    def n_rows(self) -> int:
        return len(self.rows) if self.codes is None else len(self.codes)  # type: ignore[arg-type]

    def block(self, schema: Schema) -> Block:
        """The rows, as learners take them."""
        if self.rows is None:
            return Block.of_codes(self.codes, schema)  # type: ignore[arg-type]
        block = Block(self.rows, schema)
        if self.codes is not None:
            block.__dict__["codes"] = self.codes
        return block

    def group(self, number: int, n_members: int) -> Said:
        """What a group of members says, as far as it is known."""
        if number not in self.groups:
            shape = n_members, self.n_rows
            self.groups[number] = Said(np.zeros((*shape, self.n_classes)), np.zeros(shape, dtype=np.int64))
        return self.groups[number]


# -- what stages hold --------------------------------------------------------------------------------------------------


@dataclass
class Learners:
    """Some learners of a cascade."""

    number: int  # of the cascade
    cascade: Cascade
    is_mixed: bool  # only the vote shares of the cascade are asked for

    def take(self, passage: Passage, block: Block) -> None:
        cascade, n_classes = self.cascade, passage.n_classes
        cells, span, first_row = cascade.cells, cascade.learners, passage.first_row
        rows = passage.games.pop(self.number, None)
        if passage.is_learned:
            rows = cells.begin(passage.labels, passage.weights, n_classes) if span.first == 0 else rows
            prepared = cascade.ensemble.prepare(block, learning=True)
            try:
                cascade.advance(rows, prepared, n_classes, first_row)
            except WeakLearnerError as error:
                error.row += first_row  # from the row of the block to the row of the stream
                raise
            numbers = np.arange(first_row, first_row + len(passage.labels))
        else:
            rows = cells.begin_poll(passage.n_rows, n_classes) if span.first == 0 else rows
            cascade.poll(rows, block, n_classes, first_row)
            numbers = np.full(passage.n_rows, first_row)
        if span.end < cells.n_learners:
            passage.games[self.number] = rows
        elif passage.answering:
            answers = cells.answers(rows, n_classes, numbers)
            passage.answers[self.number] = Answers(answers.shares[:, :0], answers.shares) if self.is_mixed else answers

    def state(self) -> Any:
        return self.cascade.state()

    def restore(self, saved: Any, schema: Schema, n_rows: int, n_classes: int) -> None:
        self.cascade.restore(saved, schema, n_classes)

    @property
    def name(self) -> str:
        span = self.cascade.learners
        return f"learners {span.first} to {span.end - 1} of booster {self.number}"


@dataclass
class Forests:
    """Some of the members of one kind and every age."""

    kind: int
    first: int  # the number of the first slot
    ages: Ages

    def take(self, passage: Passage, block: Block) -> None:
        said, n_classes, first_row = passage.group(self.kind, len(AGES)), passage.n_classes, passage.first_row
        if passage.is_learned:
            for task in self.ages.tasks(block, passage.labels, passage.weights, n_classes, first_row, *said):
                task()
        else:
            self.ages.answer(block, n_classes, first_row, *said)

    def state(self) -> Any:
        return self.ages.state()

    def restore(self, saved: Any, schema: Schema, n_rows: int, n_classes: int) -> None:
        self.ages.restore(saved, schema, n_classes, n_rows)

    @property
    def name(self) -> str:
        return f"{len(self.ages.slots)} forests of {self.ages.name}"


@dataclass
class Latest:
    """The neighbours of a mixture."""

    neighbours: Neighbours

    def take(self, passage: Passage, block: Block) -> None:
        told = (passage.labels, passage.weights) if passage.is_learned else (NO_LABELS, NO_WEIGHTS)
        self.neighbours.ask(block, *told, *passage.group(NEIGHBOURS, len(WINDOWS)))
        passage.n_remembered = int(self.neighbours.memory.counts[0])

    def state(self) -> Any:
        return self.neighbours.state()

    def restore(self, saved: Any, schema: Schema, n_rows: int, n_classes: int) -> None:
        self.neighbours.restore(saved, schema, n_classes)

    @property
    def name(self) -> str:
        return "neighbours"


class Stage:
    """Some of a booster's learners and members, in the order in which a block comes to them."""

    def __init__(self, held: list[Learners | Forests | Latest]) -> None:
        self.held = held
        self.schema = Schema()

    @property
    def name(self) -> str:
        """What is in it, for messages."""
        return ", ".join(part.name for part in self.held) or "nothing"

    def take(self, passage: Passage) -> Passage:
        """Let everything that is held here see a block; returns it as it is to be passed on."""
        if passage.schema is not None:
            self.schema = pickle.loads(passage.schema)
        block = passage.block(self.schema)
        for part in self.held:
            part.take(passage, block)
        return passage

    def state(self) -> list[Any]:
        """All that was learned here, as numbers, words and arrays."""
        return [part.state() for part in self.held]

    def restore(self, saved: list[Any], schema: Schema, n_rows: int, n_classes: int) -> None:
        """Take back what ``state`` gave after so many rows; raises ``ValueError`` for what cannot have been learned."""
        self.schema = schema
        for part, state in zip(self.held, saved, strict=True):
            part.restore(state, schema, n_rows, n_classes)


# -- cutting and joining -----------------------------------------------------------------------------------------------


class _Unit(NamedTuple):
    """What cannot be cut: a learner, a forest, the neighbours, or a cascade whose learners belong together."""

    cost: float  # in learners
    kind: type
    number: int  # of the cascade, or of the kind of forests
    place: int  # among the learners, or the slots
    n_learners: int = 1


def _units(engine: Engine) -> Iterator[_Unit]:
    for number, cascade in enumerate(engine.cascades):
        n_learners = cascade.cells.n_learners
        if hasattr(cascade.ensemble, "part"):
            yield from (_Unit(1.0, Learners, number, learner) for learner in range(n_learners))
        else:
            yield _Unit(n_learners, Learners, number, 0, n_learners)
    if isinstance(engine, Mixture):
        for kind, ages in enumerate(engine.ages):
            for number, slot in enumerate(ages.slots):
                yield _Unit(slot.cascade.cells.n_learners, Forests, kind, number)
        if engine.neighbours is not None:
            yield _Unit(COST_OF_NEIGHBOURS, Latest, 0, 0)


def cut(engine: Engine, n_stages: int, shares: Sequence[float] | None = None) -> list[Stage]:
    """The learners of an engine in so many stages, copied; ``shares`` are those of the work, equal if they are None.

    No stage is empty unless there are more of them than learners and members.
    """
    units = list(_units(engine))
    ends = np.cumsum([1.0 / n_stages] * n_stages if shares is None else np.asarray(shares, dtype=float) / sum(shares))
    done = np.cumsum([unit.cost for unit in units])
    middles = (done - 0.5 * np.array([unit.cost for unit in units])) / done[-1]
    stages = np.searchsorted(ends[:-1], middles, side="right")
    held: list[list[_Unit]] = [[] for _ in range(n_stages)]
    for unit, stage in zip(units, stages.tolist(), strict=True):
        held[stage].append(unit)
    return [Stage(list(_parts(engine, own))) for own in held]


def _parts(engine: Engine, units: list[_Unit]) -> Iterator[Learners | Forests | Latest]:
    """Neighbouring units of the same thing, in one part."""
    for (kind, number), group in itertools.groupby(units, key=lambda unit: (unit.kind, unit.number)):
        same = list(group)
        first, end = same[0].place, same[-1].place + same[-1].n_learners
        if kind is Learners:
            cascade = engine.cascades[number]
            is_whole = end - first == cascade.cells.n_learners
            part = copy.deepcopy(cascade) if is_whole else cascade.part(first, end)
            part.tape = None
            yield Learners(number, part, isinstance(engine, Mixture))
        elif kind is Forests:
            ages = engine.ages[number]  # type: ignore[attr-defined]
            yield Forests(number, first, Ages(copy.deepcopy(ages.slots[first:end]), ages.name))
        else:
            yield Latest(copy.deepcopy(engine.neighbours))  # type: ignore[attr-defined]


def join(state: State, stages: Sequence[Stage]) -> State:
    """A copy of a head's state that holds the learners of all its stages."""
    whole: State = pickle.loads(pickle.dumps(state))
    engine, parts = whole.engine, [part for stage in stages for part in stage.held]
    for number, cascade in enumerate(engine.cascades):
        own = [part.cascade for part in parts if isinstance(part, Learners) and part.number == number]
        if len(own) == 1:
            cascade.ensemble, cascade.cells = own[0].ensemble, own[0].cells
        else:
            cascade.take_back(own)
    for part in parts:
        if isinstance(part, Forests):
            slots = engine.ages[part.kind].slots[part.first :]  # type: ignore[attr-defined]
            for slot, other in zip(slots, part.ages.slots, strict=False):
                slot.born, slot.cascade.ensemble = other.born, other.cascade.ensemble
        elif isinstance(part, Latest):
            engine.neighbours = part.neighbours  # type: ignore[attr-defined]
            engine.n_remembered = None  # type: ignore[attr-defined]
    return whole


# -- the head ----------------------------------------------------------------------------------------------------------


class Head:
    """What is left of a booster whose learners are in stages: blocks go out from here, and answers come back.

    ``state`` has fresh learners in the place of those in the stages.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._needs_rows = not all(isinstance(c.ensemble, NativeEnsemble) for c in state.engine.cascades)
        self._sent: int | None = None  # the version of the schema that the stages have

    def depart(self, rows: Sequence[Row], labels: IntArray, weights: FloatArray, *, answering: bool) -> Passage:
        """A block that is to be learned; counted at once, for it may not be the only one on its way."""
        state = self.state
        block = Block.to_learn(rows, state.schema, labels, weights)
        if isinstance(state.engine, Mixture):
            weights = state.engine.class_weights.weigh(labels, weights, len(state.labels))
            answering = True  # its members are weighed by their answers
        for cascade in state.engine.cascades:
            if not isinstance(cascade.ensemble, NativeEnsemble):
                cascade.ensemble.prepare(block, learning=True)  # some remember the columns that they check by
        passage = self._passage(block, labels, weights)
        passage.answering = answering
        state.n_rows += len(labels)
        return passage

    def ask(self, rows: Sequence[Row]) -> Passage:
        """Rows that are to be answered; there must be a label."""
        return self._passage(Block(rows, self.state.schema), NO_LABELS, NO_WEIGHTS)

    def _passage(self, block: Block, labels: IntArray, weights: FloatArray) -> Passage:
        state, schema = self.state, None
        if self._sent != state.schema.version:
            self._sent = state.schema.version
            light = copy.copy(state.schema)
            light.statistics = {}  # are counted here, and may be large
            schema = pickle.dumps(light)
        rows = list(block.rows) if self._needs_rows else None
        codes = None if self._needs_rows and not _takes_codes(state.engine) else block.codes
        return Passage(state.n_rows, len(state.labels), labels, weights, codes, rows, schema)

    def arrive(self, passage: Passage, rows: Sequence[Row]) -> Answers:
        """What is said to a block that has passed all stages. Blocks arrive in the order of their departure."""
        engine = self.state.engine
        if not isinstance(engine, Mixture):
            return passage.answers[0] if passage.answering else Answers.none(passage.n_rows)
        engine.n_remembered = passage.n_remembered
        shares = {number: said.shares for number, said in passage.answers.items()}
        answers, awake = engine.gathered(passage.n_rows, passage.n_classes, shares, passage.groups)
        if not passage.is_learned:
            engine.complete(answers, awake)
            return engine.speak(answers, awake)
        block = Block(rows, self.state.schema)
        if passage.codes is not None:
            block.__dict__["codes"] = passage.codes
        return engine.settle(block, passage.labels, passage.weights, answers, awake)


def _takes_codes(engine: Engine) -> bool:
    """Whether anybody in it takes rows as codes."""
    is_native = any(isinstance(cascade.ensemble, NativeEnsemble) for cascade in engine.cascades)
    return is_native or any(not hasattr(cascade.ensemble, "learners") for cascade in engine.cascades)


def forget_learners(state: State, fresh: State) -> None:
    """Put fresh learners into the place of those that have been cut out."""
    for cascade, other in zip(state.engine.cascades, fresh.engine.cascades, strict=True):
        if isinstance(cascade.ensemble, NativeEnsemble):
            cascade.ensemble = other.ensemble
    engine, new = state.engine, fresh.engine
    if isinstance(engine, Mixture) and isinstance(new, Mixture):
        engine.neighbours = new.neighbours
        for kind, other_kind in zip(engine.ages, new.ages, strict=True):
            for slot, other_slot in zip(kind.slots, other_kind.slots, strict=True):
                slot.born, slot.cascade.ensemble = other_slot.born, other_slot.cascade.ensemble
