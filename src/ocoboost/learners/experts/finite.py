"""Learners with a regret bound over classes that are given in full: functions, weight matrices, tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.parameters import AnyOf, Count, OneOf, Range
from ocoboost.data.rows import Row
from ocoboost.errors import InvalidInputError
from ocoboost.learners.experts.classifier import Experts
from ocoboost.learners.experts.ensemble import EnumeratedEnsemble
from ocoboost.learners.experts.hypotheses import FunctionClass, TableClass, WeightMatrixClass
from ocoboost.learners.experts.littlestone import LittlestoneEnsemble


class FiniteExperts(Experts):
    """Exponential weights over any finite class, given as a list of functions.

    Parameters
    ----------
    hypotheses
        Functions from a row (a dict) to the index of a label: its place in the `classes` of the booster, or here.
    n_classes
        The number of labels. Let the booster know them all (`classes`), so that their order is fixed.
    votes
        "expected": a vote is the share of weight behind each label; "random": a label drawn from it.
    learning_rate
        None for the best one for `horizon`, or a good one at any time; a number is kept throughout.
    horizon
        The number of rows to come, if it is known: the bound is smaller by a factor of 1.4.
    classes
        All labels, if the learner is used by itself.
    seed
        Fixes the drawn votes, and `sample_one`.

    Examples
    --------
    >>> from ocoboost import FiniteExperts

    >>> model = FiniteExperts([lambda x: 0, lambda x: 1, lambda x: int(x["a"] > 0)], 2, classes=["no", "yes"])
    >>> for a in (1, -1, 2, -2, 3, -3):
    ...     model.learn_one({"a": a}, "yes" if a > 0 else "no")
    >>> model.predict_one({"a": 7})
    'yes'

    """

    ranges: ClassVar[Mapping[str, Range]] = {**Experts.ranges, "n_classes": Count(1)}

    def __init__(
        self,
        hypotheses: Sequence[Callable[[Row], int]],
        n_classes: int,
        *,
        votes: str = "expected",
        learning_rate: float | None = None,
        horizon: int | None = None,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(votes=votes, learning_rate=learning_rate, horizon=horizon, classes=classes, seed=seed)
        self.hypotheses = hypotheses
        self.n_classes = n_classes

    def make_ensemble(self, n_learners: int, seed: int) -> EnumeratedEnsemble:
        """Fresh learners for a booster."""
        self._check()
        return EnumeratedEnsemble(
            "FiniteExperts",
            n_learners,
            self._rate(),
            seed,
            is_random=self.votes == "random",
            members=FunctionClass(self.hypotheses, int(self.n_classes)),
            read=dict,
        )


class MatrixExperts(Experts):
    """Exponential weights over all linear classifiers with weights on a grid: x to the argmax of W x.

    There are `n_levels` to the power of classes times features of them, all looked at in every row: a class that is too
    large is refused, with its size.

    Parameters
    ----------
    features
        The names of the features; others are not read, and a missing one counts as 0.
    n_classes
        The number of labels. Let the booster know them all (`classes`), so that their order is fixed.
    n_levels
        How many values between -1 and 1 a weight may have.
    votes
        "expected": a vote is the share of weight behind each label; "random": a label drawn from it.
    learning_rate
        None for the best one for `horizon`, or a good one at any time; a number is kept throughout.
    horizon
        The number of rows to come, if it is known: the bound is smaller by a factor of 1.4.
    classes
        All labels, if the learner is used by itself.
    seed
        Fixes the drawn votes, and `sample_one`.

    Examples
    --------
    >>> from ocoboost import MatrixExperts

    >>> model = MatrixExperts(["a", "b"], n_classes=2, n_levels=3, horizon=100)
    >>> round(model.regret_bound(100))  # sqrt(2 * 100 * ln(3 ** 4))
    30

    """

    ranges: ClassVar[Mapping[str, Range]] = {**Experts.ranges, "n_classes": Count(1), "n_levels": Count(1)}

    def __init__(
        self,
        features: Sequence[Any],
        n_classes: int,
        *,
        n_levels: int = 3,
        votes: str = "expected",
        learning_rate: float | None = None,
        horizon: int | None = None,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(votes=votes, learning_rate=learning_rate, horizon=horizon, classes=classes, seed=seed)
        self.features = features
        self.n_classes = n_classes
        self.n_levels = n_levels

    def make_ensemble(self, n_learners: int, seed: int) -> EnumeratedEnsemble:
        """Fresh learners for a booster."""
        self._check()
        return EnumeratedEnsemble(
            "MatrixExperts",
            n_learners,
            self._rate(),
            seed,
            is_random=self.votes == "random",
            members=WeightMatrixClass(len(self.features), int(self.n_classes), int(self.n_levels)),
            read=VectorReader(list(self.features)),
        )


class LittlestoneExperts(Experts):
    """The learner for infinite classes, through their Littlestone dimension; here for tables on a finite domain.

    Its regret grows with the dimension of the table and the logarithm of the number of rows, not with the number of
    hypotheses. See `ocoboost.learners.experts.littlestone` for what it costs: this is for small tables.

    Parameters
    ----------
    table
        `table[h][x]` is the index of the label that hypothesis h gives to point x.
    feature
        The feature that holds the number of a row's point.
    n_classes
        The number of labels; None for those that the table holds.
    votes
        "expected": a vote is the share of weight behind each label; "random": a label drawn from it.
    learning_rate
        None for the best one for an epoch; a number is kept throughout.
    horizon
        The rows of the first epoch; every further one is twice as long, and starts afresh. None for one row.
    classes
        All labels, if the learner is used by itself.
    seed
        Fixes the drawn votes, and `sample_one`.

    Examples
    --------
    >>> from ocoboost import LittlestoneExperts

    >>> thresholds = [[int(point >= cut) for point in range(8)] for cut in range(9)]
    >>> model = LittlestoneExperts(thresholds, "point", horizon=100, classes=[0, 1])
    >>> for point in [0, 7, 1, 6, 2, 5, 3, 4] * 5:
    ...     model.learn_one({"point": point}, int(point >= 3))
    >>> model.predict_one({"point": 3}), model.predict_one({"point": 2})
    (1, 0)

    """

    ranges: ClassVar[Mapping[str, Range]] = {**Experts.ranges, "n_classes": AnyOf(OneOf(None), Count(1))}

    def __init__(
        self,
        table: Sequence[Sequence[int]],
        feature: Any,
        n_classes: int | None = None,
        *,
        votes: str = "expected",
        learning_rate: float | None = None,
        horizon: int | None = None,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(votes=votes, learning_rate=learning_rate, horizon=horizon, classes=classes, seed=seed)
        self.table = table
        self.feature = feature
        self.n_classes = n_classes

    def make_ensemble(self, n_learners: int, seed: int) -> LittlestoneEnsemble:
        """Fresh learners for a booster."""
        self._check()
        table = TableClass(self.table, self.n_classes)
        return LittlestoneEnsemble(
            n_learners,
            self._rate(),
            seed,
            is_random=self.votes == "random",
            table=table,
            read=PointReader(self.feature, table.n_points),
        )


class VectorReader:
    """Rows as vectors of some of their features; missing ones are 0."""

    def __init__(self, features: list[Any]) -> None:
        self.features = features

    def __call__(self, row: Row) -> FloatArray:
        values = [row.get(name) for name in self.features]
        for name, value in zip(self.features, values, strict=True):
            if isinstance(value, str):
                raise InvalidInputError(f"has the text {value!r} in column {name!r}, which must hold numbers.")
        return np.array([0.0 if value is None else float(value) for value in values])


class PointReader:
    """Rows as the number of their point."""

    def __init__(self, feature: Any, n_points: int) -> None:
        self.feature = feature
        self.n_points = n_points

    def __call__(self, row: Row) -> int:
        value = row.get(self.feature)
        if value is None or isinstance(value, str) or not 0 <= value < self.n_points or value != math.floor(value):
            raise InvalidInputError(
                f"has {value!r} in column {self.feature!r}, which must hold a whole number below {self.n_points}."
            )
        return int(value)
