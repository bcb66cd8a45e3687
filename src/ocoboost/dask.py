"""Batch boosters, online boosters and models by key on a Dask cluster, bit-identical to one machine.

    pip install ocoboost[dask]

Rows and their players stay on the workers, in chunks. A stage gathers histograms of label weights (or, for learners
that are not native, the drawn rows) and sends out one hypothesis. Histograms hold integers, whose sum does not
depend on the order; draws and bin thresholds are keyed by global row numbers. So the model depends on the rows and the
seed, but not on the chunks or the workers. `BoostClassifier` gathers the sample as bytes, and spreads its games.

If a worker is lost, its rows are read and their games played again. If that is impossible, or the rows have changed,
``fit`` raises ``LostRowsError`` and learns nothing.
"""

from __future__ import annotations

import itertools
from typing import Any, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client, default_client
from sklearn.utils.validation import check_is_fitted

from ocoboost.batch.agnostic import AgnosticBoostClassifier as LocalAgnosticBoostClassifier
from ocoboost.batch.boost import BoostClassifier as LocalBoostClassifier
from ocoboost.batch.booster import BatchBooster, foreign_learner, seed_from
from ocoboost.batch.distributed import Block, LostRowsError, prepare
from ocoboost.batch.distributed_games import DaskCrew, gather_sample
from ocoboost.batch.histogram_tree import HistogramTreeClassifier
from ocoboost.batch.input import unless_refused
from ocoboost.batch.learners import WeakLearner
from ocoboost.batch.realizable import RealizableBoostClassifier as LocalRealizableBoostClassifier
from ocoboost.cluster.boosters import (
    AdaBoostOLMClassifier,
    OnlineAgnosticBoostClassifier,
    OnlineBoostClassifier,
    OnlineMBBMClassifier,
    OnlinePairwiseBoostClassifier,
    OnlineRealizableBoostClassifier,
)
from ocoboost.cluster.by_key import ModelsByKey
from ocoboost.cluster.partitions import is_dask, lengths_of, parts_like, parts_of
from ocoboost.data.parameters import invalid
from ocoboost.errors import LostStageError, SlowStageWarning

__all__ = [
    "AdaBoostOLMClassifier",
    "AgnosticBoostClassifier",
    "BoostClassifier",
    "LostRowsError",
    "LostStageError",
    "ModelsByKey",
    "OnlineAgnosticBoostClassifier",
    "OnlineBoostClassifier",
    "OnlineMBBMClassifier",
    "OnlinePairwiseBoostClassifier",
    "OnlineRealizableBoostClassifier",
    "RealizableBoostClassifier",
    "SlowStageWarning",
]


class _Lazy:
    """Predictions of a batch booster for Dask arrays and data frames; other rows are predicted in this process."""

    _local: type[Any]

    def to_local(self) -> Any:
        """The same fitted model as a local booster, without Dask."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        local = self._local(**parameters)
        local.__dict__.update({name: value for name, value in vars(self).items() if name not in parameters})
        return local

    def _predicting(self) -> Any:
        """The local booster as it is sent to workers, which only predict."""
        return self.to_local()

    def predict(self, X: Any) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        return self._blockwise("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        return self._blockwise("predict_proba", X)

    def staged_predict(self, X: Any) -> Any:
        """As the local booster, for rows in memory only."""
        return self.to_local().staged_predict(_in_memory(X))

    def staged_predict_proba(self, X: Any) -> Any:
        """As the local booster, for rows in memory only."""
        return self.to_local().staged_predict_proba(_in_memory(X))

    def _name_features(self, X: Any, n_features: int) -> None:
        self.n_features_in_ = n_features
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _blockwise(self, method: str, X: Any, *others: Any) -> Any:
        """Call a method of the local booster on every chunk, with the chunk's rows of ``others``."""
        check_is_fitted(self, "classes_")
        local = self._predicting()
        if not is_dask(X):
            return getattr(local, method)(X, *others)
        classes = local.classes_
        shape = () if method in ("predict", "_sample", "_gains") else (len(classes),)
        if method == "decision_function" and len(classes) == 2:
            shape = ()
        dtype = classes.dtype if method in ("predict", "_sample") else np.dtype(np.float64)
        lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * X.npartitions
        model, call = dask.delayed(local), dask.delayed(_call, pure=False)
        blocks = [
            da.from_delayed(call(model, method, *parts), shape=(length, *shape), dtype=dtype)
            for length, parts in zip(lengths, zip(parts_of(X), *others, strict=False), strict=True)
        ]
        return da.concatenate(blocks, allow_unknown_chunksizes=True)


