"""The members of `BoostClassifier`: Algorithm 5 over random trees, several times, each judged on rows it never saw.

A member is the game of ``game.py`` in the realizable regime: every row's player plays its weight, a stage grows one
random tree, and a player sees the label that the tree gives its row. Started at the label, with gamma 1, no play ever
moves: such a member is a forest. With a smaller gamma rows that are often wrong keep their weight and others lose it.
Plays move by the votes of stages that did not see the row, as those that saw it are nearly always right about it.

Every member is five *chains*. A row belongs to one of five folds, by a draw that is keyed by its number, and a chain
never sees the rows of its own fold; they judge it. So all rows are taught to four chains and judge the fifth, no
chain is played twice, and all of them vote. A tree serves several members at once, whose leaves lean on their parents
with different strengths.

A stage is keyed by its chain and its number, and no step size depends on how many stages there will be. So a chain that
is played on is the chain that would have been played at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import game
from ocoboost.batch.crew import Crew
from ocoboost.batch.forest import CountedTree, GrownTree
from ocoboost.batch.forest_keys import Lesson, Table
from ocoboost.batch.rows import UNITS, step_rows
from ocoboost.cascade.regimes import REALIZABLE, Playing, Regime, begin_games
from ocoboost.oco.players import PLAYERS
from ocoboost.randomness import FOLDS, STAGE_ROWS, draw_rows, tree_seed

N_FOLDS = 5
LEAST_ROWS = 50  # with fewer, nothing is held out
MOST_ROWS = 2**16  # that a tree is grown from
MOST_TRIED = 32  # columns at a node
FIRST_HORIZON = 20  # stages of a chain for which its first step size is right; then twice as many, and so on
STRENGTHS = (0.0, 1.0, 4.0, 16.0, 64.0)  # in rows
VOTING_STRENGTH = 1.0  # of the votes that players see


class Kind(NamedTuple):
    """How the trees of a member are grown, and how its game is played."""

    name: str
    is_random: bool
    columns: str  # "sqrt", "half" or "all" of them are tried at a node
    bag: float  # the share of the chain's rows that a stage is taught
    gamma: float

    def n_tried(self, n_features: int) -> int:
        found = {"sqrt": int(np.sqrt(n_features)), "half": n_features // 2, "all": n_features}[self.columns]
        return max(1, min(found, MOST_TRIED))


KINDS = (
    Kind("random trees, few columns", True, "sqrt", 1.0, 1.0),
    Kind("random trees, all columns", True, "all", 1.0, 1.0),
    Kind("greedy trees, few columns", False, "sqrt", 0.8, 1.0),
    Kind("greedy trees, half of the columns", False, "half", 0.8, 1.0),
    Kind("boosted random trees, all columns", True, "all", 0.7, 0.2),
)


class Lengths(NamedTuple):
    """How long chains are played."""

    n_stages: int
    patience: int | None = None  # stages without a better held-out score after which a chain stops
    tolerance: float = 0.0  # what counts as better, in accuracy
    is_kept: bool = False  # whether chains can be played on


class Training(NamedTuple):
    """All that a chain is told."""

    table: Table
    labels: IntArray
    weights: FloatArray  # their mean is 1, so that a strength counts rows
    folds: IntArray  # of every row; -1: never held out
    n_classes: int
    lengths: Lengths
    seed: int


class Pause(NamedTuple):
    """What it takes to play on."""

    plays: FloatArray
    memory: FloatArray
    sums: FloatArray  # (strengths, judges, classes): the distributions of all trees so far
    best: int  # the best score so far
    best_stage: int  # the number of stages that had it


class Chain(NamedTuple):
    """One played game."""

    trees: list[CountedTree]
    judging: IntArray  # the rows that it never saw
    hits: IntArray  # by strength: the weight in units of those of them that it got right
    pause: Pause | None = None


class Place(NamedTuple):
    """Which chain it is."""

    kind: Kind
    fold: int
    number: int


class ChainSide:
    """Player A of a chain's game: the weights of its rows, and the random tree that answers them."""

    def __init__(self, kind: Kind, training: Training, fold: int, number: int, pause: Pause | None = None) -> None:
        self.kind = kind
        self.training = training
        self.number = number
        self.is_taught = training.folds != fold
        self.plays, self.memory = begin_games(playing_at(kind, training.n_classes, 0), training.labels)
        if pause is not None:
            self.plays, self.memory = pause.plays.copy(), pause.memory.copy()
        self._in_bag = self.is_taught
        self._weights = np.where(self.is_taught, training.weights, 0.0)
        self._share = min(kind.bag, MOST_ROWS / max(1, int(self.is_taught.sum())))

    def fit_next(self, stage: int) -> CountedTree:
        training = self.training
        weights = self._weights
        if self._share < 1.0:
            draws = np.empty(len(weights))
            draw_rows(training.seed, STAGE_ROWS, 0, self._place(stage), draws)
            self._in_bag = self.is_taught & (draws < self._share)
            weights = np.where(self._in_bag, weights, 0.0)
        if self.kind.gamma < 1.0:
            played = weights * self.plays[:, 0]
            if played.sum() > 0.0:  # else all plays are zero, and every weight is as good as any
                weights = played * (weights.sum() / played.sum())
        if not weights.any():
            weights = self._weights
        seed = tree_seed(training.seed, self._place(stage))
        n_tried = self.kind.n_tried(len(training.table.missing))
        lesson = Lesson(training.labels, weights, n_tried, self.kind.is_random, seed)
        tree = GrownTree.grow(training.table, lesson, training.n_classes)
        return tree.counted(training.labels, training.n_classes)

    def move(self, tree: CountedTree, stage: int, /) -> None:
        if self.kind.gamma == 1.0:
            return  # the loss of a right vote is zero, and after a wrong one the play stays at its largest, 1
        training = self.training
        rows = np.nonzero(self.is_taught & ~self._in_bag)[0]
        shares = np.zeros((1, len(rows), training.n_classes))
        tree.add_leanings(training.table, rows, np.array([VOTING_STRENGTH]), shares)
        votes = shares[0].argmax(axis=1)
        plays, memory = self.plays[rows], self.memory[rows]
        playing = playing_at(self.kind, training.n_classes, stage)
        step_rows(playing, votes, training.labels[rows], stage, plays, memory)
        self.plays[rows], self.memory[rows] = plays, memory

    def _place(self, stage: int) -> int:
        return stage * N_FOLDS * len(KINDS) + self.number


