"""What the mixture runs over when it is left to choose.

These members were chosen on the streams of `benchmarks/portfolio.py`, synthetic ones and scikit-learn's bundled
datasets, not on the seven datasets that the documentation reports. They differ in what goes wrong for whom: Mondrian
trees find any shape but smear noise over many leaves, unless their nodes lean on their parents; Hoeffding trees with
naive Bayes leaves are quick and smooth, but see one feature at a time.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from ocoboost.online.hoeffding import HoeffdingTrees
from ocoboost.online.mondrian import MondrianTrees

AUTO = "auto"


class Choice(NamedTuple):
    """One member: a learner and the choices of its cascade."""

    learner: Any
    gamma: float
    n_learners: int
    start: str
    votes: str
    pool: str
    max_size: float | None = None  # MiB for its learners
    is_boosted: bool = True

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


# The paper's grid, thinned: neighbouring gammas measure alike when games start at the label.
GAMMAS = (1.0, 0.7, 0.4, 0.2)


def default_members(gamma: float | None) -> list[tuple[Any, float]]:
    """Learners and their gammas for ``learner="auto"``; a given gamma is taken for all of them."""
    members = [
        (MondrianTrees(smoothing=1.0, split_pure=True), 1.0),
        (MondrianTrees(smoothing=5.0), 1.0),
        (MondrianTrees(smoothing=3.0), 0.7),
        (HoeffdingTrees(), 0.7),
        (HoeffdingTrees(feature_share=0.7), 0.5),
    ]
    return members if gamma is None else [(learner, gamma) for learner, _ in members]


def unboosted(choice: Choice) -> Choice:
    """A single learner beside the boosters: where boosting does not pay, the mixture falls back on it."""
    return choice._replace(gamma=1.0, n_learners=1, start="label", is_boosted=False)