class BoostClassifier(_Lazy, LocalBoostClassifier):
    """``ocoboost.BoostClassifier`` on the workers of a Dask cluster, with the same parameters and results.

    The sample is gathered as bytes, one for each cell, on every worker that plays one of the 25 games; frames may hold
    text and categories. ``n_jobs`` is not used: a game is one task.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ocoboost.dask import BoostClassifier
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     X = da.random.default_rng(1).random((400, 3), chunks=(100, 3))
    ...     model = BoostClassifier(n_estimators=5).fit(X, (X[:, 0] > 0.5).astype(int))
    ...     model.predict(X[:3]).compute().shape
    (3,)
    """

    _local = LocalBoostClassifier

    def _predicting(self) -> Any:
        local = self.to_local()
        local._chains = []  # the games that `warm_start` keeps are several times as large as all else
        return local

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play all games on the workers of the current client, and mix them there."""
        with unless_refused(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        seed = self._begin()
        client = default_client()
        blocks, lengths = _blocks(client, X, y, sample_weight)
        sample = gather_sample(client, X, blocks, lengths, self, game_lengths=self._lengths(), seed=seed)
        crew = DaskCrew(client)
        self._play(crew, sample.training, sample.n_rows, sample.classes, sample.features, seed)
        self._name_features(X, sample.features.n_features)


class _OnDask(_Lazy, BatchBooster):
    """``fit`` and the predictions of a batch booster for Dask arrays and data frames.

    Other arrays are predicted in this process, as by the local booster. ``n_jobs`` is not used: a chunk is one task.
    """

    _local: type[BatchBooster]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play the game on the workers of the current client."""
        with unless_refused(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        estimator = self._checked_estimator()
        is_native = isinstance(estimator, HistogramTreeClassifier)
        if not is_native and self.n_drawn is None:
            must = "be given for a learner that is not native, which is taught the drawn rows in one place"
            raise invalid(self, "n_drawn", must, None)
        client = default_client()
        seed = seed_from(self.random_state)
        blocks, lengths = _blocks(client, X, y, sample_weight)
        max_bins = estimator.max_bins if is_native else None
        prepared = prepare(client, blocks, lengths, max_bins=max_bins, allow_nan=self._allows_nan(), seed=seed)
        learner: WeakLearner
        if prepared.binning is not None:
            learner = estimator.learner(prepared.binning, len(prepared.classes))
        else:
            learner = foreign_learner(estimator, prepared.classes, seed)
        self._fit_rows(prepared.sample, learner, prepared.classes, prepared.binning, seed)
        self._name_features(X, prepared.n_features)

    def decision_function(self, X: Any) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        return self._blockwise("decision_function", X)

    def sample(self, X: Any, random_state: Any = None) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        if not is_dask(X):
            return self.to_local().sample(X, random_state)
        first_rows = np.cumsum([0, *lengths_of(default_client(), X)]).tolist()
        seed = self._sampling_seed(random_state)
        return self._blockwise("_sample", X, itertools.repeat(seed), first_rows[:-1])

    def correlation(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """As the local booster."""
        gains = self._blockwise("_gains", X, parts_like(default_client(), X, y) if is_dask(X) else y)
        return float(
            np.average(np.asarray(gains), weights=None if sample_weight is None else np.asarray(sample_weight))
        )


class AgnosticBoostClassifier(_OnDask, LocalAgnosticBoostClassifier):
    """``ocoboost.AgnosticBoostClassifier`` on the workers of a Dask cluster, with the same parameters and results.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ocoboost.dask import AgnosticBoostClassifier
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     X = da.random.default_rng(1).random((400, 3), chunks=(100, 3))
    ...     model = AgnosticBoostClassifier(n_estimators=5).fit(X, (X[:, 0] > 0.5).astype(int))
    ...     model.predict(X[:3]).compute().shape
    (3,)
    """

    _local = LocalAgnosticBoostClassifier


class RealizableBoostClassifier(_OnDask, LocalRealizableBoostClassifier):
    """``ocoboost.RealizableBoostClassifier`` on the workers of a Dask cluster, with the same parameters and results.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ocoboost.dask import RealizableBoostClassifier
    >>> with Client(processes=False, dashboard_address=":0"):
    ...     X = da.random.default_rng(1).random((400, 3), chunks=(100, 3))
    ...     model = RealizableBoostClassifier(n_estimators=5).fit(X, (X[:, 0] > 0.5).astype(int))
    ...     model.predict(X[:3]).compute().shape
    (3,)
    """

    _local = LocalRealizableBoostClassifier


def _call(model: BatchBooster, method: str, *parts: Any) -> Any:
    return getattr(model, method)(*parts)


def _in_memory(X: Any) -> Any:
    if is_dask(X):
        raise TypeError("staged predictions need rows in memory: pass X.compute(), or one chunk at a time")
    return X


def _blocks(client: Client, X: Any, y: Any, sample_weight: Any) -> tuple[list[Block], list[int]]:
    if not is_dask(X):
        kind = type(X).__name__
        raise TypeError(f"X must be a Dask array or data frame, got {kind}; use the booster of ocoboost for other rows")
    lengths = lengths_of(client, X)
    labels = parts_like(client, X, y, lengths)
    weights = [None] * len(lengths) if sample_weight is None else parts_like(client, X, sample_weight, lengths)
    return [Block(*parts) for parts in zip(parts_of(X), labels, weights, strict=True)], lengths
