"""From played games to one forest: the members' weights, the mixture of every leaf, and how sharp it should be.

A game's trees stay where they were grown until the weights of its members are known. Then every leaf becomes one
distribution, and only those leave. Scores and losses are whole numbers, and everything else is added in the order of
the games, so a mixture does not depend on who played them.
"""

from __future__ import annotations

import itertools
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.batch import portfolio
from ocoboost.batch.crew import Crew
from ocoboost.batch.forest import Forest, KeptTree
from ocoboost.batch.forest_leaves import add_rows
from ocoboost.batch.mixing import best_power, log_losses, mixing_weights
from ocoboost.batch.portfolio import KINDS, N_FOLDS, STRENGTHS, Chain, Training


class Score(NamedTuple):
    """What is told of a chain when its members are weighed."""

    hits: IntArray
    n_stages: int


class Kept(NamedTuple):
    """What is left of a chain in the model."""

    trees: list[KeptTree]
    decrease: FloatArray  # of the Gini impurity, by column


class MixedChain(NamedTuple):
    """A chain whose leaves are mixtures."""

    kept: Kept
    held_out: FloatArray  # (judges, classes): its part of their mixtures


class HeldOut(NamedTuple):
    """The rows of a fold, and what the games that never saw them say."""

    rows: IntArray
    mixture: FloatArray  # (rows, classes)


class Blend(NamedTuple):
    """All chains as one forest."""

    forest: Forest
    shares: FloatArray  # (kinds, strengths): the members' weights
    hits: IntArray  # (kinds, strengths)
    n_stages: IntArray  # (kinds, folds)
    units: int  # the weight of all judging rows; 0: there are none
    right: int  # the weight of those that the mixture gets right
    n_judging: int
    power: float
    decrease: FloatArray
    held_out: list[HeldOut]  # of every fold, if it was asked for and there are any


def blend(
    crew: Crew, training: Any, chains: list[Any], *, keep_chains: bool = False, keep_held_out: bool = False
) -> Blend:
    """Weigh all members, and mix their leaves; ``training`` and ``chains`` are in the hands of the crew.

    Unless they are kept, chains leave the list as soon as they are not needed: they are most of the memory of a fit.
    """
    [(n_judging, units)] = crew.fetch(crew.map(judging_rows, [training]))
    scores: list[Score] = crew.fetch(crew.map(score_of, chains))
    hits = np.array([score.hits for score in scores]).reshape(len(KINDS), N_FOLDS, -1).sum(axis=1)
    if n_judging:
        shares = mixing_weights(hits, units, n_judging)
    else:
        shares = np.zeros(hits.shape)
        shares[:, STRENGTHS.index(portfolio.VOTING_STRENGTH)] = 1.0 / len(KINDS)
    voting = [i for i in range(len(scores)) if shares[i // N_FOLDS].any()]
    its_shares = [shares[i // N_FOLDS] for i in voting]
    heard = [chains[i] for i in voting]
    if not keep_chains:
        chains.clear()
    mixed = crew.map(mix_chain, [training] * len(voting), heard, its_shares)
    heard.clear()
    power, right = 1.0, 0
    held_out: list[HeldOut] = []
    if n_judging:
        folds = range(N_FOLDS)
        of_fold = [[one for i, one in zip(voting, mixed, strict=True) if i % N_FOLDS == fold] for fold in folds]
        said = crew.map(held_out_rows, [training] * N_FOLDS, folds, of_fold)
        judged = crew.fetch(crew.map(judge_fold, [training] * N_FOLDS, said))
        held_out = crew.fetch(said) if keep_held_out else []
        power = best_power([sum(of_folds) for of_folds in zip(*(losses for losses, _ in judged), strict=True)])
        right = sum(hit for _, hit in judged)
    kept: list[Kept] = crew.fetch(crew.map(attrgetter("kept"), mixed))
    decrease = np.zeros_like(kept[0].decrease)
    for one in kept:
        decrease += one.decrease
    stages = [
        [tree for tree in stage if tree is not None] for stage in itertools.zip_longest(*(one.trees for one in kept))
    ]
    n_stages = np.array([score.n_stages for score in scores]).reshape(len(KINDS), N_FOLDS)
    return Blend(Forest.of(stages), shares, hits, n_stages, units, right, n_judging, power, decrease, held_out)


def judging_rows(training: Training) -> tuple[int, int]:
    """How many rows with a weight judge a chain, and their weight in units."""
    if not (training.folds >= 0).any():
        return 0, 0
    return int(np.count_nonzero(training.weights)), int(portfolio.weight_units(training.weights).sum())


def score_of(chain: Chain) -> Score:
    return Score(chain.hits, len(chain.trees))


def mix_chain(training: Training, chain: Chain, weights: FloatArray) -> MixedChain:
    """Mix the leanings of a chain's leaves by the weights of its members."""
    held_out = np.zeros((len(chain.judging), training.n_classes))
    decrease = np.zeros(len(training.table.missing))
    is_heard = weights > 0.0
    strengths = np.array(STRENGTHS)[is_heard]
    trees = []
    for tree in chain.trees:
        values = tree.mixture(training.n_classes, strengths, weights[is_heard])
        places = tree.leaf_places()[tree.find_leaves(training.table, chain.judging)]
        add_rows(values, places, 1.0 / len(chain.trees), held_out)
        trees.append(KeptTree(*tree[:5], (values / (N_FOLDS * len(chain.trees))).astype(np.float32)))
        decrease += weights.sum() * tree.decrease
    return MixedChain(Kept(trees, decrease), held_out)


def held_out_rows(training: Training, fold: int, mixed: list[MixedChain]) -> HeldOut:
    """The mixtures of a fold's rows."""
    rows = np.nonzero(training.folds == fold)[0]
    mixture = np.zeros((len(rows), training.n_classes))
    for one in mixed:
        mixture += one.held_out
    return HeldOut(rows, mixture)


def judge_fold(training: Training, said: HeldOut) -> tuple[list[int], int]:
    """The log loss of the fold's rows at every power, and the weight of those whose label is the likeliest."""
    labels, units = training.labels[said.rows], portfolio.weight_units(training.weights[said.rows])
    return log_losses(said.mixture, labels, units), int(units[said.mixture.argmax(axis=1) == labels].sum())
