"""The members that the mixture has by default.

These members were chosen on the streams of `benchmarks/portfolio.py`, synthetic ones and scikit-learn's bundled
datasets, not on the seven datasets that the documentation reports. They fail in different ways: Mondrian trees
find any shape but spread noise over many leaves, unless nodes are smoothed towards their parents; Hoeffding trees with
naive Bayes leaves learn fast and smoothly, but see one feature at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from ocoboost.learners.hoeffding.classifier import HoeffdingTrees
from ocoboost.learners.mondrian.classifier import MondrianTrees

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
        parameters = inspect.signature(type(self.learner)).parameters
        changed = [
            f"{name}={getattr(self.learner, name)!r}"
            for name, parameter in parameters.items()
            if getattr(self.learner, name, parameter.default) != parameter.default
        ]
        how = f"gamma={self.gamma:g}" if self.is_boosted else "unboosted"
        return f"{type(self.learner).__name__}({', '.join(changed)}), {how}"


def default_pairs() -> list[tuple[Any, float]]:
    """The default learners and their gammas."""
    return [
        (MondrianTrees(smoothing=1.0, split_pure=True), 1.0),
        (MondrianTrees(smoothing=5.0), 1.0),
        (MondrianTrees(smoothing=3.0), 0.7),
        (HoeffdingTrees(), 0.7),
        (HoeffdingTrees(feature_share=0.7), 0.5),
    ]


def choose(learner: Any, gammas: Sequence[float] | None, budget: int, max_size: float | None) -> list[Choice]:
    """The members: boosters that share out the budget, and a single learner that is not boosted beside them.

    ``learner`` None stands for both kinds of native trees. Where boosting does not pay, the mixture falls back on the
    single learner. ``max_size`` is shared out by the trees' appetites.
    """
    if learner is None:
        pairs = (
            default_pairs() if gammas is None else [(tree, gamma) for tree, _ in default_pairs() for gamma in gammas]
        )
    else:
        pairs = [(learner, gamma) for gamma in (GAMMAS if gammas is None else gammas)]
    n_learners = max(1, budget // len(pairs))
    choices = [Choice(tree, gamma, n_learners) for tree, gamma in pairs]
    choices.append(Choice(HoeffdingTrees() if learner is None else learner, 1.0, 1, is_boosted=False))
    if max_size is None:
        return choices
    appetites = [choice.n_learners * choice.learner.appetite for choice in choices]
    return [
        choice._replace(max_size=max_size * appetite / sum(appetites))
        for choice, appetite in zip(choices, appetites, strict=True)
    ]
