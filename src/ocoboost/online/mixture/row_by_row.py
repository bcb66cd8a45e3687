"""A row that comes alone: the short way through all members, in three calls of compiled code.

What does not depend on the row is prepared beforehand, and prepared again when arrays are replaced, members are born or
ages change. A row that brings something new first makes room for it. Bits are those of blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.answers import Answers
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.seat import ABSENT, SILENT, Seats, can_sit
from ocoboost.data.schema import Block
from ocoboost.online.mixture.ages import UNBORN
from ocoboost.online.mixture.clock import LEAST_ORDER
from ocoboost.online.mixture.neighbours import no_memory
from ocoboost.online.mixture.single import NO_LABEL, NOTHING_SAID, Single, play_single

if TYPE_CHECKING:
    from ocoboost.online.mixture.engine import Mixture

_NO_MEMORY = no_memory()
_NO_PLACES: IntArray = np.empty(0, dtype=np.int64)


def only_row(block: Block) -> FloatArray:
    """The codes of a block's only row, as kernels take them."""
    return np.array(block.codes[0])


class RowByRow:
    """Single rows through a mixture; none of it is state.

    Calls are handed the mixture: one that held itself, in a circle, would keep its memory until the next collection.
    """

    def __init__(self, cascades: list[Cascade]) -> None:
        self._seats = Seats(cascades)
        self._single: Single | None = None  # with the seats' lock
        self._places = _NO_PLACES
        self._placed_at = -1

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_single": None, "_places": _NO_PLACES, "_placed_at": -1}

    def learn_block(
        self, mixture: Mixture, block: Block, labels: IntArray, weights: FloatArray, n_classes: int, first_row: int
    ) -> bool:
        """Learn a block of one row, after making room for what is new in it; false if it has to go the long way.

        So whoever learns row by row need not wait until the kernels of blocks are compiled.
        """
        if not all(map(can_sit, mixture.all_cascades)) or mixture.keyed.settled(mixture.n_rows, 1):
            return False
        for cascade in mixture.all_cascades:
            cascade.ensemble.prepare(block, learning=True)
        if mixture.neighbours is not None:
            mixture.neighbours.fit(block.schema)
        mixture.suspects.fit(block.schema, n_classes)
        codes, version = only_row(block), block.schema.version
        return self.learn(mixture, codes, int(labels[0]), float(weights[0]), n_classes, first_row, version)

    def learn(
        self, mixture: Mixture, codes: FloatArray, label: int, weight: float, n_classes: int, row: int, version: int
    ) -> bool:
        """Learn one row, from its codes in the schema of that version; false if it has to go the long way."""
        if mixture.neighbours is not None and mixture.neighbours.version != version:
            return False
        if not mixture.suspects.fits(version, n_classes) or not self._seats.are_ready(n_classes, version):
            return False
        if mixture.class_weights.given is not None:
            weight = float(mixture.class_weights.weigh(np.array([label]), np.array([weight]), n_classes)[0])
        n_born = 0
        for kind in mixture.ages:
            n_born += kind.begin(mixture.n_rows)
        if n_born > 0:
            self._seats.are_ready(n_classes, version)
        single = self._prepared(mixture, n_classes, codes.size, n_born > 0)
        self._seats.learn(codes, label, weight, n_classes, row, self._places, single.answers)
        is_new = mixture.prediction_sets.n_known < n_classes
        mixture.prediction_sets.n_known = n_classes
        play_single(single.book, codes, label, is_new, weight, mixture.n_rows, mixture.last_label, NOTHING_SAID)
        mixture.n_rows += 1
        mixture.last_label = label
        return True

    def answer(
        self, mixture: Mixture, codes: FloatArray, n_classes: int, n_learned: int, version: int
    ) -> Answers | None:
        """What is said to one row, likewise; None if it has to go the long way."""
        if not self._seats.lock.acquire(blocking=False):
            return None
        try:
            if not self._seats.are_ready(n_classes, version):
                return None
            single = self._prepared(mixture, n_classes, codes.size, False)
            said: FloatArray = np.empty((3, n_classes))
            self._seats.poll(codes, n_classes, n_learned, self._places, single.answers)
            play_single(single.book, codes, NO_LABEL, False, 0.0, n_learned, mixture.last_label, said)
            mixture.keyed.heard(single.answers[:, None], single.awake, {})
        finally:
            self._seats.lock.release()
        thresholds = mixture.prediction_sets.sets.thresholds[None, :].copy()
        return Answers(said[:1], said[1:2], probabilities=said[2:], thresholds=thresholds)

    def _prepared(self, mixture: Mixture, n_classes: int, n_columns: int, is_anew: bool) -> Single:
        """What single rows need, and where the cascades' answers go."""
        single = self._single
        memory = _NO_MEMORY if mixture.neighbours is None else mixture.neighbours.memory
        if (
            single is None
            or single.n_classes != n_classes
            or single.n_columns != n_columns
            or single.memory is not memory
            or single.weights is not mixture.weights
            or single.notes is not mixture.suspects.notes
            or single.sets is not mixture.prediction_sets.sets
        ):
            own = (
                mixture.plan,
                mixture.weights,
                mixture.watch,
                memory,
                mixture.suspects.notes,
                mixture.prediction_sets.sets,
            )
            single = Single(*own, mixture.boosted, len(mixture.members), mixture.windows, n_classes, n_columns)
            self._single, is_anew = single, True
        # Ages change, and members are born, at multiples of the least age only.
        if is_anew or self._placed_at != mixture.n_rows >> LEAST_ORDER or mixture.n_rows % 2**LEAST_ORDER == 0:
            self._place(mixture, single)
        return single

    def _place(self, mixture: Mixture, single: Single) -> None:
        """Find out which member of every age answers for which."""
        places = [*range(len(mixture.cascades))]
        for kind, place in zip(mixture.ages, mixture.kinds, strict=True):
            single.awake[place] = 0
            for slot in kind.slots:
                age = mixture.n_rows - slot.born
                order = age.bit_length() - 1 - LEAST_ORDER
                if slot.born == UNBORN:
                    places.append(ABSENT)
                elif order >= 0 and age < slot.period:
                    places.append(place.start + order)
                    single.awake[place.start + order] = 1
                else:
                    places.append(SILENT)
        self._places = np.array(places, dtype=np.int64)
        self._placed_at = mixture.n_rows >> LEAST_ORDER
