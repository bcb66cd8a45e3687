"""Which rows to keep because their given label looks wrong: a heap of the worst, and the first rows of the stream."""

from __future__ import annotations

from typing import NamedTuple

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel

GIVEN = 0
BELIEVED = 1


class Kept(NamedTuple):
    """Rows that are kept, each with what was said to it before it was learned."""

    numbers: IntArray  # (capacity,) places in the stream
    labels: IntArray  # (capacity, 2) the given label, and the most probable one
    scores: FloatArray  # (capacity, 2) their probabilities
    rows: FloatArray  # (capacity, columns) codes; no columns if nobody asks for them again
    n_held: IntArray  # (1,)


class Notes(NamedTuple):
    """All that is noted of a stream."""

    first: Kept  # rows of the stream
    worst: Kept  # in no order: that is what the heap is for
    heap: IntArray  # (capacity,) places of the worst; none is worse than the one at (place - 1) // 2
    sums: FloatArray  # (2, classes) of the given labels' probabilities, and how many rows have such a label


@kernel
def _put(
    kept: Kept, place: int, number: int, given: int, believed: int, probabilities: FloatArray, x: FloatArray
) -> None:
    kept.numbers[place] = number
    kept.labels[place, GIVEN] = given
    kept.labels[place, BELIEVED] = believed
    kept.scores[place, GIVEN] = probabilities[given]
    kept.scores[place, BELIEVED] = probabilities[believed]
    for column in range(kept.rows.shape[1]):
        kept.rows[place, column] = x[column]


@kernel
def _is_better(numbers: IntArray, scores: FloatArray, one: int, other: int) -> bool:
    """Whether one place holds a row that is less suspect than the other's; of equals, the later row is."""
    quality, than = scores[one, GIVEN], scores[other, GIVEN]
    return bool(quality > than or (quality == than and numbers[one] > numbers[other]))


@kernel
def _raise_last(numbers: IntArray, scores: FloatArray, heap: IntArray, place: int) -> None:
    """Restore the order above a place."""
    while place > 0 and _is_better(numbers, scores, heap[place], heap[(place - 1) // 2]):
        above = (place - 1) // 2
        heap[place], heap[above] = heap[above], heap[place]
        place = above


@kernel
def _lower_first(numbers: IntArray, scores: FloatArray, heap: IntArray, count: int) -> None:
    """Restore the order below the top."""
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        if below + 1 < count and _is_better(numbers, scores, heap[below + 1], heap[below]):
            below += 1
        if not _is_better(numbers, scores, heap[below], heap[place]):
            return
        heap[place], heap[below] = heap[below], heap[place]
        place = below


@kernel
def note_row(number: int, x: FloatArray, given: int, probabilities: FloatArray, notes: Notes) -> None:
    """Keep a row if it is one of the first, or one of the worst; the first row of a label is not judged."""
    first, worst, heap, sums = notes
    believed = 0
    for j in range(1, probabilities.size):
        if probabilities[j] > probabilities[believed]:
            believed = j
    is_new = sums[1, given] == 0.0
    sums[1, given] += 1.0
    if is_new:
        believed = given
    else:
        sums[0, given] += probabilities[given]
    if first.n_held[0] < first.numbers.size:
        _put(first, int(first.n_held[0]), number, given, believed, probabilities, x)
        first.n_held[0] += 1
    count = int(worst.n_held[0])
    if is_new or worst.numbers.size == 0:
        return
    if count < worst.numbers.size:
        heap[count] = count
        _put(worst, count, number, given, believed, probabilities, x)
        worst.n_held[0] += 1
        _raise_last(worst.numbers, worst.scores, heap, count)
    elif probabilities[given] < worst.scores[heap[0], GIVEN]:
        _put(worst, heap[0], number, given, believed, probabilities, x)
        _lower_first(worst.numbers, worst.scores, heap, count)


@kernel
def note_rows(
    first_row: int, rows: FloatArray, labels: IntArray, weights: FloatArray, probabilities: FloatArray, notes: Notes
) -> None:
    """Note rows with their given labels and what was said to them; rows of no weight were not learned."""
    for row in range(labels.size):
        if weights[row] > 0.0:
            note_row(first_row + row, rows[row], labels[row], probabilities[row], notes)
