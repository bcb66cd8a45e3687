"""Any River classifier or scikit-learn ``partial_fit`` estimator as N weak learners.

Clones get seeds derived from (seed, learner). Labels are shown to them as indices, so that nothing depends on how a
label hashes; a binary River classifier sees booleans. Learners are asked one row at a time, also within blocks: a
matrix product over many rows may round differently from the same product row by row.
"""

from __future__ import annotations

import copy
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Any, Self

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.data.rows import Row, require_numbers, sorted_names
from ocoboost.data.schema import Block
from ocoboost.errors import InvalidInputError, WeakLearnerError
from ocoboost.learners.unsaved import Unsaved
from ocoboost.randomness import derive_seed


class ForeignEnsemble(Unsaved, ABC):
    """What River and scikit-learn learners share: one row at a time, and errors that name the learner and the row."""

    takes_weights: bool
    max_classes: int | None
    n_bytes: int | None = None  # unknown

    def __init__(self, name: str, learners: list[Any]) -> None:
        self.name = name
        self.learners = learners
        self.held_from = 0  # the number of the first learner, which is not 0 in a part of an ensemble

    def part(self, first: int, end: int) -> Self:
        """See ``cascade.native``."""
        part = copy.copy(self)
        part.learners = self.learners[first:end]
        part.held_from = self.held_from + first
        return part

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The whole ensemble again, from its parts in order."""
        whole = copy.copy(parts[0])
        whole.learners = [learner for part in parts for learner in part.learners]
        return whole

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:  # most learners take any row
        """Raise for rows that the learners cannot take."""

    @abstractmethod
    def prepare(self, block: Block, *, learning: bool) -> Sequence[Any]: ...

    @abstractmethod
    def _vote_row(self, learner: int, row: Any, n_classes: int) -> list[float]:
        """Non-negative numbers, one per label, not necessarily normalised."""

    @abstractmethod
    def _teach_row(self, learner: int, row: Any, label_weights: list[float]) -> None: ...

    def vote(self, learner: int, rows: Sequence[Any], out: FloatArray) -> None:
        for number, row in enumerate(rows):
            self._vote_into(learner, number, row, out)

    def vote_and_learn(self, learner: int, rows: Sequence[Any], label_weights: FloatArray, out: FloatArray) -> None:
        for number, row in enumerate(rows):
            self._vote_into(learner, number, row, out)
            taught = label_weights[number].tolist()
            try:
                self._teach_row(learner, row, taught)
            except Exception as error:
                raise self._error(learner, number, "learning", error) from error

    def _vote_into(self, learner: int, number: int, row: Any, out: FloatArray) -> None:
        n_classes = out.shape[1]
        try:
            votes = self._vote_row(learner, row, n_classes)
            if len(votes) != n_classes:
                raise ValueError(f"{len(votes)} votes for {n_classes} labels")
            # fsum: the same bits on every Python version (the built-in sum compensates from 3.12 on).
            total = math.fsum(vote for vote in votes if vote > 0.0)
        except Exception as error:
            raise self._error(learner, number, "voting on", error) from error
        if 0.0 < total < math.inf:
            out[number] = [vote / total if vote > 0.0 else 0.0 for vote in votes]
        else:  # nothing known, or nothing but NaN
            out[number] = 1.0 / n_classes

    def _error(self, learner: int, number: int, doing: str, error: Exception) -> WeakLearnerError:
        return WeakLearnerError(self.held_from + learner, self.name, number, doing, f"{type(error).__name__}: {error}")


class RiverEnsemble(ForeignEnsemble):
    """Clones of a classifier with River's ``learn_one`` and ``predict_proba_one`` (or only ``predict_one``)."""

    def __init__(self, learner: Any, n_learners: int, seed: int) -> None:
        clones = [_clone_river(learner, derive_seed(seed, number)) for number in range(n_learners)]
        super().__init__(str(learner) if hasattr(learner, "_get_params") else type(learner).__name__, clones)
        self._has_shares = hasattr(learner, "predict_proba_one")
        last_step = getattr(learner, "_last_step", learner)  # a pipeline passes w on to a last step that declares it
        self.takes_weights = "w" in inspect.signature(last_step.learn_one).parameters
        self._is_binary = is_binary_river(learner)
        self.max_classes = 2 if self._is_binary else None

    def prepare(self, block: Block, *, learning: bool) -> Sequence[Any]:
        # River reads an absent key as missing, and breaks on None and NaN.
        return [{name: value for name, value in row.items() if value is not None} for row in block.rows]

    def _vote_row(self, learner: int, row: Any, n_classes: int) -> list[float]:
        if self._has_shares:
            try:
                shares = self.learners[learner].predict_proba_one(row)
                return [float(shares.get(label, 0.0)) for label in range(n_classes)]
            except NotImplementedError:  # how River classifiers say that they predict labels only
                self._has_shares = False
        label = self.learners[learner].predict_one(row)
        return [1.0 if label == index and label is not None else 0.0 for index in range(n_classes)]

    def _teach_row(self, learner: int, row: Any, label_weights: list[float]) -> None:
        model = self.learners[learner]
        for label, weight in enumerate(label_weights):
            if weight > 0.0:
                taught = bool(label) if self._is_binary else label
                if self.takes_weights:
                    model.learn_one(row, taught, w=weight)
                else:
                    model.learn_one(row, taught)


