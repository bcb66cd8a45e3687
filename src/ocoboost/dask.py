"""Batch boosters, online boosters and models by key on a Dask cluster, bit-identical to one machine.

    pip install ocoboost[dask]

Rows and their players stay on the workers, in chunks. A stage gathers histograms of label weights (or, for learners
that are not native, the drawn rows) and sends out one hypothesis. Histograms hold integers, whose sum does not
depend on the order; draws and bin thresholds are keyed by global row numbers. So the model depends on the rows and the
seed, but not on the chunks or the workers.

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
from ocoboost.batch.booster import BatchBooster, foreign_learner, seed_from
from ocoboost.batch.distributed import Block, LostRowsError, prepare
from ocoboost.batch.histogram_tree import HistogramTreeClassifier
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


class _OnDask(BatchBooster):
    """``fit`` and the predictions of a batch booster for Dask arrays and data frames.

    Other arrays are predicted in this process, as by the local booster. ``n_jobs`` is not used: a chunk is one task.
    """

    _local: type[BatchBooster]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play the game on the workers of the current client."""
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
        self.n_features_in_ = prepared.n_features
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def to_local(self) -> BatchBooster:
        """The same fitted model as a local booster, without Dask."""
        local = self._local(**self.get_params(deep=False))
        fitted = {name: value for name, value in vars(self).items() if name not in self.get_params(deep=False)}
        local.__dict__.update(fitted)
        return local

    def predict(self, X: Any) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        return self._blockwise("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """As the local booster; lazy for a Dask array or data frame."""
        return self._blockwise("predict_proba", X)

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

    def staged_predict(self, X: Any) -> Any:
        """As the local booster, for rows in memory only."""
        return self.to_local().staged_predict(_in_memory(X))

    def staged_predict_proba(self, X: Any) -> Any:
        """As the local booster, for rows in memory only."""
        return self.to_local().staged_predict_proba(_in_memory(X))

    def _blockwise(self, method: str, X: Any, *others: Any) -> Any:
        """Call a method of the local booster on every chunk, with the chunk's rows of ``others``."""
        check_is_fitted(self, "_hypotheses")
        local = self.to_local()
        if not is_dask(X):
            return getattr(local, method)(X, *others)
        shape = () if method in ("predict", "_sample", "_gains") else (len(self.classes_),)
        if method == "decision_function" and len(self.classes_) == 2:
            shape = ()
        dtype = self.classes_.dtype if method in ("predict", "_sample") else np.dtype(np.float64)
        lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * X.npartitions
        model, call = dask.delayed(local), dask.delayed(_call, pure=False)
        blocks = [
            da.from_delayed(call(model, method, *parts), shape=(length, *shape), dtype=dtype)
            for length, parts in zip(lengths, zip(parts_of(X), *others, strict=False), strict=True)
        ]
        return da.concatenate(blocks, allow_unknown_chunksizes=True)


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
    >>> with Client(processes=False, dashboard_address=None):
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
