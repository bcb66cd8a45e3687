"""The members that the mixture has by default, and how they share out learners and memory.

The long-lived ones were chosen on the streams of `benchmarks/portfolio.py`, synthetic ones and scikit-learn's bundled
datasets, not on the seven datasets that the documentation reports. They fail in different ways: Mondrian trees
find any shape but spread noise over many leaves, unless nodes are smoothed towards their parents; Hoeffding trees with
naive Bayes leaves learn fast and smoothly, but see one feature at a time. The members of every age are small forests of
both kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.learners.mondrian.classifier import MondrianTrees
from ocoboost.learners.trees import NativeTrees
from ocoboost.online.mixture.ages import MOST_ORDER, N_SLOTS, ORDERS
from ocoboost.spelling import as_call

# Trees of a forest of one age for every learner of the budget, at least one: Mondrian and Hoeffding trees.
YOUNG_SHARES = (1 / 50, 1 / 100)
LEAST_BUDGET = 30  # with fewer learners there are no members of every age
SHARE_OF_NEIGHBOURS = 1 / 64  # of the learners' memory
SHARE_OF_SUSPECTS = 1 / 64

# The paper's grid, thinned: neighbouring gammas do equally well when games start at the label.
GAMMAS = (1.0, 0.7, 0.4, 0.2)


class Choice(NamedTuple):
    """One member before it is made."""

    learner: Any
    gamma: float
    n_learners: int
    is_boosted: bool = True
    max_size: float | None = None  # MiB for its learners

    @property
    def name(self) -> str:
        """What reports call it: the learner, as far as it differs from the default, and gamma if it is boosted."""
        how = f"gamma={self.gamma:g}" if self.is_boosted else "unboosted"
        return f"{as_call(self.learner)}, {how}"


def default_pairs() -> list[tuple[Any, float]]:
    """The default learners and their gammas."""
    return [
        (MondrianTrees(smoothing=1.0, split_pure=True), 1.0),
        (MondrianTrees(smoothing=5.0), 1.0),
        (MondrianTrees(smoothing=3.0), 0.7),
        (HoeffdingTrees(), 0.7),
        (HoeffdingTrees(feature_share=0.7), 0.5),
    ]


def appetite(learner: Any, gamma: float) -> float:
    """How much memory a tree makes use of, beside others.

    At gamma 1 learners are taught the true label more often than below: leaves stay pure, and a Mondrian tree that does
    not cut these has a third to a half of the nodes of others.
    """
    is_small = isinstance(learner, MondrianTrees) and gamma == 1.0 and not learner.split_pure
    return float(learner.appetite) * (0.5 if is_small else 1.0)


def young_trees() -> list[NativeTrees]:
    """What the members of every age are made of: Hoeffding trees there split early, for they do not live long."""
    return [MondrianTrees(smoothing=3.0), HoeffdingTrees(feature_share=0.7, grace_period=50, delta=0.01)]


class Choices(NamedTuple):
    """All members before they are made."""

    long_lived: list[Choice]
    young: list[list[Choice]]  # by kind, one for every slot of ``ages``; none for a named learner or a small budget
    neighbours_size: float | None  # MiB
    suspects_size: float | None


def choose(learner: Any, gammas: Sequence[float] | None, budget: int, max_size: float | None) -> Choices:
    """The members: boosters and forests of every age that share out the budget, and a single learner beside them.

    ``learner`` None stands for both kinds of native trees, members of every age among them. Where boosting does not
    pay, the mixture falls back on the single learner. ``max_size`` is shared out by the trees' appetites.
    """
    young: list[list[Choice]] = []
    if learner is None:
        pairs = (
            default_pairs() if gammas is None else [(tree, gamma) for tree, _ in default_pairs() for gamma in gammas]
        )
        if budget >= LEAST_BUDGET:
            for trees, share in zip(young_trees(), YOUNG_SHARES, strict=True):
                n_trees = max(1, round(budget * share))
                young.append([Choice(trees, 1.0, n_trees, is_boosted=False)] * N_SLOTS)
    else:
        pairs = [(learner, gamma) for gamma in (GAMMAS if gammas is None else gammas)]
    n_young = sum(choice.n_learners for kind in young for choice in kind)
    n_learners = max(1, (budget - n_young) // len(pairs))
    choices = [Choice(tree, gamma, n_learners) for tree, gamma in pairs]
    choices.append(Choice(HoeffdingTrees() if learner is None else learner, 1.0, 1, is_boosted=False))
    if max_size is None or not all(isinstance(choice.learner, NativeTrees) for choice in choices):
        return Choices(choices, young, None, None)
    neighbours_size = max_size * SHARE_OF_NEIGHBOURS if learner is None else 0.0
    appetites = [choice.n_learners * appetite(choice.learner, choice.gamma) for choice in choices]
    ages = [[young_appetite(choice, order) for choice, order in zip(kind, ORDERS, strict=True)] for kind in young]
    suspects_size = max_size * SHARE_OF_SUSPECTS
    unit = (max_size - neighbours_size - suspects_size) / (sum(appetites) + sum(map(sum, ages)))

    def limited(chosen: list[Choice], wanted: list[float]) -> list[Choice]:
        return [choice._replace(max_size=unit * share) for choice, share in zip(chosen, wanted, strict=True)]

    limited_ages = [limited(kind, wanted) for kind, wanted in zip(young, ages, strict=True)]
    return Choices(limited(choices, appetites), limited_ages, neighbours_size, suspects_size)


def young_appetite(choice: Choice, order: int) -> float:
    """How much memory trees make use of that live for 2**(order + 1) rows: they have at most twice as many nodes."""
    return choice.n_learners * float(choice.learner.appetite) * max(2.0 ** (order - MOST_ORDER), 1 / 16) / 2.0
