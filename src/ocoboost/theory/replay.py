"""The games of a recorded run once more, without the learners.

What learner i was taught on a row follows from the votes of learners 1..i-1 on that row, and draws are keyed: the same
kernels give the same bits. The gain of a label z on a lesson u (weights over labels, of mass |u|) is ``2 u[z] - |u|``:
the paper's ``2 z.y - 1`` for a lesson that is a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade import Cascade
from ocoboost.compiling import kernel
from ocoboost.games import Games, Loop
from ocoboost.oco._player_kernels import step_row
from ocoboost.oco.players import PLAYERS
from ocoboost.randomness import RELABEL, draw_rows, uniform
from ocoboost.regimes import AGNOSTIC, gradient_row, gradients, teach, teach_row
from ocoboost.theory.record import Stretch

NO_LABEL = -1  # what a rival says that names a label which nobody knew yet

# Columns of a learner's sums over rows, weighted by the rows' weights.
VOTE_GAIN, RIVAL_GAIN = 0, 1  # on what was taught
VOTE_GAIN_MEANT, RIVAL_GAIN_MEANT, LABEL_GAIN_MEANT = 2, 3, 4  # on the play itself; the same if nothing is drawn
MASS = 5  # taught
EDGE, RIVAL_EDGE = 6, 7  # share of the lesson met, beyond 1 / k
EDGE_SQUARED, EDGES_CROSSED, RIVAL_EDGE_SQUARED = 8, 9, 10  # per row, before summing
N_SUMS = 11


class Tally(NamedTuple):
    """What a replay adds up."""

    player_regrets: FloatArray  # (rows,)
    learner_sums: FloatArray  # (learners, N_SUMS)


class Lesson(NamedTuple):
    """One learner's part in a stretch of a run; all have shape (rows, classes)."""

    votes: FloatArray  # as the players saw them
    taught: FloatArray  # label weights, before the rows' own weights
    meant: FloatArray  # their mean over draws


def tally(cascade: Cascade, stretch: Stretch, rival_labels: IntArray) -> Tally:
    """Play a stretch again and add up gains: of the votes, of a rival who says ``rival_labels``, and of the labels."""
    rows = stretch.rows
    games = cascade.begin(rows.labels, rows.weights, rows.n_classes, stretch.heard.seen)
    out = Tally(np.zeros(len(rows.labels)), np.zeros((cascade.n_learners, N_SUMS)))
    room = Room(*(np.zeros(size) for size in (rows.n_classes, rows.n_classes, games.plays.shape[1], games.plays.shape)))
    if len(rows.labels) > 0:
        replay(cascade.loop(rows.n_classes), games, room, rows.first_row, rival_labels, *out)
    return out


def lessons(cascade: Cascade, stretch: Stretch) -> Iterator[Lesson]:
    """What every learner in turn voted and was taught."""
    rows, seen = stretch.rows, stretch.heard.seen
    player, game, code = PLAYERS[cascade.player], cascade.game(rows.n_classes), cascade.regime.code
    games = cascade.begin(rows.labels, rows.weights, rows.n_classes, seen)
    step_size, is_random = cascade.resolve_step(game), cascade.relabel == "random"
    slopes, draws, ones = np.empty_like(games.plays), np.zeros(len(rows.labels)), np.ones(len(rows.labels))
    labels_as_votes = np.eye(rows.n_classes)
    for learner in range(cascade.n_learners):
        votes = labels_as_votes[seen.labels[learner]] if cascade.votes == "label" else seen.distributions[learner]
        lesson = Lesson(votes, np.empty_like(votes), np.empty_like(votes))
        if is_random:
            draw_rows(cascade.seed, RELABEL, rows.first_row, learner, draws)
        teach(code, games.plays, rows.labels, ones, is_random, draws, lesson.taught)
        teach(code, games.plays, rows.labels, ones, False, draws, lesson.meant)
        yield lesson
        gradients(code, np.ascontiguousarray(votes), rows.labels, cascade.gamma, slopes)
        player.step(game, games.plays, games.memory, slopes, step_size, learner)


