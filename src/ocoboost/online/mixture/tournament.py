"""Which votes to follow: AdaNormalHedge (Luo & Schapire, 2015) on the geometric clock.

A voter is a member or a blend, and its vote is the label that it finds most probable. The tournament's distribution D
is the weighted share of the votes, so its loss 1 - D[y] is the weighted mean of the voters' mistakes. Every voter has
several copies: one that lives as long as the stream, and one of every order of the clock, which starts anew when it is
born. A copy's weight depends on its regret R, by how much it has done better than D since its birth, and on C, how much
the two differed:

    w = (exp([R + 1]+^2 / (3 (C + 1))) - exp([R - 1]+^2 / (3 (C + 1)))) / 2

There is no learning rate to set and no number of switches to know. ``bounds`` says what this guarantees against every
voter, on the whole stream and on any interval of it.
"""

from __future__ import annotations

import math

from ocoboost.arrays import MOST_ROWS, FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.online.mixture.clock import LEAST_ORDER, is_birth, n_orders

MOST_ORDERS = MOST_ROWS.bit_length() - LEAST_ORDER
N_COPIES = 1 + MOST_ORDERS  # the first one is never born again
WHOLE_PRIOR = 0.5  # of the copies that live as long as the stream
ORDER_PRIOR = 0.05  # of those of one order


@kernel
def copy_weight(regret: float, travelled: float) -> float:
    """The weight of a copy before its prior, from R and C."""
    scale = 3.0 * (travelled + 1.0)
    ahead, behind = max(regret + 1.0, 0.0), max(regret - 1.0, 0.0)
    return 0.5 * (math.exp(ahead * ahead / scale) - math.exp(behind * behind / scale))


@kernel
def begin_copies(row: int, regret: FloatArray, travelled: FloatArray) -> None:
    """Start the copies anew that are born at this row."""
    for order in range(LEAST_ORDER, LEAST_ORDER + n_orders(row)):
        if is_birth(row, order):
            copy = 1 + order - LEAST_ORDER
            for voter in range(regret.shape[1]):
                regret[copy, voter] = 0.0
                travelled[copy, voter] = 0.0


@kernel
def weigh_voters(
    row: int, prior: FloatArray, awake: IntArray, regret: FloatArray, travelled: FloatArray, out: FloatArray
) -> None:
    """The voters' weights, which sum to one; ``regret`` and ``travelled`` have shape (copies, voters).

    A copy that would be born at this row has not been counted against yet, so it does not matter whether it was begun.
    """
    n_copies = 1 + n_orders(row)
    total = 0.0
    for voter in range(prior.size):
        out[voter] = 0.0
        if awake[voter]:
            for copy in range(n_copies):
                is_new = copy > 0 and is_birth(row, LEAST_ORDER + copy - 1)
                weight = copy_weight(0.0 if is_new else regret[copy, voter], 0.0 if is_new else travelled[copy, voter])
                out[voter] += (ORDER_PRIOR if copy > 0 else WHOLE_PRIOR) * weight
            out[voter] *= prior[voter]
            total += out[voter]
    if not total > 0.0:  # everyone is behind: any weights will do
        for voter in range(prior.size):
            out[voter] = prior[voter] if awake[voter] else 0.0
            total += out[voter]
    for voter in range(prior.size):
        out[voter] /= total


@kernel
def count_mistakes(
    row: int,
    votes: IntArray,
    awake: IntArray,
    label: int,
    loss: float,
    row_weight: float,
    regret: FloatArray,
    travelled: FloatArray,
) -> None:
    """Charge every copy of a voter with its mistake, against the tournament's loss; ``row_weight`` is at most 1."""
    begin_copies(row, regret, travelled)
    for voter in range(votes.size):
        if awake[voter]:
            gained = row_weight * (loss - (0.0 if votes[voter] == label else 1.0))
            for copy in range(1 + n_orders(row)):
                regret[copy, voter] += gained
                travelled[copy, voter] += abs(gained)
