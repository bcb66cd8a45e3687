"""The learned state of learners over stumps: to a dict of arrays, and back with every array checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ocoboost.arrays import MOST_ROWS
from ocoboost.data.schema import TEXT, Schema

if TYPE_CHECKING:
    from ocoboost.learners.experts.ensemble import StumpEnsemble


def settings_of(ensemble: StumpEnsemble) -> dict[str, Any]:
    """What the learners were configured with, as numbers."""
    return {
        "learning_rate": ensemble.rate.constant,
        "horizon": ensemble.rate.horizon,
        "is_random": ensemble.is_random,
        "n_cells": ensemble.gains.shape[2],
        "n_pieces": ensemble.n_pieces,
        "low": ensemble.low,
        "high": ensemble.high,
    }


def state_of(ensemble: StumpEnsemble) -> dict[str, Any]:
    """Everything that the learners have learned."""
    return {
        "gains": ensemble.gains,
        "totals": ensemble.totals,
        "n_rows": ensemble.n_rows,
        "energy": ensemble.energy,
    }


def restore(ensemble: StumpEnsemble, saved: dict[str, Any], schema: Schema, n_classes: int) -> None:
    """Fill fresh learners; raises ``ValueError`` for a state that no such learners can have learned."""
    n_learners, _, n_cells, _ = ensemble.gains.shape
    if TEXT in schema.kinds.values():
        raise ValueError("invalid stump state: a column of text")
    n_seen = saved["totals"].shape[-1]
    if not 1 <= n_seen <= max(1, n_classes):
        raise ValueError(f"invalid stump state: {n_seen} labels")
    shapes: dict[str, tuple[int, ...]] = {
        "gains": (n_learners, max(1, len(schema.columns)), n_cells, n_seen),
        "totals": (n_learners, n_seen),
        "n_rows": (n_learners,),
        "energy": (n_learners,),
    }
    for name, shape in shapes.items():
        array, kind = saved[name], np.int64 if name == "n_rows" else np.float64
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
            raise ValueError(f"invalid stump state: shape of {name}")
        if not np.all(np.isfinite(array)) or (name in ("n_rows", "energy") and np.any(array < 0)):
            raise ValueError(f"invalid stump state: {name}")
        setattr(ensemble, name, np.ascontiguousarray(array).copy())
    if np.any(ensemble.n_rows >= MOST_ROWS):
        raise ValueError("invalid stump state: n_rows")
    # No label can have gained more than the rows had to give, by Cauchy's inequality.
    most = np.sqrt(ensemble.n_rows.astype(np.float64)) * np.sqrt(ensemble.energy) * (1.0 + 1e-6)
    for name in ("gains", "totals"):
        if np.any(np.abs(getattr(ensemble, name)).reshape(n_learners, -1) > most[:, None]):
            raise ValueError(f"invalid stump state: {name}")
    ensemble.reshaped()
