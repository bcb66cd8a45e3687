"""All members on the same stream, and how much each of their answers counts (see ``stream.state.Engine``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray, checked_count, checked_like, writable
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.native import NativeEnsemble
from ocoboost.data.labels import Labels
from ocoboost.data.schema import Block, Schema, Widths
from ocoboost.online.mixture import blend, drift
from ocoboost.online.mixture.ages import AGES, Ages
from ocoboost.online.mixture.class_weights import ClassWeights
from ocoboost.online.mixture.keyed import Keyed
from ocoboost.online.mixture.neighbours import WINDOWS, Neighbours
from ocoboost.online.mixture.row_by_row import RowByRow, only_row
from ocoboost.online.mixture.sets import PredictionSets
from ocoboost.online.mixture.single import NO_LABEL
from ocoboost.online.mixture.suspects import Suspects
from ocoboost.stream.state import SHARE_OF_LEARNERS, left_for_members
from ocoboost.threads import run_all

NO_LABELS: IntArray = np.empty(0, dtype=np.int64)
NO_WEIGHTS: FloatArray = np.empty(0)
NEIGHBOURS = -1  # in place of a kind of the members of every age


class Said(NamedTuple):
    """What several members say to a block."""

    answers: FloatArray  # (members, rows, classes)
    awake: IntArray  # (members, rows) whether they say anything


class Member(NamedTuple):
    """A cascade that lives as long as the stream."""

    name: str  # what reports call it
    cascade: Cascade
    is_boosted: bool = True  # the mean of the members is that of the boosters


class Mixture:
    """Cascades, members of every age, neighbours and the last label, side by side.

    Answers have the members along axis 0, in this order: the cascades, the mean of the boosters among them, one for
    every age and kind, one for every window of neighbours, and the last label. Ages and neighbours may be absent.
    """

    def __init__(
        self,
        members: Sequence[Member],
        ages: Sequence[Ages] = (),
        neighbours: Neighbours | None = None,
        n_jobs: int = 1,
        suspects: Suspects | None = None,
        *,
        prediction_sets: PredictionSets | None = None,
        keyed: Keyed | None = None,
        class_weights: ClassWeights | None = None,
    ) -> None:
        self.members = members
        self.cascades = [member.cascade for member in members]
        self.ages = ages
        self.neighbours = neighbours
        self.suspects = Suspects(0, None, is_judged=False) if suspects is None else suspects
        self.n_jobs = n_jobs
        self.boosted = [number for number, member in enumerate(members) if member.is_boosted]
        self._n_ages = len(ages) * len(AGES)
        self._n_windows = 0 if neighbours is None else len(WINDOWS)
        n_long = len(members) + 1
        # Where the answers of each kind of the members of every age are, and those of the neighbours.
        self.kinds = [slice(at, at + len(AGES)) for at in range(n_long, n_long + self._n_ages, len(AGES))]
        self.windows = slice(n_long + self._n_ages, n_long + self._n_ages + self._n_windows)
        gammas = [*(member.cascade.cells.gamma for member in members), 1.0]  # type: ignore[attr-defined]
        n_more = self._n_ages + self._n_windows + 1
        self.plan = blend.plan_for(gammas + [1.0] * n_more, n_long, self._n_ages, len(AGES) if ages else 0)
        self.weights = blend.first_weights(self.plan, mean=len(members))
        self.watch = drift.first_watch(len(AGES) if ages else 0)
        self.prediction_sets = PredictionSets() if prediction_sets is None else prediction_sets
        self.keyed = Keyed() if keyed is None else keyed
        self.class_weights = ClassWeights(Labels(), None) if class_weights is None else class_weights
        self.n_rows = 0
        self.n_remembered: int | None = None  # rows that the neighbours hold, if they are elsewhere
        self.last_label = NO_LABEL
        self.row_by_row = RowByRow(self.all_cascades)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of members, of those that live as long as the stream, and of the levels of prediction sets."""
        return self.plan.gammas.size, len(self.members) + 1, len(self.prediction_sets.coverages)

    # -- what the members answer -----------------------------------------------------------------------------------

    def _empty_answers(self, n_rows: int, n_classes: int) -> tuple[FloatArray, IntArray]:
        n_members = self.plan.gammas.size
        awake = np.zeros((n_members, n_rows), dtype=np.int64)
        awake[: len(self.members) + 1] = 1
        return np.zeros((n_members, n_rows, n_classes)), awake

    def _add_mean(self, answers: FloatArray) -> None:
        """The mean of the boosters' vote shares."""
        mean = answers[len(self.members)]
        for number in self.boosted:
            mean += answers[number] / len(self.boosted)

    def learn(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        first_row: int,
        *,
        answering: bool = True,
    ) -> Answers:
        """Teach a block to every member, then weigh their answers row by row."""
        if (
            block.is_alone
            and not answering
            and self.row_by_row.learn_block(self, block, labels, weights, n_classes, first_row)
        ):
            return Answers.none(1)
        weights = self.class_weights.weigh(labels, weights, n_classes)
        answers, awake = self._empty_answers(len(labels), n_classes)

        def teach(number: int) -> None:
            answers[number] = self.cascades[number].learn(block, labels, weights, n_classes, first_row).shares

        tasks: list[Callable[[], None]] = [
            lambda number=number: teach(number)  # type: ignore[misc]
            for number in range(len(self.cascades))
        ]
        for kind, place in zip(self.ages, self.kinds, strict=True):
            tasks += kind.tasks(block, labels, weights, n_classes, self.n_rows, answers[place], awake[place])
        if self.neighbours is not None:
            remembered, places = self.neighbours, (answers[self.windows], awake[self.windows])
            tasks.append(lambda: remembered.ask(block, labels, weights, *places))
        self._prepare(block)
        run_all(tasks, self.n_jobs if self._is_native else 1)
        return self.settle(block, labels, weights, answers, awake, answering=answering)

    def settle(
        self,
        block: Block,
        labels: IntArray,
        weights: FloatArray,
        answers: FloatArray,
        awake: IntArray,
        *,
        answering: bool = True,
    ) -> Answers:
        """Weigh what the members have said to a block before they learned it, row by row."""
        self._add_mean(answers)
        before = np.concatenate([[self.last_label], labels[:-1]])
        self._repeat_labels(before, answers[-1], awake[-1])
        blended = self._blended(answers, awake, labels, weights, blend.make_scratch(self.plan, answers.shape[2]))
        self.suspects.note(self.n_rows, block, labels, weights, blended)
        self.n_rows += len(labels)
        self.last_label = int(labels[-1]) if len(labels) else self.last_label
        return blended if answering else Answers.none(len(labels))

    def answer(self, block: Block, n_classes: int, n_learned: int) -> Answers:
        if block.is_alone and not self.keyed.settled(self.n_rows, 1):
            said = self.answer_row(only_row(block), n_classes, n_learned, block.schema.version)
            if said is not None:
                return said
        return self.speak(*self.ask_members(block, n_classes, n_learned))

    def speak(self, answers: FloatArray, awake: IntArray) -> Answers:
        """What is said to rows that are not learned, if the members say this."""
        scratch = blend.make_scratch(self.plan, answers.shape[2])
        return self._blended(answers, awake, NO_LABELS, NO_WEIGHTS, scratch)

    def ask_members(self, block: Block, n_classes: int, n_learned: int) -> tuple[FloatArray, IntArray]:
        """What every member says to a block, of shape (members, rows, classes), and whether it says anything."""
        answers, awake = self._empty_answers(len(block), n_classes)
        for number, cascade in enumerate(self.cascades):
            answers[number] = cascade.answer(block, n_classes, n_learned).shares
        for kind, place in zip(self.ages, self.kinds, strict=True):
            kind.answer(block, n_classes, self.n_rows, answers[place], awake[place])
        if self.neighbours is not None:
            self.neighbours.ask(block, NO_LABELS, NO_WEIGHTS, answers[self.windows], awake[self.windows])
        self.complete(answers, awake)
        return answers, awake

    def complete(self, answers: FloatArray, awake: IntArray) -> None:
        """Add what follows from other members' answers, or from the last label, to answers to rows without labels."""
        self._add_mean(answers)
        self._repeat_labels(np.full(answers.shape[1], self.last_label), answers[-1], awake[-1])

    def gathered(
        self, n_rows: int, n_classes: int, shares: Mapping[int, FloatArray], groups: Mapping[int, Said]
    ) -> tuple[FloatArray, IntArray]:
        """The answers of all members in one array, as far as they do not follow from others.

        ``shares`` are those of the cascades; ``groups`` has what members of one kind and every age say, and under
        ``NEIGHBOURS`` the neighbours.
        """
        answers, awake = self._empty_answers(n_rows, n_classes)
        for number, said in shares.items():
            answers[number] = said
        for group, (said, who) in groups.items():
            place = self.windows if group == NEIGHBOURS else self.kinds[group]
            answers[place], awake[place] = said, who
        return answers, awake

    # -- single rows -----------------------------------------------------------------------------------------------

    def learn_row(self, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int) -> bool:
        """``learn`` for one row, from its codes in the schema of that version; false if it has to go the long way."""
        return self.row_by_row.learn(self, codes, label, weight, n_classes, row, version)

    def answer_row(self, codes: FloatArray, n_classes: int, n_learned: int, version: int) -> Answers | None:
        """``answer`` for one row, likewise; None if it has to go the long way."""
        return self.row_by_row.answer(self, codes, n_classes, n_learned, version)

    @property
    def _is_native(self) -> bool:
        return all(isinstance(cascade.ensemble, NativeEnsemble) for cascade in self.cascades)

    def _prepare(self, block: Block) -> None:
        """Encode the block before several threads ask for it."""
        if self._is_native:
            block.codes  # noqa: B018, a cached property

    def _repeat_labels(self, before: IntArray, answers: FloatArray, awake: IntArray) -> None:
        """The member that repeats the last label that was learned."""
        known = np.flatnonzero(before != NO_LABEL)
        answers[known, before[known]] = 1.0
        awake[known] = 1

    def _blended(
        self, answers: FloatArray, awake: IntArray, labels: IntArray, weights: FloatArray, scratch: blend.Scratch
    ) -> Answers:
        settled = self.keyed.settled(self.n_rows, answers.shape[1])
        self.keyed.heard(answers, awake, settled)
        shape = answers.shape[1:]
        votes, shares, probabilities = np.empty(shape), np.empty(shape), np.empty(shape)
        blend.blend_rows(
            answers,
            awake,
            labels,
            weights,
            self.n_rows,
            self.plan,
            self.weights,
            self.watch,
            scratch,
            votes,
            shares,
            probabilities,
        )
        thresholds = self.prediction_sets.follow(probabilities, labels, weights, settled)
        said = Answers(votes, shares, probabilities=probabilities, thresholds=thresholds)
        for place, issued in settled.items():
            issued.put_said(said, place)
        return said

    def awake(self) -> IntArray:
        """Which members have an answer to the next row."""
        awake = np.zeros(self.plan.gammas.size, dtype=np.int64)
        awake[: len(self.members) + 1] = 1
        for place in self.kinds:
            awake[place] = [self.n_rows >= 2**order for order in AGES]
        if self.neighbours is not None:
            held = self.neighbours.memory.counts[0] if self.n_remembered is None else self.n_remembered
            awake[self.windows] = held > 0
        awake[-1] = self.last_label != NO_LABEL
        return awake

    # -- memory and files ------------------------------------------------------------------------------------------

    @property
    def all_cascades(self) -> list[Cascade]:
        return [*self.cascades, *(slot.cascade for kind in self.ages for slot in kind.slots)]

    @property
    def n_bytes(self) -> int | None:
        sizes = [cascade.n_bytes for cascade in self.all_cascades]
        if any(size is None for size in sizes):
            return None
        remembered = 0 if self.neighbours is None else self.neighbours.n_bytes
        return (
            sum(size for size in sizes if size is not None) + self._own_bytes + remembered + self.keyed.ledger.n_bytes
        )

    @property
    def _own_bytes(self) -> int:
        """Memory of the weights, the watch for changes and the prediction sets."""
        return sum(array.nbytes for array in (*self.weights, *self.watch)) + self.prediction_sets.n_bytes

    def least_size(self, widths: Widths, n_classes: int, max_bytes: float) -> float:
        left = left_for_members(max_bytes, self._own_bytes)
        least = max(cascade.least_size(widths, n_classes, left) for cascade in self.all_cascades)
        return least + self._own_bytes / SHARE_OF_LEARNERS if least > 0.0 else 0.0  # 0: nobody limits the learners

    def settings(self) -> list[dict[str, Any]]:
        told = [settings for cascade in self.cascades for settings in cascade.settings()]
        told += [settings for kind in self.ages for settings in kind.settings()]
        return [*told, self.prediction_sets.settings() | self.keyed.settings() | self.class_weights.settings()]

    def __setstate__(self, saved: dict[str, Any]) -> None:
        arrays = {name: writable(saved[name]) for name in ("plan", "weights", "watch")}
        vars(self).update(saved, **arrays)

    def state(self) -> dict[str, Any]:
        return {
            "weights": list(self.weights),
            "watch": list(self.watch),
            "n_rows": self.n_rows,
            "last_label": self.last_label,
            "members": [cascade.state() for cascade in self.cascades],
            "ages": [kind.state() for kind in self.ages],
            "neighbours": None if self.neighbours is None else self.neighbours.state(),
            "suspects": self.suspects.state(),
            "prediction_sets": self.prediction_sets.state(),
            "keyed": self.keyed.state(),
            "label_counts": self.class_weights.counts,
        }

    def restore(self, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
        self.n_rows = checked_count(saved["n_rows"], "number of rows of the mixture")
        for own, array in zip(self.weights, saved["weights"], strict=True):
            own[:] = checked_like(array, own, "weights of the mixture")
        for seen, array in zip(self.watch, saved["watch"], strict=True):
            seen[:] = checked_like(array, seen, "watch for changes")
        blend.check(self.weights)
        drift.check(self.watch, self.n_rows)
        last_label = saved["last_label"]
        least = NO_LABEL if self.n_rows == 0 else 0
        if type(last_label) is not int or not least <= last_label < (n_classes if self.n_rows else 0):
            raise ValueError(f"invalid last label: {last_label!r}")
        self.last_label = last_label
        for cascade, member in zip(self.cascades, saved["members"], strict=True):
            cascade.restore(member, schema, n_classes)
        for kind, forests in zip(self.ages, saved["ages"], strict=True):
            kind.restore(forests, schema, n_classes, self.n_rows)
        if self.neighbours is not None:
            self.neighbours.restore(saved["neighbours"], schema, n_classes)
        self.suspects.restore(saved["suspects"], schema, n_classes, self.n_rows)
        self.prediction_sets.restore(saved["prediction_sets"], n_classes, self.keyed.ledger.most)
        self.keyed.restore(saved["keyed"], self.shape, n_classes)
        self.class_weights.restore(saved["label_counts"], self.n_rows, n_classes)