class Room(NamedTuple):
    """What a replay needs."""

    vote: FloatArray  # this and the next: (classes,)
    taught: FloatArray
    slope: FloatArray  # one number per coordinate of a play
    totals: FloatArray  # of the slopes, the same for every row


@kernel(error_model="numpy")
def replay(
    loop: Loop,
    games: Games,
    room: Room,
    first_row: int,
    rival_labels: IntArray,
    player_regrets: FloatArray,
    sums: FloatArray,
) -> None:
    """Learner by learner over all rows; ``sums`` has shape (learners, N_SUMS), and it and the regrets begin at zero."""
    vote, taught, slope, totals = room
    for learner in range(loop.n_learners):
        for row in range(games.labels.size):
            play, label, weight, rival = games.plays[row], games.labels[row], games.weights[row], rival_labels[row]
            met_meant = 0.0
            for j in range(vote.size):
                if loop.sees_labels:
                    vote[j] = 1.0 if j == games.seen_labels[learner, row] else 0.0
                else:
                    vote[j] = games.seen_distributions[learner, row, j]
                met_meant += vote[j] * meant_for(loop.regime, play, label, j)
            own = meant_for(loop.regime, play, label, label)
            mass_meant = 1.0 if loop.regime == AGNOSTIC else own
            rival_met_meant = meant_for(loop.regime, play, label, rival) if rival >= 0 else 0.0
            sums[learner, VOTE_GAIN_MEANT] += weight * (2.0 * met_meant - mass_meant)
            sums[learner, RIVAL_GAIN_MEANT] += weight * (2.0 * rival_met_meant - mass_meant)
            sums[learner, LABEL_GAIN_MEANT] += weight * (2.0 * own - mass_meant)
            if loop.is_random:
                draw = uniform(loop.seed, RELABEL, first_row + row, learner)
                teach_row(loop.regime, play, label, 1.0, True, draw, taught)
                met = 0.0
                for j in range(vote.size):
                    met += vote[j] * taught[j]
                mass = 1.0 if loop.regime == AGNOSTIC else taught[label]
                add_lesson(met, taught[rival] if rival >= 0 else 0.0, mass, weight, vote.size, learner, sums)
            else:
                add_lesson(met_meant, rival_met_meant, mass_meant, weight, vote.size, learner, sums)

            gradient_row(loop.regime, vote, label, loop.gamma, slope)
            for j in range(slope.size):
                player_regrets[row] += slope[j] * play[j]
                totals[row, j] += slope[j]
            step_row(
                loop.player,
                loop.on_interval,
                play,
                games.memory[row],
                slope,
                loop.step_size,
                loop.gradient_range,
                loop.n_learners,
                learner,
            )
    for row in range(games.labels.size):
        best = 0.0 if loop.on_interval else np.inf
        for j in range(slope.size):
            best = min(best, totals[row, j])
        player_regrets[row] -= best


@kernel(forceinline=True)
def meant_for(regime: int, play: FloatArray, label: int, other: int) -> float:
    """The weight of a label in what a play teaches, on average over draws."""
    if regime == AGNOSTIC:
        return float(play[other])
    return float(play[0]) if other == label else 0.0


@kernel(error_model="numpy", forceinline=True)
def add_lesson(
    met: float, rival_met: float, mass: float, weight: float, n_classes: int, learner: int, sums: FloatArray
) -> None:
    """Add to a learner's sums what its vote and the rival met of a lesson."""
    edge, rival_edge = weight * (met - mass / n_classes), weight * (rival_met - mass / n_classes)
    sums[learner, VOTE_GAIN] += weight * (2.0 * met - mass)
    sums[learner, RIVAL_GAIN] += weight * (2.0 * rival_met - mass)
    sums[learner, MASS] += weight * mass
    sums[learner, EDGE] += edge
    sums[learner, RIVAL_EDGE] += rival_edge
    sums[learner, EDGE_SQUARED] += edge * edge
    sums[learner, EDGES_CROSSED] += edge * rival_edge
    sums[learner, RIVAL_EDGE_SQUARED] += rival_edge * rival_edge
