"""One row by itself through all that follows the cascades; what does not depend on the row is prepared.

Whoever predicts a row often learns it next. Then nothing has changed in between, and what the prediction has worked out
serves the learning too: it is kept here until something else is asked or learned. That is no state: it is not saved,
and whether it is there or not changes no bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.unboxed import can_hold, empty_book, read, write
from ocoboost.compiling import kernel
from ocoboost.online.mixture import blend, drift
from ocoboost.online.mixture.neighbours import N_NEAREST, Memory, ask_row, keep_row
from ocoboost.online.mixture.noting import Notes, note_row
from ocoboost.online.mixture.sets import Sets, settle

NO_LABEL = -1  # in place of a label
NOTHING = -1  # in place of the number of rows learned: no answer is remembered
NOTHING_SAID: FloatArray = np.empty((0, 0))
_NAME = "ocoboost.online.mixture.single.Page"


class Page(NamedTuple):
    """What kernels need of a mixture for one row, and the latest answer."""

    plan: blend.Plan
    weights: blend.Weights
    watch: drift.Watch
    scratch: blend.Scratch
    memory: Memory  # of the neighbours, without rows if there are none
    notes: Notes  # of suspects
    sets: Sets
    scale: FloatArray  # (columns,)
    nearest: FloatArray  # (2, neighbours)
    boosted: IntArray  # members whose mean is the member behind the long-lived ones
    mean: int  # that member
    windows: tuple[int, int]  # the first of the neighbours' members, and the one after the last
    answers: FloatArray  # (members, 1, classes)
    awake: IntArray  # (members, 1)
    said: FloatArray  # (3, classes) D, the mean distribution, and the probabilities
    asked: FloatArray  # (columns,) the row that was answered
    when: IntArray  # (1,) how many rows were learned then, or NOTHING


@kernel(error_model="numpy")
def _answer(page: Page, codes: FloatArray, n_learned: int, last_label: int) -> None:
    """What the mixture says to a row when the cascades have answered."""
    answers, awake, said = page.answers, page.awake, page.said
    n_classes = answers.shape[2]
    for j in range(n_classes):
        answers[page.mean, 0, j] = 0.0
        answers[answers.shape[0] - 1, 0, j] = 0.0
    for place in range(page.boosted.size):
        for j in range(n_classes):
            answers[page.mean, 0, j] += answers[page.boosted[place], 0, j] / page.boosted.size
    first, end = page.windows
    if page.memory.rows.shape[0] > 0:
        x = codes[: page.memory.low.size]
        ask_row(page.memory, x, 0, page.scale, page.nearest, answers[first:end], awake[first:end])
    if last_label >= 0:
        answers[answers.shape[0] - 1, 0, last_label] = 1.0
        awake[awake.shape[0] - 1, 0] = 1
    blend.answer_row(answers, awake, 0, n_learned, page.plan, page.weights, page.scratch, said[0], said[1], said[2])


@kernel
def _is_remembered(page: Page, codes: FloatArray, n_learned: int) -> bool:
    """Whether the latest answer was to this row, with nothing learned since; what is missing equals what is missing."""
    if page.when[0] != n_learned or page.asked.size != codes.size:
        return False
    for column in range(codes.size):
        value, other = codes[column], page.asked[column]
        if value != other and (value == value or other == other):  # noqa: PLR0124
            return False
    return True


@kernel(error_model="numpy")
def play_single(
    book: Any,
    codes: FloatArray,
    label: int,
    is_new: bool,
    weight: float,
    n_learned: int,
    last_label: int,
    out: FloatArray,
) -> None:
    """Answer a row, unless that has just been done, and learn its label; without one, remember the answer.

    A label that is new was in no set before. Both are one kernel, for much is compiled into it that they share.
    """
    page = read(book, 0)
    is_learned = label != NO_LABEL
    if not is_learned or not _is_remembered(page, codes, n_learned):
        page.when[0] = NOTHING
        _answer(page, codes, n_learned, last_label)
    if is_learned:
        page.when[0] = NOTHING
        _learn(page, codes, label, is_new, weight, n_learned)
        return
    for kind in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[kind, j] = page.said[kind, j]
    for column in range(codes.size):
        page.asked[column] = codes[column]
    page.when[0] = n_learned


@kernel(error_model="numpy")
def _learn(page: Page, codes: FloatArray, label: int, is_new: bool, weight: float, n_learned: int) -> None:
    """Learn the label of a row that was answered."""
    loss = 1.0 - page.said[0, label]
    blend.learn_row(page.plan, page.weights, page.watch, n_learned, label, weight, loss, page.scratch)
    if page.memory.rows.shape[0] > 0 and weight > 0.0:
        keep_row(page.memory, codes[: page.memory.low.size], label, weight)
    if page.notes.heap.size > 0 and weight > 0.0:
        note_row(n_learned, codes, label, page.said[2], page.notes)
    if weight > 0.0 and not is_new:
        settle(page.said[2, label], page.sets.thresholds, page.sets)


class Single:
    """The page of a mixture, for this many classes and columns, while nobody replaces its arrays."""

    def __init__(
        self,
        plan: blend.Plan,
        weights: blend.Weights,
        watch: drift.Watch,
        memory: Memory,
        notes: Notes,
        sets: Sets,
        boosted: list[int],
        mean: int,
        windows: slice,
        n_classes: int,
        n_columns: int,
    ) -> None:
        self.n_classes, self.n_columns, self.memory, self.weights = n_classes, n_columns, memory, weights
        self.notes, self.sets = notes, sets
        n_members = plan.gammas.size
        self.answers: FloatArray = np.zeros((n_members, n_classes))
        self.awake: IntArray = np.zeros((n_members, 1), dtype=np.int64)
        self.awake[: mean + 1] = 1
        self.page = Page(
            plan,
            weights,
            watch,
            blend.make_scratch(plan, n_classes),
            memory,
            notes,
            sets,
            np.empty(memory.low.size),
            np.empty((2, N_NEAREST)),
            np.array(boosted, dtype=np.int64),
            mean,
            (windows.start, windows.stop),
            self.answers.reshape(n_members, 1, n_classes),
            self.awake,
            np.zeros((3, n_classes)),
            np.zeros(n_columns),
            np.full(1, NOTHING),
        )
        if not can_hold(_NAME, self.page):
            raise TypeError("the arrays of a mixture have another type than those of other mixtures")
        self.book = empty_book(_NAME, 1)
        write(self.book, 0, self.page)