def playing_at(kind: Kind, n_classes: int, stage: int) -> Playing:
    """How rows play at a stage: with the step for a game of 20, 40, 80, ... stages, the first that has not ended.

    A row's player moves only in the stages that did not see it, which are what counts.
    """
    horizon = FIRST_HORIZON
    while horizon <= stage:
        horizon *= 2
    n_moves = max(1, round(horizon * (1.0 - kind.bag)))
    return Regime(REALIZABLE).playing(
        PLAYERS["gradient"], gamma=kind.gamma, n_classes=n_classes, n_learners=n_moves, start="label"
    )


def play_chain(training: Training, place: Place, before: Chain | None = None) -> Chain:
    """Play one game, or play it on, and have it judged by the rows of its fold."""
    pause = None if before is None else before.pause
    lengths = training.lengths
    side = ChainSide(place.kind, training, fold=place.fold, number=place.number, pause=pause)
    judging = np.nonzero(~side.is_taught)[0]
    units = weight_units(training.weights[judging])
    labels = training.labels[judging]
    if before is None or pause is None:
        trees: list[CountedTree] = []
        sums = np.zeros((len(STRENGTHS), len(judging), training.n_classes))
        best, best_stage = -1, 0
    else:
        trees, sums, best, best_stage = list(before.trees), pause.sums.copy(), pause.best, pause.best_stage
    patience = lengths.patience if len(judging) else None
    if patience is None or len(trees) - best_stage < patience:
        for tree in game.play(side, ChainSide.fit_next, lengths.n_stages, len(trees)):
            trees.append(tree)
            if len(judging):
                tree.add_leanings(training.table, judging, np.array(STRENGTHS), sums)
            if patience is not None or lengths.is_kept:  # patience may begin when a kept chain is played on
                score = int(hits_of(sums, labels, units).max())
                if score > best + lengths.tolerance * int(units.sum()):
                    best, best_stage = score, len(trees)
            if patience is not None and len(trees) - best_stage >= patience:
                break
    pause = Pause(side.plays, side.memory, sums, best, best_stage) if lengths.is_kept else None
    return Chain(trees, judging, hits_of(sums, labels, units), pause)


def hits_of(sums: FloatArray, labels: IntArray, units: IntArray) -> IntArray:
    """By strength: the weight in units of the rows whose label comes first, ties to the first label."""
    hits: IntArray = (sums.argmax(axis=2) == labels).astype(np.int64) @ units
    return hits


def weight_units(weights: FloatArray) -> IntArray:
    """Weights as whole numbers, whose sums do not depend on their order."""
    return np.round(weights * (UNITS >> 10)).astype(np.int64)


def chain_places(n_rows: int) -> list[Place]:
    """All chains, kind after kind; with too few rows to hold any out, chains differ only in their draws."""
    folds = range(N_FOLDS) if n_rows >= LEAST_ROWS else (0,) * N_FOLDS
    return [Place(kind, fold, N_FOLDS * i + j) for i, kind in enumerate(KINDS) for j, fold in enumerate(folds)]


def play_all(crew: Crew, training: Any, n_rows: int, before: list[Chain], tick: Callable[[], None]) -> list[Any]:
    """All chains, in the hands of the crew, as ``training`` is; ``before`` are those to play on, and may be empty."""
    places = chain_places(n_rows)
    begun = crew.send(before) if before else [None] * len(places)
    return crew.map(play_chain, [training] * len(places), places, begun, tick=tick)


def sample_digest(training: Training) -> str:
    """By which the same sample is known again."""
    digest = hashlib.blake2b(repr((training.table.codes.shape, training.n_classes, training.seed)).encode())
    for array in (training.table.codes, training.table.edges, training.labels, training.weights):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def make_training(
    table: Table,
    labels: IntArray,
    weights: FloatArray,
    n_classes: int,
    lengths: Lengths,
    seed: int,
) -> Training:
    """Give every row its fold."""
    return Training(table, labels, weights, fold_of_rows(seed, len(labels)), n_classes, lengths, seed)


def fold_of_rows(seed: int, n_rows: int) -> IntArray:
    """The fold of every row, keyed by its number; too few rows have none."""
    if n_rows < LEAST_ROWS:
        return np.full(n_rows, -1, dtype=np.int64)
    draws = np.empty(n_rows)
    draw_rows(seed, FOLDS, 0, 0, draws)
    return (draws * N_FOLDS).astype(np.int64)
