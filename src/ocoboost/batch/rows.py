"""What happens to a shard in one stage: its rows are taught, counted, voted on, and their players move.

A shard is one worker's part of a sample. Functions here take one and what belongs to it, and know nothing of the
others: threads and cluster workers call the same ones. What is summed over shards are integers. Rows are
identified by their global numbers, so results do not depend on the shards.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import tree_kernels as kernels
from ocoboost.batch.tree import Tree
from ocoboost.cascade.regimes import PAIRWISE, REALIZABLE, Playing, begin_games, move_row, teach_row
from ocoboost.compiling import allocating
from ocoboost.randomness import DRAWN_LABELS, DRAWN_ROWS, HELD_OUT, draw_label, draw_rows, uniform

UNITS = 2**30  # the resolution in which weights are added up
_MOST_BITS = 61  # of a sum in fixed point; rounding needs a little more


class Rules(NamedTuple):
    """The choices of a booster, as numbers."""

    playing: Playing  # of the rows' players; their learners are the stages
    n_classes: int
    scale: float  # fixed-point units in a weight of 1

    @property
    def is_realizable(self) -> bool:
        """Whether plays are weights of the true label (Algorithm 5), not distributions over labels (Algorithm 2)."""
        return self.playing.regime == REALIZABLE

    @property
    def is_pairwise(self) -> bool:
        """Whether plays weigh rivals, so that the label weights have to be made of them."""
        return self.playing.regime == PAIRWISE


class Rows(NamedTuple):
    """The part of a shard that stays the same."""

    first_row: int
    X: Any  # codes for native trees, else features
    labels: IntArray
    weights: FloatArray  # at most 1; zero for rows that are held out
    held_out: IntArray  # the places of these rows in the shard
    held_out_units: IntArray  # and their weights, in units


class Players(NamedTuple):
    """The part of a shard that changes in every stage."""

    plays: FloatArray
    memory: FloatArray
    counts: IntArray  # votes on the held-out rows


class Lesson(NamedTuple):
    """What a shard teaches the next hypothesis: label weights in fixed point."""

    quanta: IntArray  # (rows, classes); or one number per example
    unit: float  # how many quanta are a weight of 1
    examples: IntArray | None = None  # which rows these are, some perhaps several times; None: every row, all labels
    labels: IntArray | None = None  # one per example
    order: IntArray | None = None  # global numbers that put all shards' examples in order


class Examples(NamedTuple):
    """What a shard teaches a classifier that takes one label per example."""

    order: IntArray  # numbers to sort them by
    X: Any
    labels: IntArray
    quanta: IntArray  # their weights in fixed point
    unit: float  # how many quanta are a weight of 1


class Hypothesis(Protocol):
    """A fitted weak hypothesis."""

    def vote(self, X: Any, /) -> IntArray:
        """The index of a label for every row."""


def hold_out(rows: Rows, fraction: float, seed: int) -> Rows:
    """Hold out some rows, chosen by draws that are keyed by row number."""
    draws = np.empty(len(rows.labels))
    draw_rows(seed, HELD_OUT, rows.first_row, 0, draws)
    chosen = draws < fraction
    units = weight_units(rows)
    return rows._replace(
        weights=np.where(chosen, 0.0, rows.weights), held_out=np.nonzero(chosen)[0], held_out_units=units[chosen]
    )


def weight_units(rows: Rows) -> IntArray:
    """Every row's weight in units, rounded up."""
    return np.ceil(rows.weights * UNITS).astype(np.int64)


def taught_rows(rows: Rows) -> IntArray:
    """How many rows are taught, and how many units they weigh."""
    return np.array([np.count_nonzero(rows.weights), weight_units(rows).sum()], dtype=np.int64)


def held_out_rows(rows: Rows) -> int:
    """How many rows with a weight are held out."""
    return int(np.count_nonzero(rows.held_out_units))


def fixed_point_scale(units: int) -> float:
    """Fixed-point units in a weight of 1: a power of two, so large that the sum of all weights does not overflow."""
    return float(2.0 ** (_MOST_BITS - units.bit_length()) * UNITS)


def begin(rows: Rows, rules: Rules) -> Players:
    """Start every row's game."""
    plays, memory = begin_games(rules.playing, rows.labels)
    return Players(plays, memory, np.zeros((len(rows.held_out), rules.n_classes), dtype=np.int64))


def move(rows: Rows, players: Players, rules: Rules, hypothesis: Hypothesis, stage: int) -> Players:
    """Show every player its row's vote, in place, and count the votes on held-out rows."""
    votes = hypothesis.vote(rows.X)
    # Alg. 2.7, Alg. 5.7: set P for the next stage
    step_rows(rules.playing, votes, rows.labels, stage, players.plays, players.memory)
    players.counts[np.arange(len(rows.held_out)), votes[rows.held_out]] += 1
    return players


def held_out_hits(rows: Rows, players: Players) -> IntArray:
    """The held-out weight in units: in total, and of the rows whose label has most votes."""
    is_right = players.counts.argmax(axis=1) == rows.labels[rows.held_out]
    return np.array([rows.held_out_units.sum(), rows.held_out_units[is_right].sum()], dtype=np.int64)


def teach_all(rows: Rows, players: Players, rules: Rules) -> Lesson:
    """Teach every row, with the label weights of its play."""
    quanta = np.empty(players.plays.shape, dtype=np.int64)
    kernels.quantize(_lessons(rows, players, rules), rows.weights, rules.scale, quanta)
    if not rules.is_realizable:
        return Lesson(quanta, rules.scale)
    examples = np.nonzero(quanta[:, 0])[0]
    return Lesson(quanta[examples, 0], rules.scale, examples, rows.labels[examples], rows.first_row + examples)


