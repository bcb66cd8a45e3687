"""The games of a recorded run played again, without the learners.

What learner i was taught on a row follows from the votes of learners 1..i-1 on that row, and draws are keyed: the same
kernels give bit-identical lessons. The gain of a label z on a lesson u (weights over labels, of mass |u|) is
``2 u[z] - |u|``: the paper's ``2 z.y - 1`` for a lesson that is a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.cascade.kernel import teach_rows
from ocoboost.cascade.regimes import AGNOSTIC, Playing, move_row, teach_row
from ocoboost.cascade.relabelling import Games, Relabelling
from ocoboost.compiling import kernel
from ocoboost.randomness import RELABEL, uniform
from ocoboost.theory.record import Span

NO_LABEL = -1  # stands for a comparator's label that was not known yet

# Columns of a learner's sums over rows, weighted by the rows' weights.
VOTE_GAIN, COMPARATOR_GAIN = 0, 1  # on what was taught
VOTE_GAIN_MEANT, COMPARATOR_GAIN_MEANT, LABEL_GAIN_MEANT = 2, 3, 4  # on the play itself; the same if nothing is drawn
MASS = 5  # taught
EDGE, COMPARATOR_EDGE = 6, 7  # weight of the lesson on the label, minus guessing's
EDGE_SQUARED, EDGES_CROSSED, COMPARATOR_EDGE_SQUARED = 8, 9, 10  # per row, before summing
N_SUMS = 11


class Tally(NamedTuple):
    """What a replay adds up."""

    player_regrets: FloatArray  # (rows,)
    learner_sums: FloatArray  # (learners, N_SUMS)


class Lesson(NamedTuple):
    """One learner's votes and lessons in a span; all have shape (rows, classes)."""

    votes: FloatArray  # as the players saw them
    taught: FloatArray  # label weights, before the rows' own weights
    meant: FloatArray  # their mean over draws


def tally(cells: Relabelling, span: Span, comparator_labels: IntArray) -> Tally:
    """Play a span again and sum the gains of the votes, of a comparator, and of the labels."""
    rows = span.rows
    games = cells.begin(rows.labels, rows.weights, rows.n_classes, span.heard.seen)
    out = Tally(np.zeros(len(rows.labels)), np.zeros((cells.n_learners, N_SUMS)))
    n_classes, dimension = rows.n_classes, games.plays.shape[1]
    if len(rows.labels) > 0:
        sizes = (n_classes, n_classes, dimension, dimension, games.plays.shape)
        scratch = Scratch(*(np.zeros(size) for size in sizes))
        replay(cells.choices(rows.n_classes), games, scratch, rows.first_row, comparator_labels, *out)
    return out


def lessons(cells: Relabelling, span: Span) -> Iterator[Lesson]:
    """What every learner in turn voted and was taught."""
    rows, seen = span.rows, span.heard.seen
    drawn = cells.choices(rows.n_classes)
    meant = drawn._replace(is_random=False)
    games = cells.begin(rows.labels, np.ones(len(rows.labels)), rows.n_classes)
    labels_as_votes, gradient = np.eye(rows.n_classes), np.empty(games.plays.shape[1])
    for learner in range(cells.n_learners):
        votes = labels_as_votes[seen.labels[learner]] if cells.votes == "label" else seen.distributions[learner]
        lesson = Lesson(votes, np.empty_like(votes), np.empty_like(votes))
        teach_rows(drawn, games, (), rows.first_row, learner, lesson.taught)
        teach_rows(meant, games, (), rows.first_row, learner, lesson.meant)
        yield lesson
        move_rows(drawn, games, np.ascontiguousarray(votes), learner, gradient)


@kernel(error_model="numpy")
def move_rows(playing: Playing, games: Games, votes: FloatArray, learner: int, gradient: FloatArray) -> None:
    """Show every row's player a vote."""
    for row in range(votes.shape[0]):
        move_row(playing, games.plays[row], games.memory[row], games.labels[row], votes[row], learner, gradient)


class Scratch(NamedTuple):
    """Scratch memory."""

    vote: FloatArray  # this and the next: (classes,)
    taught: FloatArray
    played: FloatArray  # this and the next: one number per coordinate of a play
    slope: FloatArray
    totals: FloatArray  # sums of the slopes, for every row


@kernel(error_model="numpy")
def replay(
    playing: Playing,
    games: Games,
    scratch: Scratch,
    first_row: int,
    comparator_labels: IntArray,
    player_regrets: FloatArray,
    sums: FloatArray,
) -> None:
    """Replay learner by learner over all rows; ``sums``, of shape (learners, N_SUMS), and the regrets start at zero."""
    vote, taught, played, slope, totals = scratch
    for learner in range(playing.n_learners):
        for row in range(games.labels.size):
            play, label, weight, comparator = (
                games.plays[row],
                games.labels[row],
                games.weights[row],
                comparator_labels[row],
            )
            met_meant = 0.0
            for j in range(vote.size):
                if playing.sees_labels:
                    vote[j] = 1.0 if j == games.seen_labels[learner, row] else 0.0
                else:
                    vote[j] = games.seen_distributions[learner, row, j]
                met_meant += vote[j] * meant_for(playing.regime, play, label, j)
            own = meant_for(playing.regime, play, label, label)
            mass_meant = 1.0 if playing.regime == AGNOSTIC else own
            comparator_met_meant = meant_for(playing.regime, play, label, comparator) if comparator >= 0 else 0.0
            sums[learner, VOTE_GAIN_MEANT] += weight * (2.0 * met_meant - mass_meant)
            sums[learner, COMPARATOR_GAIN_MEANT] += weight * (2.0 * comparator_met_meant - mass_meant)
            sums[learner, LABEL_GAIN_MEANT] += weight * (2.0 * own - mass_meant)
            if playing.is_random:
                draw = uniform(playing.seed, RELABEL, first_row + row, learner)
                teach_row(playing.regime, play, label, 1.0, True, draw, taught)
                met = 0.0
                for j in range(vote.size):
                    met += vote[j] * taught[j]
                mass = 1.0 if playing.regime == AGNOSTIC else taught[label]
                add_lesson(met, taught[comparator] if comparator >= 0 else 0.0, mass, weight, vote.size, learner, sums)
            else:
                add_lesson(met_meant, comparator_met_meant, mass_meant, weight, vote.size, learner, sums)

            for j in range(slope.size):
                played[j] = play[j]
            move_row(playing, play, games.memory[row], label, vote, learner, slope)
            for j in range(slope.size):
                player_regrets[row] += slope[j] * played[j]
                totals[row, j] += slope[j]
    for row in range(games.labels.size):
        best = 0.0 if playing.on_interval else np.inf
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
    met: float, comparator_met: float, mass: float, weight: float, n_classes: int, learner: int, sums: FloatArray
) -> None:
    """Add one lesson to a learner's sums; ``met`` is the weight that the lesson has on the vote."""
    edge, comparator_edge = weight * (met - mass / n_classes), weight * (comparator_met - mass / n_classes)
    sums[learner, VOTE_GAIN] += weight * (2.0 * met - mass)
    sums[learner, COMPARATOR_GAIN] += weight * (2.0 * comparator_met - mass)
    sums[learner, MASS] += weight * mass
    sums[learner, EDGE] += edge
    sums[learner, COMPARATOR_EDGE] += comparator_edge
    sums[learner, EDGE_SQUARED] += edge * edge
    sums[learner, EDGES_CROSSED] += edge * comparator_edge
    sums[learner, COMPARATOR_EDGE_SQUARED] += comparator_edge * comparator_edge