class SklearnEnsemble(ForeignEnsemble):
    """Clones of a scikit-learn classifier with ``partial_fit``.

    The first row fixes the columns: later rows may leave features out (a missing value counts as 0, unless the
    estimator takes NaN) but not bring new ones.
    """

    def __init__(self, learner: Any, n_learners: int, seed: int, n_classes: int) -> None:
        from sklearn.utils import get_tags

        clones = [_clone_sklearn(learner, derive_seed(seed, number)) for number in range(n_learners)]
        super().__init__(type(learner).__name__, clones)
        self.takes_weights = "sample_weight" in inspect.signature(learner.partial_fit).parameters
        tags = get_tags(learner)
        self.max_classes = 2 if tags.classifier_tags is not None and not tags.classifier_tags.multi_class else None
        self._missing = math.nan if tags.input_tags.allow_nan else 0.0
        self._classes = np.arange(n_classes)
        self._columns: list[Any] = []  # fixed by the first row that has any
        self._taught = [False] * n_learners

    def part(self, first: int, end: int) -> Self:
        part = super().part(first, end)
        part._taught = self._taught[first:end]
        return part

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        whole = super().joined(parts)
        whole._taught = [is_taught for part in parts for is_taught in part._taught]
        return whole

    def check(self, rows: Sequence[Row], *, learning: bool) -> None:
        require_numbers(rows, self.name)
        columns = set(self._columns)
        for number, row in enumerate(rows):
            if learning and not columns:
                columns = set(row)
            elif learning and not columns.issuperset(row):
                new = sorted_names(set(row) - columns)
                raise InvalidInputError(
                    f"X: column {new[0]!r} at row {number} is new, and {self.name} fixed its {len(columns)} columns at "
                    "the first row; name every column there (NaN where unknown), or boost a River learner."
                )

    def prepare(self, block: Block, *, learning: bool) -> Sequence[Any]:
        if learning and not self._columns:
            self._columns = list(next((row for row in block.rows if row), {}))
        values = [[row.get(name) for name in self._columns] for row in block.rows]
        filled = [[self._missing if value is None else value for value in row] for row in values]
        return [np.array([row], dtype=np.float64) for row in filled]

    def _vote_row(self, learner: int, row: Any, n_classes: int) -> list[float]:
        if not self._taught[learner]:
            return [0.0] * n_classes
        model = self.learners[learner]
        if hasattr(model, "predict_proba"):
            with np.errstate(all="ignore"):  # a model of one row may divide by a variance of zero
                return [float(share) for share in model.predict_proba(row)[0]]
        label = int(model.predict(row)[0])
        return [float(label == index) for index in range(n_classes)]

    def _teach_row(self, learner: int, row: Any, label_weights: list[float]) -> None:
        taught = [label for label, weight in enumerate(label_weights) if weight > 0.0]
        if not taught or row.size == 0:
            return
        rows = np.repeat(row, len(taught), axis=0)
        weights = {"sample_weight": np.array([label_weights[label] for label in taught])} if self.takes_weights else {}
        self.learners[learner].partial_fit(rows, np.array(taught), classes=self._classes, **weights)
        self._taught[learner] = True


def make_ensemble(learner: Any, n_learners: int, seed: int, n_classes: int) -> ForeignEnsemble:
    """N clones of a learner that is River-like or scikit-learn-like; the latter must know ``n_classes``."""
    if is_river_like(learner):
        return RiverEnsemble(learner, n_learners, seed)
    return SklearnEnsemble(learner, n_learners, seed, n_classes)


def is_river_like(learner: Any) -> bool:
    """Whether ``learner`` is an instance with River's classifier methods."""
    from river import base

    if inspect.isclass(learner):
        return False
    if isinstance(learner, base.Estimator):
        return isinstance(learner, base.Classifier)
    return hasattr(learner, "learn_one") and (hasattr(learner, "predict_proba_one") or hasattr(learner, "predict_one"))


def is_binary_river(learner: Any) -> bool:
    """Whether ``learner`` declares itself a River classifier for two labels only."""
    return not getattr(learner, "_multiclass", True)


def is_sklearn_like(learner: Any) -> bool:
    """Whether ``learner`` is an instance of a scikit-learn classifier with ``partial_fit``."""
    if inspect.isclass(learner) or not (hasattr(learner, "partial_fit") and hasattr(learner, "predict")):
        return False
    from sklearn.base import is_classifier

    return bool(is_classifier(learner))


def _clone_river(learner: Any, seed: int) -> Any:
    if not hasattr(learner, "clone"):
        return copy.deepcopy(learner)
    if not hasattr(learner, "_get_params"):
        return learner.clone()
    # Every further learner inside the learner gets a seed of its own.
    seeds = chain([seed], (derive_seed(seed, number) for number in count()))
    return learner.clone(_with_seeds(learner._get_params(), seeds))


def _with_seeds(params: Any, seeds: Iterator[int]) -> Any:
    """River's nested parameters, and the learners listed in them, with every ``seed`` replaced."""
    if isinstance(params, dict):
        return {name: next(seeds) if name == "seed" else _with_seeds(value, seeds) for name, value in params.items()}
    if type(params) in (list, tuple):
        return type(params)(_with_seeds(value, seeds) for value in params)
    if hasattr(params, "_get_params") and not inspect.isclass(params):
        return _clone_river(params, next(seeds))
    return params


def _clone_sklearn(learner: Any, seed: int) -> Any:
    from sklearn.base import clone

    fresh = clone(learner)
    seeds = {name: seed for name in fresh.get_params() if name.split("__")[-1] == "random_state"}
    return fresh.set_params(**seeds)