def teach_labels(rows: Rows, scale: float) -> Lesson:
    """Teach every row its own label and weight, as without boosting."""
    numbers = np.arange(len(rows.labels))
    quanta = np.floor(rows.weights * scale + 0.5).astype(np.int64)
    return Lesson(quanta, scale, numbers, rows.labels, rows.first_row + numbers)


def drawing_mass(rows: Rows, players: Players, rules: Rules) -> tuple[int, int]:
    """The shard's first row, and its total weight for drawing rows."""
    return rows.first_row, int(_drawing_quanta(rows, players, rules).sum())


def teach_drawn(
    rows: Rows, players: Players, rules: Rules, stage: int, n_drawn: int, masses: dict[int, tuple[int, int]], total: int
) -> Lesson:
    """Teach the drawn rows that are in this shard; ``masses``: by first row, the mass before a shard and its own."""
    before, mass = masses[rows.first_row]
    numbers, targets = _draws(rules.playing.seed, stage, n_drawn, total, before, before + mass)
    cumulated = np.cumsum(_drawing_quanta(rows, players, rules))
    examples = np.searchsorted(cumulated, targets, side="right")
    labels = rows.labels[examples]
    if not rules.is_realizable:
        # Alg. 2.4: rows are drawn alike, and relabelled by a draw from P
        chances = _lessons(rows, players, rules)
        if rules.is_pairwise:
            chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        labels = _drawn_labels(rules.playing.seed, stage, numbers, examples, chances)
    return Lesson(np.ones(len(examples), dtype=np.int64), 1.0, examples, labels, numbers)


def lesson_mass(rows: Rows, players: Players, lesson: Lesson) -> int:
    """The total weight of a lesson; zero if there is nothing to teach."""
    return int(lesson.quanta.sum())


def count(rows: Rows, players: object, lesson: Lesson, tree: Tree, nodes: IntArray, slots: IntArray) -> IntArray:
    """Histograms of some leaves of a tree, from this shard."""
    leaves = tree.find_leaves(rows.X)
    place_of_node = np.full(len(tree.feature), -1, dtype=np.int64)
    place_of_node[nodes] = np.arange(len(nodes))
    out = np.zeros((len(nodes), slots[-1], tree.weights.shape[1]), dtype=np.int64)
    if lesson.examples is None or lesson.labels is None:
        kernels.count_soft(rows.X, lesson.quanta, leaves, place_of_node, slots, out)
    else:
        kernels.count_hard(rows.X, lesson.examples, lesson.labels, lesson.quanta, leaves, place_of_node, slots, out)
    return out


def examples(rows: Rows, players: Players, lesson: Lesson) -> Examples:
    """The lesson as single examples."""
    if lesson.examples is not None and lesson.labels is not None and lesson.order is not None:
        return Examples(lesson.order, rows.X[lesson.examples], lesson.labels, lesson.quanta, lesson.unit)
    which, labels = np.nonzero(lesson.quanta)
    return Examples(rows.first_row + which, rows.X[which], labels, lesson.quanta[which, labels], lesson.unit)


def _drawing_quanta(rows: Rows, players: Players, rules: Rules) -> IntArray:
    # Alg. 5.4: rows are drawn in proportion to P
    mass = rows.weights[:, None] * players.plays if rules.is_realizable else rows.weights[:, None]
    if rules.is_pairwise:  # and here to what is not skipped
        mass = rows.weights[:, None] * (1.0 - players.plays[np.arange(len(rows.labels)), rows.labels, None])
    out = np.empty(mass.shape, dtype=np.int64)
    kernels.quantize(mass, np.ones(len(mass)), rules.scale, out)
    return out[:, 0]


def _lessons(rows: Rows, players: Players, rules: Rules) -> FloatArray:
    """The label weights that plays stand for; on the simplex, and not pairwise, they are the plays."""
    if not rules.is_pairwise:
        return players.plays
    out = np.empty_like(players.plays)
    teach_rows(rules.playing.regime, players.plays, rows.labels, out)
    return out


@allocating
def teach_rows(regime: int, plays: FloatArray, labels: IntArray, out: FloatArray) -> None:
    """The label weights of every row, of weight 1."""
    for row in range(plays.shape[0]):
        teach_row(regime, plays[row], labels[row], 1.0, False, 0.0, out[row])


@allocating
def step_rows(
    playing: Playing, votes: IntArray, labels: IntArray, stage: int, plays: FloatArray, memory: FloatArray
) -> None:
    """One move of every row's game, after its label vote."""
    vote = np.zeros(playing.starts.shape[0])
    gradient = np.empty(plays.shape[1])
    for row in range(plays.shape[0]):
        vote[votes[row]] = 1.0
        move_row(playing, plays[row], memory[row], labels[row], vote, stage, gradient)
        vote[votes[row]] = 0.0


@allocating
def _draws(seed: np.uint64, stage: int, n_drawn: int, total: int, first: int, last: int) -> tuple[IntArray, IntArray]:
    """Which of the stage's draws fall into masses first..last - 1, and at which offset."""
    numbers = np.empty(n_drawn, dtype=np.int64)
    targets = np.empty(n_drawn, dtype=np.int64)
    found = 0
    for number in range(n_drawn):
        target = min(int(uniform(seed, DRAWN_ROWS, number, stage) * total), total - 1)
        if first <= target < last:
            numbers[found] = number
            targets[found] = target - first
            found += 1
    return numbers[:found], targets[:found]


@allocating
def _drawn_labels(seed: np.uint64, stage: int, numbers: IntArray, examples: IntArray, plays: FloatArray) -> IntArray:
    out = np.empty(numbers.size, dtype=np.int64)
    for place in range(numbers.size):
        out[place] = draw_label(plays[examples[place]], uniform(seed, DRAWN_LABELS, numbers[place], stage))
    return out
