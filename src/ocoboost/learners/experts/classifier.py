"""Learners with a regret bound: exponential weights over a class of hypotheses, for a booster or on their own.

Guarantees are about expected gains. Under a booster they hold for what the booster sees, so let it see distributions
(``votes="distribution", pool="distribution"`` there), or let the learners draw their votes (``votes="random"`` here).
A booster that takes the most probable label of an expected vote gets more accuracy and less of a theorem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ocoboost.data.labels import Labels
from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters, invalid
from ocoboost.errors import InvalidInputError
from ocoboost.learners.alone import LoneLearners
from ocoboost.learners.experts.ensemble import ExpertEnsemble, StumpEnsemble
from ocoboost.learners.experts.hypotheses import HypothesisClass
from ocoboost.learners.experts.rates import LearningRate
from ocoboost.learners.experts.stumps import StumpClass
from ocoboost.stream.told import labels_known


class Experts(LoneLearners):
    """Base of all learners over classes; on its own it is one learner."""

    n_learners = 1
    n_jobs = 1
    ranges: ClassVar[Mapping[str, Range]] = {
        "votes": OneOf("expected", "random"),
        "learning_rate": AnyOf(OneOf(None), Between(0.0, 1e100, closed="right")),
        "horizon": AnyOf(OneOf(None), Count(1)),
        "seed": LoneLearners.shared_ranges["seed"],
    }

    def __init__(
        self,
        *,
        votes: str,
        learning_rate: float | None,
        horizon: int | None,
        classes: Sequence[Any] | None,
        seed: int | None,
    ) -> None:
        super().__init__()
        self.votes = votes
        self.learning_rate = learning_rate
        self.horizon = horizon
        self.classes = classes
        self.seed = seed

    @property
    def hypothesis_class_(self) -> HypothesisClass:
        """The class as it is by now; its ``best_in_class`` finds the best member in hindsight."""
        return self._experts().hypothesis_class

    def regret_bound(self, n_rows: int) -> float:
        """How much more the best hypothesis can gain in ``n_rows`` rows of weight 1, gains in [-1, 1]."""
        return self._experts().regret_bound(n_rows)

    def _experts(self) -> ExpertEnsemble:
        ensemble = self._ready().engine.cascades[0].ensemble
        assert isinstance(ensemble, ExpertEnsemble)
        return ensemble

    def _rate(self) -> LearningRate:
        return LearningRate(None if self.learning_rate is None else float(self.learning_rate), self.horizon)

    def _check(self) -> None:
        """Raise for a parameter that is out of its range."""
        check_parameters(self, self.ranges)

    def _checked_labels(self) -> Labels:
        self._check()
        return labels_known(self)

    @property
    def _multiclass(self) -> bool:
        return True


class StumpExperts(Experts):
    """Exponential weights over all k-way decision stumps on a grid, exactly.

    There are exponentially many of them in the number of classes; a row takes time polynomial in features, cells and
    classes (`docs/experts.md`). Features are numbers; a missing one counts as below every threshold. New labels and
    features may appear at any time: the weights are then those of the larger class, had it been known from the start.
    The regret bound is for labels and features known from the first row on.

    Parameters
    ----------
    n_cells
        How many cells the range of every feature is cut into; thresholds lie between cells.
    n_pieces
        How many pieces a stump cuts a feature into, each with a label; None for as many as there are classes.
    low
        Where the first cell begins; values below belong to it.
    high
        Where the last cell ends; values above belong to it.
    votes
        "expected": a vote is the share of weight behind each label; "random": a label drawn from it.
    learning_rate
        None for the best one for `horizon`, or a good one at any time; a number is kept throughout.
    horizon
        The number of rows to come, if it is known: the bound is smaller by a factor of 1.4.
    classes
        All labels, if they are known and the learner is used on its own.
    seed
        Fixes the drawn votes, and `sample_one`.

    Examples
    --------
    >>> from ocoboost import OnlineAgnosticBoostClassifier, StumpExperts
    >>> from ocoboost.bench import synthetic

    >>> rows = synthetic.load("axis rule", 1000, seed=1).rows
    >>> model = OnlineAgnosticBoostClassifier(StumpExperts(n_cells=10), gamma=0.3, n_learners=10, seed=1)
    >>> predictions = model.predict_learn_many([x for x, _ in rows], [y for _, y in rows])
    >>> sum(guess == y for guess, (_, y) in zip(predictions, rows)) > 700
    True

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        **Experts.ranges,
        "n_cells": Count(1),
        "n_pieces": AnyOf(OneOf(None), Count(1)),
        "low": Between(-1e100, 1e100),
        "high": Between(-1e100, 1e100),
    }

    def __init__(
        self,
        *,
        n_cells: int = 16,
        n_pieces: int | None = None,
        low: float = 0.0,
        high: float = 1.0,
        votes: str = "expected",
        learning_rate: float | None = None,
        horizon: int | None = None,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(votes=votes, learning_rate=learning_rate, horizon=horizon, classes=classes, seed=seed)
        self.n_cells = n_cells
        self.n_pieces = n_pieces
        self.low = low
        self.high = high

    def _check(self) -> None:
        super()._check()
        if not self.low < self.high:
            raise invalid(self, "low", f"be below high={self.high!r}", self.low)

    def make_ensemble(self, n_learners: int, seed: int) -> StumpEnsemble:
        """Fresh learners for a booster."""
        self._check()
        return StumpEnsemble(
            n_learners,
            self._rate(),
            seed,
            is_random=self.votes == "random",
            n_cells=int(self.n_cells),
            n_pieces=self.n_pieces,
            low=float(self.low),
            high=float(self.high),
        )

    def regret_bound(self, n_rows: int, *, n_features: int | None = None, n_classes: int | None = None) -> float:
        """How much more the best stump can gain in ``n_rows`` rows of weight 1, gains in [-1, 1].

        For the features and labels seen so far, unless their numbers are given.

        >>> round(StumpExperts(n_cells=32, horizon=10_000).regret_bound(10_000, n_features=20, n_classes=5))
        664
        """
        if self._state is None and (n_features is None or n_classes is None):
            raise InvalidInputError(
                "StumpExperts: the regret bound depends on the numbers of features and classes, and no row was learned "
                "yet; give n_features and n_classes."
            )
        seen = self._experts().hypothesis_class
        assert isinstance(seen, StumpClass)
        n_features = seen.n_features if n_features is None else n_features
        n_classes = seen.n_classes if n_classes is None else n_classes
        log_size = StumpClass(n_features, n_classes, int(self.n_cells), self.n_pieces).log_size
        return self._rate().regret_bound(log_size, n_rows)
