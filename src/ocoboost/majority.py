"""The cells of OnlineMBBM (Jung, Goetz & Tewari, 2017): boosting by majority, online and for many labels.

A learner is taught the true label, weighted by how much is lost if its vote is wrong:

    w_i = sum over l of phi_{N-i}(s + e_l) - phi_{N-i}(s + e_y)
        = k / (1 - gamma) * ( phi_{N-i+1}(s) - phi_{N-i}(s + e_y) )

where s counts the votes of the learners before it. The second form is the first and one step of the potential's
recursion, and needs two potentials instead of k. One of them is known already: phi_{N-i+1}(s) is what learner i-1 left
behind. So a cell asks for phi_{N-i}(s + e_y) and, if the vote is wrong, for phi_{N-i}(s + e_h).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.potentials import Potentials, Room, importance, make_room, potential
from ocoboost.randomness import RELABEL, TIES, uniform

_inlined = kernel(error_model="numpy", inline="always")
# By LLVM, not by Numba: passing all these arrays to every cell took half of the time (Balance, 100 stumps).
_kernel = kernel(error_model="numpy", forceinline=True)


class Majority(NamedTuple):
    """The choices of OnlineMBBM, as numbers."""

    n_learners: int
    seed: np.uint64
    potentials: Potentials
    first_potential: float  # before any vote
    amplification: float  # k / (1 - gamma); 0: weights are summed term by term instead
    n_extra: int  # added to the votes still to come; 1 in the published code
    scales: FloatArray  # (n_learners,) weights are multiplied by these
    least: float  # and are at least this
    is_random: bool  # learners take no weights: they are taught with a probability instead
    by_cost: bool  # a learner votes for the label of least expected cost, not for its most probable one
    draws_ties: bool

    def make_room(self) -> Room:
        """Room for one thread to work out potentials in."""
        return make_room(self.potentials.n_classes, self.n_learners)


class Counts(NamedTuple):
    """A block of rows and their votes; axis 0 is the row."""

    labels: IntArray
    weights: FloatArray
    votes: IntArray  # (rows, at least 2) of the learners so far
    present: FloatArray  # the potential of these votes
    raised: FloatArray  # the potential if the next vote is right

    def part(self, rows: slice) -> Counts:
        """Some of the rows."""
        return Counts._make(array[rows] for array in self)


@_kernel
def teach(loop: Majority, games: Counts, room: Room, row: int, number: int, learner: int, out: FloatArray) -> None:
    label = games.labels[row]
    counts = games.votes[row]
    n = loop.n_learners - 1 - learner + loop.n_extra
    if loop.amplification > 0.0:
        counts[label] += 1
        games.raised[row] = potential(loop.potentials, learner, n, counts, label, room)
        counts[label] -= 1
        weight = loop.amplification * (games.present[row] - games.raised[row])
    else:
        weight = importance(loop.potentials, learner, n, counts, label, room)
    weight = max(loop.least, loop.scales[learner] * weight)
    draw = uniform(loop.seed, RELABEL, number, learner) if loop.is_random else 0.0
    teach_label(label, weight, games.weights[row], loop.is_random, draw, out)


@_kernel
def teach_label(label: int, weight: float, row_weight: float, is_random: bool, draw: float, out: FloatArray) -> None:
    """The true label with its weight; with ``is_random`` with half of it as a probability: most weights are below 2."""
    for j in range(out.size):
        out[j] = 0.0
    out[label] = (row_weight if draw < 0.5 * weight else 0.0) if is_random else weight * row_weight


@_kernel
def see(
    loop: Majority,
    games: Counts,
    room: Room,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    chosen = choose(loop, games, room, row, number, learner, n_classes, vote, spare)
    games.votes[row, chosen] += 1
    if loop.amplification > 0.0:
        if chosen == games.labels[row]:
            games.present[row] = games.raised[row]
        else:
            n = loop.n_learners - 1 - learner + loop.n_extra
            games.present[row] = potential(loop.potentials, learner, n, games.votes[row], games.labels[row], room)


@_kernel
def pool(
    loop: Majority,
    games: Counts,
    room: Room,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> None:
    games.votes[row, choose(loop, games, room, row, number, learner, n_classes, vote, spare)] += 1


@_inlined
def choose(
    loop: Majority,
    games: Counts,
    room: Room,
    row: int,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> int:
    """The label that a learner votes for."""
    if loop.by_cost:
        chosen = cheapest(loop, games.votes[row], room, number, learner, n_classes, vote, spare)
    else:
        chosen = largest(vote, n_classes, 0.0)
    return chosen


@_kernel
def cheapest(
    loop: Majority,
    counts: IntArray,
    room: Room,
    number: int,
    learner: int,
    n_classes: int,
    vote: FloatArray,
    spare: FloatArray,
) -> int:
    """The label of least expected cost, if the learner's vote gives the chances of every truth."""
    n = loop.n_learners - 1 - learner + loop.n_extra
    for label in range(n_classes):
        spare[label] = 0.0
        counts[label] += 1
        for truth in range(n_classes):
            if vote[truth] > 0.0:
                spare[label] -= vote[truth] * potential(loop.potentials, learner, n, counts, truth, room)
        spare[label] = rounded(spare[label])
        counts[label] -= 1
    draw = uniform(loop.seed, TIES, number, learner) if loop.draws_ties else 0.0
    return largest(spare, n_classes, draw)


@_kernel
def rounded(cost: float) -> float:
    """Costs that differ by rounding errors only are to tie."""
    return math.floor(cost * 2.0**40 + 0.5)


@_kernel
def largest(values: FloatArray, n_values: int, draw: float) -> int:
    """Where the largest value is; among several the one that ``draw`` in [0, 1) points at, 0 at the first."""
    best = 0
    n_best = 1
    for j in range(1, n_values):
        if values[j] > values[best]:
            best = j
            n_best = 1
        elif values[j] == values[best]:
            n_best += 1
    n_skipped = int(draw * n_best)
    for j in range(best + 1, n_values):
        if n_skipped == 0:
            break
        if values[j] == values[best]:
            best = j
            n_skipped -= 1
    return best
